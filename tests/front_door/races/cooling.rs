//! Cooling a feed while it is read, followed for, and delivered to.

use rand::Rng;
use rand::rngs::StdRng;

use super::{Deed, Race, cools, follow, follows, generations, hot, inboxes, post, posted, reads, run, wants};
use crate::harness::{Kith, Person};

/// Longer than a feed stays hot.
const LONG_AGO: i32 = 20 * 24 * 60;

/// Feeds that nobody read for long, each with an inbox that holds what the second of its round posted.
async fn unread(kith: &Kith, rounds: &[&[Person]]) {
    let readers: Vec<&Person> = rounds.iter().map(|round| &round[0]).collect();
    let authors: Vec<&Person> = rounds.iter().map(|round| &round[1]).collect();
    hot(kith, &readers.iter().map(|reader| (*reader, LONG_AGO)).collect::<Vec<_>>()).await;
    follow(kith, &readers.iter().copied().zip(authors.iter().copied()).collect::<Vec<_>>()).await;
    let old = posted(kith, &authors).await;
    inboxes(kith, &readers, &old.into_iter().map(|reference| vec![reference]).collect::<Vec<_>>(), 0).await;
}

/// Each heating and each cooling raised the generation by one, as did what else raised it, so many times.
async fn took_turns(kith: &Kith, rounds: &[&[Person]], raised: i64) {
    let readers: Vec<&Person> = rounds.iter().map(|round| &round[0]).collect();
    for ((generation, is_hot), reader) in generations(kith, &readers).await.into_iter().zip(&readers) {
        let turns = generation - 1 - raised;
        assert!(turns >= 0, "{} is of generation {generation}", reader.viewer.user_id);
        assert_eq!(turns % 2 == 0, is_hot, "{} is of generation {generation}", reader.viewer.user_id);
    }
}

/// A reader, an author whom they follow, and one whom they come to follow.
struct Heat;

impl Race for Heat {
    const PEOPLE: usize = 3;

    async fn prepare(kith: &Kith, rounds: &[&[Person]], _: &mut StdRng) {
        unread(kith, rounds).await;
        posted(kith, &rounds.iter().map(|round| &round[2]).collect::<Vec<_>>()).await;
    }

    fn deeds<'a>(kith: &'a Kith, people: &'a [Person], rng: &mut StdRng) -> Vec<Deed<'a>> {
        let [reader, _, other] = people else { panic!("three people") };
        let mut deeds = vec![cools(kith), cools(kith), wants(kith, reader), follows(kith, reader, other)];
        if rng.random_ratio(1, 3) {
            deeds.push(reads(kith, reader));
        }
        if rng.random_ratio(1, 2) {
            deeds.push(wants(kith, reader));
        }
        deeds
    }

    fn readers(people: &[Person]) -> &[Person] {
        &people[..1]
    }

    async fn judge(kith: &Kith, rounds: &[&[Person]]) {
        took_turns(kith, rounds, 1).await;
    }
}

#[tokio::test]
async fn heating_against_cooling() {
    run::<Heat>(Kith::start().await).await;
}

/// A reader, and an author whom they follow.
struct Push;

impl Race for Push {
    const PEOPLE: usize = 2;

    async fn prepare(kith: &Kith, rounds: &[&[Person]], _: &mut StdRng) {
        unread(kith, rounds).await;
    }

    fn deeds<'a>(kith: &'a Kith, people: &'a [Person], rng: &mut StdRng) -> Vec<Deed<'a>> {
        let [reader, author] = people else { panic!("two people") };
        let mut deeds = vec![cools(kith), post(kith, author), post(kith, author)];
        if rng.random_ratio(1, 2) {
            deeds.push(wants(kith, reader));
        }
        deeds
    }

    fn readers(people: &[Person]) -> &[Person] {
        &people[..1]
    }

    async fn judge(kith: &Kith, rounds: &[&[Person]]) {
        took_turns(kith, rounds, 0).await;
    }
}

#[tokio::test]
async fn cooling_against_delivering() {
    run::<Push>(Kith::start().await).await;
}
