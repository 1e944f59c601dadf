//! Counts the likes of messages anew, and mends what differs. May run anywhere, any number of times, also
//! while people like.

use diesel::sql_types::{BigInt, Text};
use diesel::{QueryableByName, sql_query};
use diesel_async::{AsyncConnection, RunQueryDsl};

use crate::db::Connection;
use crate::error::{Error, Result};

/// A counter that is not what a recount says.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct Drift {
    /// Of which message.
    #[diesel(sql_type = BigInt)]
    pub message_id: i64,
    /// Which: `like_count` or `like_ever_count`.
    #[diesel(sql_type = Text)]
    pub counter: String,
    /// What is stored; 0 for a message without counters.
    #[diesel(sql_type = BigInt)]
    pub stored: i64,
    /// What there is.
    #[diesel(sql_type = BigInt)]
    pub counted: i64,
}

/// Every counter that differs from a recount, in one statement and so of one moment.
const DRIFTS: &str = "
    WITH counted AS (
        SELECT message_id, count(*) FILTER (WHERE cancelled_at IS NULL) AS now, count(*) AS ever
        FROM likes GROUP BY message_id
    )
    SELECT message_id, counter, stored, counted
    FROM counted FULL JOIN message_counters USING (message_id)
    CROSS JOIN LATERAL (VALUES
        ('like_count', coalesce(like_count, 0), coalesce(now, 0)),
        ('like_ever_count', coalesce(like_ever_count, 0), coalesce(ever, 0))
    ) AS counters (counter, stored, counted)
    WHERE stored <> counted
    ORDER BY message_id, counter";

/// Mends one message. Whoever changes its likes holds the same row until they commit, so what is not counted
/// here is added by them afterwards.
const LOCK: &str = "
    INSERT INTO message_counters (message_id, author_id) SELECT id, author_id FROM messages WHERE id = $1
    ON CONFLICT (message_id) DO UPDATE SET author_id = excluded.author_id WHERE false";
const RECOUNT: &str = "
    UPDATE message_counters SET
        like_count = (SELECT count(*) FROM likes WHERE message_id = $1 AND cancelled_at IS NULL),
        like_ever_count = (SELECT count(*) FROM likes WHERE message_id = $1)
    WHERE message_id = $1";

/// What has drifted. Changes nothing.
pub async fn drifts(conn: &mut Connection) -> Result<Vec<Drift>> {
    Ok(sql_query(DRIFTS).load(conn).await?)
}

/// Mends what has drifted and answers what that was.
pub async fn mend(conn: &mut Connection) -> Result<Vec<Drift>> {
    let found = drifts(conn).await?;
    let mut messages: Vec<i64> = found.iter().map(|drift| drift.message_id).collect();
    messages.dedup();
    for message_id in messages {
        conn.transaction::<_, Error, _>(async move |conn| {
            sql_query(LOCK).bind::<BigInt, _>(message_id).execute(conn).await?;
            sql_query(RECOUNT).bind::<BigInt, _>(message_id).execute(conn).await?;
            Ok(())
        })
        .await?;
    }
    Ok(found)
}
