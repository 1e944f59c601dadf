//! What a verb makes of a like. Pure: the time is passed in.

use crate::domain::likes::model::{Like, Verb};
use crate::ids;

/// What `verb` makes of what is stored for a person and a message; `None` is a message that they never liked.
pub fn apply(before: Option<Like>, verb: Verb) -> Option<Like> {
    match (before, verb) {
        (None, Verb::Like { id }) => Some(Like { id, created_at: ids::time_of(id), cancelled_at: None }),
        (Some(like), Verb::Like { id }) if !like.is_standing() => Some(Like { id, cancelled_at: None, ..like }),
        (Some(like), Verb::Unlike { at }) if like.is_standing() => Some(Like { cancelled_at: Some(at), ..like }),
        (before, _) => before,
    }
}

/// By how much a change moves the counters of its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Of the likes that stand.
    pub now: i64,
    /// Of the likes that ever stood: never negative.
    pub ever: i64,
}

/// By how much the counters of a message move when `before` becomes `after`.
pub fn change(before: Option<Like>, after: Option<Like>) -> Change {
    let stands = |like: Option<Like>| i64::from(like.is_some_and(|like| like.is_standing()));
    let stood = |like: Option<Like>| i64::from(like.is_some());
    Change { now: stands(after) - stands(before), ever: stood(after) - stood(before) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn verbs_are_sets_and_what_was_ever_liked_stays(likes in prop::collection::vec(any::<bool>(), 0..20)) {
            let (mut like, mut count) = (None, Change::default());
            for (n, is_like) in likes.iter().enumerate() {
                let id = ids::floor_of_ms(ids::EPOCH_MS + n as i64);
                let verb = if *is_like { Verb::Like { id } } else { Verb::Unlike { at: ids::time_of(id) } };
                let after = apply(like, verb);
                prop_assert_eq!(apply(after, verb), after, "again changes nothing");
                let moved = change(like, after);
                count = Change { now: count.now + moved.now, ever: count.ever + moved.ever };
                prop_assert_eq!(count.now == 1, *is_like);
                prop_assert_eq!(count.ever == 1, likes[..=n].contains(&true));
                like = after;
            }
            let first = likes.iter().position(|is_like| *is_like).map(|n| ids::EPOCH_MS + n as i64);
            prop_assert_eq!(like.map(|like| like.created_at.timestamp_millis()), first);
        }
    }
}
