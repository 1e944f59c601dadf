//! Ids over several processes: no two ever make the same one, whatever happens to a process. The bits of an id are
//! tested beside the generator.

use std::collections::HashSet;
use std::time::Duration;

use kith::app::App;
use kith::ids::GlobalId;
use kith::time::Clock;
use serde_json::json;

use crate::harness::{Kith, Process, until};

fn node_of(id: i64) -> i64 {
    (id >> 12) & 1023
}

#[tokio::test]
async fn two_processes_make_no_id_twice_in_the_same_millisecond() {
    let kith = Kith::start().await;
    let other = App::new(kith.config.clone(), kith.clock.shared()).await.expect("another app");
    other.lease_node().await.expect("a number is free");
    assert_ne!(kith.app.ids.node(), other.ids.node());
    let mut made = HashSet::new();
    for _ in 0..10_000 {
        assert!(made.insert(kith.app.next_id().expect("an id")));
        assert!(made.insert(other.next_id().expect("an id")));
    }
    kith.finish().await;
}

#[tokio::test]
async fn a_renewed_lease_keeps_its_number_and_ids_go_on_rising() {
    let kith = Kith::start().await;
    let (node, before) = (kith.app.ids.node(), kith.app.next_id().expect("an id"));
    kith.advance(Duration::from_secs(3000)).await;
    kith.advance(Duration::from_secs(3000)).await;
    assert_eq!(kith.app.ids.node(), node);
    assert!(kith.app.next_id().expect("an id") > before);
    kith.clock.rewind(Duration::from_secs(6000));
    assert!(kith.app.next_id().expect("an id") > before);
}

#[tokio::test]
async fn nothing_is_made_past_the_reach_of_a_lease() {
    let kith = Kith::start().await;
    let ada = kith.people(1).await.remove(0);
    kith.clock.advance(kith.config.node_lease + Duration::from_millis(1));
    let ada = kith.again(&ada);
    assert!(kith.app.next_id().is_err());
    assert_eq!(ada.query(POST, json!({})).await.code(), "UNAVAILABLE");
    kith.lease().await;
    ada.query(POST, json!({})).await.data();
    kith.drain().await;
    kith.finish().await;
}

const POST: &str = r#"mutation { postMessage(input: { content: "Hello." }) { message { id } } }"#;

/// The process is stopped, as by a long pause of its machine; its number goes to another; then it goes on.
#[tokio::test]
async fn a_process_that_slept_through_its_lease_makes_no_id_under_it() {
    let kith = Kith::start().await;
    let mut sleeper = Process::serve(&kith, &[("KITH_NODE_LEASE", "1")]).await;
    let query = r#"mutation { signUp(input: { handle: "ada", displayName: "Ada", password: "correct horse battery" }) {
        viewer { user { id } } tokens { accessToken } } }"#;
    let answer = sleeper.client.query(query, json!({})).await;
    let Some(GlobalId::User(ada)) = GlobalId::decode(&answer.text("/signUp/viewer/user/id")) else {
        panic!("no person")
    };
    let ada_client = sleeper.client.with_token(&answer.text("/signUp/tokens/accessToken"));
    let node = node_of(ada);

    sleeper.signal("STOP");
    // Sent while it sleeps, so that it is the first thing to be done afterwards.
    let late = tokio::spawn(async move { ada_client.query(POST, json!({})).await });
    let sql = kith.sql().await;
    let expired = "SELECT 1 FROM nodes WHERE node = $1 AND leased_until <= now()";
    until("the lease runs out", async || sql.column::<i32>(expired, &[&(node as i16)]).await.pop()).await;
    let mut config = kith.config.clone();
    config.node_lease = Duration::from_secs(3600);
    let heir = App::new(config, Clock::System).await.expect("another app");
    heir.lease_node().await.expect("the number is free");
    assert_eq!(heir.ids.node().map(i64::from), Some(node), "the lowest number that ran out goes first");
    let inherited = heir.next_id().expect("an id");
    assert!(inherited > ada, "the heir starts above what was made before");

    sleeper.signal("CONT");
    let late = late.await.expect("it was sent");
    if late.errors().is_empty() {
        let Some(GlobalId::Message { id, .. }) = GlobalId::decode(&late.text("/postMessage/message/id")) else {
            panic!("no message: {late:?}")
        };
        assert_ne!(node_of(id), node, "made under the lease that was over");
    } else {
        assert_eq!(late.code(), "UNAVAILABLE");
    }
    assert!(sleeper.is_running());
}
