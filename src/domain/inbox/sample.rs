//! What some inboxes take in Redis, as it tells itself. Never which ones, never what is in them.

use redis::RedisResult;

use crate::error::Result;
use crate::kv::{Kv, keys};

/// Some inboxes taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// How many there are.
    pub inboxes: usize,
    /// Their members, markers among them.
    pub members: usize,
    /// Their memory.
    pub bytes: f64,
}

/// Looks at `count` inboxes or all there are.
pub async fn sample(kv: &Kv, count: usize) -> Result<Sample> {
    let (mut sample, mut cursor) = (Sample::default(), 0);
    loop {
        let (next, found) = kv.scan(cursor, keys::INBOXES).await?;
        let mut asked = redis::pipe();
        for key in &found {
            asked.zcard(key).cmd("MEMORY").arg("USAGE").arg(key).arg("SAMPLES").arg(0);
        }
        if !found.is_empty() {
            let answers: Vec<RedisResult<Option<usize>>> = asked.ignore_errors().query_async(&mut kv.shared()).await?;
            for answer in answers.chunks(2) {
                // What is no inbox, or gone by now, is passed over.
                let [Ok(Some(members)), Ok(Some(bytes))] = answer else { continue };
                sample.inboxes += 1;
                sample.members += members;
                sample.bytes += *bytes as f64;
            }
        }
        cursor = next;
        if cursor == 0 || sample.inboxes >= count {
            return Ok(sample);
        }
    }
}
