//! What a document may cost, found out before anything is executed: a scan of the text, so that parsing
//! cannot exhaust the stack, and one walk over the parsed document. Never what a field costs to resolve.

use std::collections::HashMap;

use async_graphql::Name;
use async_graphql::Pos;
use async_graphql::parser::types::{Directive, ExecutableDocument, Selection, SelectionSet};
use async_graphql::{Positioned, ServerError};

use crate::http::codes;

/// Brackets of any kind that may be open at once. The parser recurses at each.
const MAX_NESTING: usize = 64;

/// Words, strings, numbers and signs in the text.
const MAX_TOKENS: usize = 10_000;

/// Fields, all fragments spread out. The introspection query of GraphiQL has about 200.
const MAX_FIELDS: usize = 2_000;

/// Selection sets inside each other, all fragments spread out. async-graphql itself stops at 32.
const MAX_DEPTH: usize = 30;

/// Fields with an alias, all fragments spread out.
const MAX_ALIASES: usize = 200;

/// Directives, all fragments spread out.
const MAX_DIRECTIVES: usize = 200;

/// Looks at the text before it is parsed.
///
/// Errors: LIMIT_EXCEEDED, and BAD_USER_INPUT for a string without an end: what is inside and what is
/// outside of it cannot be told.
pub fn check_text(query: &str) -> Result<(), ServerError> {
    let text = query.as_bytes();
    let (mut at, mut open, mut tokens) = (0, 0_usize, 0);
    while let Some(&byte) = text.get(at) {
        tokens += 1;
        let start = at;
        at += 1;
        match byte {
            b'{' | b'[' | b'(' => {
                open += 1;
                if open > MAX_NESTING {
                    return Err(codes::limit(format!("The document nests deeper than {MAX_NESTING} brackets.")));
                }
            }
            b'}' | b']' | b')' => open = open.saturating_sub(1),
            b'"' => {
                at = end_of_string(text, start).ok_or_else(|| {
                    codes::bad_input("Syntax error: a string has no end.", None, Some(position(query, start)))
                })?;
            }
            b'#' => {
                tokens -= 1;
                at += text[at..].iter().take_while(|byte| !matches!(byte, b'\n' | b'\r')).count();
            }
            b' ' | b',' | b'\t' | b'\n' | b'\r' => tokens -= 1,
            _ => at += text[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count(),
        }
        if tokens > MAX_TOKENS {
            return Err(codes::limit(format!("The document has more than {MAX_TOKENS} tokens.")));
        }
    }
    Ok(())
}

/// Where the text goes on after the string that starts at `start`, if it has an end.
fn end_of_string(text: &[u8], start: usize) -> Option<usize> {
    let is_block = text[start..].starts_with(br#"""""#);
    let mut at = start + if is_block { 3 } else { 1 };
    loop {
        let rest = text.get(at..)?;
        at += match (is_block, rest) {
            (true, [b'"', b'"', b'"', ..]) => return Some(at + 3),
            (true, [b'\\', b'"', b'"', b'"', ..]) => 4,
            (false, [b'"', ..]) => return Some(at + 1),
            (false, [b'\\', ..]) => 2,
            (false, [b'\n' | b'\r', ..]) | (_, []) => return None,
            _ => 1,
        };
    }
}

fn position(query: &str, at: usize) -> Pos {
    let before = &query[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Pos { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
}

/// Looks at the parsed document: all of its operations together.
///
/// async-graphql spreads fragments out before any limit of its own applies; here each fragment is counted
/// once and multiplied, so that a few hundred bytes cannot keep a thread busy for seconds.
///
/// Errors: LIMIT_EXCEEDED, and BAD_USER_INPUT for a fragment that contains itself.
pub fn check_document(document: &ExecutableDocument) -> Result<(), ServerError> {
    let mut walk = Walk { document, counted: HashMap::new() };
    let mut total = Cost::default();
    for (_, operation) in document.operations.iter() {
        let variables = operation.node.variable_definitions.iter();
        total.directives += operation.node.directives.len();
        total.directives += variables.map(|variable| variable.node.directives.len()).sum::<usize>();
        total.add(walk.set(&operation.node.selection_set.node, 0)?);
    }
    for name in document.fragments.keys() {
        walk.fragment(name, 0)?;
    }
    for (count, most, what) in [
        (total.fields, MAX_FIELDS, "fields"),
        (total.aliases, MAX_ALIASES, "aliases"),
        (total.directives, MAX_DIRECTIVES, "directives"),
    ] {
        if count > most {
            return Err(codes::limit(format!(
                "The document asks for {count} {what}, all fragments spread out: {most} are allowed."
            )));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Default)]
struct Cost {
    fields: usize,
    aliases: usize,
    directives: usize,
    /// Selection sets below this one.
    depth: usize,
}

impl Cost {
    fn add(&mut self, other: Self) {
        self.fields = self.fields.saturating_add(other.fields);
        self.aliases = self.aliases.saturating_add(other.aliases);
        self.directives = self.directives.saturating_add(other.directives);
        self.depth = self.depth.max(other.depth);
    }
}

struct Walk<'a> {
    document: &'a ExecutableDocument,
    /// `None` while it is being counted.
    counted: HashMap<&'a Name, Option<Cost>>,
}

impl<'a> Walk<'a> {
    fn set(&mut self, set: &'a SelectionSet, level: usize) -> Result<Cost, ServerError> {
        too_deep(level)?;
        let mut cost = Cost::default();
        for selection in &set.items {
            let directives: &[Positioned<Directive>] = selection.node.directives();
            cost.directives = cost.directives.saturating_add(directives.len());
            let mut inner = match &selection.node {
                Selection::Field(field) => {
                    cost.fields = cost.fields.saturating_add(1);
                    cost.aliases = cost.aliases.saturating_add(usize::from(field.node.alias.is_some()));
                    if field.node.selection_set.node.items.is_empty() {
                        continue;
                    }
                    self.set(&field.node.selection_set.node, level + 1)?
                }
                Selection::InlineFragment(fragment) => self.set(&fragment.node.selection_set.node, level + 1)?,
                Selection::FragmentSpread(spread) => self.fragment(&spread.node.fragment_name.node, level + 1)?,
            };
            inner.depth += 1;
            cost.add(inner);
        }
        Ok(cost)
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

fn too_deep(level: usize) -> Result<(), ServerError> {
    if level <= MAX_DEPTH {
        return Ok(());
    }
    Err(codes::limit(format!("The document nests deeper than {MAX_DEPTH} selections, all fragments spread out.")))
}
