//! The feed, and a person's own messages: where their candidates come from.

#![allow(clippy::too_many_arguments, reason = "a resolver has one for each argument of its field")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_graphql::{Context, Enum, Object, Result};

use crate::domain::inbox::read::{Feed, Reading};
use crate::domain::inbox::write;
use crate::domain::messages::model::Reference;
use crate::domain::messages::{read, rules};
use crate::graphql::connection::{page, requested};
use crate::graphql::context::ContextExt;
use crate::graphql::fill::Source;
use crate::graphql::gate;
use crate::graphql::loaders::Loaders;
use crate::graphql::messages::{Message, MessageConnection};
use crate::graphql::wave::{self, Fields};
use crate::page::{Arguments, Connection, Request, Scope};
use crate::telemetry::metrics::labels::FeedRead;

/// Whose messages a feed shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum FeedFilter {
    /// Those of everybody whom the viewer follows, and the viewer's own.
    All,
    /// Only those of people whom the viewer follows closely.
    Close,
}

/// The questions about feeds.
#[derive(Default)]
pub struct FeedQuery;

#[Object]
impl FeedQuery {
    /// What the people whom the viewer follows have posted, and the viewer's own messages: newest first, exact
    /// at every moment. Needs a signed-in viewer.
    async fn feed(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which channel, one of `limits.channels`.", default = "default")] channel: String,
        #[graphql(desc = "Whose messages.", default_with = "FeedFilter::All")] filter: FeedFilter,
        #[graphql(desc = "How many of the newest, 1 to 100. Without `first` and `last`: 20.")] first: Option<i32>,
        #[graphql(desc = "Only what is older than this cursor.")] after: Option<String>,
        #[graphql(desc = "How many of the oldest, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what is newer than this cursor.")] before: Option<String>,
    ) -> Option<Result<MessageConnection>> {
        Some(feed(ctx, channel, filter, Arguments { first, after, last, before }).await)
    }
}

async fn feed(
    ctx: &Context<'_>,
    channel: String,
    filter: FeedFilter,
    arguments: Arguments,
) -> Result<MessageConnection> {
    let which = Which::parse(ctx, &channel, filter)?;
    let request = arguments.parse(&ctx.app().cursors, which.scope())?;
    let source = FeedSource::open(ctx, &which, request, Fields::of_connection(ctx)).await?;
    let filled = requested(ctx, which.scope(), request, &source).await?;
    source.mend().await;
    Ok(filled.into())
}

/// Which of the viewer's feeds.
pub struct Which {
    /// The channel, one that there is.
    pub channel: String,
    /// Whose messages.
    pub filter: FeedFilter,
}

impl Which {
    /// Errors: [`crate::error::Error::BadUserInput`] for a channel that there is not.
    pub fn parse(ctx: &Context<'_>, channel: &str, filter: FeedFilter) -> crate::error::Result<Self> {
        Ok(Self { channel: rules::channel(channel, &ctx.app().config.channels)?, filter })
    }

    /// What its cursors are bound to.
    pub fn scope(&self) -> Scope {
        match self.filter {
            FeedFilter::All => Scope::new(Connection::Feed, 0, &self.channel),
            // A channel has no space in its name.
            FeedFilter::Close => Scope::new(Connection::Feed, 0, &format!("{} close", self.channel)),
        }
    }
}

/// A feed that is being read: its candidates, and which of them are in it.
pub struct FeedSource<'a> {
    ctx: &'a Context<'a>,
    feed: Feed,
    channel: &'a str,
    filter: FeedFilter,
    viewer_id: i64,
    fields: Fields,
    loaders: Arc<Loaders>,
    without_reason: AtomicUsize,
    looked_at: AtomicUsize,
}

impl<'a> FeedSource<'a> {
    /// Opens a feed of the viewer to read `request`, of whose messages `fields` are selected.
    ///
    /// Errors: [`crate::error::Error::Unauthenticated`], [`crate::error::Error::Unavailable`].
    pub async fn open(
        ctx: &'a Context<'a>,
        which: &'a Which,
        request: Request,
        fields: Fields,
    ) -> crate::error::Result<Self> {
        let (viewer, app) = (ctx.viewer()?, ctx.app());
        let (channel, filter, now) = (which.channel.as_str(), which.filter, app.clock.now());
        let oldest = now - app.config.inbox_age();
        let reading = Reading { viewer_id: viewer.user_id, channel, request, oldest, now };
        let feed = match filter {
            FeedFilter::All => Feed::open(&app.db, &app.kv, reading).await?,
            FeedFilter::Close => Feed::close(&app.db, reading),
        };
        app.metrics.feed_reads.get_or_create(&FeedRead { source: feed.source() }).inc();
        Ok(Self {
            ctx,
            feed,
            channel,
            filter,
            viewer_id: viewer.user_id,
            fields,
            loaders: ctx.loaders(),
            without_reason: AtomicUsize::new(0),
            looked_at: AtomicUsize::new(0),
        })
    }

    /// Asks for a build where one is due, and notes that the feed is read. The page is right without it, so a failure
    /// is only told.
    pub async fn mend(&self) {
        let (app, channel, now) = (self.ctx.app(), self.channel, self.ctx.app().clock.now());
        let is_stale =
            self.feed.is_stale(self.without_reason.load(Ordering::Relaxed), self.looked_at.load(Ordering::Relaxed));
        let (is_due, is_to_be_noted) = (is_stale || self.feed.is_missed(), self.feed.is_to_be_noted(now));
        if !is_due && !is_to_be_noted {
            return;
        }
        let outcome = app.db.write(|mut conn| async move {
            if is_to_be_noted {
                write::note(&mut conn, self.viewer_id, channel, now).await?;
            }
            if is_stale {
                write::void(&mut conn, self.viewer_id, channel).await?;
            }
            if is_due {
                write::want(&mut conn, self.viewer_id, channel, now).await?;
            }
            Ok(())
        });
        if let Err(error) = outcome.await {
            tracing::warn!(?error, "neither an inbox nor the reading of it could be noted");
        }
    }
}

impl Source for FeedSource<'_> {
    type Candidate = Reference;
    type Node = Message;

    fn position(reference: &Reference) -> i64 {
        reference.id
    }

    async fn older(&self, below: i64, limit: usize) -> crate::error::Result<Vec<Reference>> {
        self.feed.older(below, limit).await
    }

    async fn newer(&self, above: i64, limit: usize) -> crate::error::Result<Vec<Reference>> {
        self.feed.newer(above, limit).await
    }

    async fn admit(&self, references: &[Reference]) -> crate::error::Result<Vec<Option<Message>>> {
        self.looked_at.fetch_add(references.len(), Ordering::Relaxed);
        let relations = wave::fetch(self.ctx, references, self.fields).await?;
        let messages = gate::messages(&self.loaders, references).await?;
        let has_reason = |reference: &Reference| {
            let relation = relations.get(&reference.author_id).copied().unwrap_or_default();
            match self.filter {
                FeedFilter::All => reference.author_id == self.viewer_id || relation.viewer_follows,
                FeedFilter::Close => relation.is_close,
            }
        };
        let admit = |(reference, message)| match (has_reason(reference), message) {
            (true, message) => Option::map(message, Message),
            (false, _) => {
                self.without_reason.fetch_add(1, Ordering::Relaxed);
                None
            }
        };
        Ok(references.iter().zip(messages).map(admit).collect())
    }
}

/// A person's own messages in a channel.
pub async fn outbox(
    ctx: &Context<'_>,
    author_id: i64,
    channel: &str,
    arguments: Arguments,
) -> Result<MessageConnection> {
    let channel = rules::channel(channel, &ctx.app().config.channels)?;
    let scope = Scope::new(Connection::UserMessages, author_id, &channel);
    let source = Outbox { ctx, author_id, channel, fields: Fields::of_connection(ctx), loaders: ctx.loaders() };
    Ok(page(ctx, scope, &arguments, &source).await?.into())
}

struct Outbox<'a> {
    ctx: &'a Context<'a>,
    author_id: i64,
    channel: String,
    fields: Fields,
    loaders: Arc<Loaders>,
}

impl Source for Outbox<'_> {
    type Candidate = Reference;
    type Node = Message;

    fn position(reference: &Reference) -> i64 {
        reference.id
    }

    async fn older(&self, below: i64, limit: usize) -> crate::error::Result<Vec<Reference>> {
        let mut conn = self.ctx.app().db.get().await?;
        read::page_older(&mut conn, (self.author_id, &self.channel), below, limit).await
    }

    async fn newer(&self, above: i64, limit: usize) -> crate::error::Result<Vec<Reference>> {
        let mut conn = self.ctx.app().db.get().await?;
        read::page_newer(&mut conn, (self.author_id, &self.channel), above, limit).await
    }

    async fn admit(&self, references: &[Reference]) -> crate::error::Result<Vec<Option<Message>>> {
        wave::fetch(self.ctx, references, self.fields).await?;
        let messages = gate::messages(&self.loaders, references).await?;
        Ok(messages.into_iter().map(|message| message.map(Message)).collect())
    }
}
