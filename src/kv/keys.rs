//! The name and the lifetime of every key in Redis. No key is named anywhere else.

/// The inbox of a person and channel: a sorted set of at most 127 members. It lives until its feed is
/// no longer read; losing it costs a build. The braces are a Redis Cluster hash tag.
pub fn inbox(user_id: i64, channel: &str) -> String {
    format!("user:{{{user_id}}}:inbox:{channel}")
}

/// A number that rises with each tick, for ever: a Redis that shows less than it did has lost what came since.
pub const HEARTBEAT: &str = "inbox:heartbeat";

#[cfg(test)]
mod tests {
    #[test]
    fn the_inbox_is_named_byte_for_byte() {
        assert_eq!(super::inbox(123, "default"), "user:{123}:inbox:default");
    }
}
