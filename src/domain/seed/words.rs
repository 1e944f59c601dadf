//! The phrase books that texts are written from, one a language (`words/*.txt`), and how a text is put together.
//! Never what a message consists of: that is `texts.rs`.
//!
//! A book has sections, `[food]`, of lines; `{dish}` in a line stands for a line of the section `[dish]`. Within one
//! text it stands for the same everywhere, but twice in one line for two different ones.

use std::collections::HashMap;
use std::sync::LazyLock;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// What people write about. Each book has for each topic the sections `[food]` (what happened), `[food+]` (what can
/// be said to that, whatever it was) and `[food.title]`.
pub const TOPICS: [&str; 6] = ["food", "books", "music", "outdoors", "tech", "city"];

/// A language that people write.
#[derive(Debug)]
pub struct Language {
    /// Its ISO 639-1 code.
    pub code: &'static str,
    /// What stands between two sentences.
    pub joint: &'static str,
    sections: HashMap<&'static str, Vec<&'static str>>,
}

/// The languages, by their code.
static LANGUAGES: LazyLock<HashMap<&'static str, Language>> = LazyLock::new(|| {
    let languages = [
        Language::parse("ar", " ", include_str!("words/ar.txt")),
        Language::parse("de", " ", include_str!("words/de.txt")),
        Language::parse("en", " ", include_str!("words/en.txt")),
        Language::parse("es", " ", include_str!("words/es.txt")),
        Language::parse("fr", " ", include_str!("words/fr.txt")),
        Language::parse("hi", " ", include_str!("words/hi.txt")),
        Language::parse("it", " ", include_str!("words/it.txt")),
        Language::parse("ja", "", include_str!("words/ja.txt")),
        Language::parse("ko", " ", include_str!("words/ko.txt")),
        Language::parse("pt", " ", include_str!("words/pt.txt")),
        Language::parse("ru", " ", include_str!("words/ru.txt")),
        Language::parse("sw", " ", include_str!("words/sw.txt")),
        Language::parse("tr", " ", include_str!("words/tr.txt")),
        Language::parse("zh", "", include_str!("words/zh.txt")),
    ];
    languages.into_iter().map(|language| (language.code, language)).collect()
});

impl Language {
    /// The language with this code, if there is a book of it.
    pub fn of(code: &str) -> Option<&'static Self> {
        LANGUAGES.get(code)
    }

    fn parse(code: &'static str, joint: &'static str, book: &'static str) -> Self {
        let mut sections: HashMap<_, Vec<_>> = HashMap::new();
        let mut section = "";
        for line in book.lines().filter(|line| !line.is_empty()) {
            match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                Some(name) => section = name,
                None => sections.entry(section).or_default().push(line),
            }
        }
        Self { code, joint, sections }
    }

    fn lines(&self, section: &str) -> &[&'static str] {
        self.sections.get(section).map_or(&[], Vec::as_slice)
    }
}

/// One text that is being written.
#[derive(Debug)]
pub struct Pen {
    language: &'static Language,
    /// What each slot stands for, first and, twice in a line, second.
    meant: HashMap<&'static str, Vec<&'static str>>,
    written: Vec<&'static str>,
}

impl Pen {
    /// For a text in `language`.
    pub fn new(language: &'static Language) -> Self {
        Self { language, meant: HashMap::new(), written: Vec::new() }
    }

    /// A line of `section` that this text does not have yet, its slots filled; nothing if there is none.
    pub fn line(&mut self, rng: &mut ChaCha8Rng, section: &str) -> String {
        let Some(line) = another(rng, self.language.lines(section), &self.written) else { return String::new() };
        self.written.push(line);
        let mut text = String::new();
        let mut often: HashMap<&str, usize> = HashMap::new();
        let mut rest = line;
        while let Some((before, (slot, after))) = rest.split_once('{').and_then(|(a, b)| Some((a, b.split_once('}')?)))
        {
            text += before;
            let nth = often.entry(slot).or_default();
            let meant = self.meant.entry(slot).or_default();
            if meant.len() <= *nth {
                meant.extend(another(rng, self.language.lines(slot), meant));
            }
            text += meant.get(*nth).copied().unwrap_or_default();
            *nth += 1;
            rest = after;
        }
        capitalised(text + rest)
    }
}

fn another(rng: &mut ChaCha8Rng, lines: &[&'static str], than: &[&str]) -> Option<&'static str> {
    let left: Vec<_> = lines.iter().filter(|line| !than.contains(line)).collect();
    (!left.is_empty()).then(|| rng.random_range(0..left.len())).map(|at| *left[at])
}

fn capitalised(text: String) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::seed::chance::{Stream, stream};

    #[test]
    fn every_book_is_complete_and_every_slot_has_a_section() {
        for language in LANGUAGES.values() {
            for topic in TOPICS {
                for (kind, least) in [("", 4), ("+", 3), (".title", 2)] {
                    let count = language.lines(&format!("{topic}{kind}")).len();
                    assert!(count >= least, "{}: [{topic}{kind}] has {count} lines", language.code);
                }
            }
            assert!(language.lines("close").len() >= 3 && language.lines("bio").len() >= 2, "{}", language.code);
            for line in language.sections.values().flatten() {
                for slot in line.split('{').skip(1).map(|rest| rest.split_once('}').expect("it is closed").0) {
                    assert!(language.lines(slot).len() >= 2, "{}: {{{slot}}} in {line}", language.code);
                }
                assert_eq!(line.trim(), *line, "{}", language.code);
            }
        }
    }

    #[test]
    fn a_slot_stands_for_the_same_in_a_text_and_for_two_in_a_line() {
        let book = "[a]\nx {n} {n}\n[b]\ny {n}\n[n]\n1\n2\n3";
        let language: &'static Language = Box::leak(Box::new(Language::parse("xx", " ", book)));
        for number in 0..50 {
            let mut rng = stream(1, Stream::Text(number));
            let mut pen = Pen::new(language);
            let (first, second) = (pen.line(&mut rng, "a"), pen.line(&mut rng, "b"));
            assert_eq!(first[2..3], second[2..3]);
            assert_ne!(first[2..3], first[4..5]);
            assert!(first.starts_with('X'), "capitalised");
            assert_eq!(pen.line(&mut rng, "a"), "", "no line twice");
        }
    }
}
