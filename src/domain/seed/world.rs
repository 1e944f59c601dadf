//! The making of a demo world: who there is, who follows whom, who said what when, and who liked it.

use chrono::{DateTime, TimeDelta, Utc};
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};
// Unlike rand's standard generator this one never changes, so a seed names a world for good.
use rand_chacha::ChaCha8Rng;

use crate::domain::seed::graph::{Pairs, Weighted, zipf};
use crate::domain::seed::ids::Ids;
use crate::domain::seed::model::{Follow, GUESTS, Like, Person, Post, Size, World};
use crate::domain::seed::phrases::{LANGUAGES, TOPICS};
use crate::ids::{EPOCH_MS, ms_of};

/// For how long people have been there, have followed and have posted, at most.
const JOINED: TimeDelta = TimeDelta::days(300);
const POSTED: TimeDelta = TimeDelta::days(90);

/// Makes the world of `size` and `seed` that ends at `until`, with messages in `channels`, the first of which has most.
///
/// [`Size::check`] it before.
pub fn make(size: Size, seed: u64, until: DateTime<Utc>, channels: &[String]) -> World {
    let mut maker =
        Maker { rng: ChaCha8Rng::seed_from_u64(seed), ids: Ids::default(), until_ms: until.timestamp_millis() };
    let people = maker.people(size.users);
    // Who is popular is a matter of chance.
    let mut ranks: Vec<usize> = (0..people.len()).collect();
    ranks.shuffle(&mut maker.rng);
    let popularity: Vec<f64> = ranks.into_iter().map(zipf).collect();
    let follows = maker.follows(size.follows, &people, &popularity);
    let posts = maker.posts(size.messages, &people, channels);
    let likes = maker.likes(size.likes, &people, &follows, &posts, &popularity);
    World { people, follows, posts, likes }
}

struct Maker {
    rng: ChaCha8Rng,
    ids: Ids,
    until_ms: i64,
}

impl Maker {
    fn people(&mut self, count: usize) -> Vec<Person> {
        // English and a few others are spoken by more people.
        let spoken = Weighted::new((0..LANGUAGES.len()).map(|number| (number as u32, zipf(number))));
        let mut people = Vec::with_capacity(count);
        for number in 0..count {
            let language = spoken.draw(&mut self.rng).map_or(0, |language| language as usize);
            let (display_name, [given, family]) = LANGUAGES[language].name(&mut self.rng);
            let short = &family[..1];
            let form = self.rng.random_range(0..4);
            // A number makes it unique, as it does everywhere.
            let handle = match form {
                0 => format!("{given}_{family}{number}"),
                1 => format!("{given}{number}"),
                2 => format!("{given}_{short}{number}"),
                _ => format!("{family}_{given}{number}"),
            };
            let (handle, display_name, language) = match GUESTS.get(number) {
                Some((handle, display_name, language, _)) => {
                    ((*handle).to_owned(), (*display_name).to_owned(), *language)
                }
                None => (handle, display_name, language),
            };
            let joined = self.moment(JOINED, 1.0);
            let topics = [self.topic(), self.topic()];
            let bio = if self.rng.random_bool(0.8) { LANGUAGES[language].bio(&mut self.rng) } else { String::new() };
            people.push(Person { id: self.ids.at(joined), handle, display_name, bio, language, topics });
        }
        people
    }

    fn topic(&mut self) -> &'static str {
        TOPICS.choose(&mut self.rng).copied().unwrap_or(TOPICS[0])
    }

    /// A moment of the last `span`, milliseconds since the Unix epoch; the larger `lateness`, the more of them are late.
    fn moment(&mut self, span: TimeDelta, lateness: f64) -> i64 {
        let span = span.num_milliseconds().min(self.until_ms - 1 - EPOCH_MS);
        self.until_ms - 1 - (self.rng.random::<f64>().powf(lateness) * span as f64) as i64
    }

    /// A moment of the last `span`, rather by day than by night.
    fn waking_moment(&mut self, span: TimeDelta, lateness: f64) -> i64 {
        const DAY_MS: i64 = 86_400_000;
        loop {
            let moment = self.moment(span, lateness);
            let hour = (moment % DAY_MS) as f64 / DAY_MS as f64 * 24.0;
            // Most at six in the evening, a fifth of that twelve hours later.
            let awake = 0.6 + 0.4 * ((hour - 18.0) / 12.0 * std::f64::consts::PI).cos();
            if self.rng.random::<f64>() < awake {
                return moment;
            }
        }
    }

    fn follows(&mut self, count: usize, people: &[Person], popularity: &[f64]) -> Vec<Follow> {
        let numbers = || 0..people.len() as u32;
        let everybody = Weighted::new(numbers().map(|number| (number, popularity[number as usize])));
        let circles: Vec<Weighted> = (0..LANGUAGES.len())
            .map(|language| {
                let speakers = numbers().filter(|number| people[*number as usize].language == language);
                Weighted::new(speakers.map(|number| (number, popularity[number as usize])))
            })
            .collect();
        // Some follow very many, most a few dozen.
        let curious: Vec<(u32, f64)> =
            numbers().map(|number| (number, self.rng.random::<f64>().powi(-1).sqrt())).collect();
        let curious = Weighted::new(curious.into_iter());
        let mut pairs = Pairs::default();
        let rng = &mut self.rng;
        let pick = |follower: u32, rng: &mut ChaCha8Rng| {
            let circle = if rng.random_bool(0.7) { &circles[people[follower as usize].language] } else { &everybody };
            circle.draw(rng).filter(|followee| *followee != follower)
        };
        for (guest, (.., follows)) in GUESTS.iter().enumerate() {
            let enough = (pairs.list.len() + follows.min(&(people.len() / 2))).min(count);
            let guest = guest as u32;
            pairs.fill(enough, || Some((guest, pick(guest, rng)?)), std::iter::empty());
        }
        let mut returned: Option<(u32, u32)> = None;
        let draw = || {
            if let Some(back) = returned.take() {
                return Some(back);
            }
            let follower = curious.draw(rng)?;
            let followee = pick(follower, rng)?;
            // Who is not much more popular often follows back.
            if rng.random::<f64>() < 0.4 * (popularity[follower as usize] / popularity[followee as usize]).min(1.0) {
                returned = Some((followee, follower));
            }
            Some((follower, followee))
        };
        let all = numbers().flat_map(|a| numbers().filter(move |b| *b != a).map(move |b| (a, b)));
        pairs.fill(count, draw, all);
        let follow = |(follower, followee): (u32, u32)| {
            let both = ms_of(people[follower as usize].id).max(ms_of(people[followee as usize].id));
            let at = both + ((self.until_ms - 1 - both) as f64 * self.rng.random::<f64>()) as i64;
            Follow { id: self.ids.at(at), follower, followee }
        };
        pairs.list.into_iter().map(follow).collect()
    }

    fn posts(&mut self, count: usize, people: &[Person], channels: &[String]) -> Vec<Post> {
        // A few post all the time, many hardly ever.
        let talkative: Vec<(u32, f64)> =
            (0..people.len() as u32).map(|number| (number, zipf(self.rng.random_range(0..people.len())))).collect();
        let talkative = Weighted::new(talkative.into_iter());
        let mut drawn: Vec<(i64, u32)> = (0..count)
            .filter_map(|_| {
                let author = talkative.draw(&mut self.rng)?;
                let joined = ms_of(people[author as usize].id);
                let mut at = self.waking_moment(POSTED, 1.6);
                if at <= joined {
                    at = joined + ((self.until_ms - 1 - joined) as f64 * self.rng.random::<f64>()) as i64;
                }
                Some((at, author))
            })
            .collect();
        drawn.sort_unstable();
        drawn.into_iter().map(|(at, author)| self.post(at, author, &people[author as usize], channels)).collect()
    }

    fn post(&mut self, at: i64, author: u32, person: &Person, channels: &[String]) -> Post {
        let topic = person.topics.choose(&mut self.rng).copied().unwrap_or(TOPICS[0]);
        // Many write in a second language now and then.
        let language = if self.rng.random_bool(0.9) { person.language } else { 0 };
        let language = &LANGUAGES[language];
        let channel = match channels {
            [first, others @ ..] if others.is_empty() || self.rng.random_bool(0.9) => first,
            [_, others @ ..] => others.choose(&mut self.rng).unwrap_or(&others[0]),
            [] => return self.post(at, author, person, &["default".to_owned()]),
        };
        Post {
            id: self.ids.at(at),
            author,
            channel: channel.clone(),
            kind: if self.rng.random_bool(0.12) { "image" } else { "text" },
            title: self.rng.random_bool(0.08).then(|| language.title(&mut self.rng)),
            content: language.text(topic, &mut self.rng),
        }
    }

    fn likes(
        &mut self,
        count: usize,
        people: &[Person],
        follows: &[Follow],
        posts: &[Post],
        popularity: &[f64],
    ) -> Vec<Like> {
        let mut followers: Vec<Vec<u32>> = vec![Vec::new(); people.len()];
        for follow in follows {
            followers[follow.followee as usize].push(follow.follower);
        }
        let liked: Vec<(u32, f64)> = posts
            .iter()
            .enumerate()
            .map(|(number, post)| {
                let luck = self.rng.random::<f64>().max(1e-6).powf(-0.5);
                (number as u32, popularity[post.author as usize] * luck)
            })
            .collect();
        let liked = Weighted::new(liked.into_iter());
        let mut pairs = Pairs::default();
        let rng = &mut self.rng;
        let draw = || {
            let post = liked.draw(rng)?;
            let near = followers[posts[post as usize].author as usize].choose(rng).copied();
            let anybody = rng.random_range(0..people.len() as u32);
            Some((post, near.filter(|_| rng.random_bool(0.9)).unwrap_or(anybody)))
        };
        let numbers = || 0..people.len() as u32;
        let all = (0..posts.len() as u32).flat_map(|post| numbers().map(move |user| (post, user)));
        pairs.fill(count, draw, all);
        let like = |(post, user): (u32, u32)| {
            let since = ms_of(posts[post as usize].id).max(ms_of(people[user as usize].id));
            // Most likes come soon.
            let after = (self.until_ms - 1 - since).max(0) as f64 * self.rng.random::<f64>().powi(4);
            Like { id: self.ids.at(since + after as i64), post, user }
        };
        pairs.list.into_iter().map(like).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::domain::messages::rules;
    use crate::domain::users::rules::{Bio, DisplayName, Handle};

    fn world(size: Size, seed: u64) -> World {
        size.check().expect("there is such a world");
        make(
            size,
            seed,
            DateTime::from_timestamp_millis(EPOCH_MS + 30_000_000_000).expect("a time"),
            &["default".into(), "work".into()],
        )
    }

    #[test]
    fn a_seed_names_a_world_whose_numbers_are_those_asked_for() {
        let size = Size { users: 300, follows: 6000, messages: 3000, likes: 9000 };
        let first = world(size, 7);
        assert_eq!(first, world(size, 7));
        assert_ne!(first.posts, world(size, 8).posts);
        assert_eq!(
            (first.people.len(), first.follows.len(), first.posts.len(), first.likes.len()),
            (300, 6000, 3000, 9000)
        );
        let ids = first.people.iter().map(|person| person.id).chain(first.follows.iter().map(|follow| follow.id));
        let ids = ids.chain(first.posts.iter().map(|post| post.id)).chain(first.likes.iter().map(|like| like.id));
        assert_eq!(ids.collect::<HashSet<_>>().len(), 18_300, "no id twice");
        let mut followers = vec![0; 300];
        first.follows.iter().for_each(|follow| followers[follow.followee as usize] += 1);
        followers.sort_unstable();
        assert!(followers[299] > 5 * followers[150].max(1), "a few are very popular: {followers:?}");
        assert!(first.posts.is_sorted_by_key(|post| post.id >> 22));
        let handles: HashSet<String> = first.people.iter().map(|person| person.handle.to_ascii_lowercase()).collect();
        assert_eq!(handles.len(), 300);
        assert!(!handles.contains("ada") && !handles.contains("ben"), "left to the first steps in the playground");
    }

    #[test]
    fn everything_said_is_what_people_could_have_said_themselves() {
        let world = world(Size { users: 2000, follows: 0, messages: 4000, likes: 0 }, 1);
        for person in &world.people {
            Handle::chosen(&person.handle).expect("a handle");
            DisplayName::parse(&person.display_name).expect("a display name");
            Bio::parse(&person.bio).expect("a bio");
        }
        for post in &world.posts {
            assert_eq!(rules::content(&post.content, false).as_ref(), Ok(&post.content));
            assert!(post.title.as_deref().is_none_or(|title| rules::title(title).is_ok()));
            assert!(!post.content.contains('{') && !post.content.contains('…'), "{}", post.content);
        }
        let different: HashSet<&String> = world.posts.iter().map(|post| &post.content).collect();
        assert!(different.len() > 2500, "{}", different.len());
    }

    #[test]
    fn what_cannot_be_is_refused_and_the_densest_world_is_made() {
        let size = Size { users: 10, follows: 90, messages: 5, likes: 50 };
        let full = world(size, 3);
        assert_eq!((full.follows.len(), full.likes.len()), (90, 50));
        for bad in [Size { users: 2, ..size }, Size { follows: 91, ..size }, Size { likes: 51, ..size }] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
