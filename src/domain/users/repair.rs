//! Counts anew what was counted along the way, and mends what differs. May run anywhere, any number of
//! times, also while people post and follow.

use diesel::sql_types::{BigInt, Text};
use diesel::{QueryableByName, sql_query};
use diesel_async::{AsyncConnection, RunQueryDsl};

use crate::db::Connection;
use crate::error::{Error, Result};

/// A counter that is not what a recount says.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct Drift {
    /// Whose.
    #[diesel(sql_type = BigInt)]
    pub user_id: i64,
    /// Which: `message_count`, `follower_count` or `following_count`.
    #[diesel(sql_type = Text)]
    pub counter: String,
    /// What is stored.
    #[diesel(sql_type = BigInt)]
    pub stored: i64,
    /// What there is.
    #[diesel(sql_type = BigInt)]
    pub counted: i64,
}

/// Every counter that differs from a recount, in one statement and so of one moment.
const DRIFTS: &str = "
    WITH counted AS (
        SELECT author_id AS user_id, 'message_count' AS counter, count(*) AS n
        FROM messages WHERE status = 'published' GROUP BY author_id
        UNION ALL SELECT followee_id, 'follower_count', count(*) FROM follows GROUP BY followee_id
        UNION ALL SELECT follower_id, 'following_count', count(*) FROM follows GROUP BY follower_id
    ), stored AS (
        SELECT user_id, 'message_count' AS counter, message_count AS n FROM user_counters
        UNION ALL SELECT user_id, 'follower_count', follower_count FROM user_counters
        UNION ALL SELECT user_id, 'following_count', following_count FROM user_counters
    )
    SELECT user_id, counter, stored.n AS stored, coalesce(counted.n, 0) AS counted
    FROM stored LEFT JOIN counted USING (user_id, counter)
    WHERE stored.n <> coalesce(counted.n, 0)
    ORDER BY user_id, counter";

/// Mends one person. Whoever changes what is counted holds the same row until they commit, so what is not
/// counted here is added by them afterwards.
const LOCK: &str = "SELECT user_id FROM user_counters WHERE user_id = $1 FOR NO KEY UPDATE";
const RECOUNT: &str = "
    UPDATE user_counters SET
        message_count = (SELECT count(*) FROM messages WHERE author_id = $1 AND status = 'published'),
        follower_count = (SELECT count(*) FROM follows WHERE followee_id = $1),
        following_count = (SELECT count(*) FROM follows WHERE follower_id = $1)
    WHERE user_id = $1";

/// What has drifted. Changes nothing.
pub async fn drifts(conn: &mut Connection) -> Result<Vec<Drift>> {
    Ok(sql_query(DRIFTS).load(conn).await?)
}

/// Mends what has drifted and answers what that was.
pub async fn mend(conn: &mut Connection) -> Result<Vec<Drift>> {
    let found = drifts(conn).await?;
    let mut people: Vec<i64> = found.iter().map(|drift| drift.user_id).collect();
    people.dedup();
    for user_id in people {
        conn.transaction::<_, Error, _>(async move |conn| {
            sql_query(LOCK).bind::<BigInt, _>(user_id).execute(conn).await?;
            sql_query(RECOUNT).bind::<BigInt, _>(user_id).execute(conn).await?;
            Ok(())
        })
        .await?;
    }
    Ok(found)
}
