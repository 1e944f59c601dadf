//! Counts anew what was counted along the way, and mends what differs. May run anywhere, any number of
//! times, also while people post and follow.

use crate::db::Connection;
use crate::domain::drift::{CHUNK, Drift, Recount, Slice};
use crate::domain::users::read;
use crate::error::Result;

/// Every counter of these people that differs from a recount, in one statement and so of one moment.
const DRIFTS: &str = "
    SELECT 'user_counters' AS kind, asked.id, what, coalesce(stored::text, 'missing') AS found,
        counted::text AS expected
    FROM unnest($1) AS asked (id) LEFT JOIN user_counters ON user_id = asked.id
    CROSS JOIN LATERAL (VALUES
        ('message_count', message_count,
            (SELECT count(*) FROM messages WHERE author_id = asked.id AND status = 'published')),
        ('follower_count', follower_count, (SELECT count(*) FROM follows WHERE followee_id = asked.id)),
        ('following_count', following_count, (SELECT count(*) FROM follows WHERE follower_id = asked.id))
    ) AS counters (what, stored, counted)
    WHERE stored IS DISTINCT FROM counted ORDER BY asked.id, what";

/// Whoever changes what is counted holds the same row until they commit, so what is not counted behind this lock is
/// added by them afterwards. Who has no row can neither post nor follow.
const LOCK: &str = "SELECT user_id FROM user_counters WHERE user_id = ANY ($1) ORDER BY user_id FOR NO KEY UPDATE";

const RECOUNT: &str = "
    INSERT INTO user_counters (user_id, message_count, follower_count, following_count)
    SELECT id, (SELECT count(*) FROM messages WHERE author_id = users.id AND status = 'published'),
        (SELECT count(*) FROM follows WHERE followee_id = users.id),
        (SELECT count(*) FROM follows WHERE follower_id = users.id)
    FROM users WHERE id = ANY ($1)
    ON CONFLICT (user_id) DO UPDATE SET message_count = excluded.message_count,
        follower_count = excluded.follower_count, following_count = excluded.following_count";

const COUNTERS: Recount = Recount { drifts: DRIFTS, lock: LOCK, steps: &[RECOUNT] };

/// What is off among the next people behind `after`. Changes nothing.
pub async fn look(conn: &mut Connection, after: i64) -> Result<Slice> {
    let people = read::ids_after(conn, after, CHUNK).await?;
    COUNTERS.look(conn, &people).await
}

/// Recounts the people in `found`, and answers what really was off when nobody could change it.
pub async fn mend(conn: &mut Connection, found: &[Drift]) -> Result<Vec<Drift>> {
    COUNTERS.mend(conn, found).await
}
