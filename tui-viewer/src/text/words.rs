//! A line in words, as a shell would cut it: at blanks, and not where quotes hold them together.

use std::path::PathBuf;

/// A word and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Its first byte in the line, the quote where it has one.
    pub(crate) start: usize,
    /// What it says, without quotes.
    pub(crate) text: String,
}

/// The words of a line. A quote that nothing closes holds all that follows.
pub(crate) fn cut(line: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut inside = false;
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c.is_whitespace() => inside = false,
            None if !inside && matches!(c, '\'' | '"') => {
                quote = Some(c);
                inside = true;
                words.push(Word {
                    start: at,
                    text: String::new(),
                });
            }
            Some(_) | None => {
                if !inside {
                    inside = true;
                    words.push(Word {
                        start: at,
                        text: String::new(),
                    });
                }
                if let Some(word) = words.last_mut() {
                    word.text.push(c);
                }
            }
        }
    }
    words
}

/// What the words of a line say.
pub(crate) fn words(line: &str) -> Vec<String> {
    cut(line).into_iter().map(|word| word.text).collect()
}

/// The word that a line ends in, to be completed: empty behind a blank.
pub(crate) fn last(line: &str) -> Word {
    let none = Word {
        start: line.len(),
        text: String::new(),
    };
    // A letter more joins the last word, or begins one of its own.
    let before = cut(line).len();
    let longer = cut(&format!("{line}x"));
    match cut(line).pop() {
        Some(word) if longer.len() == before => word,
        _ => none,
    }
}

/// A word as it must be typed to be one.
pub(crate) fn quoted(word: &str) -> String {
    if !word.contains(char::is_whitespace) && !word.starts_with(['\'', '"']) {
        word.to_string()
    } else if word.contains('\'') {
        format!("\"{word}\"")
    } else {
        format!("'{word}'")
    }
}

/// `./a.txt and .html`: files that differ in their endings only.
pub(crate) fn in_words(paths: &[PathBuf]) -> String {
    let Some((first, others)) = paths.split_first() else {
        return String::new();
    };
    let mut words = first.display().to_string();
    let name = |path: &PathBuf| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let whole = name(first);
    for (at, other) in others.iter().enumerate() {
        let other = name(other);
        let same = whole
            .bytes()
            .zip(other.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        // Endings begin with a dot, and letters before it are whole.
        let begin = other.as_bytes()[..same].iter().rposition(|&byte| byte == b'.');
        let word = if at + 1 < others.len() { "," } else { " and" };
        words.push_str(&format!("{word} {}", &other[begin.unwrap_or(0)..]));
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quotes_hold_words_together() {
        assert_eq!(words("  off  alloc::* "), ["off", "alloc::*"]);
        assert_eq!(words("off 'a b' \"c d\"e"), ["off", "a b", "c de"]);
        assert_eq!(words("off 'a b"), ["off", "a b"]);
        assert_eq!(words("off don't"), ["off", "don't"]);
        assert!(words("   ").is_empty());
    }

    #[test]
    fn the_last_word_is_the_one_being_typed() {
        let at = |line: &str| {
            let word = last(line);
            (word.start, word.text)
        };
        assert_eq!(at(""), (0, String::new()));
        assert_eq!(at("off"), (0, "off".into()));
        assert_eq!(at("off "), (4, String::new()));
        assert_eq!(at("off 'a b"), (4, "a b".into()));
    }

    proptest! {
        #[test]
        fn what_is_quoted_is_one_word(word in "[a-z<>:* ']{1,20}") {
            prop_assert_eq!(words(&format!("off {}", quoted(&word))), vec!["off".to_string(), word]);
        }
    }
}
