//! Who knows whom: draws by weight, and pairs without repetition. Never who the people are.

use std::collections::HashSet;

use rand::Rng;

/// Draws numbers by their weights.
#[derive(Debug)]
pub struct Weighted {
    numbers: Vec<u32>,
    sums: Vec<f64>,
}

impl Weighted {
    /// `numbers` with a weight each, of which one at least is positive.
    pub fn new(weighted: impl Iterator<Item = (u32, f64)>) -> Self {
        let (mut numbers, mut sums, mut sum) = (Vec::new(), Vec::new(), 0.0);
        for (number, weight) in weighted {
            sum += weight;
            numbers.push(number);
            sums.push(sum);
        }
        Self { numbers, sums }
    }

    /// One of the numbers; `None` if there are none.
    pub fn draw(&self, rng: &mut impl Rng) -> Option<u32> {
        let sum = self.sums.last()?;
        let at = self.sums.partition_point(|below| *below <= rng.random::<f64>() * sum);
        self.numbers.get(at.min(self.numbers.len() - 1)).copied()
    }
}

/// The weight of the `rank`-th most popular of many, from 0 (Zipf's law with an exponent of 0.8, as seen in the follower
/// counts of large networks).
pub fn zipf(rank: usize) -> f64 {
    1.0 / (rank as f64 + 1.0).powf(0.8)
}

/// Pairs of different kinds that do not repeat.
#[derive(Debug, Default)]
pub struct Pairs {
    known: HashSet<u64>,
    /// In the order in which they were added.
    pub list: Vec<(u32, u32)>,
}

impl Pairs {
    /// Takes in a pair. Answers whether it is new.
    pub fn add(&mut self, a: u32, b: u32) -> bool {
        let is_new = self.known.insert(u64::from(a) << 32 | u64::from(b));
        if is_new {
            self.list.push((a, b));
        }
        is_new
    }

    /// Adds what `draw` draws until there are `count` of them. When it draws little that is new, so that chance would take
    /// for ever, the rest is taken in order from `all`.
    pub fn fill(
        &mut self,
        count: usize,
        mut draw: impl FnMut() -> Option<(u32, u32)>,
        all: impl Iterator<Item = (u32, u32)>,
    ) {
        let mut in_vain = 0;
        while self.list.len() < count && in_vain < 1000 {
            match draw() {
                Some((a, b)) if self.add(a, b) => in_vain = 0,
                _ => in_vain += 1,
            }
        }
        for (a, b) in all {
            if self.list.len() >= count {
                return;
            }
            self.add(a, b);
        }
    }
}
