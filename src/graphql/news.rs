//! What is new since a client looked, for clients that poll: how many messages, and the latest of many people. Never a
//! definition of the feed of its own: what is counted is what the feed would show.

use std::collections::{HashMap, HashSet};

use async_graphql::{Context, ID, Object, Result, SimpleObject};

use crate::domain::messages::model::Reference;
use crate::domain::messages::{read, rules};
use crate::error::Error;
use crate::graphql::context::ContextExt;
use crate::graphql::feed::{FeedFilter, FeedSource, Which};
use crate::graphql::fill::{Source, Wanted, fill};
use crate::graphql::messages::Message;
use crate::graphql::wave::{self, Fields};
use crate::graphql::{gate, ids};
use crate::ids::floor_of_ms;
use crate::page::{Request, Side};

/// News are counted up to here: an app shows "99+".
pub const MAX_NEWS: usize = 99;

/// The most messages that a client can say it has.
pub const MAX_KNOWN: usize = 100;

/// The most people whose latest messages can be asked for at once.
pub const MAX_PEOPLE: usize = 100;

/// The largest window of one person's messages that is asked for at once.
const WINDOW: usize = 64;

/// What is new in a feed.
#[derive(SimpleObject)]
pub struct FeedNews {
    /// How many messages the feed shows that the client has not got, up to 99.
    count: i32,
    /// How many of them came late: they stand below `since`. Who has any asks for the top of the feed again.
    late_count: i32,
    /// Whether there are more than `count`.
    is_capped: bool,
}

/// The questions of who polls.
#[derive(Default)]
pub struct NewsQuery;

#[Object]
impl NewsQuery {
    /// How much is new in a feed since a client looked: exactly what the feed itself would show. Needs a signed-in viewer.
    #[allow(clippy::too_many_arguments, reason = "a resolver has one for each argument of its field")]
    async fn feed_news(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The cursor of the newest message that the client has: what is newer is new.")] since: String,
        #[graphql(
            desc = "The newest messages that the client has, at most 100. Given this, what came late counts too: a message can \
                    become visible up to `limits.lateness` seconds after the moment at which it stands in the feed."
        )]
        known: Option<Vec<ID>>,
        #[graphql(desc = "Which channel, one of `limits.channels`.", default = "default")] channel: String,
        #[graphql(desc = "Whose messages.", default_with = "FeedFilter::All")] filter: FeedFilter,
    ) -> Option<Result<FeedNews>> {
        Some(feed_news(ctx, &since, known, (&channel, filter)).await)
    }

    /// The latest message of each of these people in a channel, in their order: null where there is none that the viewer may
    /// see.
    async fn latest_messages(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Who, at most 100.")] user_ids: Vec<ID>,
        #[graphql(desc = "Which channel, one of `limits.channels`.", default = "default")] channel: String,
    ) -> Option<Result<Vec<Option<Message>>>> {
        Some(latest_messages(ctx, &user_ids, &channel).await)
    }
}

async fn feed_news(
    ctx: &Context<'_>,
    since: &str,
    known: Option<Vec<ID>>,
    (channel, filter): (&str, FeedFilter),
) -> Result<FeedNews> {
    let app = ctx.app();
    ctx.viewer()?;
    let which = Which::parse(ctx, channel, filter)?;
    let since = app.cursors.decode(which.scope(), "since", since)?;
    let above = match &known {
        Some(known) if known.len() > MAX_KNOWN => {
            return Err(Error::bad_input("known", format!("At most {MAX_KNOWN} at once.")).into());
        }
        // Below that nothing appears any more.
        Some(_) => since.min(floor_of_ms(crate::ids::ms_of(since) - app.config.lateness().num_milliseconds())),
        None => since,
    };
    let mut known =
        known.into_iter().flatten().map(|id| Ok(ids::message("known", &id)?.id)).collect::<Result<HashSet<_>>>()?;
    known.insert(since);
    // One more than is counted tells whether there are more.
    let request = Request { side: Side::First, size: MAX_NEWS + 1, below: None, above: Some(above) };
    let source = Unknown { feed: FeedSource::open(ctx, &which, request, Fields::default()).await?, known };
    let flags = Wanted { next: false, previous: false };
    let filled = fill(&source, request, flags, app.config.scan_limit).await?;
    source.feed.mend().await;
    // Who met the bound on candidates may have missed some.
    let (counted, has_met_bound) = (filled.items.len().min(MAX_NEWS), filled.has_next);
    let late = filled.items.iter().take(counted).filter(|(position, ())| *position < since).count();
    Ok(FeedNews {
        count: counted as i32,
        late_count: late as i32,
        is_capped: filled.items.len() > MAX_NEWS || has_met_bound,
    })
}

/// A feed without what the client has.
struct Unknown<'a> {
    feed: FeedSource<'a>,
    known: HashSet<i64>,
}

impl Source for Unknown<'_> {
    type Candidate = Reference;
    type Node = ();

    fn position(reference: &Reference) -> i64 {
        reference.id
    }

    async fn older(&self, below: i64, limit: usize) -> crate::error::Result<Vec<Reference>> {
        self.feed.older(below, limit).await
    }

    async fn newer(&self, above: i64, limit: usize) -> crate::error::Result<Vec<Reference>> {
        self.feed.newer(above, limit).await
    }

    async fn admit(&self, references: &[Reference]) -> crate::error::Result<Vec<Option<()>>> {
        let is_unknown = |reference: &&Reference| !self.known.contains(&reference.id);
        let unknown: Vec<Reference> = references.iter().filter(is_unknown).copied().collect();
        let mut admitted = self.feed.admit(&unknown).await?.into_iter();
        let node = |reference| is_unknown(&reference).then(|| admitted.next().flatten()).flatten().map(|_| ());
        Ok(references.iter().map(node).collect())
    }
}

async fn latest_messages(ctx: &Context<'_>, user_ids: &[ID], channel: &str) -> Result<Vec<Option<Message>>> {
    let (app, loaders, fields) = (ctx.app(), ctx.loaders(), Fields::of_list(ctx));
    if user_ids.len() > MAX_PEOPLE {
        return Err(Error::bad_input("userIds", format!("At most {MAX_PEOPLE} at once.")).into());
    }
    let channel = rules::channel(channel, &app.config.channels)?;
    let people = user_ids.iter().map(|id| ids::user_id("userIds", id)).collect::<crate::error::Result<Vec<i64>>>()?;
    let mut found: HashMap<i64, Message> = HashMap::new();
    let mut candidates = read::heads(&mut *app.db.get().await?, &people, &channel).await?;
    let (mut window, mut looked_at) = (1, 0);
    while !candidates.is_empty() {
        wave::fetch(ctx, &candidates, fields).await?;
        let judged = gate::messages(&loaders, &candidates).await?;
        let mut denied: HashMap<i64, Vec<Reference>> = HashMap::new();
        for (reference, message) in candidates.iter().zip(judged) {
            match message {
                Some(message) => drop(found.entry(reference.author_id).or_insert(Message(message))),
                None => denied.entry(reference.author_id).or_default().push(*reference),
            }
        }
        looked_at += window;
        // Who has fewer has no more.
        denied.retain(|author_id, denied| !found.contains_key(author_id) && denied.len() == window);
        if denied.is_empty() || looked_at >= app.config.scan_limit {
            break;
        }
        window = (window * 4).min(WINDOW);
        let oldest: Vec<Reference> = denied.into_values().filter_map(|denied| denied.into_iter().min()).collect();
        candidates = read::older_of_each(&mut *app.db.get().await?, &oldest, &channel, window).await?;
    }
    let shown = |id: &i64| found.get(id).map(|message| Message(message.0.clone()));
    Ok(people.iter().map(shown).collect())
}
