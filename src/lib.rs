//! Kith, a GraphQL social API server. This is the map: the modules in reading order, from the ground up.
//! A module names only modules above it; `tests/front_door/walls.rs` holds that.

#![warn(missing_docs, clippy::unwrap_used, clippy::expect_used)]

pub mod error;
pub mod time;
pub mod text;
pub mod viewer;
pub mod ids;
pub mod config;
pub mod tls;
pub mod page;

pub mod telemetry;
pub mod db;
pub mod kv;
pub mod queue;
pub mod domain;
pub mod app;

pub mod graphql;
pub mod worker;
pub mod http;
pub mod cli;
