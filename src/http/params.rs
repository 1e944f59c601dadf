//! The parameters of a GraphQL request, out of a JSON body or an address. Pure; never what they mean.

use async_graphql::Variables;
use serde_json::{Map, Value};
use url::form_urlencoded;

/// What a client asks for.
#[derive(Debug, Default)]
pub struct Params {
    /// The GraphQL document.
    pub query: String,
    /// Which of its operations to run; may be left out if there is only one.
    pub operation_name: Option<String>,
    /// The values of its variables.
    pub variables: Variables,
}

impl Params {
    /// Reads the body of a POST. Errors: a sentence on what is wrong with it.
    pub fn from_body(body: &[u8]) -> Result<Self, String> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Self::from_members(members),
            Ok(Value::Array(_)) => Err("Batches are not supported: send one request at a time.".into()),
            Ok(_) => Err("The body must be a JSON object.".into()),
            Err(error) => Err(format!("The body is not valid JSON: {error}.")),
        }
    }

    /// Reads the query string of a GET. Errors: a sentence on what is wrong with it.
    pub fn from_address(query_string: &str) -> Result<Self, String> {
        let mut members = Map::new();
        for (name, text) in form_urlencoded::parse(query_string.as_bytes()) {
            let value = match name.as_ref() {
                "query" | "operationName" => Value::String(text.into_owned()),
                "variables" | "extensions" => {
                    serde_json::from_str(&text).map_err(|error| format!("`{name}` is not valid JSON: {error}."))?
                }
                _ => continue,
            };
            if members.insert(name.clone().into_owned(), value).is_some() {
                return Err(format!("`{name}` is given twice."));
            }
        }
        Self::from_members(members)
    }

    fn from_members(mut members: Map<String, Value>) -> Result<Self, String> {
        let mut take = |name: &str| members.remove(name).filter(|value| !value.is_null());
        let query = match take("query") {
            Some(Value::String(query)) => query,
            Some(_) => return Err("`query` must be a string.".into()),
            None => return Err("`query` is missing.".into()),
        };
        let operation_name = match take("operationName") {
            Some(Value::String(name)) => Some(name),
            Some(_) => return Err("`operationName` must be a string.".into()),
            None => None,
        };
        let variables = match take("variables") {
            Some(value @ Value::Object(_)) => Variables::from_json(value),
            Some(_) => return Err("`variables` must be an object.".into()),
            None => Variables::default(),
        };
        match take("extensions") {
            None | Some(Value::Object(_)) => Ok(Self { query, operation_name, variables }),
            Some(_) => Err("`extensions` must be an object.".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_types_are_named_and_null_is_nothing() {
        for (body, complaint) in [
            ("", "not valid JSON"),
            ("[]", "Batches"),
            ("7", "object"),
            ("{}", "`query` is missing"),
            (r#"{"query":null}"#, "`query` is missing"),
            (r#"{"query":7}"#, "`query` must"),
            (r#"{"query":"{a}","operationName":7}"#, "`operationName` must"),
            (r#"{"query":"{a}","variables":[]}"#, "`variables` must"),
            (r#"{"query":"{a}","variables":"{}"}"#, "`variables` must"),
            (r#"{"query":"{a}","extensions":1}"#, "`extensions` must"),
        ] {
            let error = Params::from_body(body.as_bytes()).expect_err(body);
            assert!(error.contains(complaint), "{body}: {error}");
        }
        let nulls = r#"{"query":"{a}","operationName":null,"variables":null,"extensions":null,"other":1}"#;
        let params = Params::from_body(nulls.as_bytes()).expect("valid");
        assert_eq!((params.query.as_str(), params.operation_name), ("{a}", None));
    }

    #[test]
    fn an_address_carries_json_in_its_variables() {
        let params = Params::from_address("query=query+A%7Ba%7D&operationName=A&variables=%7B%22x%22%3A1%7D&z=9");
        let params = params.expect("valid");
        assert_eq!((params.query.as_str(), params.operation_name.as_deref()), ("query A{a}", Some("A")));
        assert_eq!(params.variables.len(), 1);
        for bad in ["", "query=a&query=b", "query=a&variables=x", "query=a&variables=[]", "query=a&extensions=1"] {
            assert!(Params::from_address(bad).is_err(), "{bad}");
        }
    }
}
