//! How long sessions live, and what is kept of them. Pure.

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::auth::tokens;

/// A session ends so long after its tokens were last refreshed.
pub const SESSION_LIFE: TimeDelta = TimeDelta::days(60);

/// However often it is refreshed, a session ends so long after it began.
pub const SESSION_LIFE_AT_MOST: TimeDelta = TimeDelta::days(365);

/// How long a session that has ended is kept: longer than any access token of it could still be accepted.
pub const ENDED_KEPT: TimeDelta = TimeDelta::days(1);

/// How long a spent refresh token is kept, so that it is noticed if it comes again. Each token was given out with the
/// end that its session then had, [`SESSION_LIFE`] away at most: after that nobody honest presents it. A token that is
/// forgotten is refused as well; only its session goes on.
pub const SPENT_KEPT: TimeDelta = SESSION_LIFE;

const _: () = assert!(ENDED_KEPT.num_seconds() > 2 * (tokens::LIFE.num_seconds() + tokens::LEEWAY.num_seconds()));

/// When a session ends that began at `created_at` and is refreshed at `now`, unless it is refreshed again.
pub fn session_end(created_at: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    (now + SESSION_LIFE).min(created_at + SESSION_LIFE_AT_MOST)
}

/// How many characters of a client's description of itself are kept.
const USER_AGENT: usize = 256;

/// What is kept of a client's description of itself: its beginning, without control characters.
pub fn user_agent(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(USER_AGENT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_slides_up_to_a_year() {
        let start = DateTime::from_timestamp(1_800_000_000, 0).expect("a time");
        let end_after = |days| (session_end(start, start + TimeDelta::days(days)) - start).num_days();
        assert_eq!([0, 1, 305, 306, 364].map(end_after), [60, 61, 365, 365, 365]);
    }

    #[test]
    fn a_user_agent_is_cut_and_printable() {
        assert_eq!(user_agent("a\0b\r\nc"), "abc");
        assert_eq!(user_agent(&"ü".repeat(1000)), "ü".repeat(256));
    }
}
