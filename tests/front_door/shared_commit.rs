//! Shared commit by itself: what a batch that breaks does to those who share it.

use std::time::Duration;

use futures_util::future::join_all;
use futures_util::poll;
use kith::db::shared_commit::{Op, SharedCommit};
use kith::db::{Connection, Db, Limits};
use kith::error::{Error, Result};
use kith::telemetry::metrics::Errors;

use crate::harness::Kith;

const LIMITS: Limits = Limits { connections: 2, life: Duration::from_secs(15) };

/// Answers its number, or breaks in one of several ways.
#[derive(Debug)]
enum Fake {
    Number(i64),
    Panics,
    FailsTheBatch,
    Fails,
    AnswersNothing,
}

impl Op for Fake {
    type Answer = (i64, usize);

    /// Answers with how many shared the batch.
    async fn commit(conn: &mut Connection, ops: &[Self]) -> Result<Vec<Result<(i64, usize)>>> {
        kith::db::server::now(conn).await?;
        let mut outcomes = Vec::new();
        for op in ops {
            match op {
                Self::Number(number) => outcomes.push(Ok((*number, ops.len()))),
                Self::Panics => panic!("on purpose"),
                Self::FailsTheBatch => return Err(Error::Internal("on purpose".into())),
                Self::Fails => outcomes.push(Err(Error::Forbidden)),
                Self::AnswersNothing => return Ok(vec![]),
            }
        }
        Ok(outcomes)
    }
}

/// Hands the ops in at once, so that they share a batch.
async fn together(commit: &SharedCommit<Fake>, ops: Vec<Fake>) -> Vec<Result<(i64, usize)>> {
    let mut asked: Vec<_> = ops.into_iter().map(|op| Box::pin(commit.ask(op))).collect();
    for one in &mut asked {
        assert!(poll!(one).is_pending());
    }
    join_all(asked).await
}

#[tokio::test]
async fn a_batch_that_breaks_leaves_nobody_waiting_and_the_writer_alive() {
    let kith = Kith::start().await;
    let commit = SharedCommit::<Fake>::start(
        Db::new(&kith.config.database_url, LIMITS, Errors::default()).await.expect("a pool"),
    );
    let healthy = async || {
        let outcomes = together(&commit, vec![Fake::Number(1), Fake::Number(2)]).await;
        assert_eq!(outcomes, [Ok((1, 2)), Ok((2, 2))], "the next batch is served");
    };
    healthy().await;

    let outcomes = together(&commit, vec![Fake::Number(1), Fake::Panics, Fake::Number(2)]).await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(Error::Unavailable(_)))), "{outcomes:?}");
    healthy().await;

    let outcomes = together(&commit, vec![Fake::Number(1), Fake::AnswersNothing, Fake::Number(2)]).await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(Error::Unavailable(_)))), "{outcomes:?}");
    healthy().await;

    let outcomes = together(&commit, vec![Fake::Number(1), Fake::Fails, Fake::Number(2)]).await;
    assert_eq!(outcomes, [Ok((1, 3)), Err(Error::Forbidden), Ok((2, 3))]);

    // One that takes the transaction with it is done apart from the others.
    let outcomes = together(&commit, vec![Fake::Number(1), Fake::FailsTheBatch, Fake::Number(2)]).await;
    assert_eq!(outcomes, [Ok((1, 1)), Err(Error::Internal("on purpose".into())), Ok((2, 1))]);
    healthy().await;
    commit.finish().await;
}

#[tokio::test]
async fn without_postgres_everybody_is_told() {
    let nowhere = "postgres://nobody@127.0.0.1:1/none".parse().expect("a URL");
    let db = Db::new(&nowhere, LIMITS, Errors::default()).await.expect("a pool");
    let commit = SharedCommit::<Fake>::start(db);
    let outcomes = together(&commit, vec![Fake::Number(1), Fake::Number(2)]).await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(Error::Unavailable(_)))), "{outcomes:?}");
}
