//! Direct access to the database of a test, to plant and to inspect. Never a way round a verb that exists.

use tokio_postgres::types::{FromSqlOwned, ToSql};
use tokio_postgres::{NoTls, Row};

/// A connection of the test itself.
#[derive(Debug)]
pub struct Sql(tokio_postgres::Client);

/// The values of a statement's parameters.
pub type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Sql {
    /// Connects; the connection is driven by the current runtime.
    pub async fn connect(url: &str) -> Self {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("Postgres answers");
        tokio::spawn(connection);
        Self(client)
    }

    /// The rows of a query.
    pub async fn rows(&self, sql: &str, params: Params<'_>) -> Vec<Row> {
        self.0.query(sql, params).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"))
    }

    /// The first column of each row.
    pub async fn column<T: FromSqlOwned>(&self, sql: &str, params: Params<'_>) -> Vec<T> {
        self.rows(sql, params).await.iter().map(|row| row.get(0)).collect()
    }

    /// The first column of the only row.
    pub async fn one<T: FromSqlOwned>(&self, sql: &str, params: Params<'_>) -> T {
        let mut found = self.column(sql, params).await;
        assert_eq!(found.len(), 1, "{sql} has one row");
        found.remove(0)
    }

    /// Runs a statement and answers how many rows it touched.
    pub async fn execute(&self, sql: &str, params: Params<'_>) -> u64 {
        self.0.execute(sql, params).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"))
    }

    /// Runs statements without parameters.
    pub async fn batch(&self, sql: &str) {
        self.0.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }
}
