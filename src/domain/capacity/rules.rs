//! The formulae of a capacity plan and the measured sizes that they take. Pure. `docs/capacity.md` explains both.

use crate::domain::capacity::model::{InboxBytes, Load, Plan, Rate, RowBytes, Sizes, Table};
use crate::domain::idempotency::KEPT_DAYS;
use crate::domain::inbox::model::{TRIM_AT, WINDOW};

/// Bytes a row, as `pg_table_size` and `pg_indexes_size` tell them, divided by the rows. Measured on Postgres 15.18 in a
/// world of 20,000 people, 1,000,000 follows, 200,000 messages and 400,000 likes that `kith seed` made, with 6,000
/// readers; sessions, tokens and keys were added by SQL. `messages` stands here without its title and text.
pub const ROWS: [RowBytes; 12] = [
    RowBytes { table: "users", heap: 117.0, indexes: 66.0 },
    RowBytes { table: "credentials", heap: 151.0, indexes: 30.0 },
    RowBytes { table: "user_counters", heap: 88.0, indexes: 30.0 },
    RowBytes { table: "sessions", heap: 143.0, indexes: 72.0 },
    RowBytes { table: "refresh_tokens", heap: 93.0, indexes: 88.0 },
    RowBytes { table: "follows", heap: 70.0, indexes: 181.0 },
    RowBytes { table: "messages", heap: 125.0, indexes: 77.0 },
    RowBytes { table: "message_counters", heap: 87.0, indexes: 27.0 },
    RowBytes { table: "likes", heap: 68.0, indexes: 108.0 },
    RowBytes { table: "author_channels", heap: 101.0, indexes: 41.0 },
    RowBytes { table: "activity", heap: 77.0, indexes: 59.0 },
    RowBytes { table: "idempotency_keys", heap: 142.0, indexes: 120.0 },
];

/// Bytes of an inbox, as `MEMORY USAGE` tells them on Redis 7.0: 5208 with 101 members. The allocator grows in steps of a
/// fifth, so a full one that swings up to the trim takes 5208 or 6232.
pub const INBOX: InboxBytes = InboxBytes { empty: 120.0, member: 53.0 };

/// Seconds for which a message stays in flight behind its delivery: a request's life, the margin for clocks, the
/// sweep's period (15 + 5 + 2), and one for the delivery itself.
const IN_FLIGHT_SECONDS: f64 = 23.0;

const DAY_SECONDS: f64 = 86_400.0;

/// The sizes that were measured once and for all; `kith capacity --measure` takes those of a running Kith.
pub fn sizes() -> Sizes {
    Sizes { rows: ROWS.to_vec(), inbox: INBOX }
}

/// What `load` comes to.
pub fn plan(load: &Load, sizes: &Sizes) -> Plan {
    let tables: Vec<Table> = sizes.rows.iter().map(|row| table(load, row)).collect();
    let inboxes = load.users as f64 * load.hot_share * load.channels_read;
    let members = members_per_inbox(load);
    let messages = load.messages_per_day / DAY_SECONDS;
    let deliveries_each = load.follows_per_user * load.reach * load.hot_share;
    let steps_each = 1.0 + (deliveries_each / load.delivery_chunk).floor();
    let rate = |each: f64| Rate { average: messages * each, peak: messages * each * load.peak_factor };
    Plan {
        disk_bytes: tables.iter().map(|table| table.heap_bytes + table.index_bytes).sum(),
        tables,
        inboxes: whole(inboxes),
        members_per_inbox: members,
        redis_bytes: whole(inboxes * (sizes.inbox.empty + members * sizes.inbox.member)),
        messages: rate(1.0),
        deliveries: rate(deliveries_each),
        job_steps: rate(steps_each),
        in_flight: whole(messages * load.peak_factor * IN_FLIGHT_SECONDS),
    }
}

fn table(load: &Load, row: &RowBytes) -> Table {
    let rows = rows(load, row.table);
    let text = if row.table == "messages" { load.content_bytes } else { 0.0 };
    Table {
        name: row.table,
        rows: whole(rows),
        heap_bytes: whole(rows * (row.heap + text)),
        index_bytes: whole(rows * row.indexes),
    }
}

fn rows(load: &Load, table: &str) -> f64 {
    let users = load.users as f64;
    let messages = load.messages_per_day * load.days;
    match table {
        "users" | "credentials" | "user_counters" => users,
        "sessions" => users * load.sessions_per_user,
        "refresh_tokens" => users * load.sessions_per_user * load.tokens_per_session,
        "follows" => users * load.follows_per_user,
        "messages" => messages,
        // Of n likes that fall anywhere, a message gets none with probability e^-n.
        "message_counters" => messages * (1.0 - (-load.likes_per_message).exp()),
        "likes" => messages * load.likes_per_message,
        "author_channels" => users.min(messages) * load.channels_posted,
        "activity" => users * load.hot_share * load.channels_read,
        "idempotency_keys" => load.messages_per_day * load.days.min(KEPT_DAYS as f64),
        _ => 0.0,
    }
}

/// An inbox holds what came within its days, at most the window; a full one swings between its window and where it is
/// trimmed.
fn members_per_inbox(load: &Load) -> f64 {
    let days = load.inbox_days.min(load.days);
    let came = load.messages_per_day / (load.users.max(1) as f64) * load.follows_per_user * load.reach * days
        / load.channels_read.max(1.0);
    let full = (WINDOW + TRIM_AT) as f64 / 2.0;
    1.0 + if came >= WINDOW as f64 { full } else { came }
}

fn whole(number: f64) -> u64 {
    number.round().max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load = Load {
        users: 1000,
        follows_per_user: 50.0,
        messages_per_day: 864.0,
        days: 100.0,
        content_bytes: 100.0,
        likes_per_message: 5.0,
        sessions_per_user: 2.0,
        tokens_per_session: 10.0,
        hot_share: 0.2,
        channels_read: 1.0,
        channels_posted: 1.0,
        reach: 1.0,
        peak_factor: 3.0,
        inbox_days: 30.0,
        delivery_chunk: 4.0,
    };

    fn rows_of(load: &Load, table: &str) -> u64 {
        plan(load, &sizes()).tables.iter().find(|known| known.name == table).expect("a table").rows
    }

    #[test]
    fn rows_follow_from_the_load() {
        let expected = [
            ("users", 1000),
            ("credentials", 1000),
            ("sessions", 2000),
            ("refresh_tokens", 20_000),
            ("follows", 50_000),
            ("messages", 86_400),
            ("likes", 432_000),
            ("activity", 200),
            ("author_channels", 1000),
            ("message_counters", 85_818),
            ("idempotency_keys", 6048),
        ];
        for (table, rows) in expected {
            assert_eq!(rows_of(&LOAD, table), rows, "{table}");
        }
        assert!(plan(&LOAD, &sizes()).tables.iter().all(|table| table.rows > 0), "each table has its formula");
        assert_eq!(rows_of(&Load { likes_per_message: 0.0, ..LOAD }, "message_counters"), 0);
    }

    #[test]
    fn disk_is_the_sum_of_rows_times_bytes_and_texts() {
        let one = |table| RowBytes { table, heap: 10.0, indexes: 3.0 };
        let sizes = Sizes { rows: vec![one("users"), one("messages")], inbox: INBOX };
        assert_eq!(plan(&LOAD, &sizes).disk_bytes, 1000 * 13 + 86_400 * (13 + 100));
    }

    #[test]
    fn work_follows_from_who_is_hot() {
        let made = plan(&LOAD, &sizes());
        let near = |rate: Rate, average: f64| {
            (rate.average - average).abs() < 1e-9 && (rate.peak - 3.0 * average).abs() < 1e-9
        };
        assert!(near(made.messages, 0.01), "{made:?}");
        assert!(near(made.deliveries, 0.1), "{made:?}");
        assert!(near(made.job_steps, 0.03), "three steps of four for ten followers: {made:?}");
        assert_eq!((made.inboxes, made.in_flight), (200, 1));
    }

    #[test]
    fn an_inbox_fills_up_to_its_window_and_no_further() {
        let members = |load: &Load| plan(load, &sizes()).members_per_inbox;
        assert_eq!(members(&LOAD), 109.0);
        assert!((members(&Load { messages_per_day: 20.0, ..LOAD }) - 31.0).abs() < 1e-9);
        assert!((members(&Load { messages_per_day: 20.0, days: 3.0, ..LOAD }) - 4.0).abs() < 1e-9);
        assert_eq!(members(&Load { users: 0, ..LOAD }), 109.0, "nobody divides by nothing");
    }
}
