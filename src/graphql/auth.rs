//! Signing in and out, in the schema.

use async_graphql::{Context, InputObject, Object, SimpleObject};
use chrono::{DateTime, Utc};

use crate::domain::auth::model::{NewAccount, NewSession, SignedIn};
use crate::domain::auth::refresh_tokens::RefreshToken;
use crate::domain::auth::{tokens, write};
use crate::domain::users::model::Profile;
use crate::domain::users::rules::{AvatarUrl, Bio, DisplayName, Handle, Password};
use crate::error;
use crate::graphql::accounts::Viewer;
use crate::graphql::context::ContextExt;
use crate::graphql::sessions::Session;

/// What a signed-in client keeps. Treat both tokens like a password.
#[derive(SimpleObject)]
pub struct Tokens {
    /// Sent with each request: `Authorization: Bearer …`.
    access_token: String,
    /// When the access token ends: 15 minutes after it was given out.
    access_token_expires_at: DateTime<Utc>,
    /// Exchanged for new tokens with `refreshSession`, once.
    refresh_token: String,
    /// When the refresh token, and with it the session, ends.
    refresh_token_expires_at: DateTime<Utc>,
}

/// Who signs up.
#[derive(InputObject)]
pub struct SignUpInput {
    /// The name in addresses and mentions: letters, digits and underscores; unique whatever the case. See
    /// `limits.handle`.
    handle: String,
    /// The name as shown: one line, with something visible in it. White space around it and controls of
    /// bidirectional text are removed. See `limits.displayName`.
    display_name: String,
    /// What you will sign in with. See `limits.password`; it must not be your handle.
    password: String,
    /// What you say about yourself. See `limits.bio`.
    bio: Option<String>,
    /// Where a picture of you is (http or https).
    avatar_url: Option<String>,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// Who logs in.
#[derive(InputObject)]
pub struct LogInInput {
    /// Your handle, whatever its case.
    handle: String,
    /// Your password.
    password: String,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// Which session to keep alive.
#[derive(InputObject)]
pub struct RefreshSessionInput {
    /// The last refresh token that was given out for the session.
    refresh_token: String,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// Nothing is needed to log out.
#[derive(InputObject)]
pub struct LogOutInput {
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// The new account and its first session.
#[derive(SimpleObject)]
pub struct SignUpPayload {
    /// You.
    viewer: Viewer,
    /// What your client keeps.
    tokens: Tokens,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// The new session.
#[derive(SimpleObject)]
pub struct LogInPayload {
    /// You.
    viewer: Viewer,
    /// What your client keeps.
    tokens: Tokens,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// The session with new tokens.
#[derive(SimpleObject)]
pub struct RefreshSessionPayload {
    /// You.
    viewer: Viewer,
    /// What your client keeps instead of the old ones.
    tokens: Tokens,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// The session that has ended.
#[derive(SimpleObject)]
pub struct LogOutPayload {
    /// The session, with `revokedAt`.
    session: Session,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// Signing in and out.
#[derive(Default)]
pub struct AuthMutation;

#[Object]
impl AuthMutation {
    /// Opens an account and signs in. Later mutations of the same request are not done in the new name: that
    /// takes a request with the new token.
    ///
    /// CONFLICT with field `handle` if the handle is taken.
    async fn sign_up(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Who signs up.")] input: SignUpInput,
    ) -> Option<error::Result<SignUpPayload>> {
        Some(sign_up(ctx, input).await)
    }

    /// Signs in and begins a new session. Later mutations of the same request are not done in the new name:
    /// that takes a request with the new token.
    ///
    /// UNAUTHENTICATED if the handle or the password is wrong; which of them is not told.
    async fn log_in(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Who logs in.")] input: LogInInput,
    ) -> Option<error::Result<LogInPayload>> {
        Some(log_in(ctx, input).await)
    }

    /// Exchanges a refresh token for new tokens and lengthens the session. Needs no access token.
    ///
    /// A refresh token works once. If it comes a second time, somebody has a copy: the whole session ends,
    /// also for who was first. So refresh in one place and one at a time.
    ///
    /// UNAUTHENTICATED if the token is unknown, was used, or its session has ended.
    async fn refresh_session(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which session to keep alive.")] input: RefreshSessionInput,
    ) -> Option<error::Result<RefreshSessionPayload>> {
        Some(refresh_session(ctx, input).await)
    }

    /// Ends the session of this request. Its tokens are refused at once, also to later mutations of the same
    /// request.
    async fn log_out(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Nothing is needed.")] input: LogOutInput,
    ) -> Option<error::Result<LogOutPayload>> {
        Some(log_out(ctx, input).await)
    }
}

async fn sign_up(ctx: &Context<'_>, input: SignUpInput) -> error::Result<SignUpPayload> {
    let app = ctx.app();
    let profile = Profile {
        handle: Handle::chosen(&input.handle)?,
        display_name: DisplayName::parse(&input.display_name)?,
        bio: Bio::parse(input.bio.as_deref().unwrap_or_default())?,
        avatar_url: input.avatar_url.as_deref().map(AvatarUrl::parse).transpose()?,
    };
    let password = Password::chosen("password", &input.password, profile.handle.as_str())?;
    let account = NewAccount { user_id: app.next_id()?, profile, password };
    let signed_in = write::sign_up(&app.db, &app.passwords, account, new_session(ctx)?).await?;
    let (viewer, tokens) = welcome(ctx, signed_in)?;
    Ok(SignUpPayload { viewer, tokens, client_mutation_id: input.client_mutation_id })
}

async fn log_in(ctx: &Context<'_>, input: LogInInput) -> error::Result<LogInPayload> {
    let app = ctx.app();
    let password = Password::typed(&input.password);
    let signed_in = write::log_in(&app.db, &app.passwords, &input.handle, password, new_session(ctx)?).await?;
    let (viewer, tokens) = welcome(ctx, signed_in)?;
    Ok(LogInPayload { viewer, tokens, client_mutation_id: input.client_mutation_id })
}

async fn refresh_session(ctx: &Context<'_>, input: RefreshSessionInput) -> error::Result<RefreshSessionPayload> {
    let app = ctx.app();
    let (token, now) = (&RefreshToken::parse(&input.refresh_token)?, app.clock.now());
    let signed_in = app.db.write(async |mut conn| write::refresh(&mut conn, token, now).await).await?;
    let (viewer, tokens) = welcome(ctx, signed_in)?;
    Ok(RefreshSessionPayload { viewer, tokens, client_mutation_id: input.client_mutation_id })
}

async fn log_out(ctx: &Context<'_>, input: LogOutInput) -> error::Result<LogOutPayload> {
    let (app, viewer) = (ctx.app(), ctx.viewer()?);
    let now = app.clock.now();
    let id = viewer.session_id;
    let session = app.db.write(async |mut conn| write::revoke(&mut conn, viewer, id, now).await).await?;
    ctx.signed_out();
    Ok(LogOutPayload { session: Session::new(session, viewer), client_mutation_id: input.client_mutation_id })
}

fn new_session(ctx: &Context<'_>) -> error::Result<NewSession> {
    let app = ctx.app();
    Ok(NewSession { id: app.next_id()?, user_agent: ctx.caller().user_agent.clone(), now: app.clock.now() })
}

fn welcome(ctx: &Context<'_>, signed_in: SignedIn) -> error::Result<(Viewer, Tokens)> {
    let (app, viewer) = (ctx.app(), signed_in.viewer);
    let now = app.clock.now();
    ctx.signed_in(viewer);
    let tokens = Tokens {
        access_token: app.tokens.issue(viewer, now)?,
        access_token_expires_at: tokens::expires_at(now),
        refresh_token: signed_in.refresh_token.encode(),
        refresh_token_expires_at: signed_in.refresh_expires_at,
    };
    Ok((Viewer(viewer), tokens))
}
