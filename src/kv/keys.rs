//! The name and the lifetime of every key in Redis. No key is named anywhere else.

/// The inbox of a person and channel: a sorted set of at most 127 members. It lives until its feed is
/// no longer read; losing it costs a build. The braces are a Redis Cluster hash tag.
pub fn inbox(user_id: i64, channel: &str) -> String {
    format!("user:{{{user_id}}}:inbox:{channel}")
}

/// Matches every inbox, as SCAN understands it.
pub const INBOXES: &str = "user:{*}:inbox:*";

/// Whose inbox in which channel has this name, if it is the name of one.
pub fn inbox_of(key: &str) -> Option<(i64, &str)> {
    let (user_id, channel) = key.strip_prefix("user:{")?.split_once("}:inbox:")?;
    user_id.parse().ok().map(|user_id| (user_id, channel)).filter(|(user_id, channel)| inbox(*user_id, channel) == key)
}

/// A number that rises with each tick, for ever: a Redis that shows less than it did has lost what came since.
pub const HEARTBEAT: &str = "inbox:heartbeat";

#[cfg(test)]
mod tests {
    #[test]
    fn the_inbox_is_named_byte_for_byte() {
        assert_eq!(super::inbox(123, "default"), "user:{123}:inbox:default");
        assert_eq!(super::inbox_of("user:{123}:inbox:default"), Some((123, "default")));
        for other in ["user:{x}:inbox:default", "user:{+1}:inbox:default", "user:{1}:box:a", "inbox:heartbeat"] {
            assert_eq!(super::inbox_of(other), None, "{other}");
        }
    }
}
