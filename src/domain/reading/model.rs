//! The shapes of a reading place.

use chrono::{DateTime, Utc};
use diesel::prelude::*;

use crate::db::schema::reading_places;

/// Which feed somebody reads.
#[derive(Clone, Copy, Debug)]
pub struct Of<'a> {
    /// Whose feed.
    pub user_id: i64,
    /// Its channel.
    pub channel: &'a str,
    /// Its filter: `all` or `close`.
    pub filter: &'static str,
}

/// How far somebody has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = reading_places)]
pub struct Place {
    /// The position of the message up to which, whether or not it is still there.
    pub position: i64,
    /// When that was said.
    pub marked_at: DateTime<Utc>,
}
