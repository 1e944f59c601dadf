//! The shapes of a demo world, and which sizes there are. Never how it is made.

/// The password of everybody in a demo world.
pub const PASSWORD: &str = "kith-demo-world";

/// The first people of every world, for whoever wants to look around: handle, display name, language, how many they follow.
pub const GUESTS: [(&str, &str, usize, usize); 3] =
    [("grace_demo", "Grace Bennett", 0, 60), ("jonas_demo", "Jonas Weber", 1, 40), ("yuki_demo", "田中雪", 7, 25)];

/// How large a world is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// People.
    pub users: usize,
    /// Who follows whom.
    pub follows: usize,
    /// Messages.
    pub messages: usize,
    /// Likes of messages.
    pub likes: usize,
}

impl Size {
    /// A sentence, when no world is of this size.
    pub fn check(self) -> Result<(), String> {
        let Self { users, follows, messages, likes } = self;
        let (follow_limit, like_limit) =
            (users.saturating_mul(users.saturating_sub(1)), users.saturating_mul(messages));
        if u32::try_from(users).is_err() || u32::try_from(messages).is_err() {
            return Err("--users and --messages are at most 4294967295".into());
        }
        if users < GUESTS.len() {
            return Err(format!("--users must be at least {}: the demo people", GUESTS.len()));
        }
        if follows > follow_limit {
            return Err(format!(
                "--follows is at most {follow_limit}: {users} people can follow each other no more often"
            ));
        }
        if likes > like_limit {
            return Err(format!("--likes is at most {like_limit}: each person likes a message once"));
        }
        Ok(())
    }
}

/// Somebody.
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    /// Snowflake; when they joined.
    pub id: i64,
    /// Unique.
    pub handle: String,
    /// As shown.
    pub display_name: String,
    /// About themselves.
    pub bio: String,
    /// The number of the language.
    pub language: usize,
    /// What they talk about.
    pub topics: [&'static str; 2],
}

/// The first follows the second; people by their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follow {
    /// Snowflake; since when.
    pub id: i64,
    /// Who follows.
    pub follower: u32,
    /// Whom.
    pub followee: u32,
}

/// What somebody posted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// Snowflake; when.
    pub id: i64,
    /// The number of the author.
    pub author: u32,
    /// The channel.
    pub channel: String,
    /// `text` or `image`.
    pub kind: &'static str,
    /// One line, if any.
    pub title: Option<String>,
    /// The text.
    pub content: String,
}

/// Who liked what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Like {
    /// Snowflake; when.
    pub id: i64,
    /// The number of the message.
    pub post: u32,
    /// The number of the person.
    pub user: u32,
}

/// A whole world.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// The people; the guests come first.
    pub people: Vec<Person>,
    /// Whom they follow.
    pub follows: Vec<Follow>,
    /// What they posted, oldest first.
    pub posts: Vec<Post>,
    /// What they liked.
    pub likes: Vec<Like>,
}
