//! The schema: what clients see. It parses inputs, calls `domain`, wraps rows, and batches what a page
//! needs. Never SQL, never Redis, never a status code.

pub mod connection;
pub mod context;
pub mod errors;
pub mod loaders;
pub mod schema;
pub mod users;
