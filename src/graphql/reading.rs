//! How far the viewer has read a feed, kept for all of their devices.

use async_graphql::{Context, InputObject, Object, Result, SimpleObject};
use chrono::{DateTime, Utc};

use crate::domain::reading::model::{Of, Place};
use crate::domain::reading::{read, write};
use crate::graphql::context::ContextExt;
use crate::graphql::feed::{FeedFilter, Which};
use crate::graphql::messages::DEFAULT_CHANNEL;

/// How far the viewer has read a feed.
#[derive(SimpleObject)]
pub struct FeedPlace {
    /// The place: `feed(after: …)` goes on from it towards older messages, `feed(last: …, before: …)` towards newer ones.
    /// It stays good when what stood there is gone.
    cursor: String,
    /// When it was marked.
    marked_at: DateTime<Utc>,
}

/// The question about reading places.
#[derive(Default)]
pub struct ReadingQuery;

#[Object]
impl ReadingQuery {
    /// Up to where the viewer has read a feed, as it was marked last on any device; null if it never was. Needs a signed-in
    /// viewer.
    async fn feed_place(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which channel, one of `limits.channels`.", default = "default")] channel: String,
        #[graphql(desc = "Whose messages.", default_with = "FeedFilter::All")] filter: FeedFilter,
    ) -> Option<Result<FeedPlace>> {
        feed_place(ctx, &channel, filter).await.transpose()
    }
}

async fn feed_place(ctx: &Context<'_>, channel: &str, filter: FeedFilter) -> Result<Option<FeedPlace>> {
    let (viewer, app, which) = (ctx.viewer()?, ctx.app(), Which::parse(ctx, channel, filter)?);
    let place = read::place(&mut *app.db.get().await?, of(viewer.user_id, &which)).await?;
    Ok(place.map(|place| shown(ctx, &which, place)))
}

/// How far the viewer has read.
#[derive(InputObject)]
pub struct MarkFeedPlaceInput {
    /// The place: the cursor of a message in that feed.
    cursor: String,
    /// Which channel, one of `limits.channels`.
    #[graphql(default_with = "Some(DEFAULT_CHANNEL.to_owned())")]
    channel: Option<String>,
    /// Whose messages.
    #[graphql(default_with = "Some(FeedFilter::All)")]
    filter: Option<FeedFilter>,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// The place is marked.
#[derive(SimpleObject)]
pub struct MarkFeedPlacePayload {
    /// The place.
    place: FeedPlace,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// The verb of reading places.
#[derive(Default)]
pub struct ReadingMutation;

#[Object]
impl ReadingMutation {
    /// Marks how far the viewer has read a feed. The last mark holds, whether it is newer or older than the one before: of
    /// two devices, that of the later call.
    async fn mark_feed_place(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How far.")] input: MarkFeedPlaceInput,
    ) -> Option<Result<MarkFeedPlacePayload>> {
        Some(mark_feed_place(ctx, input).await)
    }
}

async fn mark_feed_place(ctx: &Context<'_>, input: MarkFeedPlaceInput) -> Result<MarkFeedPlacePayload> {
    let (viewer, app) = (ctx.viewer()?, ctx.app());
    let channel = input.channel.as_deref().unwrap_or(DEFAULT_CHANNEL);
    let which = &Which::parse(ctx, channel, input.filter.unwrap_or(FeedFilter::All))?;
    let position = app.cursors.decode(which.scope(), "cursor", &input.cursor)?;
    let place = Place { position, marked_at: app.clock.now() };
    app.db.write(|mut conn| async move { write::mark(&mut conn, of(viewer.user_id, which), place).await }).await?;
    ctx.written();
    Ok(MarkFeedPlacePayload { place: shown(ctx, which, place), client_mutation_id: input.client_mutation_id })
}

fn of(user_id: i64, which: &Which) -> Of<'_> {
    let filter = match which.filter {
        FeedFilter::All => "all",
        FeedFilter::Close => "close",
    };
    Of { user_id, channel: &which.channel, filter }
}

fn shown(ctx: &Context<'_>, which: &Which, place: Place) -> FeedPlace {
    FeedPlace { cursor: ctx.app().cursors.encode(which.scope(), place.position), marked_at: place.marked_at }
}
