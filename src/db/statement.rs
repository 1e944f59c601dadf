//! `statement!`: SQL written by hand that diesel still types, prepares once and caches.
//! Never SQL itself.

/// Declares a statement as a struct whose fields are its parameters.
///
/// The text is given in pieces; between two pieces stands `(field: SqlType)`, a bound parameter. Unlike
/// `diesel::sql_query`, which is prepared anew each time (a third of the throughput), the statement has
/// a static identity and stays prepared on each connection.
#[macro_export]
macro_rules! statement {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident { $($field:ident : $rust:ty),* $(,)? } -> ($($sql:ty),* $(,)?)
        $($text:literal $( ($bind:ident : $bind_sql:ty) )?)+
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name { $(pub $field: $rust),* }

        impl diesel::query_builder::QueryId for $name {
            type QueryId = Self;
            const HAS_STATIC_QUERY_ID: bool = true;
        }

        impl diesel::query_builder::Query for $name {
            type SqlType = ($($sql,)*);
        }

        impl diesel::query_builder::QueryFragment<diesel::pg::Pg> for $name {
            fn walk_ast<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
            ) -> diesel::QueryResult<()> {
                $(
                    out.push_sql($text);
                    $(out.push_bind_param::<$bind_sql, _>(&self.$bind)?;)?
                )+
                Ok(())
            }
        }
    };
}
