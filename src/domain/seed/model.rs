//! The shapes of a made-up world. People and messages are named by their numbers, from 0; ids come when it is written.

use serde_json::Value;

use crate::domain::messages::model::Kind;
use crate::domain::seed::words::Language;

/// How much there shall be of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// People.
    pub users: u32,
    /// Pairs of people one of whom follows the other.
    pub follows: u32,
    /// Messages.
    pub messages: u32,
    /// Pairs of a person and a message that they like.
    pub likes: u32,
}

/// What a world follows from, all of it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How much.
    pub size: Size,
    /// What the chance in it starts from.
    pub seed: u64,
    /// When its history ends: milliseconds since the Unix epoch.
    pub until_ms: i64,
    /// What can be posted to; the first one is used most.
    pub channels: Vec<String>,
}

/// Somebody.
#[derive(Clone, Debug)]
pub struct Person {
    /// As in mentions; nobody else's.
    pub handle: String,
    /// As shown.
    pub display_name: String,
    /// May be empty.
    pub bio: String,
    /// When they signed up: milliseconds since the Unix epoch.
    pub joined_ms: i64,
    /// What they write.
    pub(super) language: &'static Language,
    /// Their clock.
    pub(super) utc_hours: i64,
    /// What they care about, most of all the first: numbers of `words::TOPICS`.
    pub(super) topics: [usize; 3],
    /// A channel that they post to besides the first one.
    pub(super) second_channel: usize,
}

/// One follows another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follow {
    /// Who follows.
    pub follower: u32,
    /// Whom.
    pub followee: u32,
    /// Since when: milliseconds since the Unix epoch.
    pub ms: i64,
}

/// A message but for its text, which is made when it is written: see `World::text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Post {
    /// Who wrote it.
    pub author: u32,
    /// When: milliseconds since the Unix epoch.
    pub ms: i64,
    /// Where to: a number of the plan's channels.
    pub channel: usize,
    /// What it mainly is.
    pub kind: Kind,
}

/// Somebody likes a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Like {
    /// Who.
    pub user: u32,
    /// What.
    pub message: u32,
    /// Since when: milliseconds since the Unix epoch.
    pub ms: i64,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// One line, sometimes.
    pub title: Option<String>,
    /// 10 to 500 characters.
    pub content: String,
    /// What an app would keep with an image or a video.
    pub extra: Value,
}
