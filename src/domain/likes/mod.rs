//! Who likes what. Never who is told of it.

pub mod model;
pub mod read;
pub mod repair;
pub mod rules;
pub mod write;
