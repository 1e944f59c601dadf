//! The verbs of people. Never passwords or sessions: those are in `auth`.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};

use crate::db::Connection;
use crate::db::schema::{user_counters, users};
use crate::domain::users::model::{Profile, ProfileChanges, User};
use crate::error::{Error, Result};
use crate::ids;
use crate::viewer::Viewer;

/// Adds a person under `id`, in the caller's transaction.
///
/// Errors: [`Error::Conflict`] with field `handle` if it is taken, in whatever case.
pub async fn create(conn: &mut Connection, id: i64, profile: &Profile) -> Result<User> {
    let now = ids::time_of(id);
    let user = User {
        id,
        handle: profile.handle.as_str().to_owned(),
        display_name: profile.display_name.0.clone(),
        bio: profile.bio.0.clone(),
        avatar_url: profile.avatar_url.as_ref().map(|url| url.0.clone()),
        created_at: now,
        updated_at: now,
    };
    diesel::insert_into(users::table).values(&user).execute(conn).await?;
    diesel::insert_into(user_counters::table).values(user_counters::user_id.eq(id)).execute(conn).await?;
    Ok(user)
}

/// Changes the viewer's profile and answers the person as they are now.
///
/// Errors: [`Error::Conflict`] with field `handle` if it is taken, in whatever case.
pub async fn update(
    conn: &mut Connection,
    viewer: Viewer,
    changes: &ProfileChanges,
    now: DateTime<Utc>,
) -> Result<User> {
    conn.transaction(async move |conn| {
        let mine = users::table.find(viewer.user_id);
        let before: Option<User> = mine.select(User::as_select()).for_update().first(conn).await.optional()?;
        let before = before.ok_or(Error::Unauthenticated)?;
        let after = changed(&before, changes);
        if after == before {
            return Ok(before);
        }
        let after = User { updated_at: now, ..after };
        diesel::update(mine).set(&after).execute(conn).await?;
        Ok(after)
    })
    .await
}

fn changed(user: &User, changes: &ProfileChanges) -> User {
    let mut user = user.clone();
    if let Some(handle) = &changes.handle {
        user.handle = handle.as_str().to_owned();
    }
    if let Some(display_name) = &changes.display_name {
        user.display_name.clone_from(&display_name.0);
    }
    if let Some(bio) = &changes.bio {
        user.bio.clone_from(&bio.0);
    }
    if let Some(avatar_url) = &changes.avatar_url {
        user.avatar_url = avatar_url.as_ref().map(|url| url.0.clone());
    }
    user
}
