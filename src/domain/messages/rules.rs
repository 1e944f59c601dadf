//! What a message may be. Pure: no await.

use serde_json::Value;

use crate::config::Channels;
use crate::error::{Error, Result};
use crate::text::{self, Limit, Lines};

/// A title, if there is one.
pub const TITLE: Limit = Limit { min_graphemes: 1, max_graphemes: 200, max_bytes: 1_000 };
/// The text of a message that is text.
pub const CONTENT: Limit = Limit { min_graphemes: 1, max_graphemes: 5_000, max_bytes: 40_000 };
/// The text of an image or a video, which may do without.
const CAPTION: Limit = Limit { min_graphemes: 0, ..CONTENT };
/// The bytes that extra JSON may have, written compactly.
pub const EXTRA_MAX_BYTES: usize = 8_192;
/// How deep objects and arrays may be nested in extra JSON; the outermost object is 1.
pub const EXTRA_MAX_DEPTH: usize = 8;
/// What an idempotency key may be.
pub const IDEMPOTENCY_KEY: Limit = Limit { min_graphemes: 1, max_graphemes: 100, max_bytes: 200 };

/// A title that fits.
pub fn title(title: &str) -> Result<String> {
    text::checked("title", title, TITLE, Lines::One)
}

/// A text that fits; only an image or a video may have none.
pub fn content(content: &str, may_be_empty: bool) -> Result<String> {
    text::checked("content", content, if may_be_empty { CAPTION } else { CONTENT }, Lines::Many)
}

/// Extra JSON that fits: an object, neither too large nor too deep, and without U+0000, which Postgres
/// cannot store.
pub fn extra(extra: Value) -> Result<Value> {
    let refuse = |message: String| Err(Error::bad_input("extra", message));
    if !extra.is_object() {
        return refuse("Must be a JSON object.".into());
    }
    if !fits(&extra, EXTRA_MAX_DEPTH) {
        return refuse(format!("Must not be nested deeper than {EXTRA_MAX_DEPTH} levels."));
    }
    let written = extra.to_string();
    if written.len() > EXTRA_MAX_BYTES {
        return refuse(format!("Must not be larger than {EXTRA_MAX_BYTES} bytes."));
    }
    if !has_plain_numbers(&extra) {
        return refuse("Numbers must be 0 or between 1e-20 and 1e20 in size.".into());
    }
    if has_nul(&extra) {
        return refuse("Must not contain the character U+0000.".into());
    }
    Ok(extra)
}

fn fits(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(fields) => depth > 0 && fields.values().all(|value| fits(value, depth - 1)),
        Value::Array(items) => depth > 0 && items.iter().all(|value| fits(value, depth - 1)),
        _ => true,
    }
}

/// Postgres writes numbers out in full: 1e308 is five bytes here and 309 there.
fn has_plain_numbers(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|n| n == 0.0 || (1e-20..=1e20).contains(&n.abs())),
        Value::Array(items) => items.iter().all(has_plain_numbers),
        Value::Object(fields) => fields.values().all(has_plain_numbers),
        _ => true,
    }
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(fields) => fields.iter().any(|(key, value)| key.contains('\0') || has_nul(value)),
        _ => false,
    }
}

/// A channel of the operator's list.
pub fn channel(channel: &str, known: &Channels) -> Result<String> {
    if known.contains(channel) {
        return Ok(channel.to_owned());
    }
    Err(Error::bad_input("channel", format!("There is no such channel. There are: {}.", known.names().join(", "))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn extra_json_is_an_object_of_bounded_size_and_depth() {
        let nested = |depth| (1..depth).fold(json!({}), |inner, _| json!({ "a": inner }));
        for good in [json!({}), json!({"a": [1, "ü", null]}), nested(EXTRA_MAX_DEPTH)] {
            assert_eq!(extra(good.clone()), Ok(good));
        }
        let large = json!({ "a": "x".repeat(EXTRA_MAX_BYTES) });
        for bad in [
            json!(1),
            json!(null),
            json!([]),
            nested(EXTRA_MAX_DEPTH + 1),
            large,
            json!({"a": ["\0"]}),
            json!({"a": [1e308]}),
            json!({"a": -1e-300}),
            json!({"\0": 1}),
        ] {
            assert!(matches!(extra(bad), Err(Error::BadUserInput { field, .. }) if field == "extra"));
        }
    }
}
