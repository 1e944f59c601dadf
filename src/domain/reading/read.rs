//! Asks how far somebody has read.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::db::schema::reading_places;
use crate::domain::reading::model::{Of, Place};
use crate::error::Result;

/// Where `of` was marked last, if ever.
pub async fn place(conn: &mut Connection, of: Of<'_>) -> Result<Option<Place>> {
    let place = reading_places::table.find((of.user_id, of.channel, of.filter)).select(Place::as_select());
    Ok(place.first(conn).await.optional()?)
}
