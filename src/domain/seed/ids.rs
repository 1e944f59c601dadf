//! Ids for what happened in the past. Never for what happens now: that is `crate::ids`.

use std::collections::HashMap;

use crate::ids::{EPOCH_MS, floor_of_ms};

/// The node number whose ids belong to seeded worlds; the lease of it is marked as used up to the end of the world.
pub const NODE: i16 = 1023;

const SEQUENCES: i64 = 1 << 12;

/// Gives out the ids of one node, in any order of time.
#[derive(Debug, Default)]
pub struct Ids(HashMap<i64, i64>);

impl Ids {
    /// A fresh id of the millisecond `unix_ms`, or of the first earlier one that has room.
    pub fn at(&mut self, unix_ms: i64) -> i64 {
        let mut ms = unix_ms.max(EPOCH_MS);
        loop {
            let used = self.0.entry(ms).or_insert(0);
            if *used < SEQUENCES {
                *used += 1;
                return floor_of_ms(ms) | (i64::from(NODE) << 12) | (*used - 1);
            }
            ms = if ms > EPOCH_MS { ms - 1 } else { unix_ms.max(EPOCH_MS) + 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::ids::ms_of;

    #[test]
    fn ids_of_one_moment_are_unique() {
        let mut ids = Ids::default();
        let at = EPOCH_MS + 1000;
        let made: HashSet<i64> = (0..10_000).map(|_| ids.at(at)).collect();
        assert_eq!(made.len(), 10_000);
        assert!(made.iter().all(|id| (at - 2..=at).contains(&ms_of(*id))));
    }
}
