//! Who posts when in a made-up world: some much more than others, by the day and the night of where they are, and
//! more of late. Never what a message says: that is `texts.rs`.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::domain::messages::model::Kind;
use crate::domain::seed::chance::{Stream, Urn, percent, stream, zipf};
use crate::domain::seed::model::{Person, Plan, Post};
use crate::domain::seed::rules::POSTING;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// How much is posted in each hour of a person's day.
const RHYTHM: [u64; 24] = [4, 2, 1, 1, 1, 2, 5, 9, 12, 11, 10, 10, 13, 12, 9, 9, 10, 12, 14, 16, 18, 17, 13, 8];

/// The messages, oldest first.
pub fn make(plan: &Plan, people: &[Person]) -> Vec<Post> {
    let mut rng = stream(plan.seed, Stream::Messages);
    let count = people.len() as u32;
    let rates = zipf(&mut rng, count, 2 + count / 10);
    let authors = Urn::new((0..).zip(rates));
    let hours = Urn::new((0..).zip(RHYTHM));
    let mut posts = Vec::with_capacity(plan.size.messages as usize);
    for _ in 0..plan.size.messages {
        let Some(author) = authors.draw(&mut rng) else { break };
        let person = &people[author as usize];
        let ms = moment(&mut rng, &hours, person, plan.until_ms);
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
fn moment(rng: &mut ChaCha8Rng, hours: &Urn, person: &Person, until_ms: i64) -> i64 {
    let from = (until_ms - POSTING.num_milliseconds()).max(person.joined_ms + 1).min(until_ms - 1);
    for _ in 0..8 {
        // The later of two even draws: what is posted grows steadily.
        let day = rng.random_range(from..until_ms).max(rng.random_range(from..until_ms)) / DAY_MS * DAY_MS;
        let hour = hours.draw(rng).map_or(12, i64::from) - person.utc_hours;
        let ms = day + hour.rem_euclid(24) * HOUR_MS + rng.random_range(0..HOUR_MS);
        if (from..until_ms).contains(&ms) {
            return ms;
        }
    }
    rng.random_range(from..until_ms)
}
