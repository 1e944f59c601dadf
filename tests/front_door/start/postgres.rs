//! What is said about a Postgres that cannot be reached, is not fit, or is not sound.

use url::Url;

use super::{is_silent_about, refuses, warns};
use crate::harness::{Database, Sql};

/// The address of `database` with something else in it.
fn changed(database: &Database, change: impl FnOnce(&mut Url)) -> String {
    let mut url = Url::parse(&database.url).expect("a URL");
    change(&mut url);
    url.into()
}

/// A role that may log in, with a password that is its name; it goes with `database`'s server.
async fn role(sql: &Sql, database: &Database) -> (String, String) {
    let name: String = sql.one("SELECT current_database()::text || '_role'", &[]).await;
    sql.batch(&format!("CREATE ROLE {name} LOGIN PASSWORD '{name}'")).await;
    let url = changed(database, |url| {
        url.set_username(&name).expect("a user");
        url.set_password(Some(&name)).expect("a password");
    });
    (name, url)
}

#[tokio::test]
async fn what_keeps_it_from_connecting_is_named_with_the_remedy() {
    let database = Database::migrated().await;
    let wrong = changed(&database, |url| url.set_password(Some("hunter2")).expect("a password"));
    let without = changed(&database, |url| url.set_password(None).expect("no password"));
    let stranger = changed(&database, |url| url.set_username("nobody_of_that_name").expect("a user"));
    let elsewhere = changed(&database, |url| url.set_path("no_such_database"));
    let encrypted = changed(&database, |url| url.set_query(Some("sslmode=require")));
    for (url, words) in [
        ("postgres://kith:hunter2@127.0.0.1:1/x", ["does not answer", "host and port"]),
        ("postgres://kith:hunter2@nobody.invalid/x", ["does not answer", "host and port"]),
        (&wrong, ["password", "correct"]),
        (&without, ["password", "user:password@host"]),
        (&stranger, ["user", "create the role"]),
        (&elsewhere, ["no_such_database", "create it"]),
        (&encrypted, ["TLS", "sslmode=disable"]),
    ] {
        for command in ["serve", "worker", "migrate", "reconcile", "seed"] {
            refuses(command, &[("DATABASE_URL", url)], &["DATABASE_URL", words[0], words[1]]).await;
        }
    }
    let sql = Sql::connect(&database.url).await;
    let (name, url) = role(&sql, &database).await;
    let database = name.trim_end_matches("_role");
    sql.batch(&format!("REVOKE CONNECT ON DATABASE {database} FROM public")).await;
    refuses("serve", &[("DATABASE_URL", &url)], &["DATABASE_URL", "GRANT CONNECT"]).await;
    sql.batch(&format!("GRANT CONNECT ON DATABASE {database} TO {name}; ALTER ROLE {name} CONNECTION LIMIT 0")).await;
    refuses("serve", &[("DATABASE_URL", &url)], &["DATABASE_URL", "KITH_DATABASE_POOL"]).await;
    sql.batch(&format!("ALTER ROLE {name} NOLOGIN")).await;
    refuses("serve", &[("DATABASE_URL", &url)], &["DATABASE_URL", "not permitted", "correct the user"]).await;
    sql.batch(&format!("REVOKE CONNECT ON DATABASE {database} FROM {name}; DROP ROLE {name}")).await;
}

/// Makes a name that Kith uses mean something else in this database, for whoever connects from now on.
async fn shadow(sql: &Sql, definition: &str) {
    let database: String = sql.one("SELECT current_database()::text", &[]).await;
    sql.batch(&format!(
        "CREATE SCHEMA shadow; {definition}; ALTER DATABASE {database} SET search_path = public, shadow, pg_catalog"
    ))
    .await;
}

#[tokio::test]
async fn a_postgres_that_is_not_fit_is_refused() {
    for (definition, words) in [
        (
            "CREATE FUNCTION shadow.current_setting(name text) RETURNS text LANGUAGE sql AS
             $$ SELECT CASE name WHEN 'server_version_num' THEN '140009' ELSE pg_catalog.current_setting(name) END $$",
            ["14", "15 or newer"],
        ),
        // As a German one says it.
        (
            "CREATE FUNCTION shadow.divide(integer, integer) RETURNS integer LANGUAGE plpgsql AS
             $$ BEGIN RAISE division_by_zero USING MESSAGE = 'Division durch Null'; END $$;
             CREATE OPERATOR shadow./ (LEFTARG = integer, RIGHTARG = integer, FUNCTION = shadow.divide)",
            ["English", "lc_messages = 'C'"],
        ),
    ] {
        let database = Database::migrated().await;
        shadow(&Sql::connect(&database.url).await, definition).await;
        for command in ["serve", "worker", "migrate", "reconcile"] {
            refuses(command, &[("DATABASE_URL", &database.url)], &["DATABASE_URL", words[0], words[1]]).await;
        }
    }
    let database = Database::encoded("SQL_ASCII").await;
    refuses("migrate", &[("DATABASE_URL", &database.url)], &["DATABASE_URL", "SQL_ASCII", "ENCODING 'UTF8'"]).await;
}

#[tokio::test]
async fn a_clock_that_is_off_is_refused_with_both_times() {
    let database = Database::migrated().await;
    let sql = Sql::connect(&database.url).await;
    shadow(
        &sql,
        "CREATE FUNCTION shadow.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
         $$ SELECT pg_catalog.clock_timestamp() + interval '1 year' $$",
    )
    .await;
    let year: String = sql.one("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY')", &[]).await;
    let next: String = sql.one("SELECT to_char((now() + interval '1 year') AT TIME ZONE 'UTC', 'YYYY')", &[]).await;
    for command in ["serve", "worker"] {
        refuses(command, &[("DATABASE_URL", &database.url)], &["clock", "DATABASE_URL", &year, &next, "NTP"]).await;
    }
}

#[tokio::test]
async fn a_schema_of_another_version_is_refused() {
    let database = Database::empty().await;
    refuses("serve", &[("DATABASE_URL", &database.url)], &["DATABASE_URL", "lacks 0001", "kith migrate"]).await;
    let database = Database::migrated().await;
    let later = "INSERT INTO __diesel_schema_migrations (version) VALUES ('9999')";
    Sql::connect(&database.url).await.batch(later).await;
    for command in ["serve", "worker", "reconcile"] {
        refuses(command, &[("DATABASE_URL", &database.url)], &["DATABASE_URL", "9999", "a newer kith"]).await;
    }
}

#[tokio::test]
async fn a_postgres_that_may_lose_what_it_acknowledged_is_warned_of() {
    let database = Database::migrated().await;
    let name = database.url.rsplit('/').next().expect("a name");
    let sql = Sql::connect(&database.url).await;
    let environment = [("DATABASE_URL", database.url.as_str())];
    for (value, is_warned) in [("off", true), ("on", false)] {
        sql.batch(&format!("ALTER DATABASE {name} SET synchronous_commit = {value}")).await;
        match is_warned {
            true => warns(&environment, &["synchronous_commit is off", "DATABASE_URL", "set it to on"]).await,
            false => is_silent_about("synchronous_commit", &environment).await,
        }
    }
    if sql.one::<String>("SELECT current_setting('fsync')", &[]).await == "off" {
        warns(&environment, &["fsync is off", "DATABASE_URL", "set it to on"]).await;
    }
}
