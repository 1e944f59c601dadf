//! How much a Kith of some size takes: rows, disk, memory, work. Never a setting of the server.

pub mod measure;
pub mod model;
pub mod rules;
