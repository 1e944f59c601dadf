//! Chance that can be repeated: streams of random numbers and weighted draws. Only whole numbers, the four operations and
//! square roots, which are the same on every machine (IEEE 754); never logarithms or powers, which are not.

use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What is drawn for; each has a stream of its own, so that more of one changes nothing of another.
#[derive(Clone, Copy, Debug)]
pub enum Stream {
    /// Who there is.
    People,
    /// Who follows whom.
    Follows,
    /// Who posts when.
    Messages,
    /// Who likes what.
    Likes,
    /// What the message of this number says.
    Text(u32),
}

/// The random numbers of a stream. ChaCha with 8 rounds: unlike rand's `StdRng` it is promised to stay what it is.
pub fn stream(seed: u64, of: Stream) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(match of {
        Stream::People => 0,
        Stream::Follows => 1,
        Stream::Messages => 2,
        Stream::Likes => 3,
        Stream::Text(number) => 1 << 32 | u64::from(number),
    });
    rng
}

/// Balls of different weights.
#[derive(Debug)]
pub struct Urn {
    balls: Vec<u32>,
    /// The sum of the weights up to and with each.
    sums: Vec<u64>,
}

impl Urn {
    /// With each ball goes its weight.
    pub fn new(balls: impl IntoIterator<Item = (u32, u64)>) -> Self {
        let mut sum = 0;
        let (balls, sums) = balls.into_iter().map(|(ball, weight)| (ball, add(&mut sum, weight))).unzip();
        Self { balls, sums }
    }

    /// A ball, which stays in. `None` if there is none with a weight.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> Option<u32> {
        let total = *self.sums.last().filter(|total| **total > 0)?;
        let at = rng.random_range(0..total);
        self.balls.get(self.sums.partition_point(|sum| *sum <= at)).copied()
    }
}

fn add(sum: &mut u64, weight: u64) -> u64 {
    *sum += weight;
    *sum
}

/// Weights by Zipf's law in a random order: that of rank r is as 1 / (r + `flat`)^(5/4). The greater `flat`, the less the
/// first ranks stand out (Mandelbrot's form of the law).
pub fn zipf(rng: &mut ChaCha8Rng, count: u32, flat: u32) -> Vec<u64> {
    let weight = |rank: u32| {
        let rank = f64::from(rank) + f64::from(flat);
        (1e13 / (rank * rank.sqrt().sqrt())) as u64
    };
    let mut weights: Vec<u64> = (1..=count).map(weight).collect();
    weights.shuffle(rng);
    weights
}

/// One of several, if there are any.
pub fn one_of<'a, T>(rng: &mut ChaCha8Rng, of: &'a [T]) -> Option<&'a T> {
    (!of.is_empty()).then(|| rng.random_range(0..of.len())).and_then(|at| of.get(at))
}

/// True in so many of a hundred cases.
pub fn percent(rng: &mut ChaCha8Rng, of_hundred: u32) -> bool {
    rng.random_range(0..100) < of_hundred
}

/// A moment from `from` on and before `to`, mostly soon after `from`: the smallest of `of` even draws.
pub fn soon_after(rng: &mut ChaCha8Rng, from: i64, to: i64, of: usize) -> i64 {
    (0..of.max(1)).map(|_| rng.random_range(from..to.max(from + 1))).min().unwrap_or(from)
}

/// Goes once through all pairs of `left` and `right` numbers, in an order that looks like none, until `take` answers
/// false: for what is so dense that drawing would meet only what is taken.
pub fn every_pair(rng: &mut ChaCha8Rng, left: u32, right: u32, mut take: impl FnMut(u32, u32) -> bool) {
    let all = u64::from(left) * u64::from(right);
    // A prime that does not divide the number of pairs goes round through all of them.
    let Some(step) = [2_654_435_761, 40_503, 7_919, 101, 13].into_iter().find(|prime| all % prime != 0) else { return };
    let mut at = rng.random_range(0..all.max(1));
    for _ in 0..all {
        at = ((u128::from(at) + u128::from(step)) % u128::from(all)) as u64;
        if !take((at / u64::from(right)) as u32, (at % u64::from(right)) as u32) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn an_urn_follows_its_weights() {
        let mut rng = stream(1, Stream::People);
        let urn = Urn::new([(7, 1), (8, 0), (9, 3)]);
        let drawn: Vec<_> = (0..4000).filter_map(|_| urn.draw(&mut rng)).collect();
        let count = |ball| drawn.iter().filter(|drawn| **drawn == ball).count();
        assert_eq!((drawn.len(), count(8)), (4000, 0));
        assert!((900..1100).contains(&count(7)), "{}", count(7));
        assert_eq!(Urn::new([]).draw(&mut rng), None);
        assert_eq!(Urn::new([(1, 0)]).draw(&mut rng), None);
    }

    #[test]
    fn every_pair_comes_once() {
        for (left, right) in [(1, 1), (7, 13), (101, 13), (40, 50)] {
            let mut seen = HashSet::new();
            every_pair(&mut stream(1, Stream::Likes), left, right, |a, b| {
                assert!(a < left && b < right && seen.insert((a, b)));
                true
            });
            assert_eq!(seen.len() as u32, left * right);
        }
    }

    #[test]
    fn the_numbers_stay_what_they_are() {
        let mut rng = stream(42, Stream::Text(7));
        let numbers: Vec<u32> = (0..4).map(|_| rng.random_range(0..1000)).collect();
        assert_eq!(numbers, [708, 441, 566, 955], "every world made so far is another one now");
    }
}
