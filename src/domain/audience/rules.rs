//! The rule of the gate: pure, no await, no clock of its own.

use crate::domain::audience::model::{Subject, Verdict, Visible};

/// What the gate says of `subject`.
pub fn judge<T, S>(subject: T) -> Verdict<T>
where
    T: std::ops::Deref<Target = S>,
    S: Subject,
{
    if subject.is_deleted() { Verdict::Gone } else { Verdict::Visible(Visible::new(subject)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fake {
        is_deleted: bool,
    }

    impl Subject for Fake {
        fn is_deleted(&self) -> bool {
            self.is_deleted
        }
    }

    #[test]
    fn what_its_author_deleted_is_gone_and_the_rest_is_visible() {
        assert!(judge(&Fake { is_deleted: true }).visible().is_none());
        assert!(judge(&Fake { is_deleted: false }).visible().is_some());
    }
}
