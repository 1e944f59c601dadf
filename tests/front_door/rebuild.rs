//! `kith rebuild`: inboxes as if they had just been built, whatever was there.

use redis::AsyncCommands;

use crate::commands::run;
use crate::feed::{inbox, warm};
use crate::harness::{Kith, Walk};

#[tokio::test]
async fn inboxes_are_built_of_whom_one_names_or_of_all_who_read() {
    let kith = Kith::start().await;
    let people = kith.people(4).await;
    let (ada, ben, cleo, cold) = (&people[0], &people[1], &people[2], &people[3]);
    for reader in [ben, cleo, cold] {
        reader.follow(ada).await;
    }
    let posted = ada.post("hello").await;
    warm(&kith, ben).await;
    warm(&kith, cleo).await;
    let members = async |of| kith.redis().zrange::<_, Vec<String>>(inbox(of), 0, -1).await.expect("Redis answers");
    let (of_ben, of_cleo) = (members(ben).await, members(cleo).await);
    assert_eq!(of_ben.len(), 2);
    let environment =
        [("DATABASE_URL", kith.config.database_url.as_str()), ("REDIS_URL", kith.config.redis_url.as_str())];
    let rebuild = |arguments: &[&str]| {
        let output = run(&[&["rebuild", "--inbox-days", "36500"], arguments].concat(), &environment);
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8"))
    };
    // Gone, and cut short by somebody who took a reference out of it.
    kith.redis().unlink::<_, ()>(inbox(ben)).await.expect("Redis answers");
    kith.redis().zrem::<_, _, ()>(inbox(cleo), &of_cleo[1]).await.expect("Redis answers");
    assert_eq!(rebuild(&[&ben.handle]), (Some(0), "1 inboxes are built.\n".to_owned()));
    assert_eq!(members(ben).await, of_ben);
    assert_ne!(members(cleo).await, of_cleo);
    assert_eq!(rebuild(&["--all"]), (Some(0), "2 inboxes are built.\n".to_owned()));
    assert_eq!(members(cleo).await, of_cleo);
    assert!(members(cold).await.is_empty(), "who does not read has none");
    assert_eq!(rebuild(&[&cold.handle]), (Some(0), "0 inboxes are built.\n".to_owned()));
    for reader in [ben, cleo, cold] {
        assert_eq!(reader.walk(Walk::First(2)).await, [posted.clone()]);
    }
    let (code, text) = rebuild(&["nobody_here"]);
    assert!(code == Some(1) && text.contains("nobody_here"), "{text}");
    let (code, text) = rebuild(&[]);
    assert!(code != Some(0) && text.contains("--all"), "{text}");
    assert_ne!(rebuild(&["--all", &ben.handle]).0, Some(0), "either, or");
}
