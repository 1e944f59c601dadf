//! Brings a document and the values of its variables together as the GraphQL specification does and
//! async-graphql does not. Never whether a value is of its type: validation says that.
//!
//! Left to itself, async-graphql finds out about a missing required variable in the resolver that needs it,
//! after others have run; takes `@include(if: $flag)` for false when `$flag` was left to its default; and
//! gives null for a variable that was left out, so that an update would erase what it should not touch.

use async_graphql::parser::types::{Directive, Selection};
use async_graphql::parser::types::{DocumentOperations, ExecutableDocument, OperationDefinition, SelectionSet};
use async_graphql::{Name, Positioned, ServerError, Value as ConstValue, Variables};
use async_graphql_value::Value;

use crate::http::codes;

/// The variables of `operation` that were left out and have no default.
///
/// Gives those that have a default their value. Errors: BAD_USER_INPUT, with the name as `field`, when a
/// required one has no value.
pub fn complete(operation: &OperationDefinition, values: &mut Variables) -> Result<Vec<Name>, ServerError> {
    let mut left_out = Vec::new();
    for definition in &operation.variable_definitions {
        let (name, kind) = (&definition.node.name.node, &definition.node.var_type.node);
        let default = definition.node.default_value.as_ref();
        match (values.get(name), default) {
            (None, Some(default)) => drop(values.insert(name.clone(), default.node.clone())),
            (None, None) if kind.nullable => left_out.push(name.clone()),
            (None, None) | (Some(ConstValue::Null), _) if !kind.nullable => {
                let message = format!("The variable \"${name}\" of type \"{kind}\" needs a value.");
                return Err(codes::bad_input(message, Some(name), Some(definition.pos)));
            }
            _ => {}
        }
    }
    Ok(left_out)
}

/// Takes the variables in `left_out` out of the document: an argument or a member of an input object that
/// such a variable stands for is left out too, and in a list it is null.
pub fn leave_out(document: &mut ExecutableDocument, left_out: &[Name]) {
    if left_out.is_empty() {
        return;
    }
    let pruner = Pruner(left_out);
    for fragment in document.fragments.values_mut() {
        pruner.directives(&mut fragment.node.directives);
        pruner.set(&mut fragment.node.selection_set.node);
    }
    match &mut document.operations {
        DocumentOperations::Single(operation) => pruner.operation(&mut operation.node),
        DocumentOperations::Multiple(operations) => {
            operations.values_mut().for_each(|operation| pruner.operation(&mut operation.node));
        }
    }
}

struct Pruner<'a>(&'a [Name]);

impl Pruner<'_> {
    fn operation(&self, operation: &mut OperationDefinition) {
        // Validation would miss their use.
        operation.variable_definitions.retain(|definition| !self.0.contains(&definition.node.name.node));
        self.directives(&mut operation.directives);
        self.set(&mut operation.selection_set.node);
    }

    fn set(&self, set: &mut SelectionSet) {
        for selection in &mut set.items {
            self.directives(selection.node.directives_mut());
            match &mut selection.node {
                Selection::Field(field) => {
                    self.arguments(&mut field.node.arguments);
                    self.set(&mut field.node.selection_set.node);
                }
                Selection::InlineFragment(fragment) => self.set(&mut fragment.node.selection_set.node),
                Selection::FragmentSpread(_) => {}
            }
        }
    }

    fn directives(&self, directives: &mut [Positioned<Directive>]) {
        directives.iter_mut().for_each(|directive| self.arguments(&mut directive.node.arguments));
    }

    fn arguments(&self, arguments: &mut Vec<(Positioned<Name>, Positioned<Value>)>) {
        arguments.retain(|(_, value)| !self.is_left_out(&value.node));
        arguments.iter_mut().for_each(|(_, value)| self.value(&mut value.node));
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::Variable(name) if self.0.contains(name) => *value = Value::Null,
            Value::List(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => {
                members.retain(|_, member| !self.is_left_out(member));
                members.values_mut().for_each(|member| self.value(member));
            }
            _ => {}
        }
    }

    fn is_left_out(&self, value: &Value) -> bool {
        matches!(value, Value::Variable(name) if self.0.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::parser::parse_query;

    use super::*;

    fn complete_with(query: &str, values: serde_json::Value) -> Result<(ExecutableDocument, Variables), ServerError> {
        let mut document = parse_query(query).expect("valid");
        let mut values = Variables::from_json(values);
        let left_out = match &document.operations {
            DocumentOperations::Single(operation) => complete(&operation.node, &mut values)?,
            DocumentOperations::Multiple(_) => unreachable!("the tests write one"),
        };
        leave_out(&mut document, &left_out);
        Ok((document, values))
    }

    #[test]
    fn a_required_variable_needs_a_value() {
        for (definition, values, is_fine) in [
            ("$a: Int!", serde_json::json!({ "a": 1 }), true),
            ("$a: Int!", serde_json::json!({}), false),
            ("$a: Int!", serde_json::json!({ "a": null }), false),
            ("$a: Int! = 1", serde_json::json!({}), true),
            ("$a: Int! = 1", serde_json::json!({ "a": null }), false),
            ("$a: Int", serde_json::json!({}), true),
            ("$a: Int", serde_json::json!({ "a": null }), true),
        ] {
            let outcome = complete_with(&format!("query({definition}) {{ x(a: $a) }}"), values.clone());
            assert_eq!(outcome.is_ok(), is_fine, "{definition} {values}");
        }
    }

    #[test]
    fn what_is_left_out_stays_out_and_null_stays_null() {
        let query =
            "query($a: Int, $b: Int, $c: Int = 3) { x(a: $a, o: { a: $a, b: $b, l: [$a, $b] }) @d(c: $c, a: $a) }";
        let (document, values) = complete_with(query, serde_json::json!({ "b": null })).expect("complete");
        let DocumentOperations::Single(operation) = &document.operations else { unreachable!("it is one") };
        assert_eq!(operation.node.variable_definitions.len(), 2);
        assert_eq!(values.get("c"), Some(&ConstValue::from(3)));
        let Selection::Field(field) = &operation.node.selection_set.node.items[0].node else { unreachable!("it is x") };
        let [(_, object)] = &field.node.arguments[..] else { panic!("one argument is left") };
        assert_eq!(object.node.to_string(), "{b: $b, l: [null, $b]}");
        assert_eq!(field.node.directives[0].node.arguments.len(), 1);
    }
}
