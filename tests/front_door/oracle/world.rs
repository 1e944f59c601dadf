//! The world of a history: a Kith, its people, their messages, and the walks that are under way.

use std::collections::BTreeSet;
use std::time::Duration;

use kith::ids::GlobalId;
use serde_json::json;

use super::definition::{self, Feed, Item};
use super::history::{CHANNELS, Who};
use crate::harness::{Ask, Kith, Person, Walk};

/// How many people there can be at most: as many as the mask of lookers has room for.
const MOST_PEOPLE: usize = 8;

/// A message that somebody posted.
#[derive(Clone, Debug)]
pub struct Posted {
    /// Its author.
    pub author: usize,
    /// Its opaque id.
    pub id: String,
    /// Whether it is deleted now.
    pub is_deleted: bool,
}

/// A walk between two of its pages.
#[derive(Debug)]
pub struct Walking {
    who: usize,
    feed: Feed,
    walk: Walk,
    ask: Ask,
    from: Option<i64>,
    /// Was there before the first page and was always visible since.
    lasting: BTreeSet<i64>,
    served: Vec<i64>,
}

/// Everything that a history works on.
pub struct World {
    /// The Kith that is tried.
    pub kith: Kith,
    /// Who signed up.
    pub people: Vec<Person>,
    /// What was posted, oldest first.
    pub messages: Vec<Posted>,
    /// The walks under way.
    pub walks: Vec<Walking>,
    /// What Redis last wrote down.
    pub saved: Option<Vec<(String, Vec<u8>)>>,
}

impl World {
    /// A fresh Kith with four people; a delivery goes to one inbox in each step. References grow old before feeds cool.
    pub async fn new(pull_from: i64) -> Self {
        let kith = Kith::start_with(|config| {
            config.delivery_chunk = 1;
            config.pull_from = pull_from;
            (config.inbox_days, config.cold_days, config.restore_days) = (10, 14, 36_500);
        })
        .await;
        let people = kith.people(4).await;
        Self { kith, people, messages: Vec::new(), walks: Vec::new(), saved: None }
    }

    /// The number of the person that `who` stands for.
    pub fn person(&self, who: Who) -> usize {
        usize::from(who) % self.people.len()
    }

    /// Somebody joins, if there is room.
    pub async fn sign_up(&mut self) {
        if self.people.len() < MOST_PEOPLE {
            self.people.extend(self.kith.people(1).await);
        }
    }

    /// Somebody posts.
    pub async fn post(&mut self, author: usize, channel: usize) {
        let content = format!("message {}", self.messages.len());
        let id = self.people[author].post_in(CHANNELS[channel], &content).await;
        self.messages.push(Posted { author, id, is_deleted: false });
    }

    /// `follower` follows `followee` closely, or not closely any more, if they do follow.
    pub async fn set_close(&self, follower: usize, followee: usize, is_close: bool) {
        if follower == followee {
            return;
        }
        let (follower, followee) = (&self.people[follower], &self.people[followee]);
        let query = "mutation($input: SetCloseFollowInput!) { setCloseFollow(input: $input) { user { id } } }";
        let input = json!({ "userId": followee.id, "isClose": is_close });
        let answer = follower.query(query, json!({ "input": input })).await;
        assert!(answer.errors().is_empty() || answer.code() == "NOT_FOUND", "{answer:?}");
    }

    /// Time passes. Access tokens, which live for minutes, are renewed.
    pub async fn advance(&mut self, by: Duration) {
        self.kith.advance(by).await;
        self.people = self.people.iter().map(|person| self.kith.again(person)).collect();
    }

    /// What `who` has to find in `feed` now.
    pub async fn expected(&self, who: usize, feed: Feed) -> Vec<Item> {
        definition::items(self.kith.sql().await, self.people[who].viewer.user_id, feed).await
    }

    /// Walks the whole feed at once and compares each page. A walk that would take very many pages takes larger ones.
    pub async fn walk(&self, who: usize, feed: Feed, walk: Walk) -> Result<(), String> {
        let expected = self.expected(who, feed).await;
        let mut walking = Walking::new(who, feed, walk, &expected);
        for _ in 0..expected.len() + 1 {
            if walking.page(self, &expected).await? {
                return Ok(());
            }
        }
        Err(format!("person {who} walks {feed:?} by {walk:?} and comes to no end"))
    }

    /// Starts a walk with its first page.
    pub async fn set_out(&mut self, who: usize, feed: Feed, walk: Walk) -> Result<(), String> {
        let expected = self.expected(who, feed).await;
        let mut walking = Walking::new(who, feed, walk, &expected);
        if walking.page(self, &expected).await? {
            return walking.arrived();
        }
        self.walks.push(walking);
        Ok(())
    }

    /// Goes on with a walk by one page.
    pub async fn go_on(&mut self, number: u8) -> Result<(), String> {
        if self.walks.is_empty() {
            return Ok(());
        }
        let number = usize::from(number) % self.walks.len();
        let mut walking = self.walks.swap_remove(number);
        let expected = self.expected(walking.who, walking.feed).await;
        if walking.page(self, &expected).await? {
            return walking.arrived();
        }
        self.walks.push(walking);
        Ok(())
    }

    /// Asks Postgres which messages are deleted, where it could not be foreseen.
    pub async fn look_what_is_deleted(&mut self) {
        let sql = self.kith.sql().await;
        let published: Vec<i64> = sql.column("SELECT id FROM messages WHERE status = 'published'", &[]).await;
        for message in &mut self.messages {
            let Some(GlobalId::Message { id, .. }) = GlobalId::decode(&message.id) else {
                panic!("no id of a message")
            };
            message.is_deleted = !published.contains(&id);
        }
    }

    /// Takes note of what the walks under way can no longer be held to.
    pub async fn note(&mut self) {
        let mut walks = std::mem::take(&mut self.walks);
        for walking in &mut walks {
            let expected = self.expected(walking.who, walking.feed).await;
            let visible: BTreeSet<i64> = expected.iter().map(|item| item.position).collect();
            walking.lasting.retain(|position| visible.contains(position));
        }
        self.walks = walks;
    }
}

impl Walking {
    fn new(who: usize, feed: Feed, walk: Walk, expected: &[Item]) -> Self {
        let lasting = expected.iter().map(|item| item.position).collect();
        let ask = Ask { is_close: feed.is_close, ..Ask::start(walk) };
        Self { who, feed, walk, ask, from: None, lasting, served: Vec::new() }
    }

    /// Reads the next page, compares it, and answers whether the walk is over.
    async fn page(&mut self, world: &World, expected: &[Item]) -> Result<bool, String> {
        let channel = self.feed.channel;
        let page = world.people[self.who].feed_page(channel, &self.ask).await;
        if let Some(fault) = definition::fault(expected, &page, self.walk, self.from) {
            let (who, ask) = (self.who, &self.ask);
            return Err(format!("person {who} asks {channel} for {ask:?}: {fault}, got {page:#?}"));
        }
        let position = |id: &String| expected.iter().find(|item| item.id == *id).map(|item| item.position);
        let positions: Vec<i64> = page.ids.iter().filter_map(position).collect();
        match self.walk {
            Walk::First(_) => self.served.extend(&positions),
            Walk::Last(_) => self.served.extend(positions.iter().rev()),
        }
        self.from = self.served.last().copied();
        let Some(next) = self.ask.following(self.walk, &page) else { return Ok(true) };
        (self.ask.after, self.ask.before) = next;
        Ok(false)
    }

    /// The promise of a walk, once it is over.
    fn arrived(&self) -> Result<(), String> {
        let unique: BTreeSet<i64> = self.served.iter().copied().collect();
        if unique.len() != self.served.len() {
            return Err(format!("a walk served something twice: {self:?}"));
        }
        if !self.lasting.is_subset(&unique) {
            return Err(format!("a walk left something out: {self:?}"));
        }
        let is_in_order = match self.walk {
            Walk::First(_) => self.served.is_sorted_by(|a, b| a > b),
            Walk::Last(_) => self.served.is_sorted_by(|a, b| a < b),
        };
        if is_in_order { Ok(()) } else { Err(format!("a walk is out of order: {self:?}")) }
    }
}
