//! Things that happen at the same time: their outcome is not foreseen, but what a walk promises holds all the same.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use kith::ids::GlobalId;

use super::definition::Feed;
use super::history::{CHANNELS, Deed};
use super::play;
use super::world::{Posted, World};

/// What came of a deed.
#[derive(Default)]
struct Outcome {
    posted: Option<Posted>,
    walked: Option<Vec<String>>,
}

/// Does all of `deeds` at once and holds the walks among them to their promise.
pub async fn together(world: &mut World, deeds: &[Deed]) -> Result<(), String> {
    let before = visible(world, deeds).await;
    let outcomes = join_all(deeds.iter().enumerate().map(|(number, deed)| perform(world, number, deed))).await;
    let after = visible(world, deeds).await;
    for (number, outcome) in outcomes.into_iter().enumerate() {
        if let Some(served) = outcome.walked {
            judge(world, deeds, number, &served, &before[number], &after[number])?;
        }
        world.messages.extend(outcome.posted);
    }
    world.look_what_is_deleted().await;
    Ok(())
}

/// For each walk among the deeds what its feed holds now.
async fn visible(world: &World, deeds: &[Deed]) -> Vec<BTreeSet<String>> {
    let mut feeds = Vec::new();
    for deed in deeds {
        let Deed::Walk(who, channel, _) = *deed else {
            feeds.push(BTreeSet::new());
            continue;
        };
        let feed = world.expected(world.person(who), Feed::whole(CHANNELS[channel])).await;
        feeds.push(feed.into_iter().map(|item| item.id).collect());
    }
    feeds
}

async fn perform(world: &World, number: usize, deed: &Deed) -> Outcome {
    match *deed {
        Deed::Follow(a, b) if world.person(a) != world.person(b) => {
            world.people[world.person(a)].follow(&world.people[world.person(b)]).await;
        }
        Deed::Unfollow(a, b) if world.person(a) != world.person(b) => {
            world.people[world.person(a)].unfollow(&world.people[world.person(b)]).await;
        }
        Deed::Follow(..) | Deed::Unfollow(..) => {}
        Deed::Post(who, channel) => {
            let author = world.person(who);
            let content = format!("message {} and {number}", world.messages.len());
            let id = world.people[author].post_in(CHANNELS[channel], &content).await;
            return Outcome { posted: Some(Posted { author, id, is_deleted: false }), ..Outcome::default() };
        }
        Deed::Delete(number) => {
            if let Some(message) = play::pick(world, number, false).map(|number| &world.messages[number]) {
                world.people[message.author].delete(&message.id).await;
            }
        }
        Deed::Restore(number) => {
            if let Some(message) = play::pick(world, number, true).map(|number| &world.messages[number]) {
                world.people[message.author].restore(&message.id).await;
            }
        }
        Deed::Step => drop(world.kith.step().await),
        Deed::LoseInbox(who, channel) => {
            let inbox = play::inbox(world, world.person(who), CHANNELS[channel]);
            play::redis(world, redis::Cmd::unlink(inbox)).await;
        }
        Deed::Walk(who, channel, walk) => {
            let walked = world.people[world.person(who)].walk_channel(CHANNELS[channel], walk).await;
            return Outcome { walked: Some(walked), ..Outcome::default() };
        }
    }
    Outcome::default()
}

fn judge(
    world: &World,
    deeds: &[Deed],
    number: usize,
    served: &[String],
    before: &BTreeSet<String>,
    after: &BTreeSet<String>,
) -> Result<(), String> {
    let Deed::Walk(who, _, walk) = deeds[number] else { return Ok(()) };
    let who = world.person(who);
    let fault = |what: &str, ids: &[&String]| Err(format!("person {who} walks by {walk:?} meanwhile: {what} {ids:?}"));
    let unique: BTreeSet<&String> = served.iter().collect();
    if unique.len() < served.len() || !served.is_sorted_by_key(|id| std::cmp::Reverse(position(id))) {
        return fault("out of order", &served.iter().collect::<Vec<_>>());
    }
    // What may have been invisible for a moment, or visible for a moment, proves nothing.
    let mut left: BTreeSet<usize> = BTreeSet::new();
    let mut joined = false;
    let mut deleted: BTreeSet<&String> = BTreeSet::new();
    for deed in deeds {
        match *deed {
            Deed::Unfollow(a, b) if world.person(a) == who => drop(left.insert(world.person(b))),
            Deed::Follow(a, _) if world.person(a) == who => joined = true,
            Deed::Delete(n) => deleted.extend(play::pick(world, n, false).map(|n| &world.messages[n].id)),
            Deed::Post(..) | Deed::Restore(_) => joined = true,
            _ => {}
        }
    }
    let lasting = |message: &&Posted| {
        !left.contains(&message.author)
            && !deleted.contains(&message.id)
            && before.contains(&message.id)
            && after.contains(&message.id)
    };
    let missing: Vec<&String> =
        world.messages.iter().filter(lasting).map(|message| &message.id).filter(|id| !unique.contains(id)).collect();
    if !missing.is_empty() {
        return fault("left out", &missing);
    }
    let extra: Vec<&String> = served.iter().filter(|id| !before.contains(*id) && !after.contains(*id)).collect();
    if !joined && !extra.is_empty() {
        return fault("not to be seen", &extra);
    }
    Ok(())
}

fn position(id: &str) -> Option<i64> {
    match GlobalId::decode(id) {
        Some(GlobalId::Message { id, .. }) => Some(id),
        _ => None,
    }
}
