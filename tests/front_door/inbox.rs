//! What becomes of inboxes while they are built, and when Redis loses more or less than all of it. Never the
//! definition of a feed: that is under test in `oracle`.

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
