//! A demo world: believable people, whom they follow, what they post and like. The same sizes, seed and moment make the same
//! world. Everything but `write` is pure. Never for production: all of its people share one password.

mod graph;
mod ids;
pub mod model;
mod phrases;
pub mod world;
pub mod write;
