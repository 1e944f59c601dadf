//! The oracle: random histories of a few people, and after every single thing that happens, feeds walked in both
//! directions and compared with the definition. A failure prints its seed and the shortest history that fails.
//!
//! The seeds below always run; `KITH_LONG=1` runs as many as `KITH_SEEDS` says, 200 unless it does.

pub mod definition;
mod history;
mod play;
mod together;
mod world;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

/// Plays random histories of `seed`. The same seed plays the same histories.
fn run(seed: u64, cases: u32) {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases, failure_persistence: None, max_shrink_time: 60_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let outcome = runner.run(&history::history(), |history| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(play::play(&history)).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, history)) => {
            let moments: Vec<String> = history.moments.iter().map(|moment| format!("  {moment:?}")).collect();
            let (start, pull_from) = (history.start, history.pull_from);
            panic!(
                "seed {seed}: {why}\nthe shortest history that fails (from {start:?}, pulled from {pull_from}):\n{}",
                moments.join("\n")
            );
        }
        Err(TestError::Abort(why)) => panic!("seed {seed} was given up: {why}"),
    }
}

macro_rules! seeds {
    ($($name:ident: $seed:literal),* $(,)?) => { $(
        #[test]
        fn $name() {
            run($seed, 3);
        }
    )* };
}

seeds! {
    histories_of_seed_1: 1,
    histories_of_seed_2: 2,
    histories_of_seed_3: 3,
    histories_of_seed_4: 4,
    histories_of_seed_5: 5,
    histories_of_seed_6: 6,
    histories_of_seed_7: 7,
    histories_of_seed_8: 8,
}

#[test]
fn histories_of_many_seeds() {
    if std::env::var_os("KITH_LONG").is_none() {
        return;
    }
    let count = std::env::var("KITH_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    for seed in 1000..1000 + count {
        run(seed, 8);
    }
}
