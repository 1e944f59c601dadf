//! What becomes of inboxes while they are built, and when Redis loses more or less than all of it. Never the
//! definition of a feed: that is under test in `oracle`.

use std::time::Duration;

use kith::domain::inbox::model::IN_FLIGHT_BOUND;
use redis::AsyncCommands;

use crate::feed::{inbox, warm};
use crate::harness::{Kith, Walk, until};

#[tokio::test]
async fn a_build_whose_start_marker_was_lost_claims_nothing_and_begins_again() {
    let kith = Kith::start().await;
    let ada = &kith.people(1).await[0];
    let posted = ada.post("built").await;
    ada.walk(Walk::First(7)).await;
    let (sql, inbox) = (kith.sql().await, inbox(ada));
    // The build has begun, and waits for its snapshot.
    sql.batch("BEGIN; LOCK TABLE inbox_epoch IN ACCESS EXCLUSIVE MODE").await;
    let steps = async {
        // The delivery, then the build.
        kith.step().await;
        kith.step().await;
    };
    tokio::join!(steps, async {
        until("the build has begun", async || {
            let members: Vec<String> = kith.redis().zrange(&inbox, 0, -1).await.expect("Redis answers");
            members.iter().any(|member| member.starts_with('~')).then_some(())
        })
        .await;
        kith.redis().unlink::<_, ()>(&inbox).await.expect("Redis answers");
        sql.batch("COMMIT").await;
    });
    assert!(!kith.redis().exists::<_, bool>(&inbox).await.expect("Redis answers"), "nothing is claimed");
    assert_eq!(kith.jobs().await, 1, "it begins again");
    kith.drain().await;
    assert!(kith.redis().exists::<_, bool>(&inbox).await.expect("Redis answers"));
    assert_eq!(ada.walk(Walk::First(7)).await, [posted]);
    kith.finish().await;
}

#[tokio::test]
async fn something_else_at_the_name_of_an_inbox_keeps_nobody_from_their_delivery() {
    let kith = Kith::start().await;
    let people = kith.people(4).await;
    for reader in &people[1..] {
        reader.follow(&people[0]).await;
        warm(&kith, reader).await;
    }
    kith.redis().set::<_, _, ()>(inbox(&people[2]), "not an inbox").await.expect("Redis answers");
    let posted = people[0].post("to all").await;
    kith.drain().await;
    for reader in [1, 3] {
        assert_eq!(kith.redis().zcard::<_, usize>(inbox(&people[reader])).await, Ok(2), "it came");
    }
    assert!(!kith.redis().exists::<_, bool>(inbox(&people[2])).await.expect("Redis answers"));
    for reader in &people[1..] {
        assert_eq!(reader.walk(Walk::First(7)).await, std::slice::from_ref(&posted));
    }
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn with_very_much_in_flight_nothing_is_left_out() {
    let kith = Kith::start().await;
    let ada = &kith.people(1).await[0];
    warm(&kith, ada).await;
    let mut posted = Vec::new();
    for n in 0..IN_FLIGHT_BOUND + 2 {
        posted.push(ada.post(&n.to_string()).await);
    }
    posted.reverse();
    assert_eq!(ada.walk(Walk::First(100)).await, posted);
    kith.drain().await;
}

#[tokio::test]
async fn a_redis_that_went_back_in_time_hides_nothing() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    ben.follow(ada).await;
    let old = ada.post("old").await;
    warm(&kith, ben).await;
    kith.tick().await;
    let mut redis = kith.redis();
    let mut copy: Vec<(String, Vec<u8>)> = Vec::new();
    for key in redis.keys::<_, Vec<String>>("*").await.expect("Redis answers") {
        let value = redis::cmd("DUMP").arg(&key).query_async(&mut redis).await.expect("Redis answers");
        copy.push((key, value));
    }
    let new = ada.post("new").await;
    kith.drain().await;
    kith.advance(kith.config.request_timeout + Duration::from_secs(10)).await;
    kith.tick().await;
    assert_eq!(kith.sql().await.one::<i64>("SELECT count(*) FROM in_flight", &[]).await, 0);
    let lose = async || {
        for (key, value) in &copy {
            let mut restore = redis::cmd("RESTORE");
            restore.arg(key).arg(0).arg(value.as_slice()).arg("REPLACE");
            restore.exec_async(&mut kith.redis()).await.expect("Redis answers");
        }
    };
    lose().await;
    let expected = [new, old];
    assert_eq!(ben.walk(Walk::First(7)).await, expected, "the reader notices");
    kith.tick().await;
    assert_eq!(ben.walk(Walk::First(7)).await, expected, "the tick has noticed");
    kith.drain().await;
    assert_eq!(ben.walk(Walk::First(7)).await, expected, "built anew");
    // Another process of Redis, which still has its last heartbeat.
    let epoch = async || kith.sql().await.one::<i64>("SELECT epoch FROM inbox_epoch", &[]).await;
    let before = epoch().await;
    kith.tick().await;
    assert_eq!(epoch().await, before, "nothing was lost");
    kith.sql().await.execute("UPDATE inbox_epoch SET run_id = 'of the one before'", &[]).await;
    kith.tick().await;
    assert_eq!(epoch().await, before + 1);
    assert_eq!(ben.walk(Walk::First(7)).await, expected);
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn a_postgres_that_went_back_in_time_takes_no_inbox_of_the_lost_future_for_its_own() {
    let kith = Kith::start().await;
    let people = kith.people(3).await;
    let (ada, ben, eve) = (&people[0], &people[1], &people[2]);
    ada.post("by one who will not be followed").await;
    let expected = eve.post("by one who will be followed").await;
    kith.drain().await;
    warm(&kith, ben).await;
    kith.tick().await;
    let sql = kith.sql().await;
    let (generation, heartbeat): (i64, i64) = (
        sql.one("SELECT generation FROM activity WHERE user_id = $1", &[&ben.viewer.user_id]).await,
        sql.one("SELECT heartbeat FROM inbox_epoch", &[]).await,
    );
    // The future that will be lost: a follow, and an inbox of the generation that it made.
    ben.follow(ada).await;
    warm(&kith, ben).await;
    kith.tick().await;
    kith.tick().await;
    ben.unfollow(ada).await;
    let back = "UPDATE activity SET generation = $2 WHERE user_id = $1";
    sql.execute(back, &[&ben.viewer.user_id, &generation]).await;
    sql.execute("UPDATE inbox_epoch SET heartbeat = $1", &[&heartbeat]).await;
    sql.batch("DELETE FROM in_flight").await;
    // Another follow makes the same generation.
    ben.follow(eve).await;
    assert_eq!(ben.walk(Walk::First(7)).await, std::slice::from_ref(&expected), "the reader notices");
    kith.tick().await;
    assert_eq!(ben.walk(Walk::First(7)).await, std::slice::from_ref(&expected), "the tick has noticed");
    kith.drain().await;
    assert_eq!(ben.walk(Walk::First(7)).await, [expected]);
    kith.finish().await;
}
