//! Puts a demo world into an empty database, in one transaction. Never what is in it.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz};
use diesel::{QueryableByName, sql_query};
use diesel_async::{AsyncConnection, RunQueryDsl, SimpleAsyncConnection};

use crate::db::Connection;
use crate::domain::messages::partitions;
use crate::domain::seed::ids::NODE;
use crate::domain::seed::model::{Person, World};
use crate::error::{Error, Result};
use crate::ids;

/// Rows in one statement.
const CHUNK: usize = 10_000;

/// What is told while it goes on: what is written, how many rows are, and of how many.
pub type Progress<'a> = &'a (dyn Fn(&'static str, usize, usize) + Send + Sync);

/// Puts `world`, which ends at `until`, into a database without people; everybody has the password of `password_hash`.
/// All of it or nothing.
///
/// Errors: [`Error::Conflict`] when somebody is there already.
pub async fn fill(
    conn: &mut Connection,
    world: &World,
    password_hash: &str,
    until: DateTime<Utc>,
    progress: Progress<'_>,
) -> Result<()> {
    let oldest = world.posts.as_slice().first().map_or(until, |post| ids::time_of(post.id));
    // What past months need, and what `kith serve` would make at its start.
    partitions::ensure_from(conn, oldest, until).await?;
    conn.transaction::<_, Error, _>(async |conn| {
        // Nobody signs up between the look and the end.
        conn.batch_execute("SET LOCAL statement_timeout = 0; LOCK TABLE users IN EXCLUSIVE MODE").await?;
        if is_inhabited(conn).await? {
            return Err(Error::Conflict { field: None, message: "There are people in this database already." });
        }
        sql_query(
            "INSERT INTO nodes (node, holder, leased_until, high_water) VALUES ($1, gen_random_uuid(), now(), $2)
                   ON CONFLICT (node) DO UPDATE SET high_water = greatest(nodes.high_water, excluded.high_water)",
        )
        .bind::<diesel::sql_types::SmallInt, _>(NODE)
        .bind::<BigInt, _>(until.timestamp_millis())
        .execute(conn)
        .await?;
        people(conn, world, password_hash, progress).await?;
        follows(conn, world, progress).await?;
        posts(conn, world, progress).await?;
        likes(conn, world, progress).await
    })
    .await?;
    progress("statistics", 0, 1);
    conn.batch_execute("SET statement_timeout = 0; ANALYZE").await?;
    progress("statistics", 1, 1);
    Ok(())
}

#[derive(QueryableByName)]
struct Is {
    #[diesel(sql_type = Bool)]
    so: bool,
}

/// Whether anybody is there.
pub async fn is_inhabited(conn: &mut Connection) -> Result<bool> {
    let asked: Is = sql_query("SELECT EXISTS (SELECT FROM users) AS so").get_result(conn).await?;
    Ok(asked.so)
}

async fn people(conn: &mut Connection, world: &World, password_hash: &str, progress: Progress<'_>) -> Result<()> {
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
        .bind::<Array<BigInt>, _>(chunk.iter().map(|person| person.id).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(each(|person| &person.handle))
        .bind::<Array<Text>, _>(each(|person| &person.display_name))
        .bind::<Array<Text>, _>(each(|person| &person.bio))
        .bind::<Array<Timestamptz>, _>(chunk.iter().map(|person| ids::time_of(person.id)).collect::<Vec<_>>())
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

async fn follows(conn: &mut Connection, world: &World, progress: Progress<'_>) -> Result<()> {
    // In the order of the primary key, which is then built from left to right.
    let id = |number: u32| world.people[number as usize].id;
    let mut rows: Vec<(i64, i64, i64)> =
        world.follows.iter().map(|follow| (id(follow.followee), id(follow.follower), follow.id)).collect();
    rows.sort_unstable();
    let mut done = 0;
    for chunk in rows.chunks(CHUNK) {
        sql_query(
            "INSERT INTO follows (followee_id, follower_id, id, is_hot, created_at)
             SELECT followee_id, follower_id, id, false, at
             FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[]) AS edge (followee_id, follower_id, id, at)",
        )
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.0).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.1).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.2).collect::<Vec<_>>())
        .bind::<Array<Timestamptz>, _>(chunk.iter().map(|row| ids::time_of(row.2)).collect::<Vec<_>>())
        .execute(conn)
        .await?;
        done += chunk.len();
        progress("follows", done, rows.len());
    }
    Ok(())
}

async fn posts(conn: &mut Connection, world: &World, progress: Progress<'_>) -> Result<()> {
    let mut done = 0;
    for chunk in world.posts.chunks(CHUNK) {
        sql_query(
            "INSERT INTO messages (id, author_id, channel, kind, status, title, content, extra, version, created_at, updated_at)
             SELECT id, author_id, channel, kind, 'published', title, content, '{}', 1, at, at
             FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
                 AS post (id, author_id, channel, kind, title, content, at)",
        )
        .bind::<Array<BigInt>, _>(chunk.iter().map(|post| post.id).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(chunk.iter().map(|post| world.people[post.author as usize].id).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(chunk.iter().map(|post| &post.channel).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(chunk.iter().map(|post| post.kind).collect::<Vec<_>>())
        .bind::<Array<Nullable<Text>>, _>(chunk.iter().map(|post| post.title.as_deref()).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(chunk.iter().map(|post| &post.content).collect::<Vec<_>>())
        .bind::<Array<Timestamptz>, _>(chunk.iter().map(|post| ids::time_of(post.id)).collect::<Vec<_>>())
        .execute(conn)
        .await?;
        done += chunk.len();
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

async fn likes(conn: &mut Connection, world: &World, progress: Progress<'_>) -> Result<()> {
    let mut rows: Vec<(i64, i64, i64, i64)> = world
        .likes
        .iter()
        .map(|like| {
            let post = &world.posts[like.post as usize];
            (post.id, world.people[like.user as usize].id, like.id, world.people[post.author as usize].id)
        })
        .collect();
    rows.sort_unstable();
    let mut counts: HashMap<(i64, i64), i64> = HashMap::new();
    rows.iter().for_each(|row| *counts.entry((row.0, row.3)).or_default() += 1);
    let mut done = 0;
    for chunk in rows.chunks(CHUNK) {
        sql_query(
            "INSERT INTO likes (message_id, user_id, id, author_id, created_at)
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::timestamptz[])",
        )
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.0).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.1).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.2).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.3).collect::<Vec<_>>())
        .bind::<Array<Timestamptz>, _>(chunk.iter().map(|row| ids::time_of(row.2)).collect::<Vec<_>>())
        .execute(conn)
        .await?;
        done += chunk.len();
        progress("likes", done, rows.len());
    }
    let mut counts: Vec<((i64, i64), i64)> = counts.into_iter().collect();
    counts.sort_unstable();
    for chunk in counts.chunks(CHUNK) {
        sql_query(
            "INSERT INTO message_counters (message_id, author_id, like_count, like_ever_count)
             SELECT message_id, author_id, likes, likes FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
                 AS counted (message_id, author_id, likes)",
        )
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.0.0).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.0.1).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(chunk.iter().map(|row| row.1).collect::<Vec<_>>())
        .execute(conn)
        .await?;
    }
    Ok(())
}
