//! The front door: HTTP in, HTTP out. It carries requests to the schema and answers back, and says who
//! asks. Never decisions about what anybody may see or do.

mod answer;
mod codes;
mod graphql;
mod health;
mod limits;
mod media;
mod params;
mod playground;
pub mod server;
mod session;
mod trace;
