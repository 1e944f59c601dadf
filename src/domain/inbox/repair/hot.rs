//! Makes the hot flags of follows agree with the feeds that are read, and forgets the feeds of nobody. May run
//! anywhere, any number of times, also while people read and follow.

use diesel::sql_types::BigInt;
use diesel::{QueryableByName, sql_query};
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::domain::drift::{CHUNK, Drift, Recount, Slice, drifts, ids, run};
use crate::domain::users;
use crate::error::Result;

/// Followers whose edges do not say whether any feed of theirs is read.
const DRIFTS: &str = "
    SELECT 'hot_follows' AS kind, asked.id, 'follows' AS what, count(*) || CASE WHEN hot THEN ' cold' ELSE ' hot' END AS found,
        CASE WHEN hot THEN 'hot' ELSE 'cold' END AS expected
    FROM unnest($1) AS asked (id)
    CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM activity WHERE user_id = asked.id AND activity.is_hot) AS hot) AS reader
    JOIN follows ON follower_id = asked.id AND follows.is_hot <> hot
    GROUP BY asked.id, hot ORDER BY asked.id";

/// Heating, cooling and following lock the same row.
const LOCK: &str = "SELECT user_id FROM user_counters WHERE user_id = ANY ($1) ORDER BY user_id FOR NO KEY UPDATE";

const FLAG: &str = "
    UPDATE follows SET is_hot = NOT follows.is_hot
    WHERE follower_id = ANY ($1)
    AND is_hot <> EXISTS (SELECT FROM activity WHERE user_id = follows.follower_id AND activity.is_hot)";

/// What was not delivered over cold edges is missing in the inboxes of these people.
const VOID: &str = "UPDATE activity SET generation = generation + 1 WHERE is_hot AND user_id = ANY ($1)";

const FLAGS: Recount = Recount { drifts: DRIFTS, lock: LOCK, steps: &[FLAG, VOID] };

/// What is off among the next people behind `after`. Changes nothing.
pub async fn look(conn: &mut Connection, after: i64) -> Result<Slice> {
    let people = users::read::ids_after(conn, after, CHUNK).await?;
    FLAGS.look(conn, &people).await
}

/// Flags the edges of the people in `found`, and answers what really was off when nobody could change it.
pub async fn mend(conn: &mut Connection, found: &[Drift]) -> Result<Vec<Drift>> {
    FLAGS.mend(conn, found).await
}

#[derive(QueryableByName)]
struct Reader {
    #[diesel(sql_type = BigInt)]
    user_id: i64,
}

const READERS: &str = "SELECT DISTINCT user_id FROM activity WHERE user_id > $1 ORDER BY user_id LIMIT $2";
const OF_NOBODY: &str = "
    SELECT 'activity' AS kind, user_id AS id, channel AS what, CASE WHEN is_hot THEN 'hot' ELSE 'cold' END AS found,
        'gone' AS expected
    FROM activity WHERE user_id = ANY ($1) AND NOT EXISTS (SELECT FROM users WHERE id = user_id) ORDER BY user_id, channel";
const FORGET: &str = "
    DELETE FROM activity WHERE user_id = ANY ($1) AND NOT EXISTS (SELECT FROM users WHERE id = user_id)";

/// Feeds of nobody among the next ones behind `after`. Changes nothing.
pub async fn look_for_nobodys(conn: &mut Connection, after: i64) -> Result<Slice> {
    let readers = sql_query(READERS).bind::<BigInt, _>(after).bind::<BigInt, _>(CHUNK);
    let readers: Vec<i64> = readers.load(conn).await?.into_iter().map(|reader: Reader| reader.user_id).collect();
    let found = drifts(conn, OF_NOBODY, &readers).await?;
    Ok(Slice::of(&readers, found))
}

/// Forgets the feeds in `found`. Nobody comes into being behind their feed.
pub async fn forget(conn: &mut Connection, found: &[Drift]) -> Result<()> {
    run(conn, FORGET, &ids(found)).await
}
