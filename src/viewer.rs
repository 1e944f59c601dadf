//! Who asks. Never how it was proved: that is `domain/auth`.

/// A signed-in person, on one session. A signed-out reader is `None::<Viewer>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// The person.
    pub user_id: i64,
    /// The session that the access token belongs to.
    pub session_id: i64,
}
