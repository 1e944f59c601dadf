//! Who there is in a made-up world. Never whom they know.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::domain::seed::chance::{Stream, Urn, percent, soon_after, stream};
use crate::domain::seed::model::{Person, Plan};
use crate::domain::seed::names::{CULTURES, Culture, Handles};
use crate::domain::seed::rules::{GUESTS, HISTORY};
use crate::domain::seed::words::{Pen, TOPICS};
use crate::ids;

/// The people, by number. The first few are those whom the documents name.
pub fn make(plan: &Plan) -> Vec<Person> {
    let mut rng = stream(plan.seed, Stream::People);
    let urn = Urn::new(CULTURES.iter().zip(0..).map(|(culture, number)| (number, culture.weight)));
    let mut handles = Handles::new();
    GUESTS.iter().for_each(|guest| handles.take(guest.handle));
    let mut people = Vec::with_capacity(plan.size.users as usize);
    for number in 0..plan.size.users as usize {
        let guest = GUESTS.get(number);
        let culture = match guest {
            Some(guest) => CULTURES.iter().find(|culture| culture.language.code == guest.language),
            None => urn.draw(&mut rng).and_then(|number| CULTURES.get(number as usize)),
        };
        people.extend(culture.and_then(|culture| somebody(&mut rng, plan, culture, &mut handles)));
        if let (Some(guest), Some(person)) = (guest, people.last_mut()) {
            (person.handle, person.display_name) = (guest.handle.to_owned(), guest.display_name.to_owned());
            person.joined_ms = beginning(plan);
            person.topics = [number * 2, (number * 2 + 1) % TOPICS.len(), (number * 2 + 3) % TOPICS.len()];
            person.bio = "Made up, to look around as.".into();
        }
    }
    people
}

fn somebody(rng: &mut ChaCha8Rng, plan: &Plan, culture: &'static Culture, handles: &mut Handles) -> Option<Person> {
    let name = culture.name(rng)?;
    let topics = topics(rng);
    let mut pen = Pen::new(culture.language);
    Some(Person {
        handle: handles.choose(rng, &name, TOPICS[topics[0]]),
        display_name: name.display,
        bio: if percent(rng, 75) { pen.line(rng, "bio") } else { String::new() },
        // Most have been there for long.
        joined_ms: soon_after(rng, beginning(plan), plan.until_ms, 2),
        language: culture.language,
        utc_hours: culture.utc_hours,
        topics,
        second_channel: rng.random_range(0..plan.channels.len().max(1)),
    })
}

fn topics(rng: &mut ChaCha8Rng) -> [usize; 3] {
    let first = rng.random_range(0..TOPICS.len());
    let second = (first + rng.random_range(1..TOPICS.len())) % TOPICS.len();
    [first, second, rng.random_range(0..TOPICS.len())]
}

/// When the first ones signed up. No id is older than the epoch.
fn beginning(plan: &Plan) -> i64 {
    (plan.until_ms - HISTORY.num_milliseconds()).max(ids::EPOCH_MS)
}
