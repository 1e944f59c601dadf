//! Bearer token -> Viewer. Never what a viewer may do.
//!
//! No Authorization header is a signed-out reader. A header that is no valid, living token makes the
//! whole request UNAUTHENTICATED, so that a client notices; to sign in again it sends `logIn` or
//! `refreshSession` without the header.

use actix_web::http::header::{AUTHORIZATION, HeaderMap};

use crate::app::App;
use crate::domain::auth;
use crate::error::{Error, Result};
use crate::viewer::Viewer;

/// Who asks, by the token alone: it is genuine and has not expired, but its session may be revoked.
///
/// Errors: [`Error::Unauthenticated`].
pub fn claimed(app: &App, headers: &HeaderMap) -> Result<Option<Viewer>> {
    let mut values = headers.get_all(AUTHORIZATION);
    let Some(value) = values.next() else { return Ok(None) };
    let (scheme, token) = value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or(Error::Unauthenticated)?;
    if !scheme.eq_ignore_ascii_case("bearer") || values.next().is_some() {
        return Err(Error::Unauthenticated);
    }
    app.tokens.verify(token.trim(), app.clock.now()).map(Some)
}

/// Holds if the session of `viewer` lives. A signed-out reader needs none.
///
/// Errors: [`Error::Unauthenticated`] when it was revoked or ended, [`Error::Unavailable`].
pub async fn is_live(app: &App, viewer: Option<Viewer>) -> Result<()> {
    let Some(viewer) = viewer else { return Ok(()) };
    let mut conn = app.db.get().await?;
    match auth::read::is_live(&mut conn, viewer, app.clock.now()).await? {
        true => Ok(()),
        false => Err(Error::Unauthenticated),
    }
}
