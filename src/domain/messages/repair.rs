//! Finds the newest message of each author and channel anew, and mends what is kept of it. May run anywhere, any
//! number of times, also while people post.

use crate::db::Connection;
use crate::domain::drift::{CHUNK, Drift, Recount, Slice};
use crate::domain::users;
use crate::error::Result;

/// What is kept of these authors and is not so, in one statement and so of one moment.
const DRIFTS: &str = "
    SELECT 'author_channels' AS kind, author_id AS id, channel AS what,
        coalesce(head.newest_id::text, 'missing') AS found, coalesce(true_head.newest_id::text, 'gone') AS expected
    FROM (SELECT * FROM author_channels WHERE author_id = ANY ($1)) AS head
    FULL JOIN (
        SELECT author_id, channel, max(id) AS newest_id FROM messages WHERE author_id = ANY ($1) GROUP BY author_id, channel
    ) AS true_head USING (author_id, channel)
    WHERE head.newest_id IS DISTINCT FROM true_head.newest_id ORDER BY author_id, channel";

/// Whoever posts waits for this, and raises what they find then.
const LOCK: &str =
    "SELECT author_id FROM author_channels WHERE author_id = ANY ($1) ORDER BY author_id, channel FOR UPDATE";

/// Somebody's first message in a channel can come in between; it is not taken back. All that have messages are locked
/// from here on.
const COMPLETE: &str = "
    INSERT INTO author_channels AS head (author_id, channel, newest_id)
    SELECT author_id, channel, max(id) FROM messages WHERE author_id = ANY ($1) GROUP BY author_id, channel
    ORDER BY author_id, channel
    ON CONFLICT (author_id, channel) DO UPDATE SET newest_id = greatest(head.newest_id, excluded.newest_id)";
const LOWER: &str = "
    UPDATE author_channels AS head SET newest_id = true_head.id
    FROM (SELECT author_id, channel, max(id) AS id FROM messages WHERE author_id = ANY ($1) GROUP BY author_id, channel)
        AS true_head
    WHERE head.author_id = true_head.author_id AND head.channel = true_head.channel AND head.newest_id > true_head.id";
const CLEAR: &str = "
    DELETE FROM author_channels AS head WHERE author_id = ANY ($1) AND NOT EXISTS (
        SELECT FROM messages WHERE messages.author_id = head.author_id AND messages.channel = head.channel
    )";

const HEADS: Recount = Recount { drifts: DRIFTS, lock: LOCK, steps: &[COMPLETE, LOWER, CLEAR] };

/// What is off among the next people behind `after`. Changes nothing.
pub async fn look(conn: &mut Connection, after: i64) -> Result<Slice> {
    let authors = users::read::ids_after(conn, after, CHUNK).await?;
    HEADS.look(conn, &authors).await
}

/// Mends the authors in `found`, and answers what really was off when nobody could change it.
pub async fn mend(conn: &mut Connection, found: &[Drift]) -> Result<Vec<Drift>> {
    HEADS.mend(conn, found).await
}
