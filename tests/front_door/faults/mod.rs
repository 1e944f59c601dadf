//! Faults of real processes: servers and workers that are killed and stopped, a Postgres and a Redis that end, lose what
//! they had, fill up, slow down or fall silent, while people post, follow and read. Reads are right or UNAVAILABLE,
//! never wrong; what was acknowledged is there afterwards. `docs/faults.md` says for each fault what is shown here.

mod load;
mod postgres;
mod processes;
mod proxy;
mod redis_away;
mod redis_loses;
mod servers;
mod world;

pub use proxy::{Proxy, Weather};

use std::collections::BTreeSet;
use std::fs::read_to_string;

#[test]
fn the_document_names_every_test_and_no_other() {
    let root = env!("CARGO_MANIFEST_DIR");
    let document = read_to_string(format!("{root}/docs/faults.md")).expect("docs/faults.md");
    let named: BTreeSet<&str> = document.split('`').filter(|word| word.contains("::")).collect();
    let mut tests = BTreeSet::from(["ids::a_process_that_slept_through_its_lease_makes_no_id_under_it".to_owned()]);
    for file in ["processes", "postgres", "redis_away", "redis_loses"] {
        let text = read_to_string(format!("{root}/tests/front_door/faults/{file}.rs")).expect("a file");
        let names = text.split("#[tokio::test]\nasync fn ").skip(1).filter_map(|rest| rest.split('(').next());
        tests.extend(names.map(|name| format!("{file}::{name}")));
    }
    assert_eq!(named, tests.iter().map(String::as_str).collect());
}
