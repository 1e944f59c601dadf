//! Who likes what in a made-up world: mostly what those wrote whom one follows, few messages very much. Never twice,
//! never one's own, and exactly as many as asked for.

use std::collections::HashSet;

use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::domain::seed::chance::{self, Stream, Urn, one_of, percent, soon_after, stream, zipf};
use crate::domain::seed::model::{Follow, Like, Person, Plan, Post};

/// After so many draws in a row that brought nothing new, nearly everybody likes everything.
const PATIENCE: u32 = 2_000;

/// Hardly anybody likes what is older: three days.
const WITHIN: i64 = 3 * 24 * 3_600_000;

/// The likes, in no particular order.
pub fn make(plan: &Plan, people: &[Person], follows: &[Follow], posts: &[Post]) -> Vec<Like> {
    let mut rng = stream(plan.seed, Stream::Likes);
    let readers = Readers::gather(&mut rng, people, follows, posts);
    let mut likes = Likes {
        people,
        posts,
        until_ms: plan.until_ms,
        count: plan.size.likes as usize,
        known: HashSet::with_capacity(plan.size.likes as usize),
        likes: Vec::with_capacity(plan.size.likes as usize),
    };
    let mut misses = 0;
    while !likes.are_full() && misses < PATIENCE {
        let Some(user) = readers.eager.draw(&mut rng) else { break };
        let is_new = readers.message_for(&mut rng, user).is_some_and(|message| likes.add(&mut rng, user, message));
        misses = if is_new { 0 } else { misses + 1 };
    }
    if !likes.are_full() {
        let mut order = rng.clone();
        chance::every_pair(&mut order, people.len() as u32, posts.len() as u32, |user, message| {
            likes.add(&mut rng, user, message);
            !likes.are_full()
        });
    }
    likes.likes
}

/// Who reads what.
struct Readers {
    /// By how eagerly they like.
    eager: Urn,
    /// Whom each follows.
    following: Vec<Vec<u32>>,
    /// What each wrote, the best first.
    written: Vec<Vec<u32>>,
    /// All messages, by how good they are.
    messages: Urn,
}

impl Readers {
    fn gather(rng: &mut ChaCha8Rng, people: &[Person], follows: &[Follow], posts: &[Post]) -> Self {
        let (count, total) = (people.len() as u32, posts.len() as u32);
        let (mut following, mut written) = (vec![Vec::new(); people.len()], vec![Vec::new(); people.len()]);
        for follow in follows {
            following[follow.follower as usize].push(follow.followee);
        }
        for (post, number) in posts.iter().zip(0..) {
            written[post.author as usize].push(number);
        }
        written.iter_mut().for_each(|written: &mut Vec<u32>| written.shuffle(rng));
        let eager = Urn::new((0..).zip(zipf(rng, count, 1 + count / 10)));
        Self { eager, following, written, messages: Urn::new((0..).zip(zipf(rng, total, 20 + total / 100))) }
    }

    fn message_for(&self, rng: &mut ChaCha8Rng, user: u32) -> Option<u32> {
        if percent(rng, 15) {
            return self.messages.draw(rng);
        }
        let author = one_of(rng, &self.following[user as usize])?;
        let written = &self.written[*author as usize];
        let best = rng.random_range(0..written.len().max(1)).min(rng.random_range(0..written.len().max(1)));
        written.get(best).copied()
    }
}

struct Likes<'a> {
    people: &'a [Person],
    posts: &'a [Post],
    until_ms: i64,
    count: usize,
    known: HashSet<(u32, u32)>,
    likes: Vec<Like>,
}

impl Likes<'_> {
    fn are_full(&self) -> bool {
        self.likes.len() >= self.count
    }

    fn add(&mut self, rng: &mut ChaCha8Rng, user: u32, message: u32) -> bool {
        let post = self.posts[message as usize];
        if self.are_full() || post.author == user || !self.known.insert((user, message)) {
            return false;
        }
        let from = post.ms.max(self.people[user as usize].joined_ms) + 1;
        let ms = soon_after(rng, from, self.until_ms.min(from + WITHIN), 4);
        self.likes.push(Like { user, message, ms });
        true
    }
}
