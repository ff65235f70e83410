//! Splits a line into words the way a shell does: at whitespace that is not quoted.

use std::path::PathBuf;

/// Returns the words of a line, without their quotes. An unterminated quote extends to the end of the line. Only a
/// quote at the start of a word counts.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut inside = false;
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c.is_whitespace() => inside = false,
            None if !inside && matches!(c, '\'' | '"') => {
                quote = Some(c);
                inside = true;
                words.push(String::new());
            }
            Some(_) | None => {
                if !inside {
                    inside = true;
                    words.push(String::new());
                }
                if let Some(word) = words.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    words
}

/// Lists paths that differ only in their extensions: `./a.txt and .html`.
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
        // The extension starts at the last dot before the first difference.
        let begin = other.as_bytes()[..same].iter().rposition(|&byte| byte == b'.');
        let word = if at + 1 < others.len() { "," } else { " and" };
        words.push_str(&format!("{word} {}", &other[begin.unwrap_or(0)..]));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_words_together() {
        assert_eq!(words("  off  alloc::* "), ["off", "alloc::*"]);
        assert_eq!(words("off 'a b' \"c d\"e"), ["off", "a b", "c de"]);
        assert_eq!(words("off 'a b"), ["off", "a b"]);
        assert_eq!(words("off don't"), ["off", "don't"]);
        assert!(words("   ").is_empty());
    }
}
