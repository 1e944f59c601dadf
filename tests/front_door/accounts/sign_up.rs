//! Opening an account: what is accepted, what is refused and how, and who wins.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{account, sign_up, signed_in, who};
use crate::harness::Kith;

#[tokio::test]
async fn it_opens_an_account_and_signs_in() {
    let kith = Kith::start().await;
    let other = json!({
        "displayName": " Zoe\u{308}\u{202E} ", "bio": "One\r\nTwo", "avatarUrl": "HTTPS://Example.com/a",
        "clientMutationId": "7",
    });
    let answer = sign_up(kith.anonymous(), account("Zoe_1", other)).await;
    let current = answer.at("/signUp/viewer/currentSession/id");
    let expected = json!({
        "viewer": {
            "user": {
                "id": answer.at("/signUp/viewer/user/id"), "handle": "Zoe_1", "displayName": "Zoë", "bio": "One\nTwo",
                "avatarUrl": "https://example.com/a", "isViewer": true, "viewerFollows": false,
            },
            "currentSession": {
                "id": current, "userAgent": "", "createdAt": "2026-03-02T09:00:00+00:00",
                "lastUsedAt": "2026-03-02T09:00:00+00:00", "expiresAt": "2026-05-01T09:00:00+00:00",
                "revokedAt": null, "isCurrent": true,
            },
            "sessions": { "nodes": [{ "id": current, "isCurrent": true }] },
        },
        "tokens": {
            "accessToken": answer.at("/signUp/tokens/accessToken"),
            "accessTokenExpiresAt": "2026-03-02T09:15:00+00:00",
            "refreshToken": answer.at("/signUp/tokens/refreshToken"),
            "refreshTokenExpiresAt": "2026-05-01T09:00:00+00:00",
        },
        "clientMutationId": "7",
    });
    assert_eq!(answer.at("/signUp"), &expected);
    let (zoe, refresh_token) = signed_in(kith.anonymous(), &answer, "signUp");
    assert_eq!(refresh_token.len(), 43);
    assert_eq!(who(&zoe).await, Ok(json!("Zoe_1")));
    assert_eq!(who(kith.anonymous()).await, Ok(Value::Null));
    let stored: Vec<String> = kith.sql().await.column("SELECT password_hash FROM credentials", &[]).await;
    assert!(stored[0].starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored:?}");
    kith.finish().await;
}

#[tokio::test]
async fn every_refusal_names_its_field_and_leaves_nothing() {
    let kith = Kith::start().await;
    let long = |text: &str, times: usize| Value::from(text.repeat(times));
    let family = "👨‍👩‍👧‍👦";
    let refused = [
        (
            "handle",
            vec![json!(""), json!("ab"), long("x", 31), json!("123"), json!("a b"), json!("ada\0"), json!("Àda")],
        ),
        (
            "handle",
            vec![json!("admin"), json!("GraphQL"), json!("ad\u{430}"), json!("ada\u{200B}"), json!("\u{212A}ate")],
        ),
        ("displayName", vec![json!(""), json!("  "), long("\u{200B}", 15), json!("\u{3164}"), json!("\u{202E}")]),
        ("displayName", vec![json!("a\0"), json!("a\nb"), long("x", 51), long(family, 9)]),
        ("password", vec![json!("1234567"), long("x", 129), long("🇫🇮", 65), json!("12345678\0"), json!("ADA_L_1815")]),
        ("bio", vec![json!("a\0b"), json!("\u{1b}[31m"), long("x", 501), long(family, 200)]),
        (
            "avatarUrl",
            vec![json!("ftp://example.com"), json!("https://"), json!("https://a:b@example.com"), json!("a.png")],
        ),
        (
            "avatarUrl",
            vec![json!("https://example.com/\0"), json!("javascript:alert(1)"), long("https://a.example/", 200)],
        ),
    ];
    for (field, values) in refused {
        for value in values {
            let answer = sign_up(kith.anonymous(), account("ada_l_1815", json!({ field: value }))).await;
            assert_eq!((answer.code(), answer.field()), ("BAD_USER_INPUT", Some(field)), "{value:?}");
            assert_eq!(answer.partial()["signUp"], Value::Null);
        }
    }
    let rows =
        "SELECT (SELECT count(*) FROM users) + (SELECT count(*) FROM credentials) + (SELECT count(*) FROM sessions)";
    assert_eq!(kith.sql().await.one::<i64>(rows, &[]).await, 0);
    kith.finish().await;
}

#[tokio::test]
async fn the_limits_in_the_schema_are_the_limits() {
    let kith = Kith::start().await;
    let query = "{ limits {
        handle { minGraphemes maxGraphemes maxBytes } displayName { minGraphemes maxGraphemes maxBytes }
        bio { minGraphemes maxGraphemes maxBytes } password { minGraphemes maxGraphemes maxBytes }
        avatarUrlMaxBytes pageSizeMax
    } }";
    let limits = kith.anonymous().query(query, json!({})).await.at("/limits").clone();
    let limit = |least, most, bytes| json!({ "minGraphemes": least, "maxGraphemes": most, "maxBytes": bytes });
    let expected = json!({
        "handle": limit(3, 30, 30), "displayName": limit(1, 50, 200), "bio": limit(0, 500, 4000),
        "password": limit(8, 128, 512), "avatarUrlMaxBytes": 2048, "pageSizeMax": 100,
    });
    assert_eq!(limits, expected);
    for field in ["handle", "displayName", "bio", "password"] {
        let limit = |name: &str| limits[field][name].as_u64().expect("a number") as usize;
        let (least, most, bytes) = (limit("minGraphemes"), limit("maxGraphemes"), limit("maxBytes"));
        // An accented letter in two code points counts once; as many bytes as there may be fill it up.
        let letter = if field == "handle" { "x" } else { "e\u{301}" };
        let four_bytes = "🙂".repeat(bytes / 4);
        let mut sizes =
            vec![(letter.repeat(least), true), (letter.repeat(most), true), (letter.repeat(most + 1), false)];
        if least > 0 {
            sizes.push((letter.repeat(least - 1), false));
        }
        if field != "handle" {
            sizes.push((four_bytes.clone(), bytes / 4 <= most));
            sizes.push((format!("{four_bytes}🙂"), false));
        }
        for (at, (text, is_accepted)) in sizes.into_iter().enumerate() {
            let handle = format!("{field}_{at}");
            let answer = sign_up(kith.anonymous(), account(&handle, json!({ field: text }))).await;
            assert_eq!(answer.errors().is_empty(), is_accepted, "{field} {text}");
        }
    }
    kith.finish().await;
}

#[tokio::test]
async fn of_those_who_want_one_handle_one_gets_it() {
    let kith = Kith::start().await;
    let handles = ["ada", "Ada", "aDa", "adA", "ADa", "aDA", "AdA", "ADA"];
    let all = handles.map(|handle| sign_up(kith.anonymous(), account(handle, json!({}))));
    let answers = join_all(all).await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.errors().is_empty());
    assert_eq!((won.len(), lost.len()), (1, 7));
    for answer in lost {
        assert_eq!((answer.code(), answer.field()), ("CONFLICT", Some("handle")));
    }
    for table in ["users", "credentials", "user_counters", "sessions", "refresh_tokens"] {
        assert_eq!(kith.sql().await.one::<i64>(&format!("SELECT count(*) FROM {table}"), &[]).await, 1, "{table}");
    }
    kith.finish().await;
}

#[tokio::test]
async fn nobody_has_a_handle_that_is_none() {
    let kith = Kith::start().await;
    kith.sign_up("kate").await;
    let query = "query($handle: String!) { user(handle: $handle) { handle } }";
    for (handle, found) in
        [("KATE", json!("kate")), ("\u{212A}ate", json!(null)), ("kate\0", json!(null)), ("", json!(null))]
    {
        let answer = kith.anonymous().query(query, json!({ "handle": handle })).await;
        assert_eq!(answer.at("/user").get("handle").cloned().unwrap_or_default(), found, "{handle:?}");
    }
    kith.finish().await;
}
