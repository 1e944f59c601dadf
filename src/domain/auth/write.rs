//! The verbs of signing in and out. Those that hash a password take a connection only afterwards: a flood
//! of log-ins must not hold the pool.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};

use crate::db::schema::{credentials, refresh_tokens, sessions};
use crate::db::{Connection, Db};
use crate::domain::auth::model::{NewAccount, NewSession, Session, SignedIn};
use crate::domain::auth::passwords::Passwords;
use crate::domain::auth::refresh_tokens::RefreshToken;
use crate::domain::auth::{read, rules};
use crate::domain::users;
use crate::domain::users::rules::{Handle, Password};
use crate::error::{Error, Result};
use crate::viewer::Viewer;

/// Opens an account and begins its first session.
///
/// Errors: [`Error::Conflict`] with field `handle` if it is taken, in whatever case; the unique index
/// decides. [`Error::Unavailable`] when too many passwords are being hashed.
pub async fn sign_up(db: &Db, passwords: &Passwords, account: NewAccount, session: NewSession) -> Result<SignedIn> {
    let hash = &passwords.hash(account.password).await?;
    let (profile, session) = (&account.profile, &session);
    db.write(async |mut conn| {
        conn.transaction(async |conn| {
            let user = users::write::create(conn, account.user_id, profile).await?;
            let secret = (
                credentials::user_id.eq(user.id),
                credentials::password_hash.eq(hash),
                credentials::changed_at.eq(session.now),
            );
            diesel::insert_into(credentials::table).values(secret).execute(conn).await?;
            begin(conn, user.id, session).await
        })
        .await
    })
    .await
}

/// Begins a session for who has this handle and this password.
///
/// Errors: [`Error::WrongPassword`], after the same work and in the same words, whether the handle or the
/// password is wrong. [`Error::Unavailable`] when too many passwords are being hashed.
pub async fn log_in(
    db: &Db,
    passwords: &Passwords,
    handle: &str,
    password: Password,
    session: NewSession,
) -> Result<SignedIn> {
    let known = match Handle::parse(handle) {
        Ok(handle) => read::credentials_by_handle(&mut *db.get().await?, &handle).await?,
        Err(_) => None,
    };
    let stored = known.as_ref().map(|known| known.password_hash.as_str());
    let is_right = passwords.is_right(password, stored).await?;
    let known = match &known {
        Some(known) if is_right => known,
        _ => return Err(Error::WrongPassword),
    };
    let session = &session;
    db.write(async |mut conn| {
        conn.transaction(async |conn| {
            // A change of the password ends the sessions that began before it; one that slipped in between
            // the comparison and here would not be among them.
            let still: Option<String> = credentials::table
                .find(known.user_id)
                .select(credentials::password_hash)
                .for_share()
                .first(conn)
                .await
                .optional()?;
            if still.as_ref() != Some(&known.password_hash) {
                return Err(Error::WrongPassword);
            }
            begin(conn, known.user_id, session).await
        })
        .await
    })
    .await
}

/// Changes the viewer's password to `new` and ends all of their sessions but this one.
///
/// Errors: [`Error::BadUserInput`] with field `newPassword` or `currentPassword`. [`Error::Unavailable`]
/// when too many passwords are being hashed.
pub async fn change_password(db: &Db, passwords: &Passwords, viewer: Viewer, change: PasswordChange<'_>) -> Result<()> {
    let known = read::credentials_by_user(&mut *db.get().await?, viewer.user_id).await?;
    let known = &known.ok_or(Error::Unauthenticated)?;
    let new = Password::chosen("newPassword", change.new, &known.handle)?;
    let wrong = || Error::bad_input("currentPassword", "This is not your password.");
    if !passwords.is_right(change.current, Some(&known.password_hash)).await? {
        return Err(wrong());
    }
    let (hash, now) = (&passwords.hash(new).await?, change.now);
    db.write(async |mut conn| {
        conn.transaction(async |conn| {
            let unchanged =
                credentials::table.find(viewer.user_id).filter(credentials::password_hash.eq(&known.password_hash));
            let changed = diesel::update(unchanged)
                .set((credentials::password_hash.eq(hash), credentials::changed_at.eq(now)))
                .execute(conn)
                .await?;
            if changed == 0 {
                return Err(wrong());
            }
            let others = sessions::table
                .filter(sessions::user_id.eq(viewer.user_id).and(sessions::id.ne(viewer.session_id)))
                .filter(sessions::revoked_at.is_null());
            diesel::update(others).set(sessions::revoked_at.eq(now)).execute(conn).await?;
            Ok(())
        })
        .await
    })
    .await
}

/// What [`change_password`] is told.
pub struct PasswordChange<'a> {
    /// What the viewer claims to sign in with.
    pub current: Password,
    /// What they want to sign in with.
    pub new: &'a str,
    /// When.
    pub now: DateTime<Utc>,
}

/// Gives out the next refresh token of a session for its last one, and lengthens the session.
///
/// A token works once. If it comes again, one of two parties that have it stole it, and nobody can tell
/// which: the session ends, with all of its tokens. The rule is strict: of requests that race with the
/// same token one wins, and the others end what it won. So a client refreshes in one place, one at a time.
///
/// Errors: [`Error::Unauthenticated`].
pub async fn refresh(conn: &mut Connection, token: &RefreshToken, now: DateTime<Utc>) -> Result<SignedIn> {
    // What reuse does must be committed, so it is not an error of the transaction.
    let outcome = conn.transaction(async |conn| rotate(conn, &token.hash(), now).await).await?;
    outcome.ok_or(Error::Unauthenticated)
}

async fn rotate(conn: &mut Connection, hash: &[u8], now: DateTime<Utc>) -> Result<Option<SignedIn>> {
    let token = refresh_tokens::table.find(hash);
    let session_id: Option<i64> = token.select(refresh_tokens::session_id).first(conn).await.optional()?;
    let Some(session_id) = session_id else {
        return Ok(None);
    };
    // The row of the session is the lock of the family; only behind it is the token looked at.
    let session: Option<Session> =
        sessions::table.find(session_id).select(Session::as_select()).for_update().first(conn).await.optional()?;
    let Some(session) = session.filter(|session| session.revoked_at.is_none() && session.expires_at > now) else {
        return Ok(None);
    };
    let spent = diesel::update(token.filter(refresh_tokens::used_at.is_null()))
        .set(refresh_tokens::used_at.eq(now))
        .execute(conn)
        .await?;
    let this = sessions::table.find(session_id);
    if spent == 0 {
        tracing::warn!(session_id, "a refresh token came twice: its session ends");
        diesel::update(this).set(sessions::revoked_at.eq(now)).execute(conn).await?;
        return Ok(None);
    }
    let forgotten = refresh_tokens::used_at.lt(now - rules::SPENT_KEPT);
    diesel::delete(refresh_tokens::table.filter(refresh_tokens::session_id.eq(session_id).and(forgotten)))
        .execute(conn)
        .await?;
    let expires_at = rules::session_end(session.created_at, now);
    diesel::update(this)
        .set((sessions::last_used_at.eq(now), sessions::expires_at.eq(expires_at)))
        .execute(conn)
        .await?;
    give_out(conn, &Session { expires_at, ..session }, now).await.map(Some)
}

/// Ends a session of the viewer, this one or another, and answers it. It stays as it is if it has ended.
///
/// Errors: [`Error::NotFound`] for a session of somebody else.
pub async fn revoke(conn: &mut Connection, viewer: Viewer, session_id: i64, now: DateTime<Utc>) -> Result<Session> {
    let live = sessions::table
        .find(session_id)
        .filter(sessions::user_id.eq(viewer.user_id))
        .filter(sessions::revoked_at.is_null());
    let ended = diesel::update(live)
        .set(sessions::revoked_at.eq(now))
        .returning(Session::as_returning())
        .get_result(conn)
        .await
        .optional()?;
    match ended {
        Some(session) => Ok(session),
        None => read::by_id(conn, viewer.user_id, session_id).await?.ok_or(Error::NotFound { what: "session" }),
    }
}

async fn begin(conn: &mut Connection, user_id: i64, new: &NewSession) -> Result<SignedIn> {
    let session = Session {
        id: new.id,
        user_id,
        user_agent: rules::user_agent(&new.user_agent),
        created_at: new.now,
        last_used_at: new.now,
        expires_at: rules::session_end(new.now, new.now),
        revoked_at: None,
    };
    diesel::insert_into(sessions::table).values(&session).execute(conn).await?;
    give_out(conn, &session, new.now).await
}

async fn give_out(conn: &mut Connection, session: &Session, now: DateTime<Utc>) -> Result<SignedIn> {
    let refresh_token = RefreshToken::random()?;
    let row = (
        refresh_tokens::token_hash.eq(refresh_token.hash()),
        refresh_tokens::session_id.eq(session.id),
        refresh_tokens::created_at.eq(now),
    );
    diesel::insert_into(refresh_tokens::table).values(row).execute(conn).await?;
    let viewer = Viewer { user_id: session.user_id, session_id: session.id };
    Ok(SignedIn { viewer, refresh_token, refresh_expires_at: session.expires_at })
}
