//! Likes: sets rather than toggles, shared commits, exact counts, and lists in both directions.

mod lists;
mod processes;
mod together;
mod verbs;

use kith::domain::likes::model::{Op, Verb};
use kith::domain::messages::model::Reference;
use kith::ids::GlobalId;
use serde_json::{Value, json};

use crate::harness::{Answer, Client, Kith, Person, Sql, until};

const LIKE: &str = "mutation($input: LikeMessageInput!) { verb: likeMessage(input: $input) {
    message { id likeCount viewerHasLiked } clientMutationId
} }";
const UNLIKE: &str = "mutation($input: UnlikeMessageInput!) { verb: unlikeMessage(input: $input) {
    message { id likeCount viewerHasLiked } clientMutationId
} }";

async fn verb(client: &Client, verb: &str, message_id: &str) -> Answer {
    client.query(verb, json!({ "input": { "messageId": message_id } })).await
}

/// What the payload says: how many like it, and whether the viewer does.
fn state(answer: &Answer) -> (i64, bool) {
    let message = answer.at("/verb/message");
    (message["likeCount"].as_i64().expect("a count"), message["viewerHasLiked"] == true)
}

/// What anybody reads.
async fn shown(client: &Client, message_id: &str) -> (i64, bool) {
    let query = "query($id: ID!) { verb: node(id: $id) { ... on Message { likeCount viewerHasLiked } } }";
    let answer = client.query(query, json!({ "id": message_id })).await;
    let message: &Value = answer.at("/verb");
    (message["likeCount"].as_i64().expect("a count"), message["viewerHasLiked"] == true)
}

/// The message that an opaque id stands for.
fn reference(message_id: &str) -> Reference {
    match GlobalId::decode(message_id) {
        Some(GlobalId::Message { author_id, id }) => Reference { id, author_id },
        other => panic!("{other:?} is no message"),
    }
}

/// Rows of likes that stand, rows at all, and the two counters, of all messages together.
async fn counted(kith: &Kith) -> [i64; 4] {
    let rows = kith.sql().await.rows(
        "SELECT count(*) FILTER (WHERE cancelled_at IS NULL), count(*),
            (SELECT coalesce(sum(like_count), 0)::bigint FROM message_counters),
            (SELECT coalesce(sum(like_ever_count), 0)::bigint FROM message_counters)
         FROM likes",
        &[],
    );
    let rows = rows.await;
    [0, 1, 2, 3].map(|n| rows[0].get(n))
}

/// Holds the counters of a message, so that a batch that needs them stands still until it is let go.
struct Hold(Sql);

impl Hold {
    async fn on(kith: &Kith, message_id: &str) -> Self {
        let sql = Sql::connect(kith.config.database_url.as_str()).await;
        let id = reference(message_id).id;
        sql.batch("BEGIN").await;
        let lock = "INSERT INTO message_counters (message_id, author_id) VALUES ($1, $2)
            ON CONFLICT (message_id) DO UPDATE SET author_id = excluded.author_id";
        sql.execute(lock, &[&id, &reference(message_id).author_id]).await;
        Self(sql)
    }

    /// Waits until a batch stands still.
    async fn has_stopped_a_batch(&self, kith: &Kith) {
        until("a batch stands still", async || {
            let waits = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
                AND wait_event_type = 'Lock' AND query LIKE 'INSERT INTO message_counters%')";
            kith.sql().await.one::<bool>(waits, &[]).await.then_some(())
        })
        .await;
    }

    async fn let_go(self) {
        self.0.batch("COMMIT").await;
    }
}

/// A like as a resolver hands it in.
fn like(kith: &Kith, person: &Person, message_id: &str) -> Op {
    let verb = Verb::Like { id: kith.app.next_id().expect("a lease") };
    Op { user_id: person.viewer.user_id, message: reference(message_id), verb }
}

/// An unlike as a resolver hands it in.
fn unlike(kith: &Kith, person: &Person, message_id: &str) -> Op {
    let verb = Verb::Unlike { at: kith.app.clock.now() };
    Op { user_id: person.viewer.user_id, message: reference(message_id), verb }
}
