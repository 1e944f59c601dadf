//! How a person proves who they are: passwords, sessions and tokens. Never who they are: that is `users`.

pub mod model;
pub mod passwords;
pub mod read;
pub mod refresh_tokens;
pub mod repair;
pub mod rules;
pub mod tokens;
pub mod write;
