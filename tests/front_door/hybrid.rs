//! What is pushed and what is pulled, who is delivered to first, and how feeds cool and references grow old. Never
//! whether the feed is right meanwhile in general: that is under test in `oracle`.

use std::time::Duration;

use redis::AsyncCommands;

use crate::feed::{inbox, warm};
use crate::harness::{Ask, Kith, Person, Walk, watch_statements};

const DAY: Duration = Duration::from_secs(86_400);

/// How many references there are in the inbox of `person`.
async fn references(kith: &Kith, person: &Person) -> usize {
    let members: usize = kith.redis().zcard(inbox(person)).await.expect("Redis answers");
    members.saturating_sub(1)
}

async fn mode(kith: &Kith, person: &Person) -> bool {
    let mode = "SELECT is_pulled FROM author_channels WHERE author_id = $1";
    kith.sql().await.one(mode, &[&person.viewer.user_id]).await
}

/// The first of so many people, whom all others follow with warm inboxes.
async fn followed(kith: &Kith, count: usize) -> Vec<Person> {
    let people = kith.people(count).await;
    for follower in &people[1..] {
        follower.follow(&people[0]).await;
        warm(kith, follower).await;
    }
    people
}

/// What is in flight lands.
async fn land(kith: &Kith) {
    kith.drain().await;
    kith.advance(kith.config.request_timeout + Duration::from_secs(10)).await;
    kith.tick().await;
    assert_eq!(kith.sql().await.one::<i64>("SELECT count(*) FROM in_flight", &[]).await, 0);
}

#[tokio::test]
async fn an_author_of_many_is_pulled_and_with_half_of_them_pushed_again() {
    watch_statements();
    let kith = Kith::start_with(|config| config.pull_from = 10).await;
    let people = followed(&kith, 11).await;
    let ada = &people[0];
    let mut posted = vec![ada.post("pushed, for it takes a delivery to find out").await];
    land(&kith).await;
    assert!(mode(&kith, ada).await);
    let ada = &kith.again(ada);
    posted.insert(0, ada.post("pulled").await);
    land(&kith).await;
    let mut had = 0;
    for follower in &people[1..] {
        had += references(&kith, follower).await;
    }
    assert_eq!(had, 10 + 1, "a tenth of them got the second");
    let pulls = kith.statements("AS contributor");
    for follower in &people[1..] {
        let page = kith.again(follower).feed_page("default", &Ask::start(Walk::First(1))).await;
        assert_eq!((page.ids.as_slice(), page.has_next), (&posted[..1], true));
    }
    assert_eq!(kith.statements("AS contributor"), pulls, "only who is pulled was asked, along with the state");
    for follower in &people[1..] {
        let follower = kith.again(follower);
        for walk in [Walk::First(1), Walk::First(7), Walk::Last(1), Walk::Last(7)] {
            assert_eq!(follower.walk(walk).await, posted, "{walk:?}");
        }
    }
    // Five hold it up, four do not.
    let ada = &kith.again(ada);
    for (left, is_pulled) in [(5, true), (4, false)] {
        for follower in &people[1 + left..] {
            kith.again(follower).unfollow(ada).await;
        }
        posted.insert(0, ada.post("still pulled").await);
        kith.drain().await;
        assert_eq!(mode(&kith, ada).await, is_pulled, "{left} followers");
    }
    posted.insert(0, ada.post("pushed").await);
    land(&kith).await;
    for follower in &people[1..5] {
        assert!(references(&kith, follower).await >= 2);
        assert_eq!(kith.again(follower).walk(Walk::First(2)).await, posted);
    }
}

#[tokio::test]
async fn who_read_lately_is_delivered_to_first_and_nobody_is_left_out() {
    let kith = Kith::start_with(|config| config.delivery_chunk = 4).await;
    let people = followed(&kith, 41).await;
    // Two read now, two within the day, the others long before.
    let read = async |people: &[Person]| {
        for person in people {
            kith.again(person).walk(Walk::First(1)).await;
        }
    };
    kith.advance(2 * DAY).await;
    read(&people[20..22]).await;
    kith.advance(DAY / 2).await;
    read(&people[30..32]).await;
    let ada = kith.again(&people[0]);
    let posted = ada.post("for forty").await;
    let have = async || {
        let mut have = Vec::new();
        for (number, person) in people.iter().enumerate().skip(1) {
            if references(&kith, person).await > 0 {
                have.push(number);
            }
        }
        have
    };
    kith.step().await;
    assert!(have().await.is_empty(), "it is decided how it goes out");
    kith.step().await;
    assert_eq!(have().await, [30, 31]);
    kith.step().await;
    assert_eq!(have().await, [20, 21, 30, 31], "a tenth of all");
    kith.drain().await;
    assert_eq!(have().await.len(), 40);
    assert_eq!(kith.again(&people[7]).walk(Walk::First(7)).await, [posted]);
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn a_feed_that_nobody_reads_cools_and_its_first_read_is_right() {
    let kith = Kith::start().await;
    let people = followed(&kith, 3).await;
    let (ada, ben, eve) = (&people[0], &people[1], &people[2]);
    let hot = async || -> Vec<i64> {
        let hot = "SELECT user_id FROM activity JOIN follows ON follower_id = user_id
            WHERE activity.is_hot AND follows.is_hot ORDER BY user_id";
        kith.sql().await.column(hot, &[]).await
    };
    assert_eq!(hot().await, [ben.viewer.user_id, eve.viewer.user_id]);
    kith.advance(10 * DAY).await;
    kith.again(eve).walk(Walk::First(7)).await;
    kith.advance(5 * DAY).await;
    kith.tick().await;
    assert_eq!(hot().await, [eve.viewer.user_id]);
    assert!(!kith.redis().exists::<_, bool>(inbox(ben)).await.expect("Redis answers"));
    let posted = kith.again(ada).post("while it was cold").await;
    kith.drain().await;
    assert!(!kith.redis().exists::<_, bool>(inbox(ben)).await.expect("Redis answers"), "nothing is delivered to it");
    let ben = &kith.again(ben);
    assert_eq!(ben.walk(Walk::First(7)).await, std::slice::from_ref(&posted));
    warm(&kith, ben).await;
    assert_eq!(hot().await.len(), 2);
    assert_eq!(ben.walk(Walk::First(7)).await, [posted]);
    kith.finish().await;
}

#[tokio::test]
async fn an_inbox_keeps_nothing_old_and_the_walk_goes_on_without_a_seam() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    ben.follow(ada).await;
    let mut posted = Vec::new();
    for day in 0..6 {
        posted.insert(0, kith.again(ada).post(&day.to_string()).await);
        kith.advance(10 * DAY).await;
        kith.tick().await;
    }
    let ben = &kith.again(ben);
    warm(&kith, ben).await;
    assert_eq!(references(&kith, ben).await, 3, "of the last thirty days");
    for walk in [Walk::First(1), Walk::First(2), Walk::First(50), Walk::Last(2), Walk::Last(50)] {
        assert_eq!(ben.walk(walk).await, posted, "{walk:?}");
    }
    // What grew old in the inbox goes with the next trim.
    kith.advance(11 * DAY).await;
    let ada = kith.again(ada);
    for n in 0..kith::domain::inbox::model::TRIM_AT {
        posted.insert(0, ada.post(&n.to_string()).await);
    }
    kith.drain().await;
    assert_eq!(kith.again(ben).walk(Walk::First(50)).await, posted);
    kith.finish().await;
}
