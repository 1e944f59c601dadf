//! Identifiers: 64-bit snowflakes, their generator, and the opaque global ids that clients see.
//! Never where node numbers are leased: that is `db/nodes.rs`.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};

use crate::error::{Error, Result};

/// 2026-01-01T00:00:00Z in milliseconds since the Unix epoch: where the time of a snowflake starts.
pub const EPOCH_MS: i64 = 1_767_225_600_000;

const NODE_BITS: u32 = 10;
const SEQUENCE_BITS: u32 = 12;
const TIME_SHIFT: u32 = NODE_BITS + SEQUENCE_BITS;
const LAST_SEQUENCE: u16 = (1 << SEQUENCE_BITS) - 1;

/// The smallest id of the millisecond `unix_ms` (0 for a time before the epoch).
pub fn floor_of_ms(unix_ms: i64) -> i64 {
    (unix_ms - EPOCH_MS).max(0) << TIME_SHIFT
}

/// The millisecond (since the Unix epoch) in which `id` was made.
pub fn ms_of(id: i64) -> i64 {
    (id >> TIME_SHIFT) + EPOCH_MS
}

/// The moment in which `id` was made.
pub fn time_of(id: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(ms_of(id)).unwrap_or_default()
}

/// The right to make ids under one node number, as written in Postgres.
#[derive(Clone, Debug)]
pub struct Lease {
    /// 0 to 1023.
    pub node: u16,
    /// Ids start above this millisecond: an earlier holder may have used it.
    pub floor_ms: i64,
    /// No id is made later than this millisecond: the next holder starts above it.
    pub high_water_ms: i64,
    /// No id is made at or after this moment (monotonic, so it holds when the process was stopped).
    pub deadline: Instant,
}

/// Makes snowflakes: 41 bits of milliseconds since [`EPOCH_MS`], 10 of node, 12 of sequence
/// (Twitter's Snowflake, 2010). Unique over all holders of leases and rising within one generator,
/// whatever the clock does.
#[derive(Debug, Default)]
pub struct Generator {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    lease: Option<Lease>,
    last_ms: i64,
    sequence: u16,
}

impl Generator {
    /// Takes a new or renewed lease.
    pub fn hold(&self, lease: Lease) {
        let mut state = self.lock();
        // A renewal knows no floor, but what an earlier holder may have used stays used.
        let floor_ms = state.lease.as_ref().map_or(0, |held| held.floor_ms).max(lease.floor_ms);
        state.lease = Some(Lease { floor_ms, ..lease });
    }

    /// Gives the lease up: no id is made until there is another. Answers the last millisecond that may have been used.
    pub fn release(&self) -> i64 {
        let mut state = self.lock();
        let floor_ms = state.lease.take().map_or(0, |held| held.floor_ms);
        state.last_ms.max(floor_ms)
    }

    /// The node number held now, if any.
    pub fn node(&self) -> Option<u16> {
        self.lock().lease.as_ref().map(|lease| lease.node)
    }

    /// The next id, for a clock that shows `now_ms`.
    ///
    /// Errors: [`Error::Unavailable`] without a lease, past its deadline, or past its high water.
    pub fn next(&self, now_ms: i64) -> Result<i64> {
        let mut state = self.lock();
        let lease = match &state.lease {
            Some(lease) if Instant::now() < lease.deadline => lease.clone(),
            _ => return Err(Error::Unavailable("no valid lease of a node number".into())),
        };
        let earliest = state.last_ms.max(lease.floor_ms + 1).max(EPOCH_MS);
        let (ms, sequence) = if now_ms > earliest || earliest > state.last_ms {
            (now_ms.max(earliest), 0)
        } else if state.sequence < LAST_SEQUENCE {
            (earliest, state.sequence + 1)
        } else {
            (earliest + 1, 0)
        };
        if ms > lease.high_water_ms {
            return Err(Error::Unavailable("the lease of the node number does not reach that far".into()));
        }
        state.last_ms = ms;
        state.sequence = sequence;
        Ok((ms - EPOCH_MS) << TIME_SHIFT | i64::from(lease.node) << SEQUENCE_BITS | i64::from(sequence))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an opaque id of the API stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GlobalId {
    /// A person.
    User(i64),
    /// A message; its author is part of the id, so that it can be found in a sharded store.
    Message {
        /// Who wrote it.
        author_id: i64,
        /// The message itself.
        id: i64,
    },
    /// A session of the viewer.
    Session(i64),
}

impl GlobalId {
    /// The opaque, URL-safe form.
    pub fn encode(self) -> String {
        let mut bytes = Vec::with_capacity(17);
        match self {
            Self::User(id) => {
                bytes.push(b'u');
                bytes.extend(id.to_be_bytes());
            }
            Self::Message { author_id, id } => {
                bytes.push(b'm');
                bytes.extend(author_id.to_be_bytes());
                bytes.extend(id.to_be_bytes());
            }
            Self::Session(id) => {
                bytes.push(b's');
                bytes.extend(id.to_be_bytes());
            }
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads what [`GlobalId::encode`] wrote; `None` for anything else.
    pub fn decode(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (kind, rest) = bytes.split_first()?;
        let id = |at: usize| Some(i64::from_be_bytes(rest.get(at..at + 8)?.try_into().ok()?));
        match (kind, rest.len()) {
            (b'u', 8) => Some(Self::User(id(0)?)),
            (b'm', 16) => Some(Self::Message { author_id: id(0)?, id: id(8)? }),
            (b's', 8) => Some(Self::Session(id(0)?)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn lease(node: u16, floor_ms: i64, high_water_ms: i64) -> Lease {
        Lease { node, floor_ms, high_water_ms, deadline: Instant::now() + Duration::from_secs(60) }
    }

    proptest! {
        #[test]
        fn ids_rise_and_never_repeat_whatever_the_clock_does(steps in prop::collection::vec(-5_i64..5, 1..2000)) {
            let ids = Generator::default();
            ids.hold(lease(7, EPOCH_MS, i64::MAX));
            let mut now = EPOCH_MS + 10_000;
            let mut last = 0;
            for step in steps {
                now += step;
                let id = ids.next(now).expect("a lease is held");
                prop_assert!(id > last);
                prop_assert_eq!((id >> SEQUENCE_BITS) & 1023, 7);
                last = id;
            }
        }

        #[test]
        fn global_ids_come_back(author_id: i64, id: i64) {
            for global in [GlobalId::User(id), GlobalId::Message { author_id, id }, GlobalId::Session(id)] {
                prop_assert_eq!(GlobalId::decode(&global.encode()), Some(global));
            }
        }
    }

    #[test]
    fn a_full_millisecond_spills_into_the_next() {
        let ids = Generator::default();
        ids.hold(lease(0, EPOCH_MS, i64::MAX));
        let made: Vec<_> = (0..5000).map(|_| ids.next(EPOCH_MS + 5).expect("held")).collect();
        assert!(made.is_sorted_by(|a, b| a < b));
        assert_eq!(ms_of(made[4095]), EPOCH_MS + 5);
        assert_eq!(ms_of(made[4096]), EPOCH_MS + 6);
    }

    #[test]
    fn a_new_holder_starts_above_the_high_water_and_no_one_passes_it() {
        let ids = Generator::default();
        ids.hold(lease(3, EPOCH_MS + 500, EPOCH_MS + 600));
        assert_eq!(ms_of(ids.next(EPOCH_MS + 100).expect("held")), EPOCH_MS + 501);
        assert!(ids.next(EPOCH_MS + 601).is_err());
    }

    #[test]
    fn a_lease_that_is_given_up_tells_what_was_used_by_its_holder_or_before() {
        let ids = Generator::default();
        ids.hold(lease(3, EPOCH_MS + 500, EPOCH_MS + 600));
        ids.hold(lease(3, 0, EPOCH_MS + 900));
        assert_eq!(ms_of(ids.next(EPOCH_MS + 100).expect("held")), EPOCH_MS + 501);
        ids.hold(lease(3, 0, EPOCH_MS + 900));
        assert_eq!(ms_of(ids.next(EPOCH_MS + 700).expect("held")), EPOCH_MS + 700);
        assert_eq!(ids.release(), EPOCH_MS + 700);
        assert!(ids.next(EPOCH_MS + 800).is_err());
        ids.hold(lease(4, EPOCH_MS + 2000, EPOCH_MS + 3000));
        assert_eq!(ids.release(), EPOCH_MS + 2000);
    }

    #[test]
    fn no_lease_or_one_past_its_deadline_makes_nothing() {
        let ids = Generator::default();
        assert!(ids.next(EPOCH_MS).is_err());
        ids.hold(Lease { deadline: Instant::now(), ..lease(3, EPOCH_MS, i64::MAX) });
        assert!(ids.next(EPOCH_MS + 1).is_err());
    }

    #[test]
    fn damaged_global_ids_are_none() {
        for text in ["", "u", "!!", "dQ", "not-an-id", &GlobalId::User(5).encode()[1..]] {
            assert_eq!(GlobalId::decode(text), None, "{text}");
        }
    }
}
