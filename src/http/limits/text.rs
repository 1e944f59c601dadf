//! A scan of the text of a document, before it is parsed. Never its meaning.

use async_graphql::{Pos, ServerError};

use crate::http::codes;

/// Brackets of any kind that may be open at once. The parser recurses at each.
const MAX_NESTING: usize = 64;

/// Words, strings, numbers and signs in the text.
const MAX_TOKENS: usize = 10_000;

/// Looks at the text before it is parsed.
///
/// Errors: LIMIT_EXCEEDED, and BAD_USER_INPUT for a string without an end: what is inside and what is
/// outside of it cannot be told.
pub fn check(query: &str) -> Result<(), ServerError> {
    let text = query.as_bytes();
    let (mut at, mut open, mut tokens) = (0, 0_usize, 0);
    while let Some(&byte) = text.get(at) {
        tokens += 1;
        let start = at;
        at += 1;
        match byte {
            b'{' | b'[' | b'(' => {
                open += 1;
                if open > MAX_NESTING {
                    return Err(codes::limit(format!("The document nests deeper than {MAX_NESTING} brackets.")));
                }
            }
            b'}' | b']' | b')' => open = open.saturating_sub(1),
            b'"' => {
                at = end_of_string(text, start).ok_or_else(|| {
                    codes::bad_input("Syntax error: a string has no end.", None, Some(position(query, start)))
                })?;
            }
            b'#' => {
                tokens -= 1;
                at += text[at..].iter().take_while(|byte| !matches!(byte, b'\n' | b'\r')).count();
            }
            b' ' | b',' | b'\t' | b'\n' | b'\r' => tokens -= 1,
            _ => at += text[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count(),
        }
        if tokens > MAX_TOKENS {
            return Err(codes::limit(format!("The document has more than {MAX_TOKENS} tokens.")));
        }
    }
    Ok(())
}

/// Where the text goes on after the string that starts at `start`, if it has an end.
fn end_of_string(text: &[u8], start: usize) -> Option<usize> {
    let is_block = text[start..].starts_with(br#"""""#);
    let mut at = start + if is_block { 3 } else { 1 };
    loop {
        let rest = text.get(at..)?;
        at += match (is_block, rest) {
            (true, [b'"', b'"', b'"', ..]) => return Some(at + 3),
            (true, [b'\\', b'"', b'"', b'"', ..]) => 4,
            (false, [b'"', ..]) => return Some(at + 1),
            (false, [b'\\', ..]) => 2,
            (false, [b'\n' | b'\r', ..]) | (_, []) => return None,
            _ => 1,
        };
    }
}

fn position(query: &str, at: usize) -> Pos {
    let before = &query[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Pos { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_holds() {
        for (within, beyond) in [
            ("[".repeat(MAX_NESTING), "[".repeat(MAX_NESTING + 1)),
            ("a ".repeat(MAX_TOKENS), "a ".repeat(MAX_TOKENS + 1)),
        ] {
            assert_eq!(check(&within), Ok(()), "{within:.100}");
            assert_eq!(codes::code(&check(&beyond).expect_err(&beyond)), "LIMIT_EXCEEDED", "{beyond:.100}");
        }
    }

    #[test]
    fn a_text_that_would_exhaust_the_stack_is_not_parsed() {
        for open in ["{", "[", "(", "{a", "{a(b:[", "{a(b:{c:"] {
            let error = check(&open.repeat(100_000)).expect_err(open);
            assert_eq!(codes::code(&error), "LIMIT_EXCEEDED", "{open}");
        }
        // What looks like the inside of a string is not, if the parser reads it otherwise.
        for start in [r#"{ a(b: [""" "#, r#"{ a(b: ["\" "#, "{ a(b: [\"x\n", "{ a # {\r"] {
            assert!(check(&format!("{start}{}", "[".repeat(100_000))).is_err(), "{start}");
        }
    }

    #[test]
    fn brackets_in_strings_and_comments_do_not_count() {
        let many = "[".repeat(1000);
        for text in [
            format!(r#"{{ a(b: "{many}") }}"#),
            format!(r#"{{ a(b: "\"{many}") }}"#),
            format!(r#"{{ a(b: """{many}" \""" {many}""") }}"#),
            format!("{{ a # {many}\n }}"),
        ] {
            assert_eq!(check(&text), Ok(()), "{text:.100}");
        }
        let error = check("{\n a(b: \"x\n\") }").expect_err("it has no end");
        assert_eq!((error.locations[0].line, error.locations[0].column), (2, 7));
    }
}
