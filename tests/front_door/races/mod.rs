//! Races between what changes an inbox and what changes who is delivered to, each a thousand times with fresh people, and
//! the outcome held to the definition. Here: how they are run and judged. Never what is raced.

mod builds;
mod cooling;
mod deliveries;

use std::cell::Cell;
use std::pin::Pin;

use futures_util::future::{join, join_all};
use kith::domain::follows;
use kith::domain::inbox::model::{LONGEST, member, score};
use kith::domain::messages::model::{Draft, Kind, Reference};
use kith::domain::{inbox, messages};
use kith::ids;
use kith::kv::keys;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use serde_json::json;

use crate::harness::{Ask, Kith, Person, Walk};
use crate::oracle::definition::{self, Feed};

/// How often each race is run.
const ROUNDS: usize = 1000;

/// Rounds that are run at once, with people of their own each.
const AT_ONCE: usize = 20;

/// Workers that step all the while.
const WORKERS: usize = 3;

/// So many round trips to Redis at most pass before a deed begins.
const LEAD: usize = 12;

const CHANNEL: &str = "default";

/// One of those who race.
type Deed<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A race: what there is at first, who races in a round, and what has to hold when they and the workers are done.
trait Race {
    /// How many people take part in a round.
    const PEOPLE: usize;

    /// Plants what these rounds begin with.
    async fn prepare(kith: &Kith, rounds: &[&[Person]], rng: &mut StdRng);

    /// What happens at once in a round.
    fn deeds<'a>(kith: &'a Kith, people: &'a [Person], rng: &mut StdRng) -> Vec<Deed<'a>>;

    /// Whose feeds are held to the definition afterwards; the inboxes of all people are.
    fn readers(people: &[Person]) -> &[Person];

    /// What has to hold besides.
    async fn judge(_kith: &Kith, _rounds: &[&[Person]]) {}
}

/// Runs a race a thousand times.
async fn run<R: Race>(kith: Kith) {
    let mut rng = StdRng::seed_from_u64(7);
    for _ in 0..ROUNDS / AT_ONCE {
        kith.clock.advance(std::time::Duration::from_millis(1));
        let people = kith.people(AT_ONCE * R::PEOPLE).await;
        let rounds: Vec<&[Person]> = people.chunks(R::PEOPLE).collect();
        R::prepare(&kith, &rounds, &mut rng).await;
        let mut deeds = Vec::new();
        for round in &rounds {
            let mut raced = R::deeds(&kith, round, &mut rng);
            raced.shuffle(&mut rng);
            deeds.extend(raced.into_iter().map(|deed| (rng.random_range(0..LEAD), deed)));
        }
        let is_over = Cell::new(false);
        let work = async || while kith.step().await || !is_over.get() {};
        let begin = async |(lead, deed): (usize, Deed<'_>)| {
            for _ in 0..lead {
                kith.app.kv.ping().await.expect("Redis answers");
            }
            deed.await;
        };
        let race = async {
            join_all(deeds.into_iter().map(begin)).await;
            is_over.set(true);
        };
        join(race, join_all((0..WORKERS).map(|_| work()))).await;
        kith.drain().await;
        land(&kith).await;
        inboxes_hold(&kith, &people).await;
        R::judge(&kith, &rounds).await;
        let readers: Vec<&Person> = rounds.iter().flat_map(|round| R::readers(round)).collect();
        join_all(readers.iter().map(|reader| feed_holds(&kith, reader))).await;
        // What is over must not make the next rounds slow.
        kith.sql().await.batch("TRUNCATE messages, author_channels, follows, activity").await;
        let inboxes: Vec<String> = people.iter().map(|person| keys::inbox(person.viewer.user_id, CHANNEL)).collect();
        redis::Cmd::unlink(inboxes).exec_async(&mut kith.redis()).await.expect("Redis answers");
    }
}

/// Everything is delivered, and from here on only inboxes count.
async fn land(kith: &Kith) {
    let sql = kith.sql().await;
    let flying = "SELECT count(*) FROM in_flight WHERE delivered_at IS NULL";
    assert_eq!(sql.one::<i64>(flying, &[]).await, 0, "what no job delivers");
    sql.batch("DELETE FROM in_flight").await;
}

/// Edges are hot as their followers' feeds are; nothing is left of the inbox of a cold feed but what is void; and a valid
/// inbox lacks nothing from its horizon on.
async fn inboxes_hold(kith: &Kith, people: &[Person]) {
    let sql = kith.sql().await;
    let of: Vec<i64> = people.iter().map(|person| person.viewer.user_id).collect();
    let off = "SELECT format('%s follows %s', follower_id, followee_id) FROM follows
        WHERE follower_id = ANY ($1) AND is_hot <> EXISTS (SELECT FROM activity WHERE user_id = follower_id AND activity.is_hot)";
    assert_eq!(sql.column::<String>(off, &[&of]).await, Vec::<String>::new(), "flags that are off");
    let mut asked = redis::pipe();
    for id in &of {
        asked.zrange(keys::inbox(*id, CHANNEL), 0, -1);
    }
    let inboxes: Vec<Vec<String>> = asked.query_async(&mut kith.redis()).await.expect("Redis answers");
    let known = "SELECT is_hot, generation, epoch, ARRAY(
            SELECT m.author_id || ':' || m.id
            FROM (SELECT $1 AS id UNION ALL SELECT followee_id FROM follows WHERE follower_id = $1) AS reason
            JOIN author_channels h ON h.author_id = reason.id AND h.channel = $2
            JOIN messages m ON m.author_id = reason.id AND m.channel = $2 AND m.id >= $3 AND m.id > h.last_pulled_id)
        FROM activity, inbox_epoch WHERE user_id = $1 AND channel = $2";
    for (id, inbox) in of.iter().zip(inboxes) {
        let Some(marker) = inbox.first() else { continue };
        assert!(inbox.len() <= LONGEST, "{id}: {} members", inbox.len());
        let horizon = marker.rsplit(':').next().and_then(|ms| ms.parse().ok()).map_or(i64::MAX, ids::floor_of_ms);
        let rows = sql.rows(known, &[id, &CHANNEL, &horizon]).await;
        let Some(row) = rows.first() else { panic!("{id} has an inbox and never read: {inbox:?}") };
        let (is_hot, generation, epoch): (bool, i64, i64) = (row.get(0), row.get(1), row.get(2));
        if !marker.starts_with(&format!("#{generation}:{epoch}:")) {
            continue;
        }
        assert!(is_hot, "{id} is cold and has a valid inbox: {inbox:?}");
        let missing: Vec<String> = row.get::<_, Vec<String>>(3).into_iter().filter(|m| !inbox.contains(m)).collect();
        assert!(missing.is_empty(), "{id} lacks {missing:?} in {inbox:?}");
    }
}

/// A page of the feed is what the definition says.
async fn feed_holds(kith: &Kith, reader: &Person) {
    let walk = Walk::First(7);
    let page = reader.feed_page(CHANNEL, &Ask::start(walk)).await;
    let expected = definition::items(kith.sql().await, reader.viewer.user_id, Feed::whole(CHANNEL)).await;
    let fault = definition::fault(&expected, &page, walk, None);
    assert_eq!(fault, None, "{} reads {page:#?}", reader.viewer.user_id);
}

/// How often the generation of each feed was raised, and whether it is hot.
async fn generations(kith: &Kith, people: &[&Person]) -> Vec<(i64, bool)> {
    let of: Vec<i64> = people.iter().map(|person| person.viewer.user_id).collect();
    let ask = "SELECT generation, is_hot FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (id, n)
        JOIN activity ON user_id = id ORDER BY n";
    kith.sql().await.rows(ask, &[&of]).await.iter().map(|row| (row.get(0), row.get(1))).collect()
}

/// Plants edges of those who follow.
async fn follow(kith: &Kith, edges: &[(&Person, &Person)]) {
    let of = |n: fn(&(&Person, &Person)) -> i64| edges.iter().map(n).collect::<Vec<i64>>();
    let (followers, followees) = (of(|edge| edge.0.viewer.user_id), of(|edge| edge.1.viewer.user_id));
    let ids: Vec<i64> = edges.iter().map(|_| id(kith)).collect();
    let plant = "INSERT INTO follows (followee_id, follower_id, id, is_hot, created_at)
        SELECT followee, follower, id, EXISTS (SELECT FROM activity WHERE user_id = follower AND is_hot), now()
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS edge (followee, follower, id)";
    kith.sql().await.execute(plant, &[&followees, &followers, &ids]).await;
}

/// Plants that these feeds are hot, of the first generation, and were read so many minutes ago.
async fn hot(kith: &Kith, readers: &[(&Person, i32)]) {
    let of: Vec<i64> = readers.iter().map(|(reader, _)| reader.viewer.user_id).collect();
    let ago: Vec<i32> = readers.iter().map(|(_, minutes)| *minutes).collect();
    let plant = "INSERT INTO activity (user_id, channel, is_hot, generation, read_at)
        SELECT id, $3, true, 1, to_timestamp($4::bigint / 1000.0) - minutes * interval '1 minute'
        FROM unnest($1::bigint[], $2::int[]) AS reader (id, minutes)";
    kith.sql().await.execute(plant, &[&of, &ago, &CHANNEL, &kith.clock.now_ms()]).await;
}

/// Plants messages that were delivered long ago, by these authors.
async fn posted(kith: &Kith, authors: &[&Person]) -> Vec<Reference> {
    let references: Vec<Reference> =
        authors.iter().map(|author| Reference { id: id(kith), author_id: author.viewer.user_id }).collect();
    let ids: Vec<i64> = references.iter().map(|reference| reference.id).collect();
    let of: Vec<i64> = references.iter().map(|reference| reference.author_id).collect();
    let plant = "WITH planted AS (
            INSERT INTO messages (id, author_id, channel, kind, status, content, extra, version, created_at, updated_at)
            SELECT id, author_id, $3, 'text', 'published', 'old', '{}', 1, now(), now()
            FROM unnest($1::bigint[], $2::bigint[]) AS message (id, author_id) RETURNING id, author_id
        ) INSERT INTO author_channels (author_id, channel, newest_id)
        SELECT author_id, $3, max(id) FROM planted GROUP BY author_id
        ON CONFLICT (author_id, channel) DO UPDATE SET newest_id = excluded.newest_id";
    kith.sql().await.execute(plant, &[&ids, &of, &CHANNEL]).await;
    references
}

/// Plants finished inboxes of the first generation with these references, which claim to hold all from `horizon_ms` on.
async fn inboxes(kith: &Kith, readers: &[&Person], references: &[Vec<Reference>], horizon_ms: i64) {
    let epoch: i64 = kith.sql().await.one("SELECT epoch FROM inbox_epoch", &[]).await;
    let mut plant = redis::pipe();
    for (reader, references) in readers.iter().zip(references) {
        let mut members = vec![(0, format!("#1:{epoch}:{horizon_ms}"))];
        members.extend(references.iter().map(|reference| (score(*reference), member(*reference))));
        plant.zadd_multiple(keys::inbox(reader.viewer.user_id, CHANNEL), &members).ignore();
    }
    plant.query_async::<()>(&mut kith.redis()).await.expect("Redis answers");
}

fn id(kith: &Kith) -> i64 {
    kith.app.next_id().expect("a lease")
}

/// Somebody posts, without a request.
fn post<'a>(kith: &'a Kith, author: &'a Person) -> Deed<'a> {
    let draft = Draft {
        channel: CHANNEL.into(),
        kind: Kind::Text,
        title: None,
        content: "new".into(),
        extra: json!({}),
        idempotency_key: None,
    };
    Box::pin(async move {
        let (draft, id) = (&draft, id(kith));
        let write = kith
            .app
            .db
            .write(|mut conn| async move { messages::write::post(&mut conn, author.viewer, id, draft).await });
        write.await.expect("it is posted");
    })
}

/// The first follows the second, without a request.
fn follows<'a>(kith: &'a Kith, follower: &'a Person, followee: &'a Person) -> Deed<'a> {
    Box::pin(async move {
        let id = id(kith);
        let write = kith.app.db.write(|mut conn| async move {
            follows::write::follow(&mut conn, follower.viewer, id, followee.viewer.user_id).await
        });
        assert!(write.await.expect("they follow"), "that is new");
    })
}

/// The feed was read and had no valid inbox.
fn wants<'a>(kith: &'a Kith, reader: &'a Person) -> Deed<'a> {
    Box::pin(async move {
        let write = kith.app.db.write(|mut conn| async move {
            inbox::write::want(&mut conn, reader.viewer.user_id, CHANNEL, kith.app.clock.now()).await
        });
        write.await.expect("it is noted");
    })
}

/// An operator has the inboxes of a reader built anew.
fn rebuilds<'a>(kith: &'a Kith, reader: &'a Person) -> Deed<'a> {
    Box::pin(async move {
        let mut conn = kith.app.jobs_db.get().await.expect("a connection");
        let oldest = kith.app.clock.now() - kith.app.config.inbox_age();
        let rebuilt = inbox::repair::rebuild::of(&mut conn, &kith.app.kv, reader.viewer.user_id, oldest);
        rebuilt.await.expect("Postgres and Redis answer");
    })
}

/// Redis loses an inbox.
fn loses<'a>(kith: &'a Kith, reader: &'a Person) -> Deed<'a> {
    Box::pin(async move {
        let unlink = redis::Cmd::unlink(keys::inbox(reader.viewer.user_id, CHANNEL));
        unlink.exec_async(&mut kith.redis()).await.expect("Redis answers");
    })
}

/// The clock cools a few feeds that nobody reads.
fn cools(kith: &Kith) -> Deed<'_> {
    Box::pin(async move {
        let mut conn = kith.app.jobs_db.get().await.expect("a connection");
        let since = kith.app.clock.now() - kith.app.config.cold_after();
        inbox::write::cool(&mut conn, &kith.app.kv, since, 3).await.expect("Postgres and Redis answer");
    })
}

/// It is noted that a feed is read now.
fn reads<'a>(kith: &'a Kith, reader: &'a Person) -> Deed<'a> {
    Box::pin(async move {
        let write = kith.app.db.write(|mut conn| async move {
            inbox::write::note(&mut conn, reader.viewer.user_id, CHANNEL, kith.app.clock.now()).await
        });
        write.await.expect("it is noted");
    })
}
