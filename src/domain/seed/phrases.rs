//! Names and sentences in many languages, from the two files beside this one. Never who says them.

use std::collections::HashMap;
use std::sync::LazyLock;

use rand::Rng;
use rand::seq::IndexedRandom;

/// What people talk about.
pub const TOPICS: [&str; 4] = ["food", "outdoors", "books", "work"];

const EMOJI: [&str; 16] =
    ["🌿", "☕", "📚", "🌧️", "🍞", "🚲", "🌅", "🎶", "🐈", "🍋", "✨", "🌊", "🥾", "🍂", "😅", "💛"];

/// A name as it is shown and its ASCII.
type Name = (&'static str, &'static str);

/// What is known of a language.
#[derive(Debug, Default)]
pub struct Language {
    is_family_first: bool,
    given: Vec<Name>,
    family: Vec<Name>,
    sentences: HashMap<&'static str, Vec<&'static str>>,
}

/// Every language, in the order of the file of names.
pub static LANGUAGES: LazyLock<Vec<Language>> =
    LazyLock::new(|| read().into_iter().map(|(_, language)| language).collect());

fn read() -> Vec<(&'static str, Language)> {
    let mut languages: Vec<(&'static str, Language)> = Vec::new();
    for line in lines(include_str!("names.txt")) {
        if let Some(code) = header(line) {
            languages.push((code, Language::default()));
        } else if let Some((_, language)) = languages.last_mut() {
            match line.split_once(": ") {
                Some(("given", names)) => language.given = names.split(' ').map(name).collect(),
                Some(("family", names)) => language.family = names.split(' ').map(name).collect(),
                _ => language.is_family_first = true,
            }
        }
    }
    let (mut code, mut kind) = ("", "");
    for line in lines(include_str!("texts.txt")) {
        if let Some((of, about)) = header(line).and_then(|header| header.split_once(' ')) {
            (code, kind) = (of, about);
        } else if let Some((_, language)) = languages.iter_mut().find(|(known, _)| *known == code) {
            let said = language.sentences.entry(kind).or_default();
            if kind == "place" { said.extend(line.split(' ')) } else { said.push(line) }
        }
    }
    languages
}

fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn header(line: &'static str) -> Option<&'static str> {
    line.strip_prefix('[')?.strip_suffix(']')
}

fn name(written: &'static str) -> Name {
    written.split_once('=').unwrap_or((written, written))
}

impl Language {
    /// A display name, and the ASCII of its parts, given name first.
    pub fn name(&self, rng: &mut impl Rng) -> (String, [String; 2]) {
        let pick = |names: &[Name], rng: &mut _| *names.choose(rng).unwrap_or(&("", ""));
        let (given, family) = (pick(&self.given, rng), pick(&self.family, rng));
        let shown = match self.is_family_first {
            true => format!("{}{}", family.0, given.0),
            false => format!("{} {}", given.0, family.0),
        };
        (shown, [given.1.to_ascii_lowercase(), family.1.to_ascii_lowercase()])
    }

    /// What a person says about themselves.
    pub fn bio(&self, rng: &mut impl Rng) -> String {
        self.filled(self.one("bio", rng), rng)
    }

    /// What stands above a message.
    pub fn title(&self, rng: &mut impl Rng) -> String {
        self.filled(self.one("title", rng), rng)
    }

    /// A message on a topic: one to four sentences, now and then with a closing, a picture, or in paragraphs.
    pub fn text(&self, topic: &str, rng: &mut impl Rng) -> String {
        let sentences = self.sentences.get(topic).map_or(&[][..], Vec::as_slice);
        let count = [1, 1, 1, 2, 2, 3, 4].choose(rng).copied().unwrap_or(1);
        let said: Vec<&str> = sentences.choose_multiple(rng, count).copied().collect();
        let mut parts: Vec<String> = said.into_iter().map(|sentence| self.filled(sentence, rng)).collect();
        if rng.random_bool(0.3) {
            parts.push(self.one("closing", rng).to_owned());
        }
        let between = if parts.len() > 2 && rng.random_bool(0.3) { "\n\n" } else { " " };
        let mut text = parts.join(between);
        if rng.random_bool(0.35) {
            text.push(' ');
            text.push_str(EMOJI.choose(rng).unwrap_or(&""));
        }
        text
    }

    fn one(&self, kind: &str, rng: &mut impl Rng) -> &'static str {
        self.sentences.get(kind).and_then(|said| said.choose(rng)).copied().unwrap_or("…")
    }

    fn filled(&self, sentence: &str, rng: &mut impl Rng) -> String {
        let number = rng.random_range(2..30).to_string();
        sentence.replace("{n}", &number).replace("{place}", self.one("place", rng))
    }
}
