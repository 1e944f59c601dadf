//! The shapes of the follow graph.

use chrono::{DateTime, Utc};

/// An edge seen from one of its ends: where the connection stands, and the person at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The id of the edge, its position in a connection.
    pub id: i64,
    /// The person at the other end.
    pub user_id: i64,
    /// Since when.
    pub created_at: DateTime<Utc>,
}

/// What the viewer and another person are to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relation {
    /// The viewer follows them.
    pub viewer_follows: bool,
    /// The viewer follows them closely.
    pub is_close: bool,
    /// They follow the viewer.
    pub follows_viewer: bool,
}

impl Relation {
    /// Friends follow each other.
    pub fn is_friend(self) -> bool {
        self.viewer_follows && self.follows_viewer
    }
}
