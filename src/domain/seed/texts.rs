//! What a message says: one or more sentences on a topic that its author cares about, now and then a title, an emoji,
//! a link, several paragraphs. Never the sentences: those are in the phrase books.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use crate::domain::messages::model::Kind;
use crate::domain::seed::chance::{one_of, percent};
use crate::domain::seed::model::{Person, Text};
use crate::domain::seed::words::{Language, Pen, TOPICS};

/// How many characters a text has at most.
pub const LONGEST: usize = 500;
/// How many it has at least.
pub const SHORTEST: usize = 10;

/// For each of the topics.
const EMOJI: [[&str; 5]; TOPICS.len()] = [
    ["🍋", "🥘", "🍞", "🫖", "🌶️"],
    ["📚", "📖", "🔖", "☕", "✏️"],
    ["🎶", "🎻", "🎷", "🪗", "🎧"],
    ["🌿", "🥾", "🚲", "🌤️", "🦊"],
    ["💻", "🔧", "🐛", "🦀", "✨"],
    ["🚋", "🏙️", "🌉", "🧡", "📍"],
];

/// A message of `person`.
pub fn make(rng: &mut ChaCha8Rng, person: &Person, kind: Kind) -> Text {
    let topic = person.topics[match rng.random_range(0..100) {
        0..60 => 0,
        60..88 => 1,
        _ => 2,
    }];
    // Many people now and then write English.
    let language = Language::of("en").filter(|_| percent(rng, 6)).unwrap_or(person.language);
    let mut draft = Draft { topic: TOPICS[topic], joint: language.joint, pen: Pen::new(language) };
    let (mut content, has_paragraphs) = match (kind, rng.random_range(0..100)) {
        (Kind::Text, 0..36) => (draft.event(rng), false),
        (Kind::Text, 36..72) => (draft.event_and_remark(rng), false),
        (Kind::Text, 72..86) => (draft.event_and_remark(rng) + draft.joint + &draft.pen.line(rng, "close"), false),
        (Kind::Text, 86..92) => (format!("{} {}", draft.event(rng), link(rng, TOPICS[topic])), false),
        (Kind::Text, _) => (draft.paragraphs(rng), true),
        (_, 0..60) => (draft.event(rng), false),
        _ => (draft.event_and_remark(rng), false),
    };
    if content.chars().count() < SHORTEST {
        content = content + draft.joint + &draft.remark(rng);
    }
    if percent(rng, 20) {
        let emoji = one_of(rng, &EMOJI[topic]).copied().unwrap_or_default();
        content = format!("{content} {emoji}");
    }
    if content.chars().count() > LONGEST {
        content = draft.event(rng);
    }
    let has_title = percent(rng, if has_paragraphs { 60 } else { 4 });
    let title = has_title.then(|| draft.pen.line(rng, &format!("{}.title", TOPICS[topic])));
    let extra = match kind {
        Kind::Text => json!({}),
        Kind::Image => json!({ "image": picture(rng, TOPICS[topic], "jpg") }),
        Kind::Video => json!({ "video": picture(rng, TOPICS[topic], "mp4"), "seconds": rng.random_range(4..180) }),
    };
    Text { title: title.filter(|title| !title.is_empty()), content, extra }
}

struct Draft {
    topic: &'static str,
    joint: &'static str,
    pen: Pen,
}

impl Draft {
    fn event(&mut self, rng: &mut ChaCha8Rng) -> String {
        self.pen.line(rng, self.topic)
    }

    fn remark(&mut self, rng: &mut ChaCha8Rng) -> String {
        self.pen.line(rng, &format!("{}+", self.topic))
    }

    fn event_and_remark(&mut self, rng: &mut ChaCha8Rng) -> String {
        self.event(rng) + self.joint + &self.remark(rng)
    }

    fn paragraphs(&mut self, rng: &mut ChaCha8Rng) -> String {
        let mut paragraphs = vec![self.event_and_remark(rng), self.event_and_remark(rng)];
        if percent(rng, 40) {
            paragraphs.push(self.pen.line(rng, "close"));
        }
        paragraphs.join("\n\n")
    }
}

/// Nobody's: example.org is kept for examples (RFC 2606).
fn link(rng: &mut ChaCha8Rng, topic: &str) -> String {
    format!("https://example.org/{topic}/{}", rng.random_range(100..10_000))
}

fn picture(rng: &mut ChaCha8Rng, topic: &str, ending: &str) -> serde_json::Value {
    let (width, height) = if percent(rng, 70) { (1600, 1200) } else { (1080, 1350) };
    json!({ "url": format!("{}.{ending}", link(rng, topic)), "width": width, "height": height })
}
