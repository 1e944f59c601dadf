//! Relay connections: how a page is filled from candidates that a gate may deny, with page info that
//! is true in both directions. Every list of Kith goes through here. Never what is denied, and why.

use async_graphql::{Context, SimpleObject};

use crate::error::Result;
use crate::graphql::context::ContextExt;
use crate::page::{Arguments, Request, Scope, Side};

/// Where the candidates of a connection come from. Every connection is ordered by position, newest
/// (highest) first, and a position stands for at most one candidate.
pub trait Source: Send + Sync {
    /// What is known of an item before the gate.
    type Candidate: Send + Sync;
    /// What a client gets for it.
    type Node: Send;

    /// The position of a candidate.
    fn position(candidate: &Self::Candidate) -> i64;

    /// At most `limit` candidates below the position `below`, newest first; fewer only if there are no more.
    fn older(&self, below: i64, limit: usize) -> impl Future<Output = Result<Vec<Self::Candidate>>> + Send;

    /// At most `limit` candidates above the position `above`, oldest first; fewer only if there are no more.
    fn newer(&self, above: i64, limit: usize) -> impl Future<Output = Result<Vec<Self::Candidate>>> + Send;

    /// What the viewer may see of each candidate, in their order: `None` for what is denied.
    fn admit(&self, candidates: &[Self::Candidate]) -> impl Future<Output = Result<Vec<Option<Self::Node>>>> + Send;
}

/// Where a page lies in the whole list.
#[derive(Clone, Debug, Default, PartialEq, Eq, SimpleObject)]
pub struct PageInfo {
    /// Whether something older than this page can be seen.
    has_next_page: bool,
    /// Whether something newer than this page can be seen. False when the page was not asked from a cursor on.
    has_previous_page: bool,
    /// The cursor to go towards newer items from, with `last` and `before`.
    start_cursor: Option<String>,
    /// The cursor to go towards older items from, with `first` and `after`.
    end_cursor: Option<String>,
}

/// A filled page: each item with its cursor, newest first.
pub struct Page<N> {
    /// The items.
    pub items: Vec<(String, N)>,
    /// Where they lie.
    pub info: PageInfo,
}

/// Fills the page that `arguments` ask for out of `source`.
///
/// Errors: those of [`Arguments::parse`] and of the source.
pub async fn page<S: Source>(
    ctx: &Context<'_>,
    scope: Scope,
    arguments: &Arguments,
    source: &S,
) -> Result<Page<S::Node>> {
    let request = arguments.parse(&ctx.app().cursors, scope)?;
    requested(ctx, scope, request, source).await
}

/// The same for arguments that were parsed already.
///
/// Errors: those of the source.
pub async fn requested<S: Source>(
    ctx: &Context<'_>,
    scope: Scope,
    request: Request,
    source: &S,
) -> Result<Page<S::Node>> {
    let app = ctx.app();
    let info = ctx.look_ahead().field("pageInfo");
    let wanted = Wanted { next: info.field("hasNextPage").exists(), previous: info.field("hasPreviousPage").exists() };
    let filled = fill(source, request, wanted, app.config.scan_limit).await?;
    let cursor = |position| app.cursors.encode(scope, position);
    let items: Vec<_> = filled.items.into_iter().map(|(position, node)| (cursor(position), node)).collect();
    let info = PageInfo {
        has_next_page: filled.has_next,
        has_previous_page: filled.has_previous,
        start_cursor: filled.start.map(cursor),
        end_cursor: filled.end.map(cursor),
    };
    Ok(Page { items, info })
}

/// Which flags are selected; the others are not worth a look beyond the page.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    next: bool,
    previous: bool,
}

#[derive(Debug, PartialEq)]
struct Filled<N> {
    items: Vec<(i64, N)>,
    has_next: bool,
    has_previous: bool,
    start: Option<i64>,
    end: Option<i64>,
}

async fn fill<S: Source>(source: &S, request: Request, wanted: Wanted, bound: usize) -> Result<Filled<S::Node>> {
    // `ahead` is the direction in which the page is filled, `behind` where it was asked from.
    let (ahead, from, until) = match request.side {
        Side::First => (Direction::Older, request.below, request.above),
        Side::Last => (Direction::Newer, request.above, request.below),
    };
    let (want_ahead, want_behind) = match request.side {
        Side::First => (wanted.next, wanted.previous),
        Side::Last => (wanted.previous, wanted.next),
    };
    let one_more = usize::from(want_ahead);
    let mut scan = scan(source, ahead, from.unwrap_or(ahead.start()), until, request.size + one_more, bound).await?;
    let mut has_ahead = scan.found.len() > request.size || scan.stopped_at.is_some();
    scan.found.truncate(request.size);
    if let (true, false, Some(until)) = (want_ahead, has_ahead, until) {
        has_ahead = exists(source, ahead, ahead.one_before(until), bound).await?;
    }
    let has_behind = match from {
        Some(from) if want_behind => {
            let behind = ahead.opposite();
            exists(source, behind, behind.one_before(from), bound).await?
        }
        _ => false,
    };
    // Only a page that met the bound may be short; its cursor then stands where the search stopped.
    let last = match scan.stopped_at {
        Some(stopped_at) if scan.found.len() < request.size => Some(stopped_at),
        _ => scan.found.last().map(|(position, _)| *position),
    };
    let first = scan.found.first().map(|(position, _)| *position).or(last);
    Ok(match request.side {
        Side::First => {
            Filled { items: scan.found, has_next: has_ahead, has_previous: has_behind, start: first, end: last }
        }
        Side::Last => {
            scan.found.reverse();
            Filled { items: scan.found, has_next: has_behind, has_previous: has_ahead, start: last, end: first }
        }
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Older,
    Newer,
}

impl Direction {
    fn opposite(self) -> Self {
        match self {
            Self::Older => Self::Newer,
            Self::Newer => Self::Older,
        }
    }

    /// The position before the first.
    fn start(self) -> i64 {
        match self {
            Self::Older => i64::MAX,
            Self::Newer => i64::MIN,
        }
    }

    /// The exclusive bound from which `position` itself is the first to be met.
    fn one_before(self, position: i64) -> i64 {
        match self {
            Self::Older => position.saturating_add(1),
            Self::Newer => position.saturating_sub(1),
        }
    }

    fn reaches(self, position: i64, until: i64) -> bool {
        match self {
            Self::Older => position <= until,
            Self::Newer => position >= until,
        }
    }
}

struct Scan<N> {
    found: Vec<(i64, N)>,
    /// Where the search met the bound on candidates, if it did before it found enough.
    stopped_at: Option<i64>,
}

/// The largest window that is asked for at once.
const WINDOW: usize = 500;

async fn exists<S: Source>(source: &S, direction: Direction, from: i64, bound: usize) -> Result<bool> {
    let scan = scan(source, direction, from, None, 1, bound).await?;
    Ok(!scan.found.is_empty() || scan.stopped_at.is_some())
}

/// Looks for `want` items that are admitted, from `from` (exclusive) up to `until` (exclusive), in windows
/// that double, over at most `bound` candidates.
async fn scan<S: Source>(
    source: &S,
    direction: Direction,
    mut from: i64,
    until: Option<i64>,
    want: usize,
    bound: usize,
) -> Result<Scan<S::Node>> {
    let mut found = Vec::with_capacity(want);
    let (mut window, mut looked_at) = (want, 0);
    loop {
        let mut candidates = match direction {
            Direction::Older => source.older(from, window).await?,
            Direction::Newer => source.newer(from, window).await?,
        };
        let asked = candidates.len();
        if let Some(until) = until {
            candidates.retain(|candidate| !direction.reaches(S::position(candidate), until));
        }
        let is_last = asked < window || candidates.len() < asked;
        let admitted = source.admit(&candidates).await?;
        let positions = candidates.iter().map(S::position);
        found.extend(positions.zip(admitted).filter_map(|(position, node)| Some((position, node?))));
        if found.len() >= want || is_last {
            found.truncate(want);
            return Ok(Scan { found, stopped_at: None });
        }
        from = candidates.last().map_or(from, S::position);
        looked_at += asked;
        if looked_at >= bound {
            return Ok(Scan { found, stopped_at: Some(from) });
        }
        window = (window * 2).min(WINDOW);
    }
}

/// Declares the connection and the edge of a node type: `edges`, `nodes` and `pageInfo`, and how a filled page
/// becomes one. What an edge has besides (`where`) comes from the source beside its node.
#[macro_export]
macro_rules! connection {
    (
        $(#[$meta:meta])* $connection:ident of $edge:ident to $node:ty
        $(where { $(#[$extra_meta:meta])* $extra:ident : $extra_type:ty })?
    ) => {
        $(#[$meta])*
        #[derive(async_graphql::SimpleObject)]
        #[graphql(complex)]
        pub struct $connection {
            /// The items of this page with their cursors, newest first.
            edges: Vec<$edge>,
            /// Where this page lies in the whole list.
            page_info: $crate::graphql::connection::PageInfo,
        }

        #[async_graphql::ComplexObject]
        impl $connection {
            /// The items of this page, newest first.
            async fn nodes(&self) -> Vec<&$node> {
                self.edges.iter().map(|edge| &edge.node).collect()
            }
        }

        /// An item and its place in the list.
        #[derive(async_graphql::SimpleObject)]
        pub struct $edge {
            /// The place of this item; stays valid when the item is gone.
            cursor: String,
            /// The item.
            node: $node,
            $( $(#[$extra_meta])* $extra: $extra_type, )?
        }

        impl From<$crate::graphql::connection::Page<$crate::connection!(@item $node $(, $extra_type)?)>> for $connection {
            fn from(page: $crate::graphql::connection::Page<$crate::connection!(@item $node $(, $extra_type)?)>) -> Self {
                let edge = |(cursor, $crate::connection!(@pattern node $(, $extra)?))| $edge { cursor, node $(, $extra)? };
                Self { edges: page.items.into_iter().map(edge).collect(), page_info: page.info }
            }
        }
    };
    (@item $node:ty) => { $node };
    (@item $node:ty, $extra:ty) => { ($node, $extra) };
    (@pattern $node:ident) => { $node };
    (@pattern $node:ident, $extra:ident) => { ($node, $extra) };
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use proptest::prelude::*;

    use super::*;

    /// Positions 0.. with the given visibility.
    struct List(Vec<bool>);

    impl Source for List {
        type Candidate = i64;
        type Node = i64;

        fn position(candidate: &i64) -> i64 {
            *candidate
        }

        async fn older(&self, below: i64, limit: usize) -> Result<Vec<i64>> {
            Ok((0..self.0.len() as i64).rev().filter(|p| *p < below).take(limit).collect())
        }

        async fn newer(&self, above: i64, limit: usize) -> Result<Vec<i64>> {
            Ok((0..self.0.len() as i64).filter(|p| *p > above).take(limit).collect())
        }

        async fn admit(&self, candidates: &[i64]) -> Result<Vec<Option<i64>>> {
            Ok(candidates.iter().map(|p| self.0[*p as usize].then_some(*p)).collect())
        }
    }

    fn ask(list: &List, request: Request, bound: usize) -> Filled<i64> {
        let wanted = Wanted { next: true, previous: true };
        fill(list, request, wanted, bound).now_or_never().expect("nothing waits").expect("nothing fails")
    }

    proptest! {
        #[test]
        fn a_page_is_what_the_definition_says(
            visible in prop::collection::vec(any::<bool>(), 0..60),
            size in 1_usize..8,
            below in prop::option::of(-2_i64..62),
            above in prop::option::of(-2_i64..62),
            is_first: bool,
        ) {
            let list = List(visible);
            let side = if is_first { Side::First } else { Side::Last };
            let all: Vec<i64> = (0..list.0.len() as i64).rev().filter(|p| list.0[*p as usize]).collect();
            let range: Vec<i64> = all.iter().copied()
                .filter(|p| below.is_none_or(|below| *p < below) && above.is_none_or(|above| *p > above)).collect();
            let expected: Vec<i64> = match side {
                Side::First => range.iter().copied().take(size).collect(),
                Side::Last => range[range.len().saturating_sub(size)..].to_vec(),
            };
            let filled = ask(&list, Request { side, size, below, above }, usize::MAX);
            let got: Vec<i64> = filled.items.iter().map(|(_, node)| *node).collect();
            prop_assert_eq!(&got, &expected);
            // Beyond the page, or beyond the range if the page is empty.
            let beyond_old = got.last().copied().or(above.map(|a| a.saturating_add(1)));
            let beyond_new = got.first().copied().or(below.map(|b| b.saturating_sub(1)));
            match side {
                Side::First => {
                    let from = beyond_old.unwrap_or(i64::MIN);
                    prop_assert_eq!(filled.has_next, all.iter().any(|p| *p < from));
                    prop_assert_eq!(filled.has_previous, below.is_some_and(|b| all.iter().any(|p| *p >= b)));
                }
                Side::Last => {
                    let from = beyond_new.unwrap_or(i64::MAX);
                    prop_assert_eq!(filled.has_previous, all.iter().any(|p| *p > from));
                    prop_assert_eq!(filled.has_next, above.is_some_and(|a| all.iter().any(|p| *p <= a)));
                }
            }
        }

        #[test]
        fn a_walk_serves_each_visible_item_once_also_when_it_meets_the_bound(
            visible in prop::collection::vec(prop::bool::weighted(0.1), 0..200),
            size in 1_usize..8,
            bound in 1_usize..20,
            is_first: bool,
        ) {
            let list = List(visible);
            let side = if is_first { Side::First } else { Side::Last };
            let (mut walked, mut cursor) = (Vec::new(), None);
            loop {
                let (below, above) = if is_first { (cursor, None) } else { (None, cursor) };
                let filled = ask(&list, Request { side, size, below, above }, bound);
                let page: Vec<i64> = filled.items.iter().map(|(_, node)| *node).collect();
                if is_first { walked.extend(page) } else { walked.splice(0..0, page); }
                if !(if is_first { filled.has_next } else { filled.has_previous }) { break; }
                let next = if is_first { filled.end } else { filled.start };
                prop_assert!(next.is_some() && next != cursor, "the cursor moves");
                cursor = next;
            }
            let all: Vec<i64> = (0..list.0.len() as i64).rev().filter(|p| list.0[*p as usize]).collect();
            prop_assert_eq!(walked, all);
        }
    }
}
