//! People who post, follow, unfollow and read all the time, note what they were told, and hold each page against it at
//! once. An answer is right, or UNAVAILABLE, or does not come; anything else ends the test.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::world::{People, position};
use crate::harness::{Answer, Ask, Client, FEED, Page, Person, Sql, Walk, until};

/// What was promised, over several loads.
#[derive(Clone, Default)]
pub struct Acknowledged(Arc<Mutex<Ledger>>);

#[derive(Default)]
struct Ledger {
    /// The position of each message that an answer named, and what it says.
    posted: BTreeMap<i64, String>,
    /// What was posted without an idempotency key and not answered: it is there, once, or it is not.
    doubtful: BTreeSet<String>,
    /// What readers were shown.
    seen: BTreeSet<i64>,
    /// Whom a person follows (handles), by the last answer.
    follows: BTreeMap<(String, String), bool>,
    /// Numbers the posts.
    begun: u64,
    counts: Counts,
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages that were acknowledged.
    pub posted: usize,
    /// Follows and unfollows that were.
    pub followed: usize,
    /// Pages that were answered.
    pub pages: usize,
    /// Answers that were UNAVAILABLE.
    pub unavailable: usize,
    /// Answers that did not come.
    pub lost: usize,
}

impl Acknowledged {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn followed(&self, follower: &Person, followee: &Person, follows: bool) {
        let mut ledger = self.ledger();
        ledger.follows.insert((follower.handle.clone(), followee.handle.clone()), follows);
        ledger.counts.followed += 1;
    }

    /// How much has happened.
    pub fn counts(&self) -> Counts {
        self.ledger().counts
    }

    /// Holds if Postgres has every message that was acknowledged or shown, each once, and no other; and every edge.
    pub async fn is_kept(&self, sql: &Sql) {
        let stored: Vec<(i64, String)> = sql
            .rows("SELECT id, content FROM messages", &[])
            .await
            .iter()
            .map(|row| (row.get(0), row.get(1)))
            .collect();
        let edges: BTreeSet<(String, String)> = sql
            .rows(
                "SELECT a.handle, b.handle FROM follows JOIN users a ON a.id = follower_id JOIN users b ON b.id = followee_id",
                &[],
            )
            .await
            .iter()
            .map(|row| (row.get(0), row.get(1)))
            .collect();
        let ledger = self.ledger();
        let contents: BTreeSet<&String> = stored.iter().map(|(_, content)| content).collect();
        assert_eq!(contents.len(), stored.len(), "nothing is there twice");
        let ids: BTreeMap<i64, &String> = stored.iter().map(|(id, content)| (*id, content)).collect();
        for (id, content) in &ledger.posted {
            assert_eq!(ids.get(id), Some(&content), "acknowledged, and not there");
        }
        for id in &ledger.seen {
            assert!(ids.contains_key(id), "shown, and not there: {id}");
        }
        for (id, content) in &stored {
            assert!(ledger.posted.contains_key(id) || ledger.doubtful.contains(content), "nobody wanted {content:?}");
        }
        for (edge, follows) in &ledger.follows {
            assert_eq!(edges.contains(edge), *follows, "{edge:?}");
        }
    }
}

/// People at work. They stop when this is dropped.
pub struct Load {
    acknowledged: Acknowledged,
    tasks: JoinSet<()>,
    rest: Arc<AtomicBool>,
}

/// One of them.
struct Actor {
    acknowledged: Acknowledged,
    rest: Arc<AtomicBool>,
    person: Person,
}

impl Load {
    pub(super) fn start(acknowledged: Acknowledged, people: &People) -> Self {
        let rest = Arc::default();
        let mut load = Self { acknowledged, tasks: JoinSet::new(), rest };
        for author in &people.authors {
            let actor = load.actor(author);
            load.tasks.spawn(async move { actor.write().await });
        }
        let (reader, authors) = (load.actor(&people.reader), people.authors.len());
        load.tasks.spawn(async move { reader.read().await });
        let (wanderer, to) = (load.actor(&people.wanderer), people.authors[..authors - 1].to_vec());
        load.tasks.spawn(async move { wanderer.wander(to).await });
        load
    }

    fn actor(&self, person: &Person) -> Actor {
        Actor { acknowledged: self.acknowledged.clone(), rest: self.rest.clone(), person: person.clone() }
    }

    /// Waits until so many more messages, and pages, were acknowledged, and something was followed.
    pub async fn goes_on(&mut self, more: usize) {
        let before = self.acknowledged.counts();
        self.until(|now| {
            now.posted >= before.posted + more && now.pages >= before.pages + more && now.followed > before.followed
        })
        .await;
    }

    /// Waits until what happened satisfies `enough`. A person who was told something wrong ends the test.
    pub async fn until(&mut self, enough: impl Fn(Counts) -> bool) {
        let acknowledged = self.acknowledged.clone();
        until("enough has happened", async || {
            if let Some(ended) = self.tasks.try_join_next() {
                ended.expect("all that people are told is right");
            }
            enough(acknowledged.counts()).then_some(())
        })
        .await;
    }

    /// Has everybody finish what they are at: what they insist on has to succeed now.
    pub async fn rest(mut self) {
        self.rest.store(true, Ordering::Relaxed);
        until("everybody has finished", async || {
            match self.tasks.try_join_next() {
                Some(ended) => ended.expect("all that people are told is right"),
                None if self.tasks.is_empty() => return Some(()),
                None => {}
            }
            None
        })
        .await;
    }
}

impl Actor {
    fn rests(&self) -> bool {
        self.rest.load(Ordering::Relaxed)
    }

    /// One answer that is not UNAVAILABLE, if one came.
    async fn ask(&self, query: &str, variables: &Value) -> Option<Answer> {
        let answer = attempt(&self.person, query, variables).await;
        let mut ledger = self.acknowledged.ledger();
        match answer {
            Attempt::Answered(answer) => return Some(answer),
            Attempt::Unavailable => ledger.counts.unavailable += 1,
            Attempt::Lost => ledger.counts.lost += 1,
        }
        None
    }

    /// Asks again and again.
    async fn insist(&self, query: &str, variables: Value) -> Answer {
        loop {
            if let Some(answer) = self.ask(query, &variables).await {
                return answer;
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    async fn write(&self) {
        const POST: &str =
            "mutation($input: PostMessageInput!) { postMessage(input: $input) { message { id content } } }";
        while !self.rests() {
            let number = {
                let mut ledger = self.acknowledged.ledger();
                ledger.begun += 1;
                ledger.begun
            };
            let content = format!("{} {number}", self.person.handle);
            let answer = if number.is_multiple_of(4) {
                let variables = json!({ "input": { "content": content } });
                // Doubtful from before it is asked: whoever sees it before its answer is right.
                self.acknowledged.ledger().doubtful.insert(content.clone());
                self.ask(POST, &variables).await
            } else {
                let variables = json!({ "input": { "content": content, "idempotencyKey": content } });
                Some(self.insist(POST, variables).await)
            };
            if let Some(answer) = answer {
                assert_eq!(answer.text("/postMessage/message/content"), content);
                let mut ledger = self.acknowledged.ledger();
                ledger.posted.insert(position(&answer.text("/postMessage/message/id")), content);
                ledger.counts.posted += 1;
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    async fn wander(&self, to: Vec<Person>) {
        const FOLLOW: &str = "mutation($input: FollowUserInput!) { done: followUser(input: $input) { user { id } } }";
        const UNFOLLOW: &str =
            "mutation($input: UnfollowUserInput!) { done: unfollowUser(input: $input) { user { id } } }";
        let mut rounds = 0;
        while !self.rests() {
            let (followee, follows) = (&to[rounds / 2 % to.len()], rounds % 2 == 0);
            let query = if follows { FOLLOW } else { UNFOLLOW };
            self.insist(query, json!({ "input": { "userId": followee.id } })).await.data();
            self.acknowledged.followed(&self.person, followee, follows);
            sleep(Duration::from_millis(60)).await;
            rounds += 1;
        }
    }

    /// Walks down from the newest, some pages at a time. All that was acknowledged before the walk is served once, in
    /// order, as far as it goes.
    async fn read(&self) {
        let mut walks = 0;
        while !self.rests() {
            let size = [2, 7, 50][walks % 3];
            walks += 1;
            let promised: Vec<i64> = self.acknowledged.ledger().posted.keys().rev().copied().collect();
            let (mut ask, mut served, mut is_over) = (Ask::start(Walk::First(size)), Vec::<i64>::new(), false);
            for _ in 0..6 {
                let page = self.page(&ask).await;
                served.extend(page.ids.iter().map(|id| position(id)));
                let Some(next) = ask.following(Walk::First(size), &page) else {
                    is_over = true;
                    break;
                };
                (ask.after, ask.before) = next;
            }
            assert!(served.is_sorted_by(|a, b| a > b), "once and in order: {served:?}");
            let end = if is_over { 0 } else { served.last().copied().unwrap_or_default() };
            let expected: Vec<i64> = promised.into_iter().filter(|id| *id >= end).collect();
            let missed: Vec<_> = expected.iter().filter(|id| !served.contains(id)).collect();
            assert!(missed.is_empty(), "with pages of {size}, missed {missed:?} of {expected:?}, served {served:?}");
            self.acknowledged.ledger().seen.extend(served);
        }
    }

    async fn page(&self, ask: &Ask) -> Page {
        let page = Page::read(self.insist(FEED, ask.variables("default")).await.at("/feed"));
        self.acknowledged.ledger().counts.pages += 1;
        page
    }
}

/// What came of a request.
pub enum Attempt {
    /// An answer without errors.
    Answered(Answer),
    /// An answer whose errors are all UNAVAILABLE.
    Unavailable,
    /// None, or not the whole of it.
    Lost,
}

/// Sends a request once. Panics if it is answered with any other error.
pub async fn attempt(client: &Client, query: &str, variables: &Value) -> Attempt {
    let Ok(answer) = client.try_send(json!({ "query": query, "variables": variables })).await else {
        return Attempt::Lost;
    };
    if answer.errors().is_empty() {
        answer.data();
        return Attempt::Answered(answer);
    }
    for error in answer.errors() {
        assert_eq!(error["extensions"]["code"], "UNAVAILABLE", "{query}: {answer:#?}");
    }
    Attempt::Unavailable
}
