//! A believable world to try Kith on: who there is, follows, posts and likes is made up by rules (the same each time,
//! without looking at anything) and then written into an empty database in one go.

mod chance;
mod follows;
mod likes;
pub mod model;
mod names;
mod people;
mod posts;
pub mod rules;
mod texts;
mod words;
pub mod world;
pub mod write;
