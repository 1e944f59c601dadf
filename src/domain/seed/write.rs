//! Puts a made-up world into an empty database, in one transaction. Never what is in it.

use chrono::{DateTime, Utc};
use diesel::sql_types::{Array, BigInt, Bool, Jsonb, Nullable, SmallInt, Text, Timestamptz};
use diesel::{IntoSql, QueryableByName, sql_query};
use diesel_async::{AsyncConnection, RunQueryDsl, SimpleAsyncConnection};
use serde_json::Value;

use crate::db::Connection;
use crate::domain::inbox;
use crate::domain::messages::partitions;
use crate::domain::seed::model::{Like, Person};
use crate::domain::seed::world::{Ids, World};
use crate::error::{Error, Result};
use crate::ids;

/// Rows in one statement.
const CHUNK: usize = 10_000;

/// What is told while it goes on: what is written, how many rows are, and of how many.
pub type Progress<'a> = &'a (dyn Fn(&'static str, usize, usize) + Send + Sync);

/// Puts `world` into a database without people; everybody has the password of `password_hash`. All of it or nothing.
///
/// Only where nobody is, for its ids are of the past: whoever had read a feed, or walked through a list, would have passed
/// the place where they belong. Their node number is one that nobody ever had, so that no process made the same.
///
/// Errors: [`Error::Conflict`] when somebody is there already. [`Error::Unavailable`] when every node number was used.
pub async fn fill(conn: &mut Connection, world: &World, password_hash: &str, progress: Progress<'_>) -> Result<()> {
    let until = DateTime::from_timestamp_millis(world.plan.until_ms).unwrap_or_default();
    let oldest =
        world.posts.as_slice().first().and_then(|post| DateTime::from_timestamp_millis(post.ms)).unwrap_or(until);
    // What past months need, and what `kith serve` would make at its start.
    partitions::ensure_from(conn, oldest, until).await?;
    conn.transaction::<_, Error, _>(async |conn| {
        // Nobody signs up between the look and the end.
        conn.batch_execute("SET LOCAL statement_timeout = 0; LOCK TABLE users IN EXCLUSIVE MODE").await?;
        if is_inhabited(conn).await? {
            return Err(Error::Conflict { field: None, message: "There are people in this database already." });
        }
        let ids = world.ids(take_node(conn, world.plan.until_ms).await?)?;
        // The same world has the same ids in each database: what a Redis still knows of an earlier one must not count.
        let now = diesel::dsl::now.into_sql::<Timestamptz>();
        let now: DateTime<Utc> = diesel::select(now).get_result(conn).await?;
        inbox::repair::void_all(conn, now).await?;
        people(conn, world, &ids, password_hash, progress).await?;
        follows(conn, world, &ids, progress).await?;
        messages(conn, world, &ids, progress).await?;
        likes(conn, world, &ids, progress).await
    })
    .await
}

/// Tells Postgres what it has, after [`fill`]: plans know the numbers, and what is vacuumed once can be read from the
/// indexes alone. It would come to that by itself, later.
pub async fn settle(conn: &mut Connection, progress: Progress<'_>) -> Result<()> {
    let tables = [
        "users",
        "credentials",
        "user_counters",
        "follows",
        "messages",
        "author_channels",
        "likes",
        "message_counters",
    ];
    for (done, table) in tables.iter().enumerate() {
        sql_query(format!("VACUUM (ANALYZE) {table}")).execute(conn).await?;
        progress("statistics", done + 1, tables.len());
    }
    Ok(())
}

#[derive(QueryableByName)]
struct Is {
    #[diesel(sql_type = Bool)]
    so: bool,
}

/// Whether somebody is there.
pub async fn is_inhabited(conn: &mut Connection) -> Result<bool> {
    let asked: Is = sql_query("SELECT EXISTS (SELECT FROM users) AS so").get_result(conn).await?;
    Ok(asked.so)
}

#[derive(QueryableByName)]
struct Node {
    #[diesel(sql_type = SmallInt)]
    node: i16,
}

/// A node number that nobody ever had, from the end that processes do not come to. The next holder starts above the
/// end of the world.
async fn take_node(conn: &mut Connection, until_ms: i64) -> Result<u16> {
    let taken: Vec<Node> = sql_query(
        "INSERT INTO nodes (node, holder, leased_until, high_water)
         SELECT max(number), gen_random_uuid(), now(), $1 FROM generate_series(0, 1023) AS number
         WHERE NOT EXISTS (SELECT FROM nodes WHERE node = number) HAVING max(number) IS NOT NULL
         RETURNING node",
    )
    .bind::<BigInt, _>(until_ms)
    .load(conn)
    .await?;
    match taken[..] {
        [Node { node }] => Ok(node as u16),
        _ => Err(Error::Unavailable("every one of the 1024 node numbers was used: seed a new database".into())),
    }
}

async fn people(
    conn: &mut Connection,
    world: &World,
    ids: &Ids,
    password_hash: &str,
    progress: Progress<'_>,
) -> Result<()> {
    let all = world.people.len();
    let (mut posted, mut followers, mut following) = (vec![0_i64; all], vec![0_i64; all], vec![0_i64; all]);
    world.posts.iter().for_each(|post| posted[post.author as usize] += 1);
    for follow in &world.follows {
        followers[follow.followee as usize] += 1;
        following[follow.follower as usize] += 1;
    }
    for (number, chunk) in world.people.chunks(CHUNK).enumerate() {
        let range = number * CHUNK..number * CHUNK + chunk.len();
        let each = |value: fn(&Person) -> &String| chunk.iter().map(value).collect::<Vec<_>>();
        sql_query(
            "WITH person AS (
                SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::bigint[], $7::bigint[], $8::bigint[])
                    AS person (id, handle, display_name, bio, joined_at, messages, followers, following)
            ), users AS (
                INSERT INTO users (id, handle, display_name, bio, created_at, updated_at)
                SELECT id, handle, display_name, bio, joined_at, joined_at FROM person
            ), credentials AS (
                INSERT INTO credentials (user_id, password_hash, changed_at) SELECT id, $9, joined_at FROM person
            )
            INSERT INTO user_counters (user_id, message_count, follower_count, following_count)
            SELECT id, messages, followers, following FROM person",
        )
        .bind::<Array<BigInt>, _>(&ids.people[range.clone()])
        .bind::<Array<Text>, _>(each(|person| &person.handle))
        .bind::<Array<Text>, _>(each(|person| &person.display_name))
        .bind::<Array<Text>, _>(each(|person| &person.bio))
        .bind::<Array<Timestamptz>, _>(times(&ids.people[range.clone()]))
        .bind::<Array<BigInt>, _>(&posted[range.clone()])
        .bind::<Array<BigInt>, _>(&followers[range.clone()])
        .bind::<Array<BigInt>, _>(&following[range.clone()])
        .bind::<Text, _>(password_hash)
        .execute(conn)
        .await?;
        progress("people", range.end, all);
    }
    Ok(())
}

async fn follows(conn: &mut Connection, world: &World, ids: &Ids, progress: Progress<'_>) -> Result<()> {
    let person = |number: u32| ids.people[number as usize];
    let rows = world.follows.iter().zip(&ids.follows).map(|(it, id)| (person(it.followee), person(it.follower), *id));
    // In the order of the primary key, which is then built from left to right.
    let mut rows: Vec<(i64, i64, i64)> = rows.collect();
    rows.sort_unstable();
    let mut done = 0;
    for chunk in rows.chunks(CHUNK) {
        let edges: Vec<i64> = chunk.iter().map(|row| row.2).collect();
        // Nobody has read a feed yet, so none is hot.
        sql_query(
            "INSERT INTO follows (followee_id, follower_id, id, is_hot, created_at)
             SELECT followee_id, follower_id, id, false, at
             FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[]) AS edge (followee_id, follower_id, id, at)",
        )
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.0).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.1).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(&edges)
        .bind::<Array<Timestamptz>, _>(times(&edges))
        .execute(conn)
        .await?;
        done += chunk.len();
        progress("follows", done, rows.len());
    }
    Ok(())
}

async fn messages(conn: &mut Connection, world: &World, ids: &Ids, progress: Progress<'_>) -> Result<()> {
    let mut done = 0;
    for (posts, own) in world.posts.chunks(CHUNK).zip(ids.posts.chunks(CHUNK)) {
        // Not more than these texts are held at once.
        let texts: Vec<_> = (done..).take(posts.len()).map(|number| world.text(number as u32)).collect();
        sql_query(
            "INSERT INTO messages (id, author_id, channel, kind, status, title, content, extra, version, created_at, updated_at)
             SELECT id, author_id, channel, kind, 'published', title, content, extra, 1, at, at
             FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::timestamptz[])
                 AS post (id, author_id, channel, kind, title, content, extra, at)",
        )
        .bind::<Array<BigInt>, _>(own)
        .bind::<Array<BigInt>, _>(posts.iter().map(|post| ids.people[post.author as usize]).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(posts.iter().map(|post| &world.plan.channels[post.channel]).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(posts.iter().map(|post| post.kind.as_str()).collect::<Vec<_>>())
        .bind::<Array<Nullable<Text>>, _>(texts.iter().map(|text| text.title.as_deref()).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(texts.iter().map(|text| &text.content).collect::<Vec<_>>())
        .bind::<Array<Jsonb>, _>(texts.iter().map(|text| &text.extra).collect::<Vec<&Value>>())
        .bind::<Array<Timestamptz>, _>(times(own))
        .execute(conn)
        .await?;
        done += posts.len();
        progress("messages", done, world.posts.len());
    }
    sql_query(
        "INSERT INTO author_channels (author_id, channel, newest_id)
         SELECT author_id, channel, max(id) FROM messages GROUP BY author_id, channel",
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn likes(conn: &mut Connection, world: &World, ids: &Ids, progress: Progress<'_>) -> Result<()> {
    let row = |(like, id): (&Like, &i64)| {
        let author = world.posts[like.message as usize].author;
        (ids.posts[like.message as usize], ids.people[like.user as usize], *id, ids.people[author as usize])
    };
    let mut rows: Vec<(i64, i64, i64, i64)> = world.likes.iter().zip(&ids.likes).map(row).collect();
    rows.sort_unstable();
    let mut done = 0;
    for chunk in rows.chunks(CHUNK) {
        let own: Vec<i64> = chunk.iter().map(|row| row.2).collect();
        sql_query(
            "INSERT INTO likes (message_id, user_id, id, author_id, created_at)
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::timestamptz[])",
        )
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.0).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.1).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(&own)
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.3).collect::<Vec<_>>())
        .bind::<Array<Timestamptz>, _>(times(&own))
        .execute(conn)
        .await?;
        done += chunk.len();
        progress("likes", done, rows.len());
    }
    sql_query(
        "INSERT INTO message_counters (message_id, author_id, like_count, like_ever_count)
         SELECT message_id, min(author_id), count(*), count(*) FROM likes GROUP BY message_id",
    )
    .execute(conn)
    .await?;
    Ok(())
}

fn times(ids: &[i64]) -> Vec<DateTime<Utc>> {
    ids.iter().map(|id| ids::time_of(*id)).collect()
}
