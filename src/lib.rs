//! Kith, a GraphQL social API server. This is the map: the modules in reading order, from the ground up.
//! A module names only modules above it; `tests/front_door/walls.rs` holds that.

pub mod config;
pub mod error;
pub mod ids;
pub mod page;
pub mod text;
pub mod time;
pub mod viewer;

pub mod app;

pub mod db;
pub mod domain;
pub mod graphql;
pub mod kv;
pub mod queue;
pub mod worker;
