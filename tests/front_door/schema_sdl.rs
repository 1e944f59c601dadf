//! The schema as a document: `schema.graphql` is what the program prints, and everything in it is described.
//! Never what a field answers.

use std::process::Command;

use serde_json::{Value, json};

use crate::harness::Kith;

#[test]
fn schema_graphql_is_what_the_program_prints() {
    let printed = Command::new(env!("CARGO_BIN_EXE_kith")).arg("schema").env_clear().output().expect("it runs");
    assert!(printed.status.success());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema.graphql");
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    let printed = String::from_utf8(printed.stdout).expect("UTF-8");
    assert!(
        kept == printed,
        "schema.graphql is out of date: cargo run -- schema > schema.graphql, and look at the difference"
    );
}

const INTROSPECTION: &str = "{ __schema { types {
    kind name description
    fields(includeDeprecated: true) { name description type { ...T } args(includeDeprecated: true) { name description type { ...T } } }
    inputFields(includeDeprecated: true) { name description type { ...T } }
    enumValues(includeDeprecated: true) { name description }
} directives { name description args { name description type { ...T } } } } }
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }";

/// The name at the bottom of a wrapped type.
fn base(ty: &Value) -> &str {
    match ty["name"].as_str() {
        Some(name) => name,
        None => base(&ty["ofType"]),
    }
}

/// `(path, thing)` for each type, field, argument, input field and enum value of ours.
fn things(schema: &Value) -> Vec<(String, Value)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let name = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let mut things = Vec::new();
    let foreign = |name: &str| name.starts_with("__") || ["ID", "Int", "Float", "String", "Boolean"].contains(&name);
    for ty in list(&schema["types"]).into_iter().filter(|ty| !foreign(&name(ty))) {
        for part in [list(&ty["fields"]), list(&ty["inputFields"]), list(&ty["enumValues"])].concat() {
            let path = format!("{}.{}", name(&ty), name(&part));
            for argument in list(&part["args"]) {
                things.push((format!("{path}({})", name(&argument)), argument));
            }
            things.push((path, part));
        }
        things.push((name(&ty), ty));
    }
    things
}

async fn schema() -> Value {
    let kith = Kith::start().await;
    kith.anonymous().query(INTROSPECTION, json!({})).await.at("/__schema").clone()
}

#[tokio::test]
async fn everything_is_described() {
    let things = things(&schema().await);
    assert!(things.len() > 100, "{things:?}");
    let bare = |(path, thing): &(String, Value)| {
        let description = thing["description"].as_str().unwrap_or_default().trim();
        (description.len() < 3).then(|| path.clone())
    };
    let bare: Vec<String> = things.iter().filter_map(bare).collect();
    assert!(bare.is_empty(), "without a description: {bare:#?}");
}

/// A 64-bit id as a number loses its last digits in JavaScript.
#[tokio::test]
async fn ids_are_ids_and_never_numbers() {
    let mut seen = 0;
    for (path, thing) in things(&schema().await) {
        let name = thing["name"].as_str().unwrap_or_default();
        let is_id = name == "id" || name == "ids" || name.ends_with("Id") || name.ends_with("Ids");
        if is_id && thing.get("type").is_some() && name != "clientMutationId" {
            assert_eq!(base(&thing["type"]), "ID", "{path}");
            seen += 1;
        }
    }
    assert!(seen > 10);
}

/// Relay's rules for what is connected, identified and changed.
#[tokio::test]
async fn connections_and_payloads_have_their_shape() {
    let schema = schema().await;
    let fields = |ty: &Value| -> Vec<String> {
        let fields = ty["fields"].as_array().or(ty["inputFields"].as_array()).cloned().unwrap_or_default();
        fields.iter().map(|field| field["name"].as_str().expect("a name").to_owned()).collect()
    };
    let find = |name: &str| {
        let types = schema["types"].as_array().expect("types");
        types.iter().find(|ty| ty["name"] == name).unwrap_or_else(|| panic!("no {name}")).clone()
    };
    for ty in schema["types"].as_array().expect("types") {
        let name = ty["name"].as_str().expect("a name");
        if let Some(noun) = name.strip_suffix("Connection") {
            for needed in ["edges", "nodes", "pageInfo"] {
                assert!(fields(ty).iter().any(|field| field == needed), "{name} has no {needed}");
            }
            let edge = fields(&find(&format!("{noun}Edge")));
            assert!(edge.contains(&"cursor".to_owned()) && edge.contains(&"node".to_owned()), "{noun}Edge: {edge:?}");
        }
        for field in ty["fields"].as_array().into_iter().flatten() {
            if !base(&field["type"]).ends_with("Connection") {
                continue;
            }
            let arguments: Vec<&str> = field["args"]
                .as_array()
                .expect("args")
                .iter()
                .filter_map(|argument| argument["name"].as_str())
                .collect();
            for needed in ["first", "after", "last", "before"] {
                assert!(arguments.contains(&needed), "{name}.{} has no {needed}", field["name"]);
            }
        }
    }
    for mutation in find("Mutation")["fields"].as_array().expect("fields") {
        let name = mutation["name"].as_str().expect("a name");
        let capital = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        let arguments = mutation["args"].as_array().expect("args");
        assert_eq!(arguments.len(), 1, "{name} has one argument");
        assert_eq!(arguments[0]["name"], "input", "{name}");
        assert_eq!(base(&arguments[0]["type"]), format!("{capital}Input"));
        assert_eq!(base(&mutation["type"]), format!("{capital}Payload"));
        for ty in [format!("{capital}Input"), format!("{capital}Payload")] {
            assert!(fields(&find(&ty)).contains(&"clientMutationId".to_owned()), "{ty} has no clientMutationId");
        }
    }
}
