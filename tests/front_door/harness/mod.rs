//! What the tests stand on: a Kith of their own, people who use it, and a clock that they move.
//! Never an assertion about what Kith does.
//!
//! ```ignore
//! #[tokio::test]
//! async fn a_follower_reads_what_is_posted() {
//!     let kith = Kith::start().await;
//!     let (ada, bob) = (kith.sign_up("ada").await, kith.sign_up("bob").await);
//!     bob.follow(&ada).await;
//!     let hello = ada.post("Hello.").await;
//!     kith.drain().await;
//!     assert_eq!(bob.walk(First(2)).await, [hello]);
//!     kith.finish().await;
//! }
//! ```
//!
//! A test is a plain `#[tokio::test]`: the connections of its Kith are driven by the thread of the test,
//! while HTTP is answered on threads of its own. So a test never blocks; it awaits.

mod answer;
mod client;
mod clock;
mod feed;
mod kith;
mod landlord;
mod person;
mod process;
mod raw;
mod servers;
mod sql;
mod statements;
mod until;

pub use answer::Answer;
pub use client::Client;
pub use clock::{ManualClock, START_MS};
pub use feed::{Ask, FEED, Page, Walk};
pub use kith::{Kith, PASSWORD, SECRETS};
pub use landlord::{Database, redis as redis_url};
pub use person::Person;
pub use process::Process;
pub use raw::raw;
pub use servers::{Directory, PostgresServer, RedisServer, erase, home, services};
pub use sql::Sql;
pub use statements::watch_statements;
pub use until::until;
