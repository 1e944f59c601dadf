//! What happens behind the requests: what follows from events, and what the clock calls for. Never SQL.

pub mod reactions;
pub mod clock;
pub mod run;
