//! The migrations: up, down and up again, and the tables as diesel sees them. Never data.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::{join, join_all};
use kith::db::migrations::{Schema, compare, down, up};

use crate::harness::{Database, Sql};

/// Everything of a schema that can be seen, a line a thing.
async fn dump(sql: &Sql) -> BTreeSet<String> {
    let statement = "
        SELECT concat_ws(' ', 'relation', c.relname, c.relkind, c.relispartition, c.reloptions::text, pg_get_partkeydef(c.oid))
        FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace
        UNION ALL
        SELECT concat_ws(' ', 'column', a.attrelid::regclass, a.attname, a.attnum, format_type(a.atttypid, a.atttypmod),
            a.attnotnull, a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid))
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relnamespace = 'public'::regnamespace
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid))
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
        UNION ALL
        SELECT concat_ws(' ', 'index', indexdef) FROM pg_indexes WHERE schemaname = 'public'
        UNION ALL
        SELECT concat_ws(' ', 'function', pg_get_functiondef(oid)) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        UNION ALL
        SELECT concat_ws(' ', 'trigger', pg_get_triggerdef(t.oid)) FROM pg_trigger t WHERE NOT tgisinternal
        UNION ALL
        SELECT concat_ws(' ', 'type', typname, typtype) FROM pg_type WHERE typnamespace = 'public'::regnamespace
        UNION ALL
        SELECT concat_ws(' ', 'extension', extname) FROM pg_extension
        UNION ALL
        SELECT concat_ws(' ', 'schema', nspname) FROM pg_namespace WHERE nspname !~ '^pg_'";
    sql.column(statement, &[]).await.into_iter().filter(|line: &String| !line.contains("__diesel")).collect()
}

#[tokio::test]
async fn up_and_down_and_up_again() {
    let database = Database::empty().await;
    let sql = Sql::connect(&database.url).await;
    let empty = dump(&sql).await;

    let ran = up(&database.address()).await.expect("up");
    assert!(!ran.is_empty());
    let first = dump(&sql).await;
    assert!(first.len() > 50, "{first:#?}");

    down(&database.address()).await.expect("down");
    assert_eq!(dump(&sql).await, empty, "down leaves something");

    assert_eq!(up(&database.address()).await.expect("up again"), ran);
    assert_eq!(dump(&sql).await, first, "up again makes something else");
    assert_eq!(compare(&database.address()).await, Ok(Schema::Current));
    assert!(up(&database.address()).await.expect("nothing to do").is_empty());
}

#[tokio::test]
async fn down_leaves_nothing_of_a_database_in_use() {
    let (database, empty) = (Database::migrated().await, Database::empty().await);
    down(&database.address()).await.expect("down");
    let (sql, nothing) = (Sql::connect(&database.url).await, Sql::connect(&empty.url).await);
    assert_eq!(dump(&sql).await, dump(&nothing).await);
}

/// `table -> its columns in order, and its primary key`
type Tables = BTreeMap<String, (Vec<String>, String)>;

#[tokio::test]
async fn diesel_sees_the_tables_as_they_are() {
    let database = Database::migrated().await;
    let sql = Sql::connect(&database.url).await;
    let statement = "
        SELECT c.relname::text,
            (SELECT array_agg(a.attname || ' ' || format_type(a.atttypid, NULL) || CASE WHEN a.attnotnull THEN '' ELSE ' null' END
                ORDER BY a.attnum)
             FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
            (SELECT string_agg(a.attname, ', ' ORDER BY array_position(i.indkey::int2[], a.attnum))
             FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
             WHERE i.indrelid = c.oid AND i.indisprimary)
        FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            AND c.relname !~ '^__diesel'";
    let mut actual = Tables::new();
    for row in sql.rows(statement, &[]).await {
        actual.insert(row.get(0), (row.get(1), row.get(2)));
    }
    similar_asserts::assert_eq!(declared(), actual);
}

/// The tables of `src/db/schema.rs`, in the words of Postgres.
fn declared() -> Tables {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/db/schema.rs");
    let text = std::fs::read_to_string(path).expect("the file is there");
    let mut tables = Tables::new();
    for block in text.split("diesel::table! {").skip(1) {
        let (head, body) = block.split_once('{').expect("a table");
        let (name, key) = head.trim().split_once(" (").expect("a primary key");
        let body = body.split('}').next().unwrap_or_default();
        let columns = body.lines().filter_map(|line| line.trim().trim_end_matches(',').split_once(" -> "));
        let columns = columns.map(|(name, ty)| format!("{name} {}", in_postgres(ty))).collect();
        tables.insert(name.to_owned(), (columns, key.trim_end_matches(')').to_owned()));
    }
    tables
}

fn in_postgres(ty: &str) -> String {
    if let Some(inner) = ty.strip_prefix("Nullable<") {
        return format!("{} null", in_postgres(inner.trim_end_matches('>')));
    }
    if let Some(inner) = ty.strip_prefix("Array<") {
        return format!("{}[]", in_postgres(inner.trim_end_matches('>')));
    }
    match ty {
        "SmallInt" => "smallint",
        "Integer" => "integer",
        "BigInt" => "bigint",
        "Text" => "text",
        "Bool" => "boolean",
        "Timestamptz" => "timestamp with time zone",
        "Date" => "date",
        "Jsonb" => "jsonb",
        "Uuid" => "uuid",
        "Bytea" => "bytea",
        "Double" => "double precision",
        other => panic!("{other} is new here"),
    }
    .to_owned()
}

#[tokio::test]
async fn many_may_migrate_and_look_at_the_same_time() {
    for _ in 0..3 {
        let database = Database::empty().await;
        let url = database.address();
        let ran = join_all((0..4).map(|_| up(&url)));
        let (ran, looked) = join(ran, join_all((0..4).map(|_| compare(&url)))).await;
        let ran: Vec<usize> = ran.into_iter().map(|ran| ran.expect("it migrates or finds it done").len()).collect();
        assert_eq!(ran.iter().filter(|count| **count > 0).count(), 1, "one of them did it: {ran:?}");
        for looked in looked {
            looked.expect("who only looks is in nobody's way");
        }
    }
}
