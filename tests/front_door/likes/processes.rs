//! The real program killed or asked to end amid a burst: no like that was answered is lost.

use std::time::Duration;

use chrono::Utc;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::json;
use tokio::time::timeout;

use super::{Hold, LIKE};
use crate::harness::{Client, Kith, Person, Process, until};

/// People as users of a process, which reads the machine's clock.
fn users(kith: &Kith, people: &[Person], process: &Process) -> Vec<Client> {
    let token = |person: &Person| kith.app.tokens.issue(person.viewer, Utc::now()).expect("a token");
    people.iter().map(|person| process.client.with_token(&token(person))).collect()
}

/// Asks for a like; `true` if it was answered as done, `false` if the connection broke or it was refused.
async fn like(client: &Client, message_id: &str) -> bool {
    let body = json!({ "query": LIKE, "variables": { "input": { "messageId": message_id } } });
    let request = client.raw(reqwest::Method::POST, "/graphql").header("accept", "application/json").json(&body);
    let Ok(answer) = request.send().await else { return false };
    let Ok(answer) = answer.json::<serde_json::Value>().await else { return false };
    answer["data"]["verb"]["message"]["viewerHasLiked"] == true
}

/// Lets everybody like the message at once, and `interferes` after `count` answers. Answers who was told that it is
/// done.
async fn burst(clients: &[Client], message_id: &str, count: usize, interfere: impl FnOnce()) -> Vec<usize> {
    let asked = clients.iter().enumerate().map(|(n, client)| async move { (n, like(client, message_id).await) });
    let mut asked: FuturesUnordered<_> = asked.collect();
    let (mut done, mut interfere) = (Vec::new(), Some(interfere));
    while let Some((n, is_done)) = asked.next().await {
        done.extend(is_done.then_some(n));
        if done.len() == count
            && let Some(interfere) = interfere.take()
        {
            interfere();
        }
    }
    assert!(interfere.is_none(), "it was answered {} times only", done.len());
    done
}

async fn likers(kith: &Kith) -> Vec<i64> {
    assert_eq!(kith.drifts().await, []);
    kith.sql().await.column("SELECT user_id FROM likes WHERE cancelled_at IS NULL", &[]).await
}

#[tokio::test]
async fn a_kill_right_after_the_answers_loses_none() {
    let kith = Kith::start().await;
    let people = kith.people(100).await;
    let message = people[0].post("Hello.").await;
    let process = Process::serve(&kith, &[]).await;
    let clients = users(&kith, &people, &process);
    let done = burst(&clients, &message, 20, || process.signal("KILL")).await;
    drop(process);
    until("the connections of the killed one are gone", async || {
        let alive = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'
            AND pid <> pg_backend_pid()";
        (kith.sql().await.one::<i64>(alive, &[]).await == 0).then_some(())
    })
    .await;
    let likers = likers(&kith).await;
    for n in done {
        assert!(likers.contains(&people[n].viewer.user_id), "a like that was answered is lost");
    }
    kith.drain().await;
}

#[tokio::test]
async fn an_end_amid_a_burst_answers_all_that_was_taken_in_and_loses_none() {
    let kith = Kith::start().await;
    let people = kith.people(100).await;
    let message = people[0].post("Hello.").await;
    let mut process = Process::serve(&kith, &[]).await;
    let clients = users(&kith, &people, &process);
    let burst = burst(&clients, &message, 5, || process.signal("TERM"));
    let done = timeout(Duration::from_secs(30), burst).await.expect("everybody is answered or turned away");
    assert!(process.ended().await, "it ended well");
    let mut expected: Vec<i64> = done.iter().map(|n| people[*n].viewer.user_id).collect();
    let mut likers = likers(&kith).await;
    expected.sort_unstable();
    likers.sort_unstable();
    assert_eq!(likers, expected, "done is what was answered, no more and no less");
    kith.drain().await;
}

#[tokio::test]
async fn a_process_ends_when_what_it_took_in_is_committed_also_for_who_went_away() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let message = people[0].post("Hello.").await;
    let mut process = Process::serve(&kith, &[]).await;
    let clients = users(&kith, &people, &process);
    let hold = Hold::on(&kith, &message).await;
    {
        let mut asked = std::pin::pin!(like(&clients[1], &message));
        tokio::select! {
            _ = &mut asked => panic!("it cannot be answered"),
            () = hold.has_stopped_a_batch(&kith) => {}
        }
    }
    process.signal("TERM");
    until("it listens no more", async || {
        process.client.raw(reqwest::Method::GET, "/healthz").send().await.is_err().then_some(())
    })
    .await;
    hold.let_go().await;
    assert!(process.ended().await, "it ended well");
    assert_eq!(likers(&kith).await, [people[1].viewer.user_id]);
    kith.drain().await;
}
