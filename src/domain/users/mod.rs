//! People: who they are and how many of what they have. Never how they prove it: that is `auth`.

pub mod model;
pub mod read;
pub mod repair;
pub mod rules;
pub mod write;
