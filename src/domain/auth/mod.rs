//! How a person proves who they are: passwords, sessions and tokens. Never who they are: that is `users`.

pub mod model;
pub mod read;
pub mod tokens;
