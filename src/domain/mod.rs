//! What Kith knows and does, room by room. A room names only rooms above it.

pub mod drift;
pub mod events;
pub mod idempotency;

pub mod users;

pub mod auth;
pub mod follows;

pub mod audience;

pub mod messages;

pub mod likes;
pub mod inbox;
pub mod reading;

pub mod capacity;
pub mod seed;

pub mod reconcile;
