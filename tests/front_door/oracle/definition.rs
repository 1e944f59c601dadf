//! The feed's definition, written a second time as plain slow SQL. It shares nothing with the product but the tables.

use crate::harness::{Page, Sql, Walk};

/// One of the feeds of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feed {
    /// What is posted on this channel.
    pub channel: &'static str,
    /// Only by those whom the reader follows closely.
    pub is_close: bool,
}

impl Feed {
    /// The feed of everybody whom the reader follows.
    pub fn whole(channel: &'static str) -> Self {
        Self { channel, is_close: false }
    }
}

/// A message of a feed, as it has to be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its place in the order.
    pub position: i64,
    /// The opaque id.
    pub id: String,
    /// What it says now.
    pub content: String,
}

/// Everything that `viewer_id` has to find in `feed` at this moment, newest first.
pub async fn items(sql: &Sql, viewer_id: i64, feed: Feed) -> Vec<Item> {
    let statement = "
        SELECT m.id, translate(rtrim(encode('m'::bytea || int8send(m.author_id) || int8send(m.id), 'base64'), '='), '+/', '-_'), m.content
        FROM messages m
        WHERE m.channel = $2 AND m.status = 'published'
            AND CASE WHEN $3
                THEN EXISTS (SELECT FROM follows f WHERE f.follower_id = $1 AND f.followee_id = m.author_id AND f.is_close)
                ELSE m.author_id = $1
                    OR EXISTS (SELECT FROM follows f WHERE f.follower_id = $1 AND f.followee_id = m.author_id)
            END
        ORDER BY m.id DESC";
    let rows = sql.rows(statement, &[&viewer_id, &feed.channel, &feed.is_close]).await;
    rows.iter().map(|row| Item { position: row.get(0), id: row.get(1), content: row.get(2) }).collect()
}

/// What is wrong with `page`, if something is: `expected` is the whole feed at the moment of reading; `from` is the
/// position that the walk stands at, if it is under way.
pub fn fault(expected: &[Item], page: &Page, walk: Walk, from: Option<i64>) -> Option<String> {
    let (size, is_beyond): (i32, fn(i64, i64) -> bool) = match walk {
        Walk::First(size) => (size, |position, from| position < from),
        Walk::Last(size) => (size, |position, from| position > from),
    };
    let size = size as usize;
    let range: Vec<&Item> =
        expected.iter().filter(|item| from.is_none_or(|from| is_beyond(item.position, from))).collect();
    let cut = range.len().saturating_sub(size);
    let (served, rest, behind) = match walk {
        Walk::First(_) => (&range[..range.len() - cut], cut, range.len() < expected.len()),
        Walk::Last(_) => (&range[cut..], cut, range.len() < expected.len()),
    };
    let (has_next, has_previous) = match walk {
        Walk::First(_) => (rest > 0, behind),
        Walk::Last(_) => (behind, rest > 0),
    };
    let ids: Vec<&String> = served.iter().map(|item| &item.id).collect();
    if ids != page.ids.iter().collect::<Vec<_>>() {
        return Some(format!("expected {ids:?}"));
    }
    if served.iter().map(|item| &item.content).ne(page.contents.iter()) {
        return Some("another content".into());
    }
    if (page.has_next, page.has_previous) != (has_next, has_previous) {
        return Some(format!("expected hasNextPage {has_next}, hasPreviousPage {has_previous}"));
    }
    let ends = (page.cursors.first(), page.cursors.last());
    if !page.ids.is_empty() && (page.start.as_ref(), page.end.as_ref()) != ends {
        return Some("startCursor and endCursor are not those of the first and the last edge".into());
    }
    None
}

/// Counters that differ from a recount, in words.
pub async fn miscounted(sql: &Sql) -> Vec<String> {
    let statement = "
        SELECT format('%s has %s/%s/%s instead of %s/%s/%s', user_id, message_count, follower_count, following_count,
            messages, followers, following)
        FROM user_counters c, LATERAL (SELECT
            (SELECT count(*) FROM messages WHERE author_id = c.user_id AND status = 'published') AS messages,
            (SELECT count(*) FROM follows WHERE followee_id = c.user_id) AS followers,
            (SELECT count(*) FROM follows WHERE follower_id = c.user_id) AS following) AS recount
        WHERE (message_count, follower_count, following_count) <> (messages, followers, following)";
    sql.column(statement, &[]).await
}
