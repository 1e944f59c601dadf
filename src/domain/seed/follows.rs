//! Who follows whom in a made-up world: popularity by Zipf's law, mostly within a language or a topic, often
//! mutual. Never twice, never oneself, and exactly as many as asked for.

use std::collections::HashSet;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::domain::seed::chance::{self, Stream, Urn, one_of, percent, soon_after, stream, zipf};
use crate::domain::seed::model::{Follow, Person, Plan};
use crate::domain::seed::rules::GUESTS;
use crate::domain::seed::words::TOPICS;

/// After so many draws in a row that brought nothing new, nearly everybody follows everybody.
const PATIENCE: u32 = 2_000;

/// A friend follows back within so many milliseconds: five days.
const FRIEND_WITHIN: i64 = 5 * 24 * 3_600_000;

/// The follows, in no particular order.
pub fn make(plan: &Plan, people: &[Person]) -> Vec<Follow> {
    let mut rng = stream(plan.seed, Stream::Follows);
    let circles = Circles::draw_up(&mut rng, people);
    let mut graph = Graph::new(plan, people);
    for (guest, number) in GUESTS.iter().zip(0..).take(people.len()) {
        let quota = guest.follows.min(plan.size.follows as usize / 10);
        let mut misses = 0;
        while graph.following[number as usize] < quota && misses < PATIENCE {
            let Some(followee) = circles.somebody_for(&mut rng, &people[number as usize]) else { break };
            misses += u32::from(!graph.add(&mut rng, number, followee, 0));
        }
    }
    let mut misses = 0;
    while !graph.is_full() && misses < PATIENCE {
        let Some(follower) = circles.eager.draw(&mut rng) else { break };
        let followee = match percent(&mut rng, 10) {
            true => one_of(&mut rng, &graph.followers[follower as usize]).copied(),
            false => circles.somebody_for(&mut rng, &people[follower as usize]),
        };
        let is_new = followee.is_some_and(|followee| graph.add(&mut rng, follower, followee, 55));
        misses = if is_new { 0 } else { misses + 1 };
    }
    if !graph.is_full() {
        let count = people.len() as u32;
        let mut order = rng.clone();
        chance::every_pair(&mut order, count, count, |follower, followee| {
            graph.add(&mut rng, follower, followee, 0);
            !graph.is_full()
        });
    }
    graph.follows
}

/// Whom somebody can come across.
struct Circles {
    everybody: Urn,
    /// By language.
    languages: Vec<(&'static str, Urn)>,
    /// By topic.
    topics: Vec<Urn>,
    /// Everybody, by how eagerly they follow.
    eager: Urn,
}

impl Circles {
    fn draw_up(rng: &mut ChaCha8Rng, people: &[Person]) -> Self {
        let count = people.len() as u32;
        let mut popular = zipf(rng, count, 2 + count.isqrt() / 16);
        // Those whom the documents name are people like others.
        let usual = popular.iter().copied().min().unwrap_or_default() * 3;
        popular.iter_mut().take(GUESTS.len()).for_each(|weight| *weight = usual);
        let eager = zipf(rng, count, 1 + count / 8);
        let among = |is_in: &dyn Fn(&Person) -> bool| {
            let inside = people.iter().zip(0..).zip(&popular).filter(|((person, _), _)| is_in(person));
            Urn::new(inside.map(|((_, number), weight)| (number, *weight)))
        };
        let mut codes: Vec<_> = people.iter().map(|person| person.language.code).collect();
        codes.sort_unstable();
        codes.dedup();
        Self {
            everybody: among(&|_| true),
            languages: codes.iter().map(|code| (*code, among(&|person| person.language.code == *code))).collect(),
            topics: (0..TOPICS.len()).map(|topic| among(&|person| person.topics[..2].contains(&topic))).collect(),
            eager: Urn::new((0..).zip(eager)),
        }
    }

    fn somebody_for(&self, rng: &mut ChaCha8Rng, person: &Person) -> Option<u32> {
        match rng.random_range(0..100) {
            0..60 => self.languages.iter().find(|(code, _)| *code == person.language.code)?.1.draw(rng),
            60..80 => self.topics.get(person.topics[rng.random_range(0..2)])?.draw(rng),
            _ => self.everybody.draw(rng),
        }
    }
}

struct Graph<'a> {
    people: &'a [Person],
    until_ms: i64,
    count: usize,
    follows: Vec<Follow>,
    known: HashSet<(u32, u32)>,
    followers: Vec<Vec<u32>>,
    following: Vec<usize>,
}

impl<'a> Graph<'a> {
    fn new(plan: &Plan, people: &'a [Person]) -> Self {
        let count = plan.size.follows as usize;
        Self {
            people,
            until_ms: plan.until_ms,
            count,
            follows: Vec::with_capacity(count),
            known: HashSet::with_capacity(count),
            followers: vec![Vec::new(); people.len()],
            following: vec![0; people.len()],
        }
    }

    fn is_full(&self) -> bool {
        self.follows.len() >= self.count
    }

    /// Answers whether that is new. If so, the other follows back in so many of a hundred cases, unless too many follow
    /// them for that.
    fn add(&mut self, rng: &mut ChaCha8Rng, follower: u32, followee: u32, friends: u32) -> bool {
        let [one, other] = [follower, followee].map(|number| self.people[number as usize].joined_ms);
        let ms = soon_after(rng, one.max(other) + 1, self.until_ms, 2);
        let is_new = self.insert(Follow { follower, followee, ms });
        let usual = 3 * self.count / self.people.len();
        if is_new && self.followers[followee as usize].len() <= usual && percent(rng, friends) {
            let ms = soon_after(rng, ms, self.until_ms.min(ms + FRIEND_WITHIN), 3);
            self.insert(Follow { follower: followee, followee: follower, ms });
        }
        is_new
    }

    fn insert(&mut self, follow: Follow) -> bool {
        let Follow { follower, followee, .. } = follow;
        if self.is_full() || follower == followee || !self.known.insert((follower, followee)) {
            return false;
        }
        self.followers[followee as usize].push(follower);
        self.following[follower as usize] += 1;
        self.follows.push(follow);
        true
    }
}
