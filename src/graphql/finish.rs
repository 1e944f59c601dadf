//! A future that is finished even when whoever waits for it goes away. Never what is waited for.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// Runs where it is awaited. When it is dropped half-way, a task of its own finishes it.
///
/// A loader needs this: the future that drains a batch works for everybody who waits for that batch, and an
/// error in another field drops it. A task for each load instead would tear the batches apart.
pub struct Finish<F>(Option<Pin<Box<F>>>)
where
    F: Future + Send + 'static,
    F::Output: Send;

impl<F> Finish<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    /// Wraps `future`, which has not begun.
    pub fn new(future: F) -> Self {
        Self(Some(Box::pin(future)))
    }
}

impl<F> Future for Finish<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Some(future) = self.0.as_mut() else {
            return Poll::Pending;
        };
        let polled = future.as_mut().poll(cx);
        if polled.is_ready() {
            self.0 = None;
        }
        polled
    }
}

impl<F> Drop for Finish<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn drop(&mut self) {
        if let (Some(future), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(future);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use dataloader::BatchFn;
    use dataloader::cached::Loader;
    use futures_util::{join, poll};
    use tokio::sync::Notify;

    use super::*;

    /// Answers each key with itself, once it is told to.
    struct Gated(Arc<Notify>);

    impl BatchFn<i64, i64> for Gated {
        async fn load(&mut self, keys: &[i64]) -> HashMap<i64, i64> {
            self.0.notified().await;
            keys.iter().map(|key| (*key, *key)).collect()
        }
    }

    #[tokio::test]
    async fn who_waits_for_a_batch_gets_it_when_the_one_that_drains_it_is_dropped() {
        let gate = Arc::new(Notify::new());
        let loader = Loader::new(Gated(gate.clone())).with_yield_count(1);
        let load = |key| {
            let loader = loader.clone();
            Finish::new(async move { loader.try_load(key).await })
        };
        let (mut drains, mut waits) = (load(1), load(2));
        // Both have asked, the first one drains for both.
        assert!(poll!(&mut drains).is_pending() && poll!(&mut waits).is_pending());
        tokio::task::yield_now().await;
        assert!(poll!(&mut drains).is_pending());
        drop(drains);
        gate.notify_one();
        let (value, ()) = join!(waits, async {});
        assert_eq!(value.expect("the batch was finished"), 2);
    }
}
