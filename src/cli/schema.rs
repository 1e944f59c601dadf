//! `kith schema`: prints the GraphQL schema. It needs no environment.

use std::io::{Write, stdout};

use crate::cli::start::Outcome;
use crate::graphql::schema;

/// Prints the schema in the schema definition language, as it stands in `schema.graphql`.
pub fn run() -> Outcome {
    let printed = stdout().write_all(schema::build().sdl().as_bytes());
    printed.map_err(|error| format!("the schema could not be printed: {error}"))
}
