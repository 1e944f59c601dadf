//! A page of a connection: its arguments, its cursors and its flags, without a transport or a store.
//! Never how a page is filled: that is `graphql/connection.rs`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use crate::config::Secrets;
use crate::error::{Error, Result};

/// What `first` and `last` may be.
pub const SIZES: std::ops::RangeInclusive<i32> = 1..=100;

/// The page size when neither `first` nor `last` is given.
pub const DEFAULT_SIZE: i32 = 20;

/// The connections that hand out cursors. The number is part of each cursor: never reuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Connection {
    /// `Query.feed`
    Feed = 1,
    /// `User.messages`
    UserMessages = 2,
    /// `User.followers`
    Followers = 3,
    /// `User.following`
    Following = 4,
    /// `Viewer.sessions`
    Sessions = 5,
    /// `Message.history`
    History = 6,
    /// `Message.likes`
    Likes = 7,
    /// `Viewer.likedMessages`
    LikedMessages = 8,
}

/// What a cursor is bound to, besides its position: never the viewer, never the page size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Which connection.
    pub connection: Connection,
    /// A hash of the arguments that filter or order, see [`Scope::new`].
    pub arguments: u32,
    /// The node that the connection hangs on, 0 at the root.
    pub parent: i64,
}

impl Scope {
    /// The scope of `connection` below `parent`, with the filtering and ordering arguments as text.
    pub fn new(connection: Connection, parent: i64, arguments: &str) -> Self {
        let hash = Sha256::digest(arguments.as_bytes());
        Self { connection, arguments: u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]), parent }
    }
}

const VERSION: u8 = 1;
const MAC_BYTES: usize = 8;
const BODY_BYTES: usize = 1 + 1 + 1 + 4 + 8 + 8;

/// Writes and reads cursors. A cursor is a position in an order, not a row:
/// version, key id, connection, arguments, parent, position, and a MAC cut to 8 bytes.
#[derive(Clone, Debug)]
pub struct Cursors {
    keys: Vec<(u8, [u8; 32])>,
}

impl Cursors {
    /// Cursors signed with the first secret and accepted from each.
    pub fn new(secrets: &Secrets) -> Self {
        Self { keys: secrets.derive("cursor") }
    }

    /// The cursor of `position` in `scope`.
    pub fn encode(&self, scope: Scope, position: i64) -> String {
        let (key_id, key) = &self.keys[0];
        let mut bytes = Vec::with_capacity(BODY_BYTES + MAC_BYTES);
        bytes.extend([VERSION, *key_id, scope.connection as u8]);
        bytes.extend(scope.arguments.to_be_bytes());
        bytes.extend(scope.parent.to_be_bytes());
        bytes.extend(position.to_be_bytes());
        let mac = mac(key, &bytes).finalize().into_bytes();
        bytes.extend(&mac[..MAC_BYTES]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position in a cursor of `scope`; `field` is the argument that holds it.
    ///
    /// Errors: [`Error::BadCursor`] for anything that [`Cursors::encode`] did not write for this scope.
    pub fn decode(&self, scope: Scope, field: &'static str, cursor: &str) -> Result<i64> {
        self.position(scope, cursor).ok_or(Error::BadCursor { field })
    }

    fn position(&self, scope: Scope, cursor: &str) -> Option<i64> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        if bytes.len() != BODY_BYTES + MAC_BYTES || bytes[0] != VERSION {
            return None;
        }
        let (body, signature) = bytes.split_at(BODY_BYTES);
        let (_, key) = self.keys.iter().find(|(id, _)| *id == bytes[1])?;
        mac(key, body).verify_truncated_left(signature).ok()?;
        let position = i64::from_be_bytes(body[15..23].try_into().ok()?);
        let mine = body[2] == scope.connection as u8
            && body[3..7] == scope.arguments.to_be_bytes()
            && body[7..15] == scope.parent.to_be_bytes();
        mine.then_some(position)
    }
}

fn mac(key: &[u8; 32], body: &[u8]) -> Hmac<Sha256> {
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(key).unwrap_or_else(|_| unreachable!("HMAC takes any length"));
    mac.update(body);
    mac
}

/// Which end of the range a page is taken from. Every connection is ordered newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// `first`: the newest of the range.
    First,
    /// `last`: the oldest of the range.
    Last,
}

/// The arguments of a connection, as they were given.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// How many from the newest end.
    pub first: Option<i32>,
    /// Only what is older than this cursor.
    pub after: Option<String>,
    /// How many from the oldest end.
    pub last: Option<i32>,
    /// Only what is newer than this cursor.
    pub before: Option<String>,
}

/// A page that was asked for, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which end of the range.
    pub side: Side,
    /// 1 to 100.
    pub size: usize,
    /// Exclusive upper bound of the positions, from `after`.
    pub below: Option<i64>,
    /// Exclusive lower bound of the positions, from `before`.
    pub above: Option<i64>,
}

impl Arguments {
    /// Checks the arguments and opens the cursors.
    ///
    /// Errors: [`Error::BadUserInput`] for `first` with `last` or a size out of range, [`Error::BadCursor`].
    pub fn parse(&self, cursors: &Cursors, scope: Scope) -> Result<Request> {
        let (side, size, field) = match (self.first, self.last) {
            (Some(_), Some(_)) => return Err(Error::bad_input("last", "Give either first or last, not both.")),
            (None, Some(last)) => (Side::Last, last, "last"),
            (first, None) => (Side::First, first.unwrap_or(DEFAULT_SIZE), "first"),
        };
        if !SIZES.contains(&size) {
            return Err(Error::bad_input(field, format!("Must be from {} to {}.", SIZES.start(), SIZES.end())));
        }
        let open = |field, cursor: &Option<String>| {
            cursor.as_deref().map(|text| cursors.decode(scope, field, text)).transpose()
        };
        Ok(Request {
            side,
            size: size as usize,
            below: open("after", &self.after)?,
            above: open("before", &self.before)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cursors(text: &str) -> Cursors {
        Cursors::new(&text.parse().expect("valid secrets"))
    }

    const OLD: &str = "1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const BOTH: &str = "2:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA,1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

    proptest! {
        #[test]
        fn a_cursor_comes_back_in_its_scope_and_nowhere_else(parent: i64, position: i64, flip in 0_usize..248) {
            let cursors = cursors(OLD);
            let scope = Scope::new(Connection::UserMessages, parent, "default");
            let cursor = cursors.encode(scope, position);
            prop_assert_eq!(cursors.decode(scope, "after", &cursor), Ok(position));
            for other in [
                Scope::new(Connection::Followers, parent, "default"),
                Scope::new(Connection::UserMessages, parent.wrapping_add(1), "default"),
                Scope::new(Connection::UserMessages, parent, "work"),
            ] {
                prop_assert!(cursors.decode(other, "after", &cursor).is_err());
            }
            let mut bytes = URL_SAFE_NO_PAD.decode(&cursor).expect("ours");
            bytes[flip / 8] ^= 1 << (flip % 8);
            prop_assert!(cursors.decode(scope, "after", &URL_SAFE_NO_PAD.encode(&bytes)).is_err());
            prop_assert!(cursors.decode(scope, "after", &cursor[..cursor.len() - 1]).is_err());
        }
    }

    #[test]
    fn keys_rotate_with_overlap() {
        let scope = Scope::new(Connection::Feed, 0, "default");
        let old = cursors(OLD).encode(scope, 5);
        assert_eq!(cursors(BOTH).decode(scope, "after", &old), Ok(5));
        let new = cursors(BOTH).encode(scope, 5);
        assert!(cursors(OLD).decode(scope, "after", &new).is_err());
    }

    #[test]
    fn sizes_are_checked() {
        let (cursors, scope) = (cursors(OLD), Scope::new(Connection::Feed, 0, "default"));
        let ask = |first, last| Arguments { first, last, ..Default::default() }.parse(&cursors, scope);
        assert_eq!(ask(None, None).map(|page| page.size), Ok(20));
        assert_eq!(ask(None, Some(3)).map(|page| page.side), Ok(Side::Last));
        for (first, last) in [(Some(0), None), (Some(101), None), (None, Some(-1)), (Some(1), Some(1))] {
            assert!(matches!(ask(first, last), Err(Error::BadUserInput { .. })));
        }
    }
}
