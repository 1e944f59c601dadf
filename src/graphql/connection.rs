//! Relay connections: what every list of Kith looks like. Never how a page is filled (`fill`), nor what is denied, and why.

use async_graphql::{Context, SimpleObject};

use crate::error::Result;
use crate::graphql::context::ContextExt;
use crate::graphql::fill::{Source, Wanted, fill};
use crate::page::{Arguments, Request, Scope};

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
