//! One walk over a parsed document. Never what a field costs to resolve.

use std::collections::HashMap;

use async_graphql::parser::types::{ExecutableDocument, Field, Selection, SelectionSet};
use async_graphql::{Name, ServerError, Value as ConstValue, Variables};
use async_graphql_value::Value;

use crate::http::codes;

/// Selections of any kind, all fragments spread out. GraphiQL's introspection has about 200.
const MAX_SELECTIONS: usize = 2_000;

/// Selection sets inside each other, all fragments spread out. async-graphql itself stops at 32.
const MAX_DEPTH: usize = 30;

/// Fields with an alias, all fragments spread out.
const MAX_ALIASES: usize = 200;

/// Directives, all fragments spread out.
const MAX_DIRECTIVES: usize = 200;

/// Values that the answer may have, as [`times`] guesses the lengths of lists.
const MAX_VALUES: usize = 300_000;

/// The length of a page that `first` or `last` does not ask for, and the greatest that they can.
const PAGE: (usize, usize) = (20, 100);

/// Looks at the parsed document: all of its operations together, with these variables.
///
/// async-graphql spreads fragments out before any limit of its own applies; here each fragment is counted
/// once and multiplied, so that a few hundred bytes cannot keep a thread busy for seconds. Introspection
/// must be bounded here, for it never waits for anything and so cannot be timed out.
///
/// Errors: LIMIT_EXCEEDED, and BAD_USER_INPUT for a fragment that contains itself.
pub fn check(document: &ExecutableDocument, variables: &Variables) -> Result<(), ServerError> {
    let mut walk = Walk { document, variables, counted: HashMap::new() };
    let mut total = Cost::default();
    for (_, operation) in document.operations.iter() {
        let definitions = operation.node.variable_definitions.iter();
        total.directives += operation.node.directives.len();
        total.directives += definitions.map(|definition| definition.node.directives.len()).sum::<usize>();
        total.add(walk.set(&operation.node.selection_set.node, 0)?);
    }
    for name in document.fragments.keys() {
        walk.fragment(name, 0)?;
    }
    for (count, most, what) in [
        (total.selections, MAX_SELECTIONS, "fields and fragments, all fragments spread out"),
        (total.aliases, MAX_ALIASES, "aliases, all fragments spread out"),
        (total.directives, MAX_DIRECTIVES, "directives, all fragments spread out"),
        (total.values, MAX_VALUES, "values at worst: ask for shorter pages"),
    ] {
        if count > most {
            return Err(codes::limit(format!("The document may ask for {most} {what}.")));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Default)]
struct Cost {
    selections: usize,
    aliases: usize,
    directives: usize,
    values: usize,
    /// Selection sets below this one.
    depth: usize,
}

impl Cost {
    fn add(&mut self, other: Self) {
        self.selections = self.selections.saturating_add(other.selections);
        self.aliases = self.aliases.saturating_add(other.aliases);
        self.directives = self.directives.saturating_add(other.directives);
        self.values = self.values.saturating_add(other.values);
        self.depth = self.depth.max(other.depth);
    }
}

struct Walk<'a> {
    document: &'a ExecutableDocument,
    variables: &'a Variables,
    /// `None` while it is being counted.
    counted: HashMap<&'a Name, Option<Cost>>,
}

impl<'a> Walk<'a> {
    fn set(&mut self, set: &'a SelectionSet, level: usize) -> Result<Cost, ServerError> {
        too_deep(level)?;
        let mut cost = Cost::default();
        for selection in &set.items {
            cost.add(Cost { selections: 1, directives: selection.node.directives().len(), ..Cost::default() });
            let mut inner = match &selection.node {
                Selection::Field(field) => self.field(&field.node, level)?,
                Selection::InlineFragment(fragment) => self.set(&fragment.node.selection_set.node, level + 1)?,
                Selection::FragmentSpread(spread) => self.fragment(&spread.node.fragment_name.node, level + 1)?,
            };
            inner.depth += 1;
            cost.add(inner);
        }
        Ok(cost)
    }

    fn field(&mut self, field: &'a Field, level: usize) -> Result<Cost, ServerError> {
        let set = &field.selection_set.node;
        let mut cost = if set.items.is_empty() { Cost::default() } else { self.set(set, level + 1)? };
        cost.aliases = cost.aliases.saturating_add(usize::from(field.alias.is_some()));
        let page =
            ["first", "last"].iter().find_map(|name| field.get_argument(name)).map(|value| self.page(&value.node));
        let times = times(&field.name.node).saturating_mul(page.unwrap_or(1));
        cost.values = cost.values.saturating_add(1).saturating_mul(times);
        Ok(cost)
    }

    /// How many usual pages make one of the length `value`.
    fn page(&self, value: &Value) -> usize {
        let number = match value {
            Value::Number(number) => number.as_u64(),
            Value::Variable(name) => match self.variables.get(name) {
                Some(ConstValue::Number(number)) => number.as_u64(),
                _ => None,
            },
            _ => None,
        };
        let length = number.and_then(|number| usize::try_from(number).ok()).unwrap_or(PAGE.1).clamp(1, PAGE.1);
        length.div_ceil(PAGE.0)
    }

    fn fragment(&mut self, name: &'a Name, level: usize) -> Result<Cost, ServerError> {
        match self.counted.get(name) {
            Some(Some(cost)) => {
                too_deep(level + cost.depth)?;
                return Ok(*cost);
            }
            Some(None) => {
                return Err(codes::bad_input(format!("The fragment \"{name}\" contains itself."), None, None));
            }
            None => {}
        }
        // A fragment that is not there is for validation to name.
        let Some(fragment) = self.document.fragments.get(name) else { return Ok(Cost::default()) };
        self.counted.insert(name, None);
        let mut cost = self.set(&fragment.node.selection_set.node, level)?;
        cost.directives = cost.directives.saturating_add(fragment.node.directives.len());
        self.counted.insert(name, Some(cost));
        Ok(cost)
    }
}

/// How many values a field of this name stands for: the lists of connections, and of introspection.
fn times(name: &str) -> usize {
    match name {
        "nodes" | "edges" => PAGE.0,
        "types" => 64,
        "fields" | "args" | "inputFields" | "enumValues" | "interfaces" | "possibleTypes" | "directives" => 8,
        _ => 1,
    }
}

fn too_deep(level: usize) -> Result<(), ServerError> {
    if level <= MAX_DEPTH {
        return Ok(());
    }
    Err(codes::limit(format!("The document nests deeper than {MAX_DEPTH} selections, all fragments spread out.")))
}

#[cfg(test)]
mod tests {
    use async_graphql::parser::parse_query;

    use super::*;

    fn check(query: &str) -> Result<(), ServerError> {
        super::check(&parse_query(query)?, &Variables::default())
    }

    /// Both sides of each limit, so that none can be off without notice.
    fn holds(at_the_limit: &str, beyond: &str) {
        assert_eq!(check(at_the_limit).err(), None, "{at_the_limit:.100}");
        let error = check(beyond).expect_err(beyond);
        assert_eq!(codes::code(&error), "LIMIT_EXCEEDED", "{beyond:.100}");
    }

    fn nested(open: &str, close: &str, times: usize) -> String {
        format!("{}a{}", open.repeat(times), close.repeat(times))
    }

    /// Fragments of which each spreads the one before it twice: 2^(n+1) - 1 selections at least.
    fn bomb(n: usize, innermost: &str) -> String {
        let doubled = (1..=n).map(|i| format!("fragment F{i} on Q {{ ...F{} ...F{} }} ", i - 1, i - 1));
        format!("{{ ...F{n} }} fragment F0 on Q {{ {innermost} }} {}", doubled.collect::<String>())
    }

    #[test]
    fn each_limit_holds() {
        holds(&format!("{{ {} }}", "a ".repeat(MAX_SELECTIONS)), &format!("{{ {} }}", "a ".repeat(MAX_SELECTIONS + 1)));
        holds(&nested("{ a ", "}", MAX_DEPTH), &nested("{ a ", "}", MAX_DEPTH + 2));
        holds(&format!("{{ {} }}", "b: a ".repeat(MAX_ALIASES)), &format!("{{ {} }}", "b: a ".repeat(MAX_ALIASES + 1)));
        let directives = |n| format!("{{ a {} }}", "@b ".repeat(n));
        holds(&directives(MAX_DIRECTIVES), &directives(MAX_DIRECTIVES + 1));
        holds(&bomb(8, "a"), &bomb(10, "a"));
        // Spreads count as well, for async-graphql follows them even if they lead nowhere.
        holds(&bomb(8, "...Nowhere"), &bomb(30, "...Nowhere"));
        holds(&bomb(8, "... { a }"), &bomb(27, "... { a }"));
    }

    #[test]
    fn long_pages_in_long_pages_are_too_much() {
        let page = |first: &str| {
            format!("feed{first} {{ nodes {{ a likes{first} {{ nodes {{ a likes{first} {{ nodes {{ a }} }} }} }} }} }}")
        };
        holds(&format!("{{ {} }}", page("")), &format!("{{ {} }}", page("(first: 100)")));
        holds(&format!("{{ {} }}", page("(last: 20)")), &format!("query($n: Int) {{ {} }}", page("(last: $n)")));
        let introspection =
            |times: usize| format!("{{ __schema {{ types {{ {} }} }} }}", nested("fields { type { ", "} } ", times));
        holds(&introspection(3), &introspection(5));
    }

    #[test]
    fn a_fragment_may_not_contain_itself() {
        for cycle in ["fragment F on Q { ...F ...F }", "fragment F on Q { a { ...G } } fragment G on Q { ...F }"] {
            let error = check(&format!("{{ a }} {cycle}")).expect_err(cycle);
            assert_eq!(codes::code(&error), "BAD_USER_INPUT", "{cycle}");
        }
    }

    #[test]
    fn the_introspection_of_graphiql_passes() {
        let of_type = nested("ofType { kind name ", "} ", 9);
        let value = "name description type { ...T } defaultValue isDeprecated deprecationReason";
        let query = format!(
            "query I {{ __schema {{ description queryType {{ name kind }} mutationType {{ name kind }}
                subscriptionType {{ name kind }} types {{ ...F }}
                directives {{ name description isRepeatable locations args(includeDeprecated: true) {{ ...V }} }} }} }}
            fragment F on __Type {{ kind name description specifiedByURL isOneOf
                fields(includeDeprecated: true) {{ name description args(includeDeprecated: true) {{ ...V }}
                    type {{ ...T }} isDeprecated deprecationReason }}
                inputFields(includeDeprecated: true) {{ ...V }} interfaces {{ ...T }}
                enumValues(includeDeprecated: true) {{ name description isDeprecated deprecationReason }}
                possibleTypes {{ ...T }} }}
            fragment V on __InputValue {{ {value} }}
            fragment T on __Type {{ kind name {of_type} }}"
        );
        assert_eq!(check(&query).err(), None);
    }
}
