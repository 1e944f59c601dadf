//! What can be asked of a seed, and what is always the same in it. Pure.

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::seed::model::Size;
use crate::error::{Error, Result};
use crate::ids;

/// What everybody in a seeded world signs in with. Anybody can read it here: such a world is for trying out, never for
/// a server that others reach.
pub const PASSWORD: &str = "kith-demo-world";

/// Somebody whom the documents name.
#[derive(Clone, Copy, Debug)]
pub struct Guest {
    /// What to log in as.
    pub handle: &'static str,
    /// As shown.
    pub display_name: &'static str,
    /// The code of what they write.
    pub language: &'static str,
    /// How many they follow, in a world that is large enough.
    pub follows: usize,
}

/// The first people of every world, for whoever wants to look around.
pub const GUESTS: [Guest; 3] = [
    Guest { handle: "grace_demo", display_name: "Grace Bennett", language: "en", follows: 60 },
    Guest { handle: "jonas_demo", display_name: "Jonas Weber", language: "de", follows: 40 },
    Guest { handle: "yuki_demo", display_name: "田中 雪", language: "ja", follows: 25 },
];

/// For how long people have been signing up and following.
pub const HISTORY: TimeDelta = TimeDelta::days(300);

/// For how long they have been posting.
pub const POSTING: TimeDelta = TimeDelta::days(90);

/// Above this something else than memory should hold a world.
const AT_MOST: u32 = 50_000_000;

/// Checks that a world of this size can be, with a history that ends at `until`, `now` being now.
///
/// Errors: [`Error::BadUserInput`]; its field is `users`, `follows`, `messages`, `likes` or `until`.
pub fn check(size: Size, until: DateTime<Utc>, now: DateTime<Utc>) -> Result<()> {
    let Size { users, follows, messages, likes } = size;
    let refuse = |field: &'static str, message: String| Err(Error::bad_input(field, message));
    for (field, count) in [("users", users), ("follows", follows), ("messages", messages), ("likes", likes)] {
        if count > AT_MOST {
            return refuse(field, format!("Must be at most {AT_MOST}."));
        }
    }
    let others = u64::from(users.saturating_sub(1));
    let (most_follows, most_likes) = (u64::from(users) * others, u64::from(messages) * others);
    if (users as usize) < GUESTS.len() {
        return refuse("users", format!("Must be at least {}: the demo people.", GUESTS.len()));
    }
    if u64::from(follows) > most_follows {
        return refuse("follows", format!("{users} people can follow each other {most_follows} times at most."));
    }
    if u64::from(likes) > most_likes {
        let most = format!("{users} people and {messages} messages of theirs");
        return refuse("likes", format!("{most} allow {most_likes} likes at most: nobody likes their own."));
    }
    let begin = DateTime::from_timestamp_millis(ids::EPOCH_MS).unwrap_or_default() + TimeDelta::days(1);
    if until < begin {
        return refuse("until", format!("Must be {begin:?} or later: ids begin the day before."));
    }
    if until > now {
        return refuse("until", "Must not be in the future: there are no ids of it yet.".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let now = DateTime::from_timestamp_millis(ids::EPOCH_MS + 20_000_000_000).expect("a time");
        let size = |users, follows, messages, likes| Size { users, follows, messages, likes };
        for good in [size(3, 0, 0, 0), size(4, 2, 1, 1), size(3, 6, 5, 10), size(3, 0, 9, 0)] {
            assert_eq!(check(good, now, now), Ok(()), "{good:?}");
        }
        for (bad, of) in [
            (size(0, 0, 0, 0), "users"),
            (size(0, 0, 5, 0), "users"),
            (size(2, 1, 0, 0), "users"),
            (size(3, 7, 0, 0), "follows"),
            (size(3, 6, 5, 11), "likes"),
            (size(3, 6, 0, 1), "likes"),
            (size(AT_MOST + 1, 0, 0, 0), "users"),
            (size(9, 0, AT_MOST + 1, 0), "messages"),
        ] {
            let refused = check(bad, now, now);
            assert!(matches!(&refused, Err(Error::BadUserInput { field, .. }) if field == of), "{bad:?} {refused:?}");
        }
        let one = size(3, 0, 0, 0);
        for bad in [now + TimeDelta::seconds(1), DateTime::from_timestamp_millis(ids::EPOCH_MS).expect("a time")] {
            assert!(matches!(check(one, bad, now), Err(Error::BadUserInput { field, .. }) if field == "until"));
        }
    }
}
