//! What happens behind the requests. Never SQL.

pub mod reactions;
