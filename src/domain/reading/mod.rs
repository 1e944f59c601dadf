//! Up to where a person has read a feed, kept for all of their devices. Never what is in the feed.

pub mod model;
pub mod read;
pub mod write;
