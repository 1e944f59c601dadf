//! A field that stands in a selection several times is run once, as the GraphQL specification has it: the
//! selections below it are brought together. Never which fields may stand together: validation says that.
//!
//! Left to itself, async-graphql runs each of them and merges the answers: a mutation that two fragments ask
//! for would write twice and show one of the two.

use std::collections::{HashMap, HashSet};

use async_graphql::parser::types::{Directive, Field, FragmentDefinition, OperationType, Selection, SelectionSet};
use async_graphql::parser::types::{DocumentOperations, ExecutableDocument, OperationDefinition};
use async_graphql::{Name, Positioned};
use async_graphql_value::Value;

/// What mutations are fields of.
const MUTATION: &str = "Mutation";

type Fragments = HashMap<Name, Positioned<FragmentDefinition>>;

/// Brings together the equal fields of each selection in `document`; those of a mutation also out of its fragments.
///
/// The fragments must have passed `limits::check_document`: none contains itself, and there is an end to them.
pub fn once(document: &mut ExecutableDocument) {
    let mut operations: Vec<&mut OperationDefinition> = match &mut document.operations {
        DocumentOperations::Single(operation) => vec![&mut operation.node],
        DocumentOperations::Multiple(all) => all.values_mut().map(|operation| &mut operation.node).collect(),
    };
    let mut opened = HashSet::new();
    for operation in operations.iter_mut().filter(|operation| operation.ty == OperationType::Mutation) {
        let set = &mut operation.selection_set.node;
        set.items = open(std::mem::take(&mut set.items), &document.fragments, &mut opened);
    }
    operations.into_iter().for_each(|operation| merge(&mut operation.selection_set.node));
    document.fragments.values_mut().for_each(|fragment| merge(&mut fragment.node.selection_set.node));
    forget(&mut document.fragments, &document.operations, &opened);
}

/// Takes out the fragments that have been opened and are spread nowhere else: validation would miss their use.
fn forget(fragments: &mut Fragments, operations: &DocumentOperations, opened: &HashSet<Name>) {
    let mut used: HashSet<Name> = fragments.keys().filter(|name| !opened.contains(*name)).cloned().collect();
    operations.iter().for_each(|(_, operation)| spreads(&operation.node.selection_set.node, &mut used));
    let mut to_follow: Vec<Name> = used.iter().cloned().collect();
    while let Some(name) = to_follow.pop() {
        let mut inner = HashSet::new();
        if let Some(fragment) = fragments.get(&name) {
            spreads(&fragment.node.selection_set.node, &mut inner);
        }
        to_follow.extend(inner.into_iter().filter(|name| used.insert(name.clone())));
    }
    fragments.retain(|name, _| used.contains(name));
}

/// The selections of a mutation, with those of the fragments on it in their place.
fn open(
    items: Vec<Positioned<Selection>>,
    fragments: &Fragments,
    opened: &mut HashSet<Name>,
) -> Vec<Positioned<Selection>> {
    let mut flat = Vec::with_capacity(items.len());
    for item in items {
        match item.node {
            Selection::InlineFragment(fragment)
                if fragment.node.directives.is_empty()
                    && fragment.node.type_condition.as_ref().is_none_or(|on| on.node.on.node == MUTATION) =>
            {
                flat.extend(open(fragment.node.selection_set.node.items, fragments, opened));
            }
            Selection::FragmentSpread(spread) if spread.node.directives.is_empty() => {
                let name = &spread.node.fragment_name.node;
                let fragment = fragments.get(name).map(|fragment| &fragment.node).filter(|fragment| {
                    fragment.directives.is_empty() && fragment.type_condition.node.on.node == MUTATION
                });
                match fragment {
                    Some(fragment) => {
                        opened.insert(name.clone());
                        flat.extend(open(fragment.selection_set.node.items.clone(), fragments, opened));
                    }
                    None => flat.push(Positioned::new(Selection::FragmentSpread(spread), item.pos)),
                }
            }
            node => flat.push(Positioned::new(node, item.pos)),
        }
    }
    flat
}

fn merge(set: &mut SelectionSet) {
    let mut merged: Vec<Positioned<Selection>> = Vec::with_capacity(set.items.len());
    let mut fields: HashMap<Name, Vec<usize>> = HashMap::new();
    for item in std::mem::take(&mut set.items) {
        if let Selection::Field(field) = &item.node {
            let same_key = fields.entry(field.node.response_key().node.clone()).or_default();
            let earlier = same_key.iter().copied().find(|at| match &merged[*at].node {
                Selection::Field(earlier) => is_same(&earlier.node, &field.node),
                _ => false,
            });
            let Some(at) = earlier else {
                same_key.push(merged.len());
                merged.push(item);
                continue;
            };
            if let (Selection::Field(earlier), Selection::Field(field)) = (&mut merged[at].node, item.node) {
                earlier.node.selection_set.node.items.extend(field.node.selection_set.node.items);
            }
        } else {
            merged.push(item);
        }
    }
    for item in &mut merged {
        match &mut item.node {
            Selection::Field(field) => merge(&mut field.node.selection_set.node),
            Selection::InlineFragment(fragment) => merge(&mut fragment.node.selection_set.node),
            Selection::FragmentSpread(_) => {}
        }
    }
    set.items = merged;
}

/// Whether two fields of one response key are one. A selection that is missing in one is for validation to see.
fn is_same(a: &Field, b: &Field) -> bool {
    a.name.node == b.name.node
        && are_same(&a.arguments, &b.arguments)
        && a.directives.len() == b.directives.len()
        && a.directives.iter().zip(&b.directives).all(|(a, b)| is_same_directive(&a.node, &b.node))
        && a.selection_set.node.items.is_empty() == b.selection_set.node.items.is_empty()
}

fn is_same_directive(a: &Directive, b: &Directive) -> bool {
    a.name.node == b.name.node && are_same(&a.arguments, &b.arguments)
}

type Arguments = [(Positioned<Name>, Positioned<Value>)];

fn are_same(a: &Arguments, b: &Arguments) -> bool {
    let is_in = |(name, value): &(Positioned<Name>, Positioned<Value>)| {
        b.iter().any(|(other, theirs)| other.node == name.node && theirs.node == value.node)
    };
    a.len() == b.len() && a.iter().all(is_in)
}

fn spreads(set: &SelectionSet, names: &mut HashSet<Name>) {
    for item in &set.items {
        match &item.node {
            Selection::Field(field) => spreads(&field.node.selection_set.node, names),
            Selection::InlineFragment(fragment) => spreads(&fragment.node.selection_set.node, names),
            Selection::FragmentSpread(spread) => drop(names.insert(spread.node.fragment_name.node.clone())),
        }
    }
}
