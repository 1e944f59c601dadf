//! The verb of reading places.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::db::schema::reading_places;
use crate::domain::reading::model::{Of, Place};
use crate::error::Result;

/// Marks `of` at `place`. The last mark holds, wherever it is: who scrolls back up marks a newer place again.
pub async fn mark(conn: &mut Connection, of: Of<'_>, place: Place) -> Result<()> {
    let at = (reading_places::position.eq(place.position), reading_places::marked_at.eq(place.marked_at));
    diesel::insert_into(reading_places::table)
        .values((
            reading_places::user_id.eq(of.user_id),
            reading_places::channel.eq(of.channel),
            reading_places::filter.eq(of.filter),
            at,
        ))
        .on_conflict((reading_places::user_id, reading_places::channel, reading_places::filter))
        .do_update()
        .set(at)
        .execute(conn)
        .await?;
    Ok(())
}
