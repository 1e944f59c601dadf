//! Measures what rows and inboxes take in a running Kith. Changes nothing.

use diesel::sql_types::{Array, BigInt, Double, Text};
use diesel::{QueryableByName, sql_query};
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::domain::capacity::model::{InboxBytes, RowBytes, Sizes};
use crate::domain::capacity::rules;
use crate::domain::inbox;
use crate::error::Result;
use crate::kv::Kv;

/// A table of fewer rows is not measured: its half-empty pages would count for too much.
const ENOUGH_ROWS: i64 = 1000;

/// How many inboxes are looked at.
const SAMPLE: usize = 200;

/// The sizes of tables with all of their partitions, and how many rows ANALYZE found there.
const TABLES: &str = "
    SELECT root.relname::text AS name, sum(greatest(part.reltuples, 0))::bigint AS rows,
        sum(pg_table_size(part.oid))::float8 AS heap, sum(pg_indexes_size(part.oid))::float8 AS indexes
    FROM pg_class AS root JOIN pg_class AS part
        ON part.relkind = 'r' AND (part.oid = root.oid
            OR part.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = root.oid))
    WHERE root.oid IN (SELECT to_regclass(name) FROM unnest($1) AS name) GROUP BY root.relname";

/// Bytes of the title and text of a message, on average, of some thousand.
const TEXTS: &str = "
    SELECT coalesce(avg(octet_length(content) + coalesce(octet_length(title), 0)), 0)::float8 AS bytes
    FROM (SELECT content, title FROM messages ORDER BY id DESC LIMIT 5000) AS message";

#[derive(QueryableByName)]
struct Measured {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = BigInt)]
    rows: i64,
    #[diesel(sql_type = Double)]
    heap: f64,
    #[diesel(sql_type = Double)]
    indexes: f64,
}

#[derive(QueryableByName)]
struct Texts {
    #[diesel(sql_type = Double)]
    bytes: f64,
}

/// The sizes of what is there. What there is too little of keeps the size of [`rules::sizes`].
///
/// Errors: [`crate::error::Error::Unavailable`] when Postgres or Redis is away.
pub async fn sizes(conn: &mut Connection, kv: &Kv) -> Result<Sizes> {
    let mut sizes = rules::sizes();
    let names: Vec<&str> = sizes.rows.iter().map(|row| row.table).collect();
    let measured: Vec<Measured> = sql_query(TABLES).bind::<Array<Text>, _>(names).load(conn).await?;
    let texts: Texts = sql_query(TEXTS).get_result(conn).await?;
    for row in &mut sizes.rows {
        let table = measured.iter().find(|measured| measured.name == row.table && measured.rows >= ENOUGH_ROWS);
        let Some(Measured { rows, heap, indexes, .. }) = table else { continue };
        let text = if row.table == "messages" { texts.bytes } else { 0.0 };
        *row = RowBytes { heap: heap / *rows as f64 - text, indexes: indexes / *rows as f64, ..*row };
    }
    let sample = inbox::sample::sample(kv, SAMPLE).await?;
    if sample.inboxes > 0 {
        let empty = sizes.inbox.empty;
        let member = (sample.bytes - empty * sample.inboxes as f64) / sample.members as f64;
        sizes.inbox = InboxBytes { empty, member };
    }
    Ok(sizes)
}
