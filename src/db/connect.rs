//! The one way to Postgres: every connection is made here, with TLS as the address says. What goes wrong on the way
//! becomes a sentence that names the setting and the remedy. Never a pool, never a statement.

use std::error::Error as _;
use std::time::Duration;

use diesel_async::AsyncPgConnection;
use tokio::time::timeout;
use tokio_postgres::config::{Config, SslMode as Wire};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::config::{DatabaseUrl, SslMode};
use crate::db::Connection;
use crate::db::silence::Silence;
use crate::error::{Error, Result};
use crate::tls::{self, Trust};

/// How long a connection may take to be made. Whoever waits for one from a pool gives up before.
const CONNECT: Duration = Duration::from_secs(5);

/// What has to be polled for anything to go over a connection.
type Driver = tokio_postgres::Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Makes connections to one place.
#[derive(Clone)]
pub struct Connector {
    config: Config,
    tls: MakeRustlsConnect,
}

impl Connector {
    /// For connections to `url` that begin with `settings` (`-c name=value`, separated by blanks). Nothing is connected yet.
    ///
    /// Errors: [`Error::Unavailable`], when what the address says cannot be done.
    pub fn new(url: &DatabaseUrl, settings: &str) -> Result<Self> {
        let mut config: Config = url.place().parse().map_err(|error| Error::Unavailable(unreadable(&error)))?;
        let options = [config.get_options().unwrap_or_default(), settings].join(" ");
        config.options(options.trim());
        if config.get_application_name().is_none() {
            config.application_name("kith");
        }
        let roots = url.ssl_root_cert();
        let (wire, trust) = match url.ssl_mode() {
            SslMode::Disable => (Wire::Disable, Trust::Anybody),
            SslMode::Prefer => (Wire::Prefer, Trust::Anybody),
            SslMode::Require if roots.is_none() => (Wire::Require, Trust::Anybody),
            SslMode::Require | SslMode::VerifyCa => (Wire::Require, Trust::AnyHost),
            SslMode::VerifyFull => (Wire::Require, Trust::ThisHost),
        };
        config.ssl_mode(wire);
        let client = tls::client(trust, roots)
            .map_err(|cause| Error::Unavailable(format!("what DATABASE_URL says about TLS cannot be done: {cause}")))?;
        Ok(Self { config, tls: MakeRustlsConnect::new(client) })
    }

    /// A new connection, driven by the current runtime.
    ///
    /// Errors: [`Error::Unavailable`] with a sentence for the operator.
    pub async fn connect(&self) -> Result<Connection> {
        in_time(async {
            let (client, driver) = self.wire().await?;
            AsyncPgConnection::try_from_client_and_connection(client, driver).await.map_err(broke_off)
        })
        .await
    }

    /// The same, but it is ended when the silence that it is told of lasts longer than `patience`: whoever waits for an
    /// answer is told, and no pool hands it out again.
    pub async fn connect_with_patience(&self, patience: Duration) -> Result<(Connection, Silence)> {
        in_time(async {
            let (client, driver) = self.wire().await?;
            let silence = Silence::default();
            let watched = silence.clone();
            tokio::spawn(async move {
                tokio::select! {
                    ended = driver => if let Err(error) = ended {
                        tracing::warn!(%error, "a connection to Postgres broke");
                    },
                    () = watched.lasts(patience) => tracing::warn!("a connection to Postgres fell silent and is ended"),
                }
            });
            Ok((AsyncPgConnection::try_from(client).await.map_err(broke_off)?, silence))
        })
        .await
    }

    async fn wire(&self) -> Result<(Client, Driver)> {
        self.config.connect(self.tls.clone()).await.map_err(|error| Error::Unavailable(explain(&error)))
    }
}

async fn in_time<T>(connecting: impl Future<Output = Result<T>>) -> Result<T> {
    let late = |_| Error::Unavailable(format!("Postgres (DATABASE_URL) did not answer within {CONNECT:?}"));
    timeout(CONNECT, connecting).await.map_err(late)?
}

fn broke_off(error: diesel::ConnectionError) -> Error {
    Error::Unavailable(format!("Postgres (DATABASE_URL) broke off: {error}"))
}

fn unreadable(error: &tokio_postgres::Error) -> String {
    // The client names the option, never its value; but it may take a part of a password for an option's name.
    let cause = error.source().map(ToString::to_string).filter(|cause| cause.starts_with("invalid value"));
    let cause = cause.map(|cause| format!(" ({cause})")).unwrap_or_default();
    format!(
        "DATABASE_URL cannot be read{cause}: write postgres://user:password@host:port/database, and / : @ ? # % in a \
         password as %2F %3A %40 %3F %23 %25"
    )
}

fn explain(error: &tokio_postgres::Error) -> String {
    let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let Some(said) = error.as_db_error() else {
        return match tls::complaint(error, "sslrootcert of DATABASE_URL") {
            Some(complaint) => format!("Postgres (DATABASE_URL) cannot be trusted: {complaint}"),
            None => unanswered(error, &cause),
        };
    };
    let message = said.message();
    match *said.code() {
        SqlState::INVALID_PASSWORD => {
            "Postgres refuses the user or the password of DATABASE_URL: correct them, or create the role".into()
        }
        SqlState::INVALID_AUTHORIZATION_SPECIFICATION => format!(
            "Postgres does not let the user of DATABASE_URL in ({message}): correct the user, create the role, or allow it \
             in pg_hba.conf"
        ),
        SqlState::UNDEFINED_DATABASE => {
            format!("Postgres has no such database as DATABASE_URL names ({message}): create it, or correct the name")
        }
        SqlState::INSUFFICIENT_PRIVILEGE => format!(
            "the user of DATABASE_URL may not connect to its database ({message}): GRANT CONNECT ON DATABASE to it"
        ),
        SqlState::TOO_MANY_CONNECTIONS => format!(
            "Postgres (DATABASE_URL) has no connection left ({message}): raise its limit, or lower KITH_DATABASE_POOL and \
             KITH_WORKER_POOL of all processes"
        ),
        SqlState::CANNOT_CONNECT_NOW => {
            format!("Postgres (DATABASE_URL) is not ready yet ({message}): try again when it is")
        }
        _ if message.contains("startup parameter") => format!(
            "what stands before Postgres (DATABASE_URL) does not pass settings on ({message}): with PgBouncer, add options \
             to ignore_startup_parameters and pool by session"
        ),
        _ => format!("Postgres (DATABASE_URL) refuses the connection: {message}"),
    }
}

/// What to say when it was not Postgres that said no.
fn unanswered(error: &tokio_postgres::Error, cause: &str) -> String {
    if cause == "password missing" {
        return "Postgres asks for a password and DATABASE_URL has none: write postgres://user:password@host:port/database"
            .into();
    }
    if cause.contains("does not support TLS") {
        return "Postgres does not offer the TLS that sslmode of DATABASE_URL asks for: set ssl = on there, or choose \
                sslmode=disable on a private network"
            .into();
    }
    format!(
        "Postgres (DATABASE_URL) does not answer; see that it runs and that host and port are right ({error}: {cause})"
    )
}
