//! What a GraphQL request was answered, with short ways to its parts that fail loudly.

use serde_json::Value;

/// The answer to a GraphQL request.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The whole body.
    pub body: Value,
}

impl Answer {
    /// `data`. Panics if there are errors.
    #[track_caller]
    pub fn data(&self) -> &Value {
        assert!(self.errors().is_empty() && self.status == 200, "errors: {self:#?}");
        &self.body["data"]
    }

    /// `data`, also when it is only part of what was asked.
    pub fn partial(&self) -> &Value {
        &self.body["data"]
    }

    /// `errors`, empty if there are none.
    pub fn errors(&self) -> &[Value] {
        self.body["errors"].as_array().map_or(&[], Vec::as_slice)
    }

    /// `extensions.code` of the first error. Panics if there is none.
    #[track_caller]
    pub fn code(&self) -> &str {
        let code = self.errors().first().and_then(|error| error["extensions"]["code"].as_str());
        code.unwrap_or_else(|| panic!("no error with a code: {self:#?}"))
    }

    /// `extensions.field` of the first error, if it names one.
    pub fn field(&self) -> Option<&str> {
        self.errors().first()?["extensions"]["field"].as_str()
    }

    /// What stands at the JSON pointer below `data`, `/viewer/user/handle`. Panics with errors, and if nothing is there.
    #[track_caller]
    pub fn at(&self, pointer: &str) -> &Value {
        let found = self.data().pointer(pointer);
        found.unwrap_or_else(|| panic!("nothing at {pointer}: {self:#?}"))
    }

    /// The text at the JSON pointer below `data`.
    #[track_caller]
    pub fn text(&self, pointer: &str) -> String {
        let value = self.at(pointer);
        value.as_str().unwrap_or_else(|| panic!("no text at {pointer}: {self:#?}")).to_owned()
    }

    /// The texts in the list at the JSON pointer below `data`.
    #[track_caller]
    pub fn texts(&self, pointer: &str) -> Vec<String> {
        let list = self.at(pointer).as_array();
        let list = list.unwrap_or_else(|| panic!("no list at {pointer}: {self:#?}"));
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("no text in {pointer}: {value}")).to_owned();
        list.iter().map(text).collect()
    }
}
