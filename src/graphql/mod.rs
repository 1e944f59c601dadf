//! The schema: what clients see. It parses inputs, calls `domain`, wraps rows, and batches what a page
//! needs. Never SQL, never Redis, never a status code.

pub mod accounts;
pub mod auth;
pub mod connection;
pub mod context;
pub mod errors;
pub mod feed;
mod fill;
mod finish;
pub mod follows;
pub mod gate;
pub mod history;
pub mod ids;
pub mod likes;
pub mod limits;
pub mod loaders;
pub mod messages;
pub mod news;
pub mod nodes;
pub mod reading;
pub mod schema;
pub mod sessions;
pub mod users;
mod wave;
