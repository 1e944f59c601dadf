//! Who follows whom. Never what a follow brings into a feed: that is `inbox`.

pub mod model;
pub mod read;
pub mod write;
