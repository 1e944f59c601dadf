//! Plays a history on a fresh Kith and checks after each moment, and at the end, what has to hold.

use std::time::Duration;

use kith::domain::inbox::repair::{rebuild, strays::STRAY};
use kith::kv::keys;
use kith::{queue, worker};
use redis::AsyncCommands;

use super::definition::{self, Feed};
use super::history::{Action, CHANNELS, History, Start, Who};
use super::together::together;
use super::world::World;
use crate::harness::{Ask, Walk};

/// More than this many pages are not walked after every single moment.
const PAGES: usize = 12;

/// Plays `history`. The error says what did not hold.
pub async fn play(history: &History) -> Result<(), String> {
    let mut world = World::new(history.pull_from).await;
    set_up(&mut world, history.start).await?;
    for moment in &history.moments {
        act(&mut world, &moment.action).await?;
        world.note().await;
        for who in 0..world.people.len() {
            if moment.lookers & (1 << who) != 0 {
                look(&world, who, moment.size).await?;
            }
        }
        inboxes_are_small(&world).await?;
        nothing_is_off(&world).await?;
    }
    settle(&mut world).await
}

async fn set_up(world: &mut World, start: Start) -> Result<(), String> {
    if start == Start::Full {
        // Several in a millisecond, so that the edge of an inbox falls within one.
        for number in 0..110 {
            act(world, &Action::Post(0, 0)).await?;
            if number % 7 == 0 {
                act(world, &Action::Advance(1)).await?;
            }
        }
    }
    if start != Start::Bare {
        for who in 0..world.people.len() as Who {
            act(world, &Action::Follow(who, 0)).await?;
            act(world, &Action::Read(who, 0)).await?;
        }
        act(world, &Action::Rest).await?;
    }
    Ok(())
}

async fn act(world: &mut World, action: &Action) -> Result<(), String> {
    match *action {
        Action::SignUp => world.sign_up().await,
        Action::Follow(a, b) => {
            let (a, b) = (world.person(a), world.person(b));
            if a != b {
                world.people[a].follow(&world.people[b]).await;
            }
        }
        Action::Unfollow(a, b) => {
            let (a, b) = (world.person(a), world.person(b));
            if a != b {
                world.people[a].unfollow(&world.people[b]).await;
            }
        }
        Action::SetClose(a, b, is_close) => world.set_close(world.person(a), world.person(b), is_close).await,
        Action::Post(who, channel) => world.post(world.person(who), channel).await,
        Action::Burst(who, channel, count) => {
            for _ in 0..count {
                world.post(world.person(who), channel).await;
            }
        }
        Action::Edit(number) => {
            if let Some(number) = pick(world, number, false) {
                let message = &world.messages[number];
                world.people[message.author].edit(&message.id, &format!("message {number}, edited")).await;
            }
        }
        Action::Delete(number) => {
            if let Some(number) = pick(world, number, false) {
                let message = &mut world.messages[number];
                world.people[message.author].delete(&message.id).await;
                message.is_deleted = true;
            }
        }
        Action::Restore(number) => {
            if let Some(number) = pick(world, number, true) {
                let message = &mut world.messages[number];
                world.people[message.author].restore(&message.id).await;
                message.is_deleted = false;
            }
        }
        Action::Read(who, channel) => {
            world.people[world.person(who)].feed_page(CHANNELS[channel], &Ask::start(Walk::First(2))).await;
        }
        Action::Step => drop(world.kith.step().await),
        Action::StepAndDie => die(world, true).await,
        Action::TakeAndDie => die(world, false).await,
        Action::Drain => world.kith.drain().await,
        Action::Rest => rest(world).await,
        Action::Stall => stall(world).await,
        Action::Tick => world.kith.tick().await,
        Action::Advance(ms) => world.advance(Duration::from_millis(ms.into())).await,
        Action::Days(days) => {
            world.advance(Duration::from_secs(86_400 * u64::from(days))).await;
            world.kith.tick().await;
        }
        Action::FlushRedis => redis(world, redis::cmd("FLUSHDB")).await,
        Action::SaveRedis => world.saved = save(world).await,
        Action::RestartRedis => restart(world).await,
        Action::LoseInbox(who, channel) => {
            redis(world, redis::Cmd::unlink(inbox(world, world.person(who), CHANNELS[channel]))).await
        }
        Action::HalfBuild(who, channel) => {
            let inbox = inbox(world, world.person(who), CHANNELS[channel]);
            redis(world, redis::Cmd::unlink(&inbox)).await;
            redis(world, redis::Cmd::zadd(&inbox, "~of-a-dead-worker", "+inf")).await;
        }
        Action::RaiseEpoch => {
            world.kith.sql().await.execute("UPDATE inbox_epoch SET epoch = epoch + 1", &[]).await;
        }
        Action::Rebuild(who) => {
            let app = &world.kith.app;
            let (of, oldest) = (&world.people[world.person(who)], app.clock.now() - app.config.inbox_age());
            let mut conn = app.db.get().await.expect("a connection");
            rebuild::of(&mut conn, &app.kv, of.viewer.user_id, oldest).await.expect("Postgres and Redis answer");
        }
        Action::Together(ref deeds) => together(world, deeds).await?,
        Action::SetOut(who, channel, is_close, walk) => {
            let feed = Feed { channel: CHANNELS[channel], is_close };
            world.set_out(world.person(who), feed, walk).await?;
        }
        Action::GoOn(number) => world.go_on(number).await?,
    }
    Ok(())
}

/// The message that `number` stands for among those that are deleted, or that are not.
pub fn pick(world: &World, number: u16, is_deleted: bool) -> Option<usize> {
    let fitting: Vec<usize> =
        (0..world.messages.len()).filter(|n| world.messages[*n].is_deleted == is_deleted).collect();
    (!fitting.is_empty()).then(|| fitting[usize::from(number) % fitting.len()])
}

/// A worker takes a job, does a step of it or not, and never settles it.
async fn die(world: &World, after_a_step: bool) {
    let app = &world.kith.app;
    let mut conn = app.db.get().await.expect("a connection");
    let job = queue::claim(&mut conn, app.clock.now(), app.config.job_lease).await.expect("the queue answers");
    if let (Some(job), true) = (job, after_a_step) {
        worker::reactions::react(app, &job).await.expect("the step succeeds");
    }
}

/// Every key of Redis with its value.
async fn save(world: &World) -> Option<Vec<(String, Vec<u8>)>> {
    let (mut redis, mut saved) = (world.kith.redis(), Vec::new());
    for key in redis.keys::<_, Vec<String>>("*").await.expect("Redis answers") {
        let value = redis::cmd("DUMP").arg(&key).query_async(&mut redis).await.expect("Redis answers");
        saved.push((key, value));
    }
    Some(saved)
}

/// Redis has what it last wrote down, and is another process.
async fn restart(world: &World) {
    let Some(saved) = &world.saved else { return };
    redis(world, redis::cmd("FLUSHDB")).await;
    for (key, value) in saved {
        let mut restore = redis::cmd("RESTORE");
        restore.arg(key).arg(0).arg(value.as_slice());
        redis(world, restore).await;
    }
    world.kith.sql().await.execute("UPDATE inbox_epoch SET run_id = 'of the one before'", &[]).await;
}

/// The key of an inbox.
pub fn inbox(world: &World, who: usize, channel: &str) -> String {
    keys::inbox(world.people[who].viewer.user_id, channel)
}

/// Runs a command on the Redis of this history.
pub async fn redis(world: &World, command: redis::Cmd) {
    command.exec_async(&mut world.kith.redis()).await.expect("Redis answers");
}

/// Walks both feeds of `who` in both directions, and what of them is by close ones in one.
async fn look(world: &World, who: usize, size: i32) -> Result<(), String> {
    for channel in CHANNELS {
        for is_close in [false, true] {
            let feed = Feed { channel, is_close };
            let length = world.expected(who, feed).await.len();
            let size = [size, 7, 50].into_iter().find(|size| length <= PAGES * *size as usize).unwrap_or(50);
            let walks = [Walk::First(size), Walk::Last(size)];
            let walks = if is_close { &walks[who % 2..][..1] } else { &walks[..] };
            for walk in walks {
                world.walk(who, feed, *walk).await?;
            }
        }
    }
    Ok(())
}

/// No repair finds anything, and no inbox claims what it does not hold, also while deliveries are under way.
async fn nothing_is_off(world: &World) -> Result<(), String> {
    let off: Vec<_> = world.kith.drifts().await.into_iter().filter(|drift| drift.kind != STRAY).collect();
    if off.is_empty() { Ok(()) } else { Err(format!("something is off: {off:#?}")) }
}

/// Above 128 members Redis converts a sorted set for good.
async fn inboxes_are_small(world: &World) -> Result<(), String> {
    for who in 0..world.people.len() {
        for channel in CHANNELS {
            let count = redis::Cmd::zcard(inbox(world, who, channel));
            let count: usize = count.query_async(&mut world.kith.redis()).await.expect("Redis answers");
            if count > 127 {
                return Err(format!("the inbox of person {who} in {channel} has {count} members"));
            }
        }
    }
    Ok(())
}

/// All that is due is done, and what was in flight has landed.
async fn rest(world: &mut World) {
    world.kith.drain().await;
    stall(world).await;
}

/// What was delivered altogether is no longer in flight; what was not has to be.
async fn stall(world: &mut World) {
    world.advance(world.kith.config.request_timeout + Duration::from_secs(10)).await;
    world.kith.tick().await;
}

/// The end of a history: the walks end, the workers that died are replaced, everything comes to rest.
async fn settle(world: &mut World) -> Result<(), String> {
    while !world.walks.is_empty() {
        world.go_on(0).await?;
    }
    for who in 0..world.people.len() {
        for size in [1, 2, 7, 50] {
            look(world, who, size).await?;
        }
    }
    let lease = world.kith.config.job_lease + Duration::from_secs(1);
    world.advance(lease).await;
    rest(world).await;
    let sql = world.kith.sql().await;
    let in_flight: i64 = sql.one("SELECT count(*) FROM in_flight", &[]).await;
    if in_flight > 0 {
        return Err(format!("{in_flight} messages stay in flight"));
    }
    let miscounted = definition::miscounted(sql).await;
    if !miscounted.is_empty() {
        return Err(miscounted.join("; "));
    }
    // The first look makes every feed hot and mends it, the second finds nothing to mend.
    for is_mended in [false, true] {
        for who in 0..world.people.len() {
            look(world, who, 7).await?;
        }
        let jobs = world.kith.jobs().await;
        if is_mended && jobs > 0 {
            return Err(format!("{jobs} jobs after everything came to rest: inboxes are built for ever"));
        }
        world.kith.drain().await;
    }
    inboxes_are_small(world).await
}
