//! What can happen in a history, and how histories are made up. Never how it is done.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::harness::Walk;

/// Somebody: a number modulo how many people there are.
pub type Who = u8;

/// The channels of a history.
pub const CHANNELS: [&str; 2] = ["default", "work"];

/// Something happens, and then somebody looks.
#[derive(Clone, Debug)]
pub struct Moment {
    /// What happens.
    pub action: Action,
    /// Who walks their feeds afterwards: bit n for person n. Who never looks stays cold.
    pub lookers: u8,
    /// With pages of which size.
    pub size: i32,
}

/// What can happen. Numbers that name something are taken modulo how many there are.
#[derive(Clone, Debug)]
pub enum Action {
    /// Somebody joins.
    SignUp,
    /// The first follows the second.
    Follow(Who, Who),
    /// The first follows the second no longer.
    Unfollow(Who, Who),
    /// The first follows the second closely, or not closely any more, if they follow at all.
    SetClose(Who, Who, bool),
    /// Somebody posts on a channel.
    Post(Who, usize),
    /// Somebody posts so many in a row.
    Burst(Who, usize, u8),
    /// The author edits a message.
    Edit(u16),
    /// The author deletes a message.
    Delete(u16),
    /// The author restores a message.
    Restore(u16),
    /// Somebody reads a page, which makes the feed hot.
    Read(Who, usize),
    /// The worker does one step; a delivery goes to one inbox in each.
    Step,
    /// A worker does one step and dies before it can write that down.
    StepAndDie,
    /// A worker takes a job and dies.
    TakeAndDie,
    /// The worker does all that is due.
    Drain,
    /// The worker does all that is due, and everything that was in flight has landed: only inboxes count now.
    Rest,
    /// No job is done for longer than a request lives, but the clock of the worker ticks.
    Stall,
    /// The clock of the worker ticks.
    Tick,
    /// Time passes: milliseconds.
    Advance(u32),
    /// So many days pass, and the clock of the worker ticks: feeds cool, references grow old.
    Days(u8),
    /// Redis loses everything.
    FlushRedis,
    /// Redis writes down what it has.
    SaveRedis,
    /// Redis is started anew from what it last wrote down, if it ever did.
    RestartRedis,
    /// Redis loses one inbox.
    LoseInbox(Who, usize),
    /// A worker dies after it began to build an inbox.
    HalfBuild(Who, usize),
    /// Every inbox is declared doubtful.
    RaiseEpoch,
    /// An operator has the inboxes of somebody built anew.
    Rebuild(Who),
    /// All of these at the same time.
    Together(Vec<Deed>),
    /// Somebody starts a walk, of what is by close ones only or of all.
    SetOut(Who, usize, bool, Walk),
    /// A walk that is under way goes on by a page.
    GoOn(u8),
}

/// What can happen at the same time as something else; as in [`Action`].
#[derive(Clone, Debug)]
pub enum Deed {
    /// The first follows the second.
    Follow(Who, Who),
    /// The first follows the second no longer.
    Unfollow(Who, Who),
    /// Somebody posts on a channel.
    Post(Who, usize),
    /// The author deletes a message.
    Delete(u16),
    /// The author restores a message.
    Restore(u16),
    /// The worker does one step.
    Step,
    /// Redis loses one inbox.
    LoseInbox(Who, usize),
    /// Somebody walks a whole feed.
    Walk(Who, usize, Walk),
}

/// What there is before the first moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A few people.
    Bare,
    /// Everybody follows the first person, reads, and has an inbox.
    Warm,
    /// The same, and the first person has posted more than an inbox holds.
    Full,
}

/// What happens to a world, and how the world is at first.
#[derive(Clone, Debug)]
pub struct History {
    /// What there is at first.
    pub start: Start,
    /// From how many hot followers on an author is pulled.
    pub pull_from: i64,
    /// What happens then.
    pub moments: Vec<Moment>,
}

/// Histories of up to 80 moments.
pub fn history() -> impl Strategy<Value = History> {
    let start = select(vec![Start::Bare, Start::Warm, Start::Full]);
    let pull_from = select(vec![1, 2, 3, 4, 1000]);
    (start, pull_from, vec(moment(), 1..80)).prop_map(|(start, pull_from, moments)| History {
        start,
        pull_from,
        moments,
    })
}

fn moment() -> impl Strategy<Value = Moment> {
    let lookers = prop_oneof![4 => (0..8_u8).prop_map(|who| 1 << who), 2 => any::<u8>(), 2 => Just(0)];
    (action(), lookers, size()).prop_map(|(action, lookers, size)| Moment { action, lookers, size })
}

fn size() -> impl Strategy<Value = i32> {
    select(vec![1, 2, 7, 50])
}

fn who() -> impl Strategy<Value = Who> {
    0..6_u8
}

/// Half of all is posted by the person whom everybody follows at first.
fn author() -> impl Strategy<Value = Who> {
    prop_oneof![Just(0), who()]
}

fn channel() -> impl Strategy<Value = usize> {
    prop_oneof![3 => Just(0_usize), 1 => Just(1)]
}

fn walk() -> impl Strategy<Value = Walk> {
    (size(), any::<bool>()).prop_map(|(size, first)| if first { Walk::First(size) } else { Walk::Last(size) })
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        1 => (who(), who()).prop_map(|(a, b)| Deed::Follow(a, b)),
        1 => (who(), who()).prop_map(|(a, b)| Deed::Unfollow(a, b)),
        2 => (who(), channel()).prop_map(|(a, c)| Deed::Post(a, c)),
        1 => any::<u16>().prop_map(Deed::Delete),
        1 => any::<u16>().prop_map(Deed::Restore),
        6 => Just(Deed::Step),
        1 => (who(), channel()).prop_map(|(a, c)| Deed::LoseInbox(a, c)),
        4 => (who(), channel(), select(vec![2, 7, 50]), any::<bool>()).prop_map(|(a, c, n, first)| {
            Deed::Walk(a, c, if first { Walk::First(n) } else { Walk::Last(n) })
        }),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        1 => Just(Action::SignUp),
        6 => (who(), who()).prop_map(|(a, b)| Action::Follow(a, b)),
        3 => (who(), who()).prop_map(|(a, b)| Action::Unfollow(a, b)),
        5 => (who(), author(), prop_oneof![3 => Just(true), 1 => Just(false)]).prop_map(|(a, b, c)| Action::SetClose(a, b, c)),
        12 => (author(), channel()).prop_map(|(a, c)| Action::Post(a, c)),
        7 => (author(), channel(), prop_oneof![20 => 2..30_u8, 1 => 90..135_u8]).prop_map(|(a, c, n)| Action::Burst(a, c, n)),
        2 => any::<u16>().prop_map(Action::Edit),
        4 => any::<u16>().prop_map(Action::Delete),
        3 => any::<u16>().prop_map(Action::Restore),
        4 => (who(), channel()).prop_map(|(a, c)| Action::Read(a, c)),
        8 => Just(Action::Step),
        2 => Just(Action::StepAndDie),
        1 => Just(Action::TakeAndDie),
        5 => Just(Action::Drain),
        7 => Just(Action::Rest),
        6 => Just(Action::Stall),
        2 => Just(Action::Tick),
        6 => select(vec![1_u32, 3, 1000, 21_000, 31_000]).prop_map(Action::Advance),
        3 => select(vec![6_u8, 12, 15]).prop_map(Action::Days),
        1 => Just(Action::FlushRedis),
        3 => Just(Action::SaveRedis),
        2 => Just(Action::RestartRedis),
        2 => (who(), channel()).prop_map(|(a, c)| Action::LoseInbox(a, c)),
        1 => (who(), channel()).prop_map(|(a, c)| Action::HalfBuild(a, c)),
        1 => Just(Action::RaiseEpoch),
        1 => who().prop_map(Action::Rebuild),
        5 => vec(deed(), 2..7).prop_map(Action::Together),
        3 => (who(), channel(), prop_oneof![2 => Just(false), 1 => Just(true)], walk()).prop_map(|(a, c, close, w)| Action::SetOut(a, c, close, w)),
        6 => any::<u8>().prop_map(Action::GoOn),
    ]
}
