//! Opaque ids in inputs. What is not an id of the right kind does not exist.

use async_graphql::ID;

use crate::domain::messages::model::Reference;
use crate::error::{Error, Result};
use crate::ids::GlobalId;

/// The person that `id` stands for; `field` is the input that holds it.
///
/// Errors: [`Error::BadUserInput`] for what is no id, [`Error::NotFound`] for an id of something else.
pub fn user_id(field: &'static str, id: &ID) -> Result<i64> {
    match decode(field, id)? {
        GlobalId::User(id) => Ok(id),
        _ => Err(Error::NotFound { what: "user" }),
    }
}

/// The message that `id` stands for. Errors: as [`user_id`].
pub fn message(field: &'static str, id: &ID) -> Result<Reference> {
    match decode(field, id)? {
        GlobalId::Message { author_id, id } => Ok(Reference { id, author_id }),
        _ => Err(Error::NotFound { what: "message" }),
    }
}

/// The session that `id` stands for. Errors: as [`user_id`].
pub fn session_id(field: &'static str, id: &ID) -> Result<i64> {
    match decode(field, id)? {
        GlobalId::Session(id) => Ok(id),
        _ => Err(Error::NotFound { what: "session" }),
    }
}

fn decode(field: &'static str, id: &ID) -> Result<GlobalId> {
    GlobalId::decode(id).ok_or_else(|| Error::bad_input(field, "This is not an id that Kith gave out."))
}
