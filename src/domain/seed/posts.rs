//! Who posts when in a made-up world: some much more than others, by the day and the night of where they are, and
//! more of late. Never what a message says: that is `texts.rs`.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::domain::messages::model::Kind;
use crate::domain::seed::chance::{Stream, Urn, percent, stream, zipf};
use crate::domain::seed::model::{Person, Plan, Post};
use crate::domain::seed::rules::POSTING;

const HOUR_MS: i64 = 3_600_000;

/// How much is posted in each hour of a person's day.
const RHYTHM: [u32; 24] = [4, 2, 1, 1, 1, 2, 5, 9, 12, 11, 10, 10, 13, 12, 9, 9, 10, 12, 14, 16, 18, 17, 13, 8];
const BUSIEST: u32 = 18;

/// The messages, oldest first.
pub fn make(plan: &Plan, people: &[Person]) -> Vec<Post> {
    let mut rng = stream(plan.seed, Stream::Messages);
    let count = people.len() as u32;
    let rates = zipf(&mut rng, count, 2 + count / 50);
    let authors = Urn::new((0..).zip(rates));
    let mut posts = Vec::with_capacity(plan.size.messages as usize);
    for _ in 0..plan.size.messages {
        let Some(author) = authors.draw(&mut rng) else { break };
        let person = &people[author as usize];
        let ms = moment(&mut rng, person, plan.until_ms);
        let channel = if percent(&mut rng, 15) { person.second_channel } else { 0 };
        let kind = match rng.random_range(0..100) {
            0..86 => Kind::Text,
            86..97 => Kind::Image,
            _ => Kind::Video,
        };
        posts.push(Post { author, ms, channel, kind });
    }
    posts.sort_by_key(|post| (post.ms, post.author));
    posts
}

/// When somebody posts: not before they signed up, and before `until_ms`.
fn moment(rng: &mut ChaCha8Rng, person: &Person, until_ms: i64) -> i64 {
    let from = (until_ms - POSTING.num_milliseconds()).max(person.joined_ms + 1).min(until_ms - 1);
    let mut ms = from;
    for _ in 0..16 {
        // The later of two even draws: what is posted grows steadily.
        ms = rng.random_range(from..until_ms).max(rng.random_range(from..until_ms));
        let hour = (ms / HOUR_MS + person.utc_hours).rem_euclid(24) as usize;
        if rng.random_range(0..BUSIEST) < RHYTHM[hour] {
            break;
        }
    }
    ms
}
