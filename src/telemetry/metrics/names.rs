//! The names of GraphQL operations as labels: clients choose them, so only so many are told apart. Never what ran.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use prometheus_client::encoding::{EncodeLabelValue, LabelValueEncoder};

/// How many names are told apart. Each makes some dozens of time series.
const MOST: usize = 100;

/// The longest name that is told apart, in bytes (a name is ASCII).
const LONGEST: usize = 64;

/// The name of an operation, as a label: its own, `other`, or `anonymous` without one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OperationName {
    /// It has none.
    Anonymous,
    /// Its own.
    Known(Arc<str>),
    /// One of those that are not told apart.
    Other,
}

impl EncodeLabelValue for OperationName {
    fn encode(&self, encoder: &mut LabelValueEncoder) -> Result<(), std::fmt::Error> {
        match self {
            Self::Anonymous => "anonymous",
            Self::Known(name) => name,
            Self::Other => "other",
        }
        .encode(encoder)
    }
}

/// The names that are told apart: the first ones that were executed, until the process ends.
#[derive(Debug, Default)]
pub struct OperationNames(RwLock<HashSet<Arc<str>>>);

impl OperationNames {
    /// The label of an operation that was executed: a name that is new is kept as long as there is room.
    pub fn executed(&self, name: Option<&str>) -> OperationName {
        let label = self.refused(name);
        match (name, &label) {
            (Some(name), OperationName::Other) if name.len() <= LONGEST => self.keep(name),
            _ => label,
        }
    }

    /// The label of an operation that was not executed, whose name is nobody's but the client's.
    pub fn refused(&self, name: Option<&str>) -> OperationName {
        let Some(name) = name else { return OperationName::Anonymous };
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner);
        kept.get(name).map_or(OperationName::Other, |name| OperationName::Known(name.clone()))
    }

    fn keep(&self, name: &str) -> OperationName {
        // Once full, it stays so: nobody waits for the lock in vain.
        if self.0.read().unwrap_or_else(PoisonError::into_inner).len() >= MOST {
            return OperationName::Other;
        }
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST && !kept.contains(name) {
            return OperationName::Other;
        }
        let name: Arc<str> = name.into();
        kept.insert(name.clone());
        OperationName::Known(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_names_that_ran_are_told_apart_and_the_rest_is_other() {
        let names = OperationNames::default();
        assert_eq!(names.refused(Some("Feed")), OperationName::Other);
        assert_eq!(names.executed(None), OperationName::Anonymous);
        for n in 0..MOST {
            let name = format!("Name{n}");
            let known = OperationName::Known(name.as_str().into());
            assert_eq!([names.executed(Some(&name)), names.refused(Some(&name))], [known.clone(), known]);
        }
        assert_eq!(names.executed(Some("OneMore")), OperationName::Other);
        assert_eq!(names.executed(Some("Name0")), OperationName::Known("Name0".into()));
        assert_eq!(names.refused(None), OperationName::Anonymous);
    }

    #[test]
    fn a_long_name_is_other() {
        let names = OperationNames::default();
        assert_eq!(names.executed(Some(&"x".repeat(LONGEST + 1))), OperationName::Other);
        assert!(matches!(names.executed(Some(&"x".repeat(LONGEST))), OperationName::Known(_)));
    }
}
