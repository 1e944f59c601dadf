//! The shapes of people.

use chrono::{DateTime, Utc};
use diesel::prelude::*;

use crate::db::schema::{user_counters, users};
use crate::domain::users::rules::{AvatarUrl, Bio, DisplayName, Handle};

/// A person as others see them.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = users, treat_none_as_null = true)]
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

/// What a person who signs up says about themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Not reserved; the database decides whether it is taken.
    pub handle: Handle,
    /// The name as shown.
    pub display_name: DisplayName,
    /// May be empty.
    pub bio: Bio,
    /// Where a picture is.
    pub avatar_url: Option<AvatarUrl>,
}

/// What changes in a profile; `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileChanges {
    /// A new handle. The old one is free at once.
    pub handle: Option<Handle>,
    /// A new name as shown.
    pub display_name: Option<DisplayName>,
    /// A new bio.
    pub bio: Option<Bio>,
    /// A new picture, or none any more.
    pub avatar_url: Option<Option<AvatarUrl>>,
}
