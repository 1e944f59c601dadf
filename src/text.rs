//! Text that people type: brought into one form, measured and checked. Never which text may be how long:
//! that is in the `rules.rs` of each room.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_segmentation::UnicodeSegmentation;

use crate::error::{Error, Result};

/// How long a text may be. Both bounds hold; bytes bound what few graphemes can hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// At least so many extended grapheme clusters (what a reader calls a character). From 1 on, at least
    /// one of them has to be visible.
    pub min_graphemes: usize,
    /// At most so many extended grapheme clusters.
    pub max_graphemes: usize,
    /// At most so many bytes of UTF-8.
    pub max_bytes: usize,
}

/// Whether a text stands in a line with others or by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// A name or a title: no line breaks, no tabs. White space at both ends goes, and so do the controls
    /// of bidirectional text, which would turn around what stands next to it.
    One,
    /// A text: line breaks and tabs are welcome, white space stays.
    Many,
}

/// The text as it is stored and counted: NFC, with LF for CRLF and CR, and see [`Lines`].
///
/// Errors: [`Error::BadUserInput`] with `field` for control characters (U+0000 among them) and for a text
/// outside of `limit`, counted in that form.
pub fn checked(field: &'static str, text: &str, limit: Limit, lines: Lines) -> Result<String> {
    let text = match lines {
        Lines::One => one_line(text),
        Lines::Many => many_lines(text),
    };
    let is_refused = |c: char| match lines {
        Lines::One => c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'),
        Lines::Many => c.is_control() && c != '\n' && c != '\t',
    };
    if text.contains(is_refused) {
        return Err(Error::bad_input(field, "Must not contain control characters."));
    }
    within(field, &text, limit)?;
    if limit.min_graphemes > 0 && !text.contains(is_visible) {
        return Err(Error::bad_input(field, "Must contain something visible."));
    }
    Ok(text)
}

/// Whether `text` is within `limit`, as it stands.
///
/// Errors: [`Error::BadUserInput`] with `field`.
pub fn within(field: &'static str, text: &str, limit: Limit) -> Result<()> {
    let Limit { min_graphemes, max_graphemes, max_bytes } = limit;
    // Bytes first: then what is counted is never long.
    if text.len() > max_bytes {
        return Err(Error::bad_input(field, format!("Must have at most {max_bytes} bytes of UTF-8.")));
    }
    match text.graphemes(true).count() {
        count if count < min_graphemes => {
            Err(Error::bad_input(field, format!("Must have at least {min_graphemes} characters.")))
        }
        count if count > max_graphemes => {
            Err(Error::bad_input(field, format!("Must have at most {max_graphemes} characters.")))
        }
        _ => Ok(()),
    }
}

/// The same text in Unicode's normalization form C.
pub fn nfc(text: &str) -> String {
    text.nfc().collect()
}

fn one_line(text: &str) -> String {
    let text: String = text.chars().filter(|c| !is_bidi_control(*c)).nfc().collect();
    text.trim().to_owned()
}

fn many_lines(text: &str) -> String {
    nfc(&text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// The characters with the property Bidi_Control.
fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character shows by itself: neither space nor mark, nothing without a glyph, and none of the
/// letters and symbols whose glyph is blank (Hangul fillers, the empty braille cell, the null notehead).
fn is_visible(c: char) -> bool {
    use GeneralCategory::*;
    let is_blank = matches!(c, '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}' | '\u{2800}' | '\u{1D159}');
    let is_formless = matches!(
        c.general_category(),
        Control
            | Format
            | Surrogate
            | PrivateUse
            | Unassigned
            | SpaceSeparator
            | LineSeparator
            | ParagraphSeparator
            | NonspacingMark
            | SpacingMark
            | EnclosingMark
    );
    !is_blank && !is_formless
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit { min_graphemes: 1, max_graphemes: 5, max_bytes: 100 };

    fn one(text: &str) -> Option<String> {
        checked("name", text, LIMIT, Lines::One).ok()
    }

    fn many(text: &str) -> Option<String> {
        checked("text", text, LIMIT, Lines::Many).ok()
    }

    #[test]
    fn the_unit_is_the_grapheme_after_normalization() {
        let (family, flag) = ("👨‍👩‍👧‍👦", "🇫🇮");
        assert_eq!(many(&flag.repeat(5)), Some(flag.repeat(5)));
        assert_eq!(many(&flag.repeat(6)), None);
        assert_eq!(many(&"漢".repeat(5)), Some("漢".repeat(5)));
        assert_eq!(many(&"漢".repeat(6)), None);
        assert_eq!(many(&"e\u{301}".repeat(5)), Some("é".repeat(5)));
        assert_eq!(many("a\r\nb\rc"), Some("a\nb\nc".into()));
        assert_eq!(many("abcd\r\n"), Some("abcd\n".into()));
        assert_eq!(many(&family.repeat(4)), Some(family.repeat(4)), "100 bytes");
        assert_eq!(many(&family.repeat(5)), None, "more than 100 bytes");
    }

    #[test]
    fn control_characters_are_refused() {
        for text in ["a\0", "\0", "a\u{7}", "a\u{1b}[", "a\u{7f}", "a\u{9f}"] {
            assert_eq!((one(text), many(text)), (None, None), "{text:?}");
        }
        for text in ["a\nb", "a\tb", "a\r\nb", "a\u{2028}b"] {
            assert_eq!(one(text), None, "{text:?}");
            assert!(many(text).is_some(), "{text:?}");
        }
    }

    #[test]
    fn one_line_is_trimmed_and_loses_bidi_controls() {
        assert_eq!(one("  a b\u{3000}\n"), Some("a b".into()));
        assert_eq!(one("\u{202E} abc \u{2066}\u{200F}\u{061C}"), Some("abc".into()));
        assert_eq!(many("  a  "), Some("  a  ".into()));
    }

    #[test]
    fn something_must_be_visible() {
        for blank in [
            "",
            " ",
            "\u{a0}",
            "\u{200B}",
            "\u{200B}\u{200B}\u{200B}",
            "\u{200D}",
            "\u{FEFF}",
            "\u{AD}",
            "\u{3164}",
            "\u{115F}",
            "\u{1160}",
            "\u{FFA0}",
            "\u{2800}",
            "\u{1D159}",
            "\u{301}",
            "\u{20DD}",
            "\u{FE0F}",
            "\u{E0020}",
            "\u{2065}",
            "\u{E000}",
            "\u{180E}",
            "\u{034F}",
        ] {
            assert_eq!((one(blank), many(blank)), (None, None), "{blank:?}");
        }
        for seen in ["a", "é", "漢", "1", "-", "🇫🇮", "❤\u{FE0F}", "ـ", "\u{200B}a"] {
            assert!(one(seen).is_some(), "{seen:?}");
        }
        let optional = Limit { min_graphemes: 0, ..LIMIT };
        assert_eq!(checked("bio", "", optional, Lines::Many), Ok(String::new()));
    }

    #[test]
    fn an_error_names_its_field_and_the_bound() {
        assert_eq!(
            checked("name", "abcdef", LIMIT, Lines::One),
            Err(Error::bad_input("name", "Must have at most 5 characters."))
        );
    }
}
