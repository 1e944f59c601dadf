//! Following, posting and losing an inbox, while it is built.

use rand::Rng;
use rand::rngs::StdRng;

use super::{Deed, Race, follow, follows, generations, hot, loses, post, posted, rebuilds, run, wants};
use crate::harness::{Kith, Person};

/// A reader without an inbox, an author whom they follow, and one whom they come to follow.
struct Build;

impl Race for Build {
    const PEOPLE: usize = 3;

    async fn prepare(kith: &Kith, rounds: &[&[Person]], _: &mut StdRng) {
        hot(kith, &rounds.iter().map(|round| (&round[0], 0)).collect::<Vec<_>>()).await;
        follow(kith, &rounds.iter().map(|round| (&round[0], &round[1])).collect::<Vec<_>>()).await;
        posted(kith, &rounds.iter().flat_map(|round| [&round[1], &round[2], &round[2]]).collect::<Vec<_>>()).await;
    }

    fn deeds<'a>(kith: &'a Kith, people: &'a [Person], rng: &mut StdRng) -> Vec<Deed<'a>> {
        let [reader, followed, other] = people else { panic!("three people") };
        let mut deeds =
            vec![wants(kith, reader), follows(kith, reader, other), post(kith, followed), post(kith, other)];
        if rng.random_ratio(1, 2) {
            deeds.push(loses(kith, reader));
        }
        if rng.random_ratio(1, 2) {
            deeds.push(rebuilds(kith, reader));
        }
        deeds
    }

    fn readers(people: &[Person]) -> &[Person] {
        &people[..1]
    }

    async fn judge(kith: &Kith, rounds: &[&[Person]]) {
        let readers: Vec<&Person> = rounds.iter().map(|round| &round[0]).collect();
        assert_eq!(generations(kith, &readers).await, vec![(2, true); readers.len()], "following raised it");
    }
}

#[tokio::test]
async fn following_posting_and_a_loss_while_an_inbox_is_built() {
    run::<Build>(Kith::start().await).await;
}
