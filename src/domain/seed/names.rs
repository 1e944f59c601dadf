//! What people are called: the names of many cultures (`words/names.txt`), and handles made of them that nobody else
//! has. Never what a handle may be: that is `users/rules.rs`.

use std::collections::HashSet;
use std::sync::LazyLock;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::domain::seed::chance::one_of;
use crate::domain::seed::words::Language;
use crate::domain::users::rules::{HANDLE, Handle};

/// Handles that the examples of the README and of the playground sign up with.
pub const KEPT_FREE: [&str; 3] = ["ada", "ben", "grace"];

/// How the parts of a name are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    GivenFirst,
    FamilyFirst,
    FamilyJoined,
}

/// A part of a name.
#[derive(Clone, Debug)]
struct Part {
    /// As its bearer writes it.
    native: &'static str,
    /// In a to z.
    latin: String,
}

/// People who share names, a language and a clock.
#[derive(Debug)]
pub struct Culture {
    /// How many people there are of it, relative to the others.
    pub weight: u64,
    /// What they write.
    pub language: &'static Language,
    /// Their clock: hours from UTC.
    pub utc_hours: i64,
    order: Order,
    /// Two kinds of given names, each with the family names that go with them.
    given: [Vec<Part>; 2],
    family: [Vec<Part>; 2],
}

/// All of them.
pub static CULTURES: LazyLock<Vec<Culture>> = LazyLock::new(|| parse(include_str!("words/names.txt")));

fn parse(text: &'static str) -> Vec<Culture> {
    let mut cultures: Vec<Culture> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(head) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            cultures.extend(head_of(head));
        } else if let (Some((kind, names)), Some(culture)) = (line.split_once(' '), cultures.last_mut()) {
            let parts: Vec<Part> = names.split_whitespace().map(Part::parse).collect();
            match kind {
                "f" => culture.given[0] = parts,
                "m" => culture.given[1] = parts,
                "family.f" => culture.family[0] = parts,
                "family.m" => culture.family[1] = parts,
                _ => culture.family = [parts.clone(), parts],
            }
        }
    }
    cultures
}

fn head_of(head: &str) -> Option<Culture> {
    let [_, language, utc_hours, weight, order] = head.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let order = match order {
        "family" => Order::FamilyFirst,
        "joined" => Order::FamilyJoined,
        _ => Order::GivenFirst,
    };
    let (weight, utc_hours) = (weight.parse().ok()?, utc_hours.parse().ok()?);
    let language = Language::of(language)?;
    Some(Culture { weight, language, utc_hours, order, given: Default::default(), family: Default::default() })
}

impl Part {
    fn parse(text: &'static str) -> Self {
        let (native, latin) = text.split_once('=').unwrap_or((text, text));
        Self { native, latin: latin.nfd().filter(|c| !is_combining_mark(*c)).flat_map(latin_letters).collect() }
    }
}

/// A letter of a Latin alphabet in a to z; nothing for what is no letter.
fn latin_letters(letter: char) -> Vec<char> {
    match letter {
        'ß' => vec!['s', 's'],
        'æ' | 'Æ' => vec!['a', 'e'],
        'ø' | 'Ø' => vec!['o'],
        'ł' | 'Ł' => vec!['l'],
        'đ' | 'Đ' => vec!['d'],
        'ı' => vec!['i'],
        'ə' => vec!['e'],
        _ if letter.is_ascii_alphabetic() => vec![letter.to_ascii_lowercase()],
        _ => vec![],
    }
}

/// Somebody's name: as shown, and its parts in a to z.
#[derive(Debug)]
pub struct Name {
    /// As it is shown.
    pub display: String,
    given: String,
    family: String,
}

impl Culture {
    /// A name of this culture; many people may have it.
    pub fn name(&self, rng: &mut ChaCha8Rng) -> Option<Name> {
        let kind = rng.random_range(0..2);
        let given = one_of(rng, &self.given[kind])?;
        let family = one_of(rng, &self.family[kind])?;
        let display = match self.order {
            Order::GivenFirst => format!("{} {}", given.native, family.native),
            Order::FamilyFirst => format!("{} {}", family.native, given.native),
            Order::FamilyJoined => format!("{}{}", family.native, given.native),
        };
        Some(Name { display, given: given.latin.clone(), family: family.latin.clone() })
    }
}

/// The handles that are taken.
#[derive(Debug)]
pub struct Handles(HashSet<String>);

impl Handles {
    /// Only those that are kept free are taken.
    pub fn new() -> Self {
        Self(KEPT_FREE.iter().map(ToString::to_string).collect())
    }

    /// Takes exactly this one.
    pub fn take(&mut self, handle: &str) {
        self.0.insert(handle.to_owned());
    }

    /// Takes one for somebody of this name who cares about `topic`.
    pub fn choose(&mut self, rng: &mut ChaCha8Rng, name: &Name, topic: &str) -> String {
        for _ in 0..6 {
            let handle = made_up(rng, name, topic);
            if Handle::chosen(&handle).is_ok() && self.0.insert(handle.clone()) {
                return handle;
            }
        }
        // There are more people than ways to write their name.
        let stem: String = format!("{}_{}", name.given, name.family).chars().take(HANDLE.max_bytes - 10).collect();
        let mut number = self.0.len();
        loop {
            let handle = format!("{stem}{number}");
            if self.0.insert(handle.clone()) {
                return handle;
            }
            number += 1;
        }
    }
}

fn made_up(rng: &mut ChaCha8Rng, Name { given, family, .. }: &Name, topic: &str) -> String {
    let initial = |name: &str| name.chars().take(1).collect::<String>();
    let does = match topic {
        "food" => ["cooks", "eats", "bakes"],
        "books" => ["reads", "rereads", "in_print"],
        "music" => ["plays", "sings", "hums"],
        "outdoors" => ["walks", "outside", "rides"],
        "tech" => ["builds", "dev", "codes"],
        _ => ["around", "in_town", "by_tram"],
    };
    match rng.random_range(0..12) {
        0 | 1 => format!("{given}_{family}"),
        2 | 3 => format!("{given}{family}"),
        4 => format!("{}{family}", initial(given)),
        5 => format!("{given}{}", initial(family)),
        6 => format!("{given}_{}", does[rng.random_range(0..does.len())]),
        7 => format!("{family}_{}", does[rng.random_range(0..does.len())]),
        8 => format!("{given}{:02}", (70 + rng.random_range(0..40)) % 100),
        9 => format!("{given}_{}{}", initial(family), rng.random_range(2..100)),
        10 => family.clone(),
        _ => given.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::seed::chance::{Stream, stream};
    use crate::domain::users::rules::DisplayName;

    #[test]
    fn every_culture_is_complete_and_its_names_are_allowed() {
        let heads = include_str!("words/names.txt").lines().filter(|line| line.starts_with('[')).count();
        assert_eq!(CULTURES.len(), heads, "each has a language with a book");
        let mut rng = stream(1, Stream::People);
        for culture in &*CULTURES {
            for parts in culture.given.iter().chain(&culture.family) {
                assert!(parts.len() >= 4, "{parts:?}");
                assert!(parts.iter().all(|part| part.latin.len() >= 2), "{parts:?}");
            }
            for _ in 0..50 {
                let name = culture.name(&mut rng).expect("a name");
                assert!(DisplayName::parse(&name.display).is_ok(), "{name:?}");
            }
        }
    }

    #[test]
    fn handles_are_allowed_and_nobody_elses_however_many() {
        let mut rng = stream(1, Stream::People);
        let mut handles = Handles::new();
        let culture = &CULTURES[0];
        let mut seen = HashSet::new();
        for _ in 0..5_000 {
            let name = culture.name(&mut rng).expect("a name");
            let handle = handles.choose(&mut rng, &name, "tech");
            assert!(Handle::chosen(&handle).is_ok() && !KEPT_FREE.contains(&handle.as_str()), "{handle}");
            assert!(seen.insert(handle));
        }
    }

    #[test]
    fn letters_become_a_to_z() {
        assert_eq!(Part::parse("Łukasz").latin, "lukasz");
        assert_eq!(Part::parse("Ndèye").latin, "ndeye");
        assert_eq!(Part::parse("Weiß").latin, "weiss");
        assert_eq!(Part::parse("Анна=Anna").latin, "anna");
    }
}
