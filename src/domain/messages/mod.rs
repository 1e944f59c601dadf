//! What people post. Never how it reaches anybody: that is `inbox`.

pub mod model;
pub mod partitions;
pub mod read;
pub mod repair;
pub mod rules;
pub mod write;
