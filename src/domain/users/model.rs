//! The shapes of people.

use chrono::{DateTime, Utc};
use diesel::prelude::*;

use crate::db::schema::{user_counters, users};

/// A person as others see them.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = users)]
pub struct User {
    /// Snowflake; its time is when they signed up.
    pub id: i64,
    /// As they write it; unique whatever the case.
    pub handle: String,
    /// Free text with at least one visible character.
    pub display_name: String,
    /// Free text, may be empty.
    pub bio: String,
    /// An http or https URL.
    pub avatar_url: Option<String>,
    /// When they signed up.
    pub created_at: DateTime<Utc>,
    /// When the profile was changed last.
    pub updated_at: DateTime<Utc>,
}

/// How many of what a person has. Moved in the transaction of its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = user_counters)]
pub struct Counters {
    /// Messages that are not deleted, over all channels.
    pub message_count: i64,
    /// People who follow them.
    pub follower_count: i64,
    /// People whom they follow.
    pub following_count: i64,
}
