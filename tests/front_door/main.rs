//! Kith's tests, through the front door: HTTP to `/graphql`, a real Postgres, a real Redis, the worker stepped by hand.
//! No test sleeps, shares anything with another one, or depends on an order.

#[allow(dead_code, unused_imports, reason = "the harness is there before what will need it")]
mod harness;

mod accounts;
mod budgets;
mod capacity;
mod commands;
mod docs;
mod env_example;
mod faults;
mod feed;
mod follows;
mod guards;
mod http;
mod hybrid;
mod ids;
mod inbox;
mod known_bugs;
mod likes;
mod logs;
mod messages;
mod metrics;
mod migrations;
mod news;
mod oracle;
mod pages;
mod pools;
mod queue;
mod races;
mod reading;
mod rebuild;
mod reconcile;
mod schema_sdl;
mod seed;
mod shared_commit;
mod start;
mod tiers;
mod traces;
mod walls;
