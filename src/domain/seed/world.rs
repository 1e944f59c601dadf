//! A made-up world as a whole: the same from the same plan, on every machine. Never how it is written down.

use std::time::{Duration, Instant};

use crate::domain::seed::chance::{Stream, stream};
use crate::domain::seed::model::{Follow, Like, Person, Plan, Post, Text};
use crate::domain::seed::{follows, likes, people, posts, texts};
use crate::error::{Error, Result};
use crate::ids::{Generator, Lease};

/// Who there is, and what they did.
#[derive(Debug)]
pub struct World {
    /// What it follows from.
    pub plan: Plan,
    /// By number.
    pub people: Vec<Person>,
    /// Each pair once.
    pub follows: Vec<Follow>,
    /// By number, oldest first.
    pub posts: Vec<Post>,
    /// Each pair once.
    pub likes: Vec<Like>,
}

/// The ids of everything, in the same order.
#[derive(Debug, Default)]
pub struct Ids {
    /// Of the people.
    pub people: Vec<i64>,
    /// Of the follows.
    pub follows: Vec<i64>,
    /// Of the messages.
    pub posts: Vec<i64>,
    /// Of the likes.
    pub likes: Vec<i64>,
}

impl World {
    /// Makes it up.
    pub fn make(plan: Plan) -> Self {
        let people = people::make(&plan);
        let follows = follows::make(&plan, &people);
        let posts = posts::make(&plan, &people);
        let likes = likes::make(&plan, &people, &follows, &posts);
        Self { plan, people, follows, posts, likes }
    }

    /// What the message of this number says. Made each time it is asked for: a large world is mostly text.
    pub fn text(&self, number: u32) -> Text {
        let post = self.posts[number as usize];
        let mut rng = stream(self.plan.seed, Stream::Text(number));
        texts::make(&mut rng, &self.people[post.author as usize], post.kind)
    }

    /// An id for everything, made in the order of its moment by whoever has `node` to themselves, and always had.
    ///
    /// Errors: [`Error::Unavailable`] when so much happened in the last moments that ids would lie ahead of the end.
    pub fn ids(&self, node: u16) -> Result<Ids> {
        let mut ids = Ids {
            people: vec![0; self.people.len()],
            follows: vec![0; self.follows.len()],
            posts: vec![0; self.posts.len()],
            likes: vec![0; self.likes.len()],
        };
        let mut moments: Vec<(i64, &mut i64)> = Vec::with_capacity(self.follows.len() + self.likes.len());
        moments.extend(self.people.iter().map(|it| it.joined_ms).zip(&mut ids.people));
        moments.extend(self.follows.iter().map(|it| it.ms).zip(&mut ids.follows));
        moments.extend(self.posts.iter().map(|it| it.ms).zip(&mut ids.posts));
        moments.extend(self.likes.iter().map(|it| it.ms).zip(&mut ids.likes));
        // Stable: who signs up in a millisecond does so before anything else happens in it.
        moments.sort_by_key(|(ms, _)| *ms);
        let generator = Generator::default();
        let deadline = Instant::now() + Duration::from_secs(3600);
        generator.hold(Lease { node, floor_ms: 0, high_water_ms: self.plan.until_ms, deadline });
        for (ms, id) in moments {
            *id = generator.next(ms).map_err(|_| Error::Unavailable("too much happens at the end".into()))?;
        }
        Ok(ids)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;
    use crate::domain::messages::rules::{content, extra, title};
    use crate::domain::seed::model::Size;
    use crate::domain::seed::rules::{self, GUESTS, HISTORY, POSTING};
    use crate::domain::seed::texts::{LONGEST, SHORTEST};
    use crate::domain::users::rules::{Bio, DisplayName, Handle};
    use crate::ids;

    const UNTIL_MS: i64 = ids::EPOCH_MS + 28_000_000_000;

    fn plan(seed: u64, users: u32, follows: u32, messages: u32, likes: u32) -> Plan {
        let size = Size { users, follows, messages, likes };
        Plan { size, seed, until_ms: UNTIL_MS, channels: vec!["default".into(), "work".into()] }
    }

    fn check(world: &World) {
        let Size { users, follows, messages, likes } = world.plan.size;
        assert_eq!((world.people.len(), world.follows.len()), (users as usize, follows as usize));
        assert_eq!((world.posts.len(), world.likes.len()), (messages as usize, likes as usize));
        let pairs: HashSet<_> = world.follows.iter().map(|it| (it.follower, it.followee)).collect();
        assert_eq!(pairs.len(), world.follows.len(), "no follow twice");
        assert!(pairs.iter().all(|(follower, followee)| follower != followee));
        let pairs: HashSet<_> = world.likes.iter().map(|it| (it.user, it.message)).collect();
        assert_eq!(pairs.len(), world.likes.len(), "no like twice");
        let handles: HashSet<_> = world.people.iter().map(|it| it.handle.to_ascii_lowercase()).collect();
        assert_eq!(handles.len(), world.people.len(), "no handle twice");
        let joined = |number: u32| world.people[number as usize].joined_ms;
        let begin = UNTIL_MS - HISTORY.num_milliseconds();
        assert!(world.people.iter().all(|it| (begin..UNTIL_MS).contains(&it.joined_ms)));
        for it in &world.follows {
            assert!(it.ms < UNTIL_MS && it.ms >= joined(it.follower).max(joined(it.followee)));
        }
        for it in &world.posts {
            assert!((UNTIL_MS - POSTING.num_milliseconds()..UNTIL_MS).contains(&it.ms) && it.ms >= joined(it.author));
        }
        for it in &world.likes {
            let post = world.posts[it.message as usize];
            assert!(post.author != it.user && it.ms >= post.ms.max(joined(it.user)) && it.ms <= UNTIL_MS);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn a_world_is_as_large_as_asked_however_dense(
            seed: u64, users in 3..40_u32, messages in 0..60_u32, follows in 0.0..=1.0, likes in 0.0..=1.0,
        ) {
            let share = |most: u32, of: f64| (f64::from(most) * of).round() as u32;
            let (follows, likes) = (share(users * (users - 1), follows), share(messages * (users - 1), likes));
            let plan = plan(seed, users, follows, messages, likes);
            let until = chrono::DateTime::from_timestamp_millis(UNTIL_MS).expect("a time");
            prop_assert_eq!(rules::check(plan.size, until, until), Ok(()));
            let world = World::make(plan);
            check(&world);
            let ids = world.ids(1023).expect("ids");
            let all: Vec<i64> = [ids.people, ids.follows, ids.posts, ids.likes].concat();
            prop_assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "no id twice");
            prop_assert!(all.iter().all(|id| ids::ms_of(*id) <= UNTIL_MS));
        }
    }

    #[test]
    fn the_same_plan_makes_the_same_world_and_another_seed_another() {
        let [one, same, other] = [7, 7, 8].map(|seed| World::make(plan(seed, 150, 2_000, 400, 2_000)));
        let told = |world: &World| {
            let texts: Vec<_> = (0..400).map(|number| world.text(number)).collect();
            let people = format!("{:?}", world.people);
            (people, world.follows.clone(), world.posts.clone(), world.likes.clone(), texts)
        };
        assert_eq!(told(&one), told(&same));
        assert_eq!(one.ids(3).expect("ids").likes, same.ids(3).expect("ids").likes);
        assert_ne!(told(&one).0, told(&other).0);
    }

    #[test]
    fn a_few_are_known_to_many_and_many_are_friends() {
        let world = World::make(plan(1, 2_000, 60_000, 5_000, 50_000));
        check(&world);
        let sorted = |counted: HashMap<u32, usize>| {
            let mut counts: Vec<_> = counted.into_values().collect();
            counts.sort_unstable_by(|a, b| b.cmp(a));
            counts
        };
        let count = |each: &mut dyn Iterator<Item = u32>| {
            sorted(each.fold(HashMap::new(), |mut counts, it| {
                *counts.entry(it).or_default() += 1;
                counts
            }))
        };
        let followers = count(&mut world.follows.iter().map(|it| it.followee));
        let top: usize = followers[..20].iter().sum();
        assert!(top * 100 / 60_000 >= 15, "1 of 100 people have {top} of 60000 followers");
        assert!(followers[0] > 10 * followers[1_000] && followers[0] < 1_400, "{} {}", followers[0], followers[1_000]);
        let posts = count(&mut world.posts.iter().map(|it| it.author));
        assert!(posts[0] > 5 * posts[posts.len() / 2], "{posts:?}");
        let likes = count(&mut world.likes.iter().map(|it| it.message));
        assert!(likes[0] > 10 * likes[likes.len() / 2], "{} {}", likes[0], likes[likes.len() / 2]);

        let pairs: HashSet<_> = world.follows.iter().map(|it| (it.follower, it.followee)).collect();
        let mutual = pairs.iter().filter(|(a, b)| pairs.contains(&(*b, *a))).count();
        assert!((20..75).contains(&(mutual * 100 / pairs.len())), "{mutual} of {} are mutual", pairs.len());
        let language = |number: u32| world.people[number as usize].language.code;
        let alike = pairs.iter().filter(|(a, b)| language(*a) == language(*b)).count();
        assert!(alike * 100 / pairs.len() > 55, "{alike} of {} share a language", pairs.len());

        let half = UNTIL_MS - POSTING.num_milliseconds() / 2;
        let late = world.posts.iter().filter(|post| post.ms >= half).count();
        assert!((3_000..4_500).contains(&late), "{late} of 5000 in the later half");
        let night = |post: &&Post| {
            let hours = post.ms / 3_600_000 + world.people[post.author as usize].utc_hours;
            (1..5).contains(&hours.rem_euclid(24))
        };
        assert!(world.posts.iter().filter(night).count() < 250, "few post at night");
    }

    #[test]
    fn what_people_say_is_allowed_varied_and_in_many_scripts() {
        let world = World::make(plan(1, 400, 0, 4_000, 0));
        for (person, number) in world.people.iter().zip(0..) {
            assert!(Handle::chosen(&person.handle).is_ok(), "{person:?}");
            let (name, bio) = (DisplayName::parse(&person.display_name), Bio::parse(&person.bio));
            assert!(name.is_ok() && bio.is_ok(), "{person:?}");
            let guest = GUESTS.get(number).map(|guest| guest.handle);
            assert_eq!(guest.is_some(), person.handle.ends_with("_demo"));
            assert!(guest.is_none_or(|handle| handle == person.handle));
        }
        let texts: Vec<Text> = (0..4_000).map(|number| world.text(number)).collect();
        for text in &texts {
            assert_eq!(content(&text.content, false).as_ref(), Ok(&text.content), "as it is stored");
            assert_eq!(extra(text.extra.clone()).as_ref(), Ok(&text.extra));
            assert!(text.title.as_ref().is_none_or(|it| title(it).as_ref() == Ok(it)), "{text:?}");
            let length = text.content.graphemes(true).count();
            assert!((SHORTEST..=LONGEST).contains(&length), "{length}: {text:?}");
            assert!(!text.content.contains(['{', '}', '[']) && !text.content.contains("  "), "{text:?}");
        }
        let different: HashSet<_> = texts.iter().map(|text| &text.content).collect();
        assert!(different.len() > 3_000, "{} of 4000 differ", different.len());
        let some = |is: &dyn Fn(&Text) -> bool| texts.iter().filter(|text| is(text)).count();
        assert!(some(&|text| text.title.is_some()) > 50 && some(&|text| text.content.contains("\n\n")) > 50);
        assert!(some(&|text| text.content.contains("https://example.org/")) > 50);
        for script in ['а'..='я', 'ء'..='ي', 'अ'..='ह', 'ぁ'..='ん', '가'..='힣', '一'..='龥', 'ğ'..='ş']
        {
            assert!(some(&|text| text.content.contains(|c| script.contains(&c))) > 20, "{script:?}");
        }
    }
}
