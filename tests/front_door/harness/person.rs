//! A person who uses Kith, and the common verbs, each by the public API.

use std::ops::Deref;

use kith::ids::GlobalId;
use kith::viewer::Viewer;
use serde_json::{Value, json};

use super::Client;

/// A person who is signed in. Also a [`Client`]: `ada.query(…)`, `ada.walk(…)`.
#[derive(Clone, Debug)]
pub struct Person {
    /// The opaque id.
    pub id: String,
    /// The ids of the person and of the session, as they stand in Postgres.
    pub viewer: Viewer,
    /// The handle.
    pub handle: String,
    /// The access token.
    pub token: String,
    /// Their client, signed in.
    pub client: Client,
}

impl Deref for Person {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Person {
    /// The person and session that `viewer` names, whose requests carry `token`.
    pub fn new(anonymous: &Client, viewer: Viewer, handle: &str, token: String) -> Self {
        let id = GlobalId::User(viewer.user_id).encode();
        Self { id, viewer, handle: handle.to_owned(), client: anonymous.with_token(&token), token }
    }

    /// Follows `other`.
    pub async fn follow(&self, other: &Person) {
        let query = "mutation($input: FollowUserInput!) { followUser(input: $input) { user { id } } }";
        self.query(query, json!({ "input": { "userId": other.id } })).await.data();
    }

    /// Follows `other` no longer.
    pub async fn unfollow(&self, other: &Person) {
        let query = "mutation($input: UnfollowUserInput!) { unfollowUser(input: $input) { user { id } } }";
        self.query(query, json!({ "input": { "userId": other.id } })).await.data();
    }

    /// Likes a message.
    pub async fn like(&self, message_id: &str) {
        let query = "mutation($input: LikeMessageInput!) { likeMessage(input: $input) { message { id } } }";
        self.query(query, json!({ "input": { "messageId": message_id } })).await.data();
    }

    /// Likes a message no longer.
    pub async fn unlike(&self, message_id: &str) {
        let query = "mutation($input: UnlikeMessageInput!) { unlikeMessage(input: $input) { message { id } } }";
        self.query(query, json!({ "input": { "messageId": message_id } })).await.data();
    }

    /// The same person as a user of another server.
    pub fn on(&self, server: &Client) -> Person {
        Person::new(server, self.viewer, &self.handle, self.token.clone())
    }

    /// Posts on the channel `default` and answers the id.
    pub async fn post(&self, content: &str) -> String {
        self.post_with(json!({ "content": content })).await
    }

    /// Posts on `channel` and answers the id.
    pub async fn post_in(&self, channel: &str, content: &str) -> String {
        self.post_with(json!({ "content": content, "channel": channel })).await
    }

    /// Posts with the whole input given and answers the id.
    pub async fn post_with(&self, input: Value) -> String {
        let query = "mutation($input: PostMessageInput!) { postMessage(input: $input) { message { id } } }";
        self.query(query, json!({ "input": input })).await.text("/postMessage/message/id")
    }

    /// Gives an own message another text.
    pub async fn edit(&self, message_id: &str, content: &str) {
        let query = "mutation($input: EditMessageInput!) { editMessage(input: $input) { message { id content } } }";
        let input = json!({ "messageId": message_id, "content": content });
        assert_eq!(self.query(query, json!({ "input": input })).await.text("/editMessage/message/content"), content);
    }

    /// Deletes an own message.
    pub async fn delete(&self, message_id: &str) {
        let query = "mutation($input: DeleteMessageInput!) { deleteMessage(input: $input) { deletedMessageId } }";
        self.query(query, json!({ "input": { "messageId": message_id } })).await.data();
    }

    /// Takes the deletion of an own message back.
    pub async fn restore(&self, message_id: &str) {
        let query = "mutation($input: RestoreMessageInput!) { restoreMessage(input: $input) { message { id } } }";
        self.query(query, json!({ "input": { "messageId": message_id } })).await.data();
    }
}
