//! Counts the likes of messages anew, and mends what differs. May run anywhere, any number of times, also
//! while people like.

use diesel::sql_types::BigInt;
use diesel::{QueryableByName, sql_query};
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::domain::drift::{CHUNK, Drift, Recount, Slice};
use crate::error::Result;

/// The next messages that are liked or counted.
const SUBJECTS: &str = "
    (SELECT message_id AS id FROM message_counters WHERE message_id > $1 ORDER BY message_id LIMIT $2)
    UNION (SELECT DISTINCT message_id FROM likes WHERE message_id > $1 ORDER BY message_id LIMIT $2)
    ORDER BY id LIMIT $2";

/// Every counter of these messages that differs from a recount, in one statement and so of one moment. A message
/// without counters has none of anything; one that is gone has no counters.
const DRIFTS: &str = "
    SELECT 'message_counters' AS kind, asked.id, what, stored::text AS found, coalesce(counted::text, 'gone') AS expected
    FROM unnest($1) AS asked (id)
    LEFT JOIN message_counters AS counters ON counters.message_id = asked.id
    LEFT JOIN messages ON messages.id = asked.id
    CROSS JOIN LATERAL (SELECT
        count(*) FILTER (WHERE cancelled_at IS NULL) AS now, count(*) AS ever FROM likes WHERE message_id = asked.id
    ) AS liked
    CROSS JOIN LATERAL (VALUES
        ('like_count', CASE WHEN messages.id IS NULL THEN like_count ELSE coalesce(like_count, 0) END, now),
        ('like_ever_count', CASE WHEN messages.id IS NULL THEN like_ever_count ELSE coalesce(like_ever_count, 0) END, ever)
    ) AS counter (what, stored, of_likes)
    CROSS JOIN LATERAL (SELECT CASE WHEN messages.id IS NOT NULL THEN of_likes END AS counted) AS recount
    WHERE stored IS DISTINCT FROM counted ORDER BY asked.id, what";

/// Whoever changes the likes of a message holds this row until they commit, so what is not counted behind this lock
/// is added by them afterwards.
const LOCK: &str = "
    INSERT INTO message_counters (message_id, author_id) SELECT id, author_id FROM messages WHERE id = ANY ($1) ORDER BY id
    ON CONFLICT (message_id) DO UPDATE SET author_id = excluded.author_id WHERE false";
const RECOUNT: &str = "
    UPDATE message_counters AS counters SET
        like_count = (SELECT count(*) FROM likes WHERE message_id = counters.message_id AND cancelled_at IS NULL),
        like_ever_count = (SELECT count(*) FROM likes WHERE message_id = counters.message_id)
    WHERE message_id = ANY ($1)";
const CLEAR: &str = "
    DELETE FROM message_counters WHERE message_id = ANY ($1)
    AND NOT EXISTS (SELECT FROM messages WHERE messages.id = message_counters.message_id)";

#[derive(QueryableByName)]
struct Subject {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

const COUNTERS: Recount = Recount { drifts: DRIFTS, lock: LOCK, steps: &[RECOUNT, CLEAR] };

/// What is off among the next messages behind `after`. Changes nothing.
pub async fn look(conn: &mut Connection, after: i64) -> Result<Slice> {
    let subjects = sql_query(SUBJECTS).bind::<BigInt, _>(after).bind::<BigInt, _>(CHUNK);
    let messages: Vec<i64> = subjects.load(conn).await?.into_iter().map(|subject: Subject| subject.id).collect();
    COUNTERS.look(conn, &messages).await
}

/// Recounts the messages in `found`, and answers what really was off when nobody could change it.
pub async fn mend(conn: &mut Connection, found: &[Drift]) -> Result<Vec<Drift>> {
    COUNTERS.mend(conn, found).await
}
