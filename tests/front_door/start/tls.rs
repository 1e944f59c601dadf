//! Connections with TLS: which certificates are believed, and what is said about the others.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::{is_silent_about, refuses, warns};
use crate::harness::{Database, Directory, Kith, PostgresServer, Process, RedisServer, Sql, until};

/// What a server and its clients need.
struct Certificate {
    /// Of the root, whom clients may trust.
    root: String,
    /// Of the server, for `localhost` and no address.
    server: String,
    /// The key of the server.
    key: String,
}

fn certificate() -> Certificate {
    let mut root = CertificateParams::new([]).expect("parameters");
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root_key = KeyPair::generate().expect("a key");
    let root_certificate = root.self_signed(&root_key).expect("a certificate");
    let issuer = Issuer::new(root, root_key);
    let key = KeyPair::generate().expect("a key");
    let server = CertificateParams::new(["localhost".to_owned()]).expect("parameters");
    let server = server.signed_by(&key, &issuer).expect("a certificate");
    Certificate { root: root_certificate.pem(), server: server.pem(), key: key.serialize_pem() }
}

#[tokio::test]
async fn the_way_to_postgres_is_secured_as_the_address_says() {
    let certificate = certificate();
    let directory = Directory::new();
    let root = directory.write("root.pem", &certificate.root);
    let stranger = directory.write("stranger.pem", &self::certificate().root);
    let postgres = PostgresServer::start(&[("server.crt", &certificate.server), ("server.key", &certificate.key)]);
    let host = url::Url::parse(&postgres.url).expect("a URL").host_str().expect("a host").to_owned();
    let url = |to: &str, query: &str| format!("{}?{query}", postgres.url.replace(&host, to));

    let without = url("localhost", "sslmode=require");
    refuses("migrate", &[("DATABASE_URL", &without)], &["DATABASE_URL", "ssl = on", "sslmode=disable"]).await;

    // From now on nobody gets in without TLS.
    let sql = Sql::connect(&postgres.url).await;
    for change in ["SET ssl = on", "SET ssl_cert_file = 'server.crt'", "SET ssl_key_file = 'server.key'"] {
        sql.batch(&format!("ALTER SYSTEM {change}")).await;
    }
    sql.batch("COPY (SELECT 'hostssl all all all scram-sha-256') TO PROGRAM 'cat > pg_hba.conf'").await;
    sql.batch("SELECT pg_reload_conf()").await;
    until("Postgres speaks TLS", async || {
        let url = url(&host, "sslmode=disable");
        tokio_postgres::connect(&url, tokio_postgres::NoTls).await.is_err().then_some(())
    })
    .await;

    for (to, query, words) in [
        (host.as_str(), "sslmode=disable".to_owned(), "pg_hba.conf"),
        ("localhost", "sslmode=verify-full".to_owned(), "sslrootcert of DATABASE_URL"),
        ("localhost", "sslmode=verify-ca".to_owned(), "sslrootcert of DATABASE_URL"),
        ("localhost", format!("sslmode=verify-full&sslrootcert={stranger}"), "sslrootcert of DATABASE_URL"),
        ("localhost", format!("sslmode=require&sslrootcert={stranger}"), "sslrootcert of DATABASE_URL"),
        (&host, format!("sslmode=verify-full&sslrootcert={root}"), "another host"),
    ] {
        for command in ["serve", "migrate"] {
            refuses(command, &[("DATABASE_URL", &url(to, &query))], &["DATABASE_URL", words]).await;
        }
    }
    let kith = Kith::start().await;
    for (to, query) in [
        (host.as_str(), String::new()),
        (&host, "sslmode=prefer".into()),
        (&host, "sslmode=require".into()),
        (&host, format!("sslmode=require&sslrootcert={root}")),
        (&host, format!("sslmode=verify-ca&sslrootcert={root}")),
        ("localhost", format!("sslmode=verify-full&sslrootcert={root}")),
    ] {
        let url = url(to, &query);
        for command in ["migrate", "reconcile"] {
            let mut done = Process::spawn(&kith, &[command], &[("DATABASE_URL", &url)]);
            assert!(done.ended().await, "{command} with {query}");
        }
    }
    // The pools and the lease, and the roots of the system.
    let full = url("localhost", "sslmode=verify-full&sslrootcert=system");
    let served = Process::serve(&kith, &[("DATABASE_URL", &full), ("SSL_CERT_FILE", &root)]).await;
    let sign_up = r#"mutation { signUp(input: { handle: "ada", displayName: "Ada", password: "correct horse battery" }) {
        viewer { user { handle } } } }"#;
    let answer = served.client.query(sign_up, serde_json::json!({})).await;
    assert_eq!(answer.text("/signUp/viewer/user/handle"), "ada");
    kith.finish().await;
}

#[tokio::test]
async fn the_way_to_redis_is_secured_as_the_address_says() {
    let certificate = certificate();
    let directory = Directory::new();
    let root = directory.write("root.pem", &certificate.root);
    let stranger = directory.write("stranger.pem", &self::certificate().root);
    let (server, key) =
        (directory.write("server.pem", &certificate.server), directory.write("key.pem", &certificate.key));
    let files = ["--tls-port", "PORT", "--tls-cert-file", &server, "--tls-key-file", &key, "--tls-ca-cert-file", &root];
    let redis = RedisServer::start(&[&files[..], &["--tls-auth-clients", "no"]].concat()).await;
    let url = |start: &str| format!("{start}:{}", redis.port);
    let (named, numbered, plain) = (url("rediss://localhost"), url("rediss://127.0.0.1"), url("redis://127.0.0.1"));

    let database = Database::migrated().await;
    let postgres = ("DATABASE_URL", database.url.as_str());
    for (url, roots, words) in [
        (&named, None, "KITH_REDIS_ROOT_CERT"),
        (&named, Some(&stranger), "KITH_REDIS_ROOT_CERT"),
        (&numbered, Some(&root), "another host"),
    ] {
        let mut environment = vec![postgres, ("REDIS_URL", url.as_str())];
        environment.extend(roots.map(|path| ("KITH_REDIS_ROOT_CERT", path.as_str())));
        for command in ["serve", "worker"] {
            refuses(command, &environment, &["REDIS_URL", words]).await;
        }
    }
    warns(&[postgres, ("REDIS_URL", &plain)], &["REDIS_URL", "rediss://"]).await;
    is_silent_about("Redis", &[postgres, ("REDIS_URL", &named), ("KITH_REDIS_ROOT_CERT", &root)]).await;
    // The shared connection and the pool, and the roots of the system.
    let kith = Kith::start().await;
    let environment = [("REDIS_URL", named.as_str()), ("SSL_CERT_FILE", &root)];
    let _served = Process::serve(&kith, &environment).await;
    let sql = kith.sql().await;
    let beats = "SELECT heartbeat FROM inbox_epoch";
    until("the worker reaches Redis", async || (sql.one::<i64>(beats, &[]).await > 0).then_some(())).await;
    kith.finish().await;
}
