//! The shapes of the gate: a subject, a verdict, and the proof of a verdict.

use std::ops::Deref;

/// Something that may be hidden from a viewer.
pub trait Subject {
    /// Whether its author took it back.
    fn is_deleted(&self) -> bool;
}

/// A subject that the viewer of this request may see. Only `audience::rules` makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visible<T>(T);

impl<T> Visible<T> {
    pub(super) fn new(subject: T) -> Self {
        Self(subject)
    }
}

impl<T> Deref for Visible<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// What the gate says of a subject for a viewer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<T> {
    /// The viewer may see it.
    Visible(Visible<T>),
    /// The viewer would see it, had its author not deleted it.
    Gone,
}

impl<T> Verdict<T> {
    /// The subject, if it may be seen.
    pub fn visible(self) -> Option<Visible<T>> {
        match self {
            Self::Visible(subject) => Some(subject),
            Self::Gone => None,
        }
    }
}
