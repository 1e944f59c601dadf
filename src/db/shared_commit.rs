//! Shared commit: what comes in while one batch commits makes up the next, so that a burst costs one commit a
//! batch and not one each. No timer: the first one goes at once. Never what is written: it knows no noun.

use std::panic::AssertUnwindSafe;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::db::{Connection, Db};
use crate::error::{Error, Result};

/// How many may wait for their batch, which is also how large one gets; whoever comes then is told UNAVAILABLE.
pub const QUEUE: usize = 1024;

/// Something small to write that can share its transaction with others of its kind.
pub trait Op: Send + Sync + Sized + 'static {
    /// What whoever asked for it is told after the commit.
    type Answer: Send + 'static;

    /// Does `ops` in their order, in one transaction. Answers an outcome each, in that order: an error there is of
    /// that one alone and leaves nothing of it behind.
    ///
    /// Errors: those that undo the whole transaction.
    fn commit(conn: &mut Connection, ops: &[Self]) -> impl Future<Output = Result<Vec<Result<Self::Answer>>>> + Send;
}

/// Where ops of one kind are handed in. One task writes them, batch after batch, on one connection at a time.
pub struct SharedCommit<O: Op> {
    queue: mpsc::Sender<Asked<O>>,
    closing: Arc<Notify>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

struct Asked<O: Op> {
    op: O,
    caller: oneshot::Sender<Result<O::Answer>>,
}

impl<O: Op> SharedCommit<O> {
    /// Starts the writer on the current runtime, which has to be the main one. It ends with [`Self::finish`], or
    /// when this is dropped.
    pub fn start(db: Db) -> Self {
        let (queue, asked) = mpsc::channel(QUEUE);
        let closing = Arc::new(Notify::new());
        let writer = tokio::spawn(write(db, asked, closing.clone()));
        Self { queue, closing, writer: Mutex::new(Some(writer)) }
    }

    /// Does `op` with whatever else is there, and answers after the commit. It is done also when the caller goes
    /// away meanwhile.
    ///
    /// Errors: those of the op; [`Error::Unavailable`] when too many wait, or when the batch broke, after which
    /// it may or may not have been done.
    pub async fn ask(&self, op: O) -> Result<O::Answer> {
        let (caller, answer) = oneshot::channel();
        self.queue.try_send(Asked { op, caller }).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => Error::Unavailable("too many wait for their commit".into()),
            mpsc::error::TrySendError::Closed(_) => Error::Unavailable("the server is ending".into()),
        })?;
        answer.await.unwrap_or_else(|_| Err(Error::Unavailable("the batch was lost".into())))
    }

    /// Takes nothing more in, and waits until all that was taken in is committed and answered.
    pub async fn finish(&self) {
        self.closing.notify_one();
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer
            && let Err(error) = writer.await
        {
            tracing::error!(%error, "a writer broke");
        }
    }
}

async fn write<O: Op>(db: Db, mut queue: mpsc::Receiver<Asked<O>>, closing: Arc<Notify>) {
    let mut gathered = Vec::with_capacity(QUEUE);
    loop {
        tokio::select! {
            count = queue.recv_many(&mut gathered, QUEUE) => if count == 0 { return },
            () = closing.notified() => {
                queue.close();
                continue;
            }
        }
        let (ops, callers): (Vec<O>, Vec<_>) = gathered.drain(..).map(|asked| (asked.op, asked.caller)).unzip();
        for (caller, outcome) in callers.into_iter().zip(settled(&db, &ops).await) {
            // Whoever went away is not told.
            let _ = caller.send(outcome);
        }
    }
}

/// The outcome of each op.
async fn settled<O: Op>(db: &Db, ops: &[O]) -> Vec<Result<O::Answer>> {
    match together(db, ops).await {
        Ok(outcomes) => outcomes,
        // One of them is at fault and must not take the others with it.
        Err(Error::Internal(_)) if ops.len() > 1 => {
            let mut outcomes = Vec::with_capacity(ops.len());
            for op in ops {
                let alone = together(db, slice::from_ref(op)).await;
                let lost = || Err(Error::Internal("a batch of one has no outcome".into()));
                outcomes.push(alone.and_then(|mut outcomes| outcomes.pop().unwrap_or_else(lost)));
            }
            outcomes
        }
        Err(error) => ops.iter().map(|_| Err(error.clone())).collect(),
    }
}

/// One transaction. A panic is a failure like any other, or it would take the writer with it.
async fn together<O: Op>(db: &Db, ops: &[O]) -> Result<Vec<Result<O::Answer>>> {
    let commit = db.write(|mut conn| async move { O::commit(&mut conn, ops).await });
    let outcome = AssertUnwindSafe(commit).catch_unwind().await;
    outcome.unwrap_or_else(|_| Err(Error::Unavailable("a batch panicked".into())))
}
