//! `extensions.code` for the errors that are not Kith's own: those of async-graphql and of HTTP. Never
//! the words of Kith's errors: those are in `graphql/errors.rs`.

use async_graphql::{ErrorExtensionValues, Pos, ServerError, Value};

use crate::error::Error;

/// An error of Kith's, of the request as a whole.
pub fn kith(error: Error) -> ServerError {
    let shown = async_graphql::Error::from(error);
    ServerError { extensions: shown.extensions, ..ServerError::new(shown.message, None) }
}

/// LIMIT_EXCEEDED.
pub fn limit(message: String) -> ServerError {
    kith(Error::LimitExceeded { message })
}

/// BAD_USER_INPUT, with the `field` that is wrong if it is known.
pub fn bad_input(message: impl Into<String>, field: Option<&str>, at: Option<Pos>) -> ServerError {
    let mut error = ServerError::new(message, at);
    set(&mut error, "code", "BAD_USER_INPUT");
    if let Some(field) = field {
        set(&mut error, "field", field);
    }
    error
}

/// BAD_USER_INPUT, for a document that cannot be parsed: in one line, where the parser draws a picture.
pub fn syntax(error: async_graphql::parser::Error) -> ServerError {
    let at = error.positions().next();
    let drawn = error.to_string();
    let words = drawn.rsplit("\n  = ").next().unwrap_or(&drawn).trim_end_matches('.');
    bad_input(format!("Syntax error: {words}."), None, at)
}

/// The code of `error`; empty if it has none yet.
pub fn code(error: &ServerError) -> &str {
    match error.extensions.as_ref().and_then(|extensions| extensions.get("code")) {
        Some(Value::String(code)) => code,
        _ => "",
    }
}

/// Gives `error` a code if it has none: what async-graphql found wrong with the request, or a fault of
/// ours, whose words stay here. INTERNAL gets the id of the request, to be found in the log.
pub fn complete(error: &mut ServerError, request_id: &str) {
    if code(error).is_empty() {
        if is_limit(error) {
            set(error, "code", "LIMIT_EXCEEDED");
        } else if error.path.is_empty() || is_coercion(error) {
            set(error, "code", "BAD_USER_INPUT");
            if let Some(field) = field(&error.message) {
                set(error, "field", &field);
            }
        } else {
            let hidden = kith(Error::Internal(std::mem::take(&mut error.message)));
            (error.message, error.extensions) = (hidden.message, hidden.extensions);
        }
    }
    if code(error) == "INTERNAL" {
        set(error, "requestId", request_id);
    }
}

fn set(error: &mut ServerError, name: &str, value: &str) {
    error.extensions.get_or_insert_with(ErrorExtensionValues::default).set(name, value);
}

fn is_limit(error: &ServerError) -> bool {
    let known = ["Query is too complex.", "Query is nested too deep.", "The recursion depth of the query"];
    known.iter().any(|start| error.message.starts_with(start))
}

/// Whether an argument that validation let through could not be read: it held a variable, or its scalar
/// is read by a resolver only. An error out of somebody's `?` carries its source.
fn is_coercion(error: &ServerError) -> bool {
    let known = ["Failed to parse \"", "Expected input type \"", "Variable "];
    error.source.is_none() && known.iter().any(|start| error.message.starts_with(start))
}

/// The path of the wrong input below `input`, out of what validation says.
fn field(message: &str) -> Option<String> {
    let (path, reason) = message.strip_prefix("Invalid value for argument \"")?.split_once("\", ")?;
    let inner = ["field \"", "unknown field \""].iter().find_map(|start| reason.strip_prefix(start)?.split('"').next());
    let whole = inner.map_or(path.to_owned(), |inner| format!("{path}.{inner}"));
    Some(whole.strip_prefix("input.").map(str::to_owned).unwrap_or(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_named_below_input() {
        for (message, named) in [
            (r#"Invalid value for argument "first", expected type "Int""#, Some("first")),
            (r#"Invalid value for argument "input.content", expected type "String""#, Some("content")),
            (r#"Invalid value for argument "input", field "a" of type "A!" is required"#, Some("a")),
            (r#"Invalid value for argument "input.x", unknown field "y" of type "X""#, Some("x.y")),
            ("Unknown field", None),
        ] {
            assert_eq!(field(message).as_deref(), named, "{message}");
        }
    }

    #[test]
    fn words_that_nobody_chose_to_show_stay_here() {
        let mut raw = ServerError::new("password is hunter2", None);
        raw.path = vec![async_graphql::PathSegment::Field("a".into())];
        complete(&mut raw, "r1");
        assert_eq!(code(&raw), "INTERNAL");
        assert!(!raw.message.contains("hunter2"));
        let shown = serde_json::to_value(&raw).expect("serializable");
        assert_eq!(shown["extensions"]["requestId"], "r1");
    }
}
