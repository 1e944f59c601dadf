//! Who is signed in, in the schema: their own account, which nobody else sees.

use async_graphql::{Context, InputObject, MaybeUndefined, Object, Result, SimpleObject};
use std::sync::Arc;

use crate::domain::auth::read;
use crate::domain::auth::write::{self, PasswordChange};
use crate::domain::users;
use crate::domain::users::model::ProfileChanges;
use crate::domain::users::rules::{AvatarUrl, Bio, DisplayName, Handle, Password};
use crate::error::{self, Error};
use crate::graphql::connection::page;
use crate::graphql::context::ContextExt;
use crate::graphql::likes::{LikedMessageConnection, liked_messages};
use crate::graphql::sessions::{Live, Session, SessionConnection};
use crate::graphql::users::User;
use crate::page::{Arguments, Connection, Scope};
use crate::viewer;

/// Who is signed in, on which session.
pub struct Viewer(pub viewer::Viewer);

/// Who is signed in, on which session.
#[Object]
impl Viewer {
    /// The person.
    async fn user(&self, ctx: &Context<'_>) -> Result<User> {
        let user = ctx.loaders().users.load(self.0.user_id).await?;
        Ok(User(user.ok_or(Error::Unauthenticated)?))
    }

    /// The session that the access token belongs to.
    async fn current_session(&self, ctx: &Context<'_>) -> Result<Session> {
        let mut conn = ctx.app().db.get().await?;
        let session = read::by_id(&mut conn, self.0.user_id, self.0.session_id).await?;
        Ok(Session::new(session.ok_or(Error::Unauthenticated)?, self.0))
    }

    /// The person's live sessions, newest first.
    async fn sessions(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many of the newest, 1 to 100. 20 if neither first nor last is given.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Only what is older than this cursor.")] after: Option<String>,
        #[graphql(desc = "How many of the oldest, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what is newer than this cursor.")] before: Option<String>,
    ) -> Option<Result<SessionConnection>> {
        let app = ctx.app();
        let scope = Scope::new(Connection::Sessions, self.0.user_id, "");
        let live = Live { app, viewer: self.0, now: app.clock.now() };
        let filled = page(ctx, scope, &Arguments { first, after, last, before }, &live).await;
        Some(filled.map(Into::into).map_err(Into::into))
    }

    /// The messages that the person likes, the newest like first, over all channels. Nobody else sees this list.
    async fn liked_messages(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many of the newest, 1 to 100. Without `first` and `last`: 20.")] first: Option<i32>,
        #[graphql(desc = "Only what is older than this cursor.")] after: Option<String>,
        #[graphql(desc = "How many of the oldest, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what is newer than this cursor.")] before: Option<String>,
    ) -> Option<Result<LikedMessageConnection>> {
        Some(liked_messages(ctx, self.0.user_id, Arguments { first, after, last, before }).await)
    }
}

/// The question who is signed in.
#[derive(Default)]
pub struct AccountQuery;

#[Object]
impl AccountQuery {
    /// Who is signed in; null if nobody is.
    async fn viewer(&self, ctx: &Context<'_>) -> Option<Viewer> {
        ctx.caller().viewer.map(Viewer)
    }
}

/// What to change in your profile. What is not given, or null where that is no value, stays as it is.
#[derive(InputObject)]
pub struct UpdateProfileInput {
    /// A new handle. The old one is free at once.
    handle: Option<String>,
    /// A new name as shown: one line. Controls of bidirectional text are removed.
    display_name: Option<String>,
    /// A new bio; may be empty.
    bio: Option<String>,
    /// Where a picture of you is (http or https); null removes it.
    avatar_url: MaybeUndefined<String>,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// The profile as it is now.
#[derive(SimpleObject)]
pub struct UpdateProfilePayload {
    /// You.
    user: User,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// How to change your password.
#[derive(InputObject)]
pub struct ChangePasswordInput {
    /// What you sign in with now.
    current_password: String,
    /// What you want to sign in with. See `limits.password`; it must not be your handle.
    new_password: String,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// The password has changed.
#[derive(SimpleObject)]
pub struct ChangePasswordPayload {
    /// You, with this session as the only one.
    viewer: Viewer,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// What can be done to one's own account.
#[derive(Default)]
pub struct AccountMutation;

#[Object]
impl AccountMutation {
    /// Changes your profile.
    async fn update_profile(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What to change.")] input: UpdateProfileInput,
    ) -> Option<error::Result<UpdateProfilePayload>> {
        Some(update_profile(ctx, input).await)
    }

    /// Changes your password and ends all of your sessions but this one. Their tokens are refused at once.
    async fn change_password(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The old and the new password.")] input: ChangePasswordInput,
    ) -> Option<error::Result<ChangePasswordPayload>> {
        Some(change_password(ctx, input).await)
    }
}

async fn update_profile(ctx: &Context<'_>, input: UpdateProfileInput) -> error::Result<UpdateProfilePayload> {
    let (app, viewer) = (ctx.app(), ctx.viewer()?);
    let changes = &ProfileChanges {
        handle: input.handle.as_deref().map(Handle::chosen).transpose()?,
        display_name: input.display_name.as_deref().map(DisplayName::parse).transpose()?,
        bio: input.bio.as_deref().map(Bio::parse).transpose()?,
        avatar_url: match input.avatar_url {
            MaybeUndefined::Undefined => None,
            MaybeUndefined::Null => Some(None),
            MaybeUndefined::Value(url) => Some(Some(AvatarUrl::parse(&url)?)),
        },
    };
    let now = app.clock.now();
    let user = app.db.write(async |mut conn| users::write::update(&mut conn, viewer, changes, now).await).await?;
    ctx.written();
    Ok(UpdateProfilePayload { user: User(Arc::new(user)), client_mutation_id: input.client_mutation_id })
}

async fn change_password(ctx: &Context<'_>, input: ChangePasswordInput) -> error::Result<ChangePasswordPayload> {
    let (app, viewer) = (ctx.app(), ctx.viewer()?);
    let current = Password::typed(&input.current_password);
    let change = PasswordChange { current, new: &input.new_password, now: app.clock.now() };
    write::change_password(&app.db, &app.passwords, viewer, change).await?;
    ctx.written();
    Ok(ChangePasswordPayload { viewer: Viewer(viewer), client_mutation_id: input.client_mutation_id })
}
