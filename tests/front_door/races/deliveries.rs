//! What happens to inboxes and to those whose they are, between the steps of a delivery.

use std::time::Duration;

use kith::domain::inbox::model::{TRIM_AT, score};
use kith::kv::keys;
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use redis::AsyncCommands;

use super::{CHANNEL, Deed, Race, follow, hot, inboxes, loses, post, posted, reads, rebuilds, run, wants};
use crate::harness::{Kith, Person};

/// Followers of an author: so many that some get a head start.
const FOLLOWERS: usize = 12;

/// An author and the followers, who read just now, today, or long ago.
struct Tiers;

impl Race for Tiers {
    const PEOPLE: usize = 1 + FOLLOWERS;

    async fn prepare(kith: &Kith, rounds: &[&[Person]], rng: &mut StdRng) {
        let edges: Vec<(&Person, &Person)> =
            rounds.iter().flat_map(|round| round[1..].iter().map(|follower| (follower, &round[0]))).collect();
        let readers: Vec<&Person> = edges.iter().map(|(follower, _)| *follower).collect();
        let ago = |rng: &mut StdRng| [1, 10, 300, 3000][rng.random_range(0..4)];
        hot(kith, &readers.iter().map(|reader| (*reader, ago(rng))).collect::<Vec<_>>()).await;
        follow(kith, &edges).await;
        inboxes(kith, &readers, &vec![vec![]; readers.len()], 0).await;
    }

    fn deeds<'a>(kith: &'a Kith, people: &'a [Person], rng: &mut StdRng) -> Vec<Deed<'a>> {
        let mut followers: Vec<&Person> = people[1..].iter().collect();
        followers.shuffle(rng);
        let mut deeds = vec![post(kith, &people[0])];
        deeds.extend(followers[..3].iter().map(|follower| reads(kith, follower)));
        deeds.extend(followers[3..6].iter().map(|follower| grows_old(kith, follower)));
        deeds
    }

    fn readers(people: &[Person]) -> &[Person] {
        &people[1..2]
    }

    async fn judge(kith: &Kith, rounds: &[&[Person]]) {
        for follower in rounds.iter().flat_map(|round| &round[1..]) {
            let members: usize =
                kith.redis().zcard(keys::inbox(follower.viewer.user_id, CHANNEL)).await.expect("Redis");
            assert_eq!(members, 2, "{} has it", follower.viewer.user_id);
        }
    }
}

/// It becomes longer ago that a feed was read.
fn grows_old<'a>(kith: &'a Kith, reader: &'a Person) -> Deed<'a> {
    Box::pin(async move {
        let older = "UPDATE activity SET read_at = read_at - interval '1 day' WHERE user_id = $1";
        kith.sql().await.execute(older, &[&reader.viewer.user_id]).await;
    })
}

#[tokio::test]
async fn readers_who_change_tier_between_the_steps_of_a_delivery() {
    let kith = Kith::start_with(|config| config.delivery_chunk = 4).await;
    run::<Tiers>(kith).await;
}

/// A reader whose inbox is as full as one gets, two authors who filled it, and two who did not yet.
struct Trim;

/// How many references are in an inbox that the next delivery has trimmed: with it and the marker it is full.
const FULL: usize = TRIM_AT - 2;

/// So many are of one millisecond.
const SAME: usize = 6;

impl Race for Trim {
    const PEOPLE: usize = 5;

    async fn prepare(kith: &Kith, rounds: &[&[Person]], _: &mut StdRng) {
        hot(kith, &rounds.iter().map(|round| (&round[0], 0)).collect::<Vec<_>>()).await;
        let edges: Vec<_> =
            rounds.iter().flat_map(|round| round[1..].iter().map(|author| (&round[0], author))).collect();
        follow(kith, &edges).await;
        // Several in a millisecond, and some below the horizon.
        let readers: Vec<&Person> = rounds.iter().map(|round| &round[0]).collect();
        let mut held = vec![vec![]; rounds.len()];
        let mut horizon_ms = 0;
        for n in (0..FULL / SAME + 2).rev() {
            kith.clock.advance(Duration::from_millis(1));
            let authors: Vec<&Person> = rounds.iter().flat_map(|round| (0..SAME).map(|n| &round[1 + n % 2])).collect();
            let references = posted(kith, &authors).await;
            if n == FULL / SAME - 1 {
                horizon_ms = score(references[0]);
            }
            if n < FULL / SAME {
                held.iter_mut().zip(references.chunks(SAME)).for_each(|(held, some)| held.extend(some));
            }
        }
        inboxes(kith, &readers, &held, horizon_ms).await;
        kith.clock.advance(Duration::from_millis(1));
    }

    fn deeds<'a>(kith: &'a Kith, people: &'a [Person], rng: &mut StdRng) -> Vec<Deed<'a>> {
        let reader = &people[0];
        let mut deeds: Vec<Deed<'a>> = people[1..].iter().map(|author| post(kith, author)).collect();
        match rng.random_range(0..6) {
            0 => deeds.push(rebuilds(kith, reader)),
            1 => deeds.extend([loses(kith, reader), wants(kith, reader)]),
            _ => {}
        }
        deeds
    }

    fn readers(people: &[Person]) -> &[Person] {
        &people[..1]
    }
}

#[tokio::test]
async fn trimming_against_delivering() {
    run::<Trim>(Kith::start().await).await;
}
