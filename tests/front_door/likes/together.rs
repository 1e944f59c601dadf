//! Many likes at once: one commit for many, nothing lost, nothing counted twice, also over two servers.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use futures_util::poll;
use kith::db::shared_commit::QUEUE;
use kith::domain::likes::model::{Op, Outcome};
use kith::error::{Error, Result};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{Hold, LIKE, UNLIKE, counted, like, reference, shown, state, unlike, verb};
use crate::harness::{Kith, Person, until, watch_statements};

type Asked<'a> = Pin<Box<dyn Future<Output = Result<Outcome>> + 'a>>;

/// Hands `ops` in, in this order; nothing is answered yet.
async fn hand_in<'a>(kith: &'a Kith, ops: impl IntoIterator<Item = Op>) -> Vec<Asked<'a>> {
    let mut asked: Vec<Asked> = Vec::new();
    for op in ops {
        let mut one: Asked = Box::pin(kith.app.likes.ask(op));
        assert!(poll!(&mut one).is_pending());
        asked.push(one);
    }
    asked
}

/// How many batches wrote something.
fn batches(kith: &Kith) -> usize {
    kith.statements("WITH written AS")
}

fn has_liked(outcome: &Result<Outcome>) -> (bool, i64) {
    let outcome = outcome.as_ref().expect("it is done");
    (outcome.has_liked, outcome.like_count)
}

#[tokio::test]
async fn parallel_duplicates_count_once_on_two_servers() {
    let kith = Kith::start().await;
    let other = kith.another_server().await;
    let people = kith.people(2).await;
    let message = people[0].post("Hello.").await;
    let (here, there) = (&people[1], people[1].on(&other));
    for (what, expected, rows) in [(LIKE, (1, true), [1, 1, 1, 1]), (UNLIKE, (0, false), [0, 1, 0, 1])] {
        let answers = join_all((0..30).map(|n| verb(if n % 2 == 0 { here } else { &there }, what, &message))).await;
        assert!(answers.iter().all(|answer| state(answer) == expected));
        assert_eq!(counted(&kith).await, rows);
    }
    kith.drain().await;
}

#[tokio::test]
async fn what_comes_while_one_batch_commits_is_one_batch_in_the_order_of_arrival() {
    watch_statements();
    let kith = Kith::start().await;
    let people = kith.people(12).await;
    let (ada, ben) = (&people[0], &people[1]);
    let (first, second) = (ada.post("one").await, ada.post("two").await);
    let hold = Hold::on(&kith, &first).await;
    let mut asked = hand_in(&kith, [like(&kith, ada, &first)]).await;
    hold.has_stopped_a_batch(&kith).await;
    let mut ops = vec![
        unlike(&kith, ben, &first),
        like(&kith, ben, &first),
        like(&kith, ben, &first),
        unlike(&kith, ben, &first),
        like(&kith, ben, &second),
        unlike(&kith, ada, &first),
        like(&kith, ada, &first),
    ];
    ops.extend(people[2..].iter().map(|person| like(&kith, person, &first)));
    asked.extend(hand_in(&kith, ops).await);
    let before = batches(&kith);
    hold.let_go().await;
    let outcomes: Vec<_> = join_all(asked).await.iter().map(has_liked).collect();
    let ben_and_ada = [(true, 1), (false, 1), (true, 2), (true, 2), (false, 1), (true, 1), (false, 0), (true, 1)];
    assert_eq!(outcomes[..8], ben_and_ada, "each as of right after it");
    assert_eq!(outcomes[8..], (2..12).map(|count| (true, count)).collect::<Vec<_>>());
    assert_eq!(batches(&kith) - before, 2, "the first alone, all the others together");
    assert_eq!(counted(&kith).await, [12, 13, 12, 13]);
    kith.drain().await;
}

#[tokio::test]
async fn a_message_that_is_deleted_amid_a_burst_fails_only_its_callers() {
    let kith = Kith::start().await;
    let people = kith.people(6).await;
    let ada = &people[0];
    let (held, stays, goes) = (ada.post("held").await, ada.post("stays").await, ada.post("goes").await);
    people[5].like(&goes).await;
    let hold = Hold::on(&kith, &held).await;
    let mut asked = hand_in(&kith, [like(&kith, ada, &held)]).await;
    hold.has_stopped_a_batch(&kith).await;
    // All of these have passed the gate.
    for person in &people[1..5] {
        asked.extend(hand_in(&kith, [like(&kith, person, &stays), like(&kith, person, &goes)]).await);
    }
    let undone = hand_in(&kith, [unlike(&kith, &people[5], &goes)]).await;
    ada.delete(&goes).await;
    hold.let_go().await;
    let outcomes = join_all(asked).await;
    assert_eq!(has_liked(&outcomes[0]), (true, 1));
    for (n, pair) in outcomes[1..].chunks(2).enumerate() {
        assert_eq!(has_liked(&pair[0]), (true, n as i64 + 1));
        assert_eq!(pair[1], Err(Error::NotFound { what: "message" }));
    }
    let undone = join_all(undone).await.remove(0).expect("an undo needs no right to see");
    assert_eq!((undone.message, undone.has_liked), (None, false));
    assert_eq!(counted(&kith).await, [5, 6, 5, 6]);
    kith.drain().await;
}

#[tokio::test]
async fn whoever_comes_when_the_queue_is_full_is_told_and_the_others_are_served() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    let message = ada.post("Hello.").await;
    let hold = Hold::on(&kith, &message).await;
    let mut asked = hand_in(&kith, [like(&kith, ada, &message)]).await;
    hold.has_stopped_a_batch(&kith).await;
    asked.extend(hand_in(&kith, (0..QUEUE).map(|_| like(&kith, ada, &message))).await);
    assert_eq!(verb(ben, LIKE, &message).await.code(), "UNAVAILABLE");
    assert_eq!(verb(ben, UNLIKE, &message).await.code(), "UNAVAILABLE");
    hold.let_go().await;
    assert!(join_all(asked).await.iter().all(|outcome| has_liked(outcome) == (true, 1)));
    assert_eq!(state(&verb(ben, LIKE, &message).await), (2, true), "there is room again");
    kith.drain().await;
}

#[tokio::test]
async fn a_caller_that_goes_away_harms_nobody() {
    let kith = Kith::start().await;
    let people = kith.people(3).await;
    let (ada, ben, eve) = (&people[0], &people[1], &people[2]);
    let message = ada.post("Hello.").await;
    let hold = Hold::on(&kith, &message).await;
    let first = hand_in(&kith, [like(&kith, ada, &message)]).await;
    hold.has_stopped_a_batch(&kith).await;
    let dropped = hand_in(&kith, [like(&kith, ben, &message)]).await;
    let last = hand_in(&kith, [like(&kith, eve, &message)]).await;
    drop((first, dropped));
    hold.let_go().await;
    assert_eq!(join_all(last).await.iter().map(has_liked).collect::<Vec<_>>(), [(true, 3)]);
    assert_eq!(shown(ben, &message).await, (3, true), "what was taken in is done");
    kith.drain().await;
}

#[tokio::test]
async fn the_end_waits_for_what_was_taken_in_and_takes_no_more() {
    let kith = Kith::start().await;
    let people = kith.people(20).await;
    let message = people[0].post("Hello.").await;
    let hold = Hold::on(&kith, &message).await;
    let mut asked = hand_in(&kith, [like(&kith, &people[0], &message)]).await;
    hold.has_stopped_a_batch(&kith).await;
    asked.extend(hand_in(&kith, people[1..].iter().map(|person| like(&kith, person, &message))).await);
    let mut end = Box::pin(kith.app.finish());
    assert!(poll!(&mut end).is_pending());
    hold.let_go().await;
    end.await;
    for mut one in asked {
        assert!(poll!(&mut one).is_ready(), "all are answered when it ends");
    }
    assert_eq!(counted(&kith).await, [20, 20, 20, 20]);
    assert_eq!(verb(&people[1], LIKE, &message).await.code(), "UNAVAILABLE");
    kith.app.finish().await;
    kith.drain().await;
}

#[tokio::test]
async fn a_counter_that_is_off_fails_only_its_own_callers() {
    let kith = Kith::start().await;
    let people = kith.people(3).await;
    let (ada, ben, eve) = (&people[0], &people[1], &people[2]);
    let (held, off, right) = (ada.post("held").await, ada.post("off").await, ada.post("right").await);
    ben.like(&off).await;
    ben.like(&right).await;
    kith.sql()
        .await
        .execute("UPDATE message_counters SET like_count = 0 WHERE message_id = $1", &[&reference(&off).id])
        .await;
    let hold = Hold::on(&kith, &held).await;
    let mut asked = hand_in(&kith, [like(&kith, ada, &held)]).await;
    hold.has_stopped_a_batch(&kith).await;
    asked
        .extend(hand_in(&kith, [unlike(&kith, ben, &off), unlike(&kith, ben, &right), like(&kith, eve, &right)]).await);
    hold.let_go().await;
    let outcomes = join_all(asked).await;
    assert!(matches!(outcomes[1], Err(Error::Internal(_))), "it would fall below zero: {:?}", outcomes[1]);
    assert_eq!([0, 2, 3].map(|n: usize| has_liked(&outcomes[n])), [(true, 1), (false, 0), (true, 1)]);
    kith.drain().await;
}

/// What a person does with the messages, one after the other, on either server; some requests are dropped half-way.
/// Answers what they like in the end, where that is certain.
async fn wander(seed: u64, servers: [&Person; 2], messages: &[String]) -> Vec<Option<bool>> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut likes = vec![Some(false); messages.len()];
    for _ in 0..25 {
        let (server, which) = (servers[rng.random_range(0..2)], rng.random_range(0..messages.len()));
        let (is_like, is_dropped) = (rng.random_bool(0.5), rng.random_bool(0.15));
        let asked = verb(server, if is_like { LIKE } else { UNLIKE }, &messages[which]);
        if is_dropped {
            let looks = rng.random_range(1..20);
            let mut asked = Box::pin(asked);
            for _ in 0..looks {
                if poll!(&mut asked).is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            // It may be done at any later time, or never.
            likes[which] = None;
            continue;
        }
        let (count, has_liked) = state(&asked.await);
        assert!(count >= i64::from(has_liked), "seed {seed}: nobody likes it, but this one does");
        if likes[which].is_some() {
            assert_eq!(has_liked, is_like, "seed {seed}");
            likes[which] = Some(is_like);
        }
    }
    likes
}

#[tokio::test]
async fn whatever_people_do_at_once_on_two_servers_the_counts_are_a_recount_and_ever_never_falls() {
    for seed in 0..4 {
        let kith = Kith::start().await;
        let other = kith.another_server().await;
        let people = kith.people(8).await;
        let mut messages = Vec::new();
        for person in &people[..3] {
            messages.push(person.post("Hello.").await);
        }
        let there: Vec<Person> = people.iter().map(|person| person.on(&other)).collect();
        let is_over = AtomicBool::new(false);
        let watch = async {
            let mut ever = 0;
            while !is_over.load(Ordering::Relaxed) {
                let [stand, rows, now, counted] = counted(&kith).await;
                assert_eq!([stand, rows], [now, counted], "seed {seed}: at every moment");
                assert!(counted >= ever, "seed {seed}: ever fell from {ever} to {counted}");
                ever = counted;
            }
        };
        let all = async {
            let walks = people.iter().zip(&there).enumerate();
            let walks = walks.map(|(n, (here, there))| wander(seed * 100 + n as u64, [here, there], &messages));
            let likes = join_all(walks).await;
            is_over.store(true, Ordering::Relaxed);
            likes
        };
        let (likes, ()) = tokio::join!(all, watch);
        // Whatever was dropped and taken in nevertheless is done once nothing runs any more.
        until("both servers are idle", async || {
            let busy =
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
                AND state <> 'idle'";
            (kith.sql().await.one::<i64>(busy, &[]).await == 0).then_some(())
        })
        .await;
        for (person, likes) in people.iter().zip(likes) {
            for (message, expected) in messages.iter().zip(likes) {
                let (_, has_liked) = shown(person, message).await;
                assert!(expected.is_none_or(|expected| expected == has_liked), "seed {seed}: an answered verb is lost");
            }
        }
        assert_eq!(kith.drifts().await, [], "seed {seed}");
        kith.drain().await;
    }
}
