//! The front door: HTTP in, HTTP out. It carries requests to the schema and answers back, and says who
//! asks. Never decisions about what anybody may see or do.

pub mod server;
mod graphql;
mod media;
mod metrics;
mod params;
mod session;
mod limits;
mod variables;
mod once;
mod codes;
mod answer;
mod health;
mod playground;
mod trace;
