//! The shape of an inbox: its members, its marker, and the window that they are read as.
//!
//! A member is `authorId:messageId`, its score the publish time in milliseconds. The marker of a
//! finished inbox is `#generation:epoch:horizon` with score 0, so that it is always first; an inbox that
//! is being built has `~token` with the highest score instead. All are lost together or not at all.

use crate::domain::inbox::state::State;
use crate::domain::messages::model::Reference;
use crate::ids;

/// How many of the newest references an inbox keeps.
pub const WINDOW: usize = 100;

/// An inbox of so many members is trimmed before the next delivery. With the window, the marker and
/// what several workers add meanwhile it stays within 127 members: above 128 Redis turns a sorted set
/// from a listpack into a skiplist for good, at 2.6 times the memory (`zset-max-listpack-entries`).
pub const TRIM_AT: usize = 116;

/// An inbox with more members than this is none: see [`TRIM_AT`].
pub const LONGEST: usize = 127;

/// With more in flight than this a feed is answered by Postgres.
pub const IN_FLIGHT_BOUND: usize = 500;

/// Who is read in a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Circle {
    /// Everybody whom the reader follows, and the reader.
    Everybody,
    /// Only those whom the reader follows closely.
    Close,
    /// Of everybody those whose messages readers merge, which were last pulled at `floor` or above it; nothing older than
    /// that.
    Pulled {
        /// An id.
        floor: i64,
    },
}

impl Circle {
    /// What the last pulled message of an author has to reach, and no older message is asked for. Without it everybody
    /// counts, pulled or not.
    pub(super) fn floor(self) -> i64 {
        match self {
            Self::Everybody | Self::Close => 0,
            // Who was never pulled has 0.
            Self::Pulled { floor } => floor.max(1),
        }
    }
}

/// Whether Redis is as far as Postgres, which is told of a tick right after it. If not, one of them lost what it had.
pub fn is_in_step(redis: i64, postgres: i64) -> bool {
    (postgres..=postgres + 1).contains(&redis)
}

/// Whose feed in which channel.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// Whose.
    pub user_id: i64,
    /// Which channel.
    pub channel: &'a str,
}

/// The member for a message.
pub fn member(message: Reference) -> String {
    format!("{}:{}", message.author_id, message.id)
}

/// The score of a message: its publish time, milliseconds since the Unix epoch.
pub fn score(message: Reference) -> i64 {
    ids::ms_of(message.id)
}

/// What of an inbox must be as Postgres says for it to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Raised when a person's reasons to see messages grew.
    pub generation: i64,
    /// Raised when every inbox became doubtful.
    pub epoch: i64,
}

impl Validity {
    /// The marker of a finished inbox up to its horizon, which the scripts add.
    pub fn marker_prefix(self) -> String {
        format!("#{}:{}:", self.generation, self.epoch)
    }
}

/// The newest part of a feed: everything at or above the horizon is here; below it nothing is claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The smallest id that would be here. 0 if the window is the whole feed.
    pub horizon: i64,
    /// Newest first.
    pub references: Vec<Reference>,
}

impl Window {
    /// Reads the members of an inbox, in the order of their scores. `None` unless it is finished and valid.
    pub fn parse(members: &[String], validity: Validity) -> Option<Self> {
        let (marker, rest) = members.split_first()?;
        let horizon_ms: i64 = marker.strip_prefix(&validity.marker_prefix())?.parse().ok()?;
        let horizon = ids::floor_of_ms(horizon_ms);
        let mut references: Vec<Reference> = rest.iter().filter_map(|member| reference(member)).collect();
        references.retain(|reference| reference.id >= horizon);
        references.sort_unstable_by(|a, b| b.cmp(a));
        Some(Self { horizon, references })
    }

    /// Adds what is in flight and gives up what is below `floor` when somebody is pulled, for they are merged down to
    /// it only. `None` with too much in flight.
    pub fn complete(mut self, state: &State, floor: i64) -> Option<Self> {
        if state.in_flight.len() > IN_FLIGHT_BOUND {
            return None;
        }
        if state.has_pulled {
            self.horizon = self.horizon.max(floor);
        }
        self.references.extend(&state.in_flight);
        self.references.retain(|reference| reference.id >= self.horizon);
        self.references.sort_unstable_by(|a, b| b.cmp(a));
        self.references.dedup();
        Some(self)
    }
}

/// The horizon that a finished inbox claims, in milliseconds since the Unix epoch, whether it is valid or not.
pub fn horizon_ms(members: &[String]) -> Option<i64> {
    members.first()?.strip_prefix('#')?.rsplit(':').next()?.parse().ok()
}

fn reference(member: &str) -> Option<Reference> {
    let (author_id, id) = member.split_once(':')?;
    Some(Reference { id: id.parse().ok()?, author_id: author_id.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: Validity = Validity { generation: 3, epoch: 1 };

    fn members(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_a_finished_inbox_of_this_generation_and_epoch_counts() {
        assert!(Window::parse(&members(&["#3:1:0", "7:900"]), VALID).is_some());
        for not in [&["#2:1:0", "7:900"][..], &["#3:2:0"], &["7:900", "~token"], &["7:900"], &["#3:1:x"], &[]] {
            assert_eq!(Window::parse(&members(not), VALID), None, "{not:?}");
        }
    }

    #[test]
    fn a_window_is_sorted_by_id_and_holds_nothing_below_its_horizon() {
        let old = ids::floor_of_ms(ids::EPOCH_MS + 5);
        let horizon = ids::EPOCH_MS + 10;
        let at = ids::floor_of_ms(horizon);
        let marker = format!("#3:1:{horizon}");
        let window = Window::parse(
            &[marker, format!("1:{old}"), format!("9:{}", at + 1), format!("10:{at}"), "odd".into()],
            VALID,
        )
        .expect("valid");
        let ids = |window: &Window| window.references.iter().map(|r| r.id).collect::<Vec<_>>();
        assert_eq!(ids(&window), [at + 1, at]);
        let flying = |id| Reference { id, author_id: 9 };
        let mut state = State { in_flight: vec![flying(at + 7), flying(at + 1), flying(old)], ..State::default() };
        let complete = |state: &State, floor| window.clone().complete(state, floor);
        assert_eq!(complete(&state, 0).map(|window| ids(&window)), Some(vec![at + 7, at + 1, at]));
        // Only who is pulled makes age count.
        assert_eq!(complete(&state, at + 1).map(|window| ids(&window)), Some(vec![at + 7, at + 1, at]));
        state.has_pulled = true;
        assert_eq!(
            complete(&state, at + 1).map(|window| (window.horizon, ids(&window))),
            Some((at + 1, vec![at + 7, at + 1]))
        );
        state.in_flight = vec![flying(at); IN_FLIGHT_BOUND + 1];
        assert_eq!(complete(&state, 0), None);
    }
}
