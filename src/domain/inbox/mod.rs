//! Feeds and the inboxes that make them fast: an index in Redis that may be lost or incomplete at any
//! time and never changes an answer. Publishing puts references in (`deliver`), the feed fetcher reads
//! them (`read`) and what they do not hold (`pull`), reading makes a feed hot (`write`), and what was lost is built anew
//! (`repair`). Never what a viewer may see.

pub mod deliver;
pub mod model;
mod pull;
pub mod read;
pub mod repair;
pub mod sample;
mod scripts;
pub mod state;
pub mod write;
