//! Patterns that select sites: `parse`, `book::insert`, `alloc::*`.

use std::fmt;

use crate::error::{FormatError, damaged};
use crate::path::{has_noise, plain_parts};
use crate::snapshot::Site;

/// Maximum length of a pattern in bytes, so that it fits into a request.
pub const BYTES_MAX: usize = 96;

// Matching needs one bit for each byte of the pattern, and one more for the pattern's end.
const _: () = assert!(BYTES_MAX < u128::BITS as usize);

/// Selects sites by their path, `module::name`. A pattern selects a site if it matches one or more adjacent whole parts
/// of the path: `insert` selects every function with that name, `book` selects everything in modules with that name,
/// and `book::insert` selects the function `insert` in the module `book`. A pattern may match the parts of the path
/// itself or of its plain form (see [`plain_parts`]), so `Map::insert` also selects `Map<u8>::insert`. A `*` matches
/// any text, including `::`. Control characters may be written as escapes (`\n`, `\u{1b}`), which is how screens and
/// reports show them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    bytes: [u8; BYTES_MAX],
    length: u8,
}

impl Pattern {
    /// Checks a pattern.
    ///
    /// # Errors
    /// [`FormatError::Damaged`] if it is empty, longer than [`BYTES_MAX`], or contains control characters.
    pub fn new(text: &str) -> Result<Self, FormatError> {
        let bad = |found: String| {
            let wanted = format!("1 to {BYTES_MAX} bytes such as parse, book::insert or alloc::*");
            damaged("pattern", None, found, wanted)
        };
        if text.is_empty() || text.len() > BYTES_MAX {
            return Err(bad(format!("{} bytes", text.len())));
        }
        if text.chars().any(char::is_control) {
            return Err(bad("control characters".into()));
        }
        let mut bytes = [0; BYTES_MAX];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self {
            bytes,
            length: text.len() as u8,
        })
    }

    /// Returns `*`, which selects all sites.
    pub const fn all() -> Self {
        let mut bytes = [0; BYTES_MAX];
        bytes[0] = b'*';
        Self { bytes, length: 1 }
    }

    /// Parses a pattern that was typed, or copied from a screen or a report. `…` and `...`, which mark a shortened
    /// name, match any text. If the pattern is longer than [`BYTES_MAX`] bytes, a `*` replaces its middle.
    ///
    /// # Errors
    /// [`FormatError::Damaged`] if it is empty or contains control characters.
    pub fn typed(text: &str) -> Result<Self, FormatError> {
        if text.contains(char::is_control) {
            return Self::new(text);
        }
        let text = text.replace('…', "*").replace("...", "*");
        Self::new(&fitting(text.chars().map(String::from).collect()))
    }

    /// Returns a pattern that selects the functions with this path, or `None` if the path is empty. If the path is too
    /// long for a pattern, a `*` replaces its middle.
    pub fn of_path(path: &str) -> Option<Self> {
        let has_control = path.contains(char::is_control);
        let written = |c: char| match c {
            '\\' if has_control => c.escape_default().to_string(),
            c if c.is_control() => c.escape_default().to_string(),
            c => c.to_string(),
        };
        Self::new(&fitting(path.chars().map(written).collect())).ok()
    }

    /// Returns the pattern as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or("")
    }

    /// Returns whether the pattern selects this site.
    pub fn matches(&self, site: &Site) -> bool {
        self.selects(&site.path(), Reach::AnyParts)
    }

    /// Returns whether the pattern names the function with this path, which means that it matches the last parts of the
    /// path.
    pub fn names(&self, path: &str) -> bool {
        self.selects(path, Reach::LastParts)
    }

    fn selects(&self, path: &str, reach: Reach) -> bool {
        let text = self.as_str();
        covers(text, path, reach) || text.contains('\\') && covers(&unescaped(text), path, reach)
    }

    /// Returns whether the pattern `text` selects the site with this path. Unlike [`Self::matches`], this function does
    /// not allocate and uses little stack, but it is slower and does not decode escapes. A text longer than
    /// [`BYTES_MAX`] bytes selects nothing.
    pub fn text_covers(text: &str, path: &str) -> bool {
        let pattern = text.as_bytes();
        let places = |wanted: u8| {
            let found = pattern.iter().enumerate().filter(|(_, byte)| **byte == wanted);
            found.fold(0, |places, (place, _)| places | 1 << place)
        };
        pattern.len() <= BYTES_MAX && covers_either(pattern, path, Reach::AnyParts, places)
    }
}

/// The parts of a path that a pattern may match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Any adjacent parts.
    AnyParts,
    /// The last parts.
    LastParts,
}

/// Concatenates the pieces. If the result is too long for a pattern, a `*` replaces its middle.
fn fitting(pieces: Vec<String>) -> String {
    let whole = pieces.concat();
    if whole.len() <= BYTES_MAX {
        return whole;
    }
    let half = (BYTES_MAX - 1) / 2;
    let fit = |taken: &mut usize, piece: &&String| {
        *taken += piece.len();
        (*taken <= half).then(|| piece.to_string())
    };
    let start: String = pieces.iter().scan(0, |taken, piece| fit(taken, &piece)).collect();
    let ends = pieces.iter().rev();
    let end: Vec<String> = ends.scan(0, |taken, piece| fit(taken, &piece)).collect();
    let end: String = end.into_iter().rev().collect();
    format!("{start}*{end}")
}

/// Returns whether a pattern matches whole parts of a path. Does not decode escapes.
fn covers(pattern: &str, path: &str, reach: Reach) -> bool {
    let mut places = [0u128; 256];
    for (place, byte) in pattern.bytes().enumerate() {
        places[usize::from(byte)] |= 1 << place;
    }
    covers_either(pattern.as_bytes(), path, reach, |byte| places[usize::from(byte)])
}

/// Returns whether a pattern matches whole parts of a path, either of the path itself or of its plain form.
fn covers_either(pattern: &[u8], path: &str, reach: Reach, places: impl Fn(u8) -> u128) -> bool {
    covers_parts(pattern, path.split("::"), reach, &places)
        || has_noise(path) && covers_parts(pattern, plain_parts(path), reach, &places)
}

/// Returns the text with the escapes `\n`, `\r`, `\t`, `\\` and `\u{…}` replaced by their characters.
pub fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let (c, length) = match after.as_bytes().first() {
            Some(b'n') => ('\n', 1),
            Some(b'r') => ('\r', 1),
            Some(b't') => ('\t', 1),
            Some(b'\\') => ('\\', 1),
            // This is not an escape. The backslash may be part of the name.
            _ => by_number(after).unwrap_or(('\\', 0)),
        };
        out.push(c);
        rest = &after[length..];
    }
    out + rest
}

/// Decodes an escape such as `u{1b}`, given without its backslash. Returns the character, and the length of the escape
/// in bytes.
fn by_number(escape: &str) -> Option<(char, usize)> {
    let (number, _) = escape.strip_prefix("u{")?.split_once('}')?;
    let c = char::from_u32(u32::from_str_radix(number, 16).ok()?)?;
    Some((c, "u{}".len() + number.len()))
}

/// Returns whether a pattern, in which `*` matches any text, matches whole parts of a path. A single pass over the path
/// tries all sequences of parts at once. This keeps matching fast for every pattern, which matters because any process
/// that may send requests can choose one. `places` returns the positions of a byte in the pattern, with one bit set for
/// each.
fn covers_parts(
    pattern: &[u8],
    parts: impl Iterator<Item: AsRef<[u8]>>,
    reach: Reach,
    places: impl Fn(u8) -> u128,
) -> bool {
    let all_stars = pattern.iter().enumerate().filter(|(_, byte)| **byte == b'*');
    let stars = all_stars.fold(0u128, |stars, (place, _)| stars | 1 << place);
    let whole = 1u128 << pattern.len();
    // A star may match empty text. The carry of the addition passes through adjacent stars.
    let past_stars = |covered: u128| covered | ((covered & stars) + stars) ^ stars;
    let behind =
        |covered: u128, byte: u8| past_stars((covered & places(byte) & !stars) << 1 | covered & stars);
    // Bit n is set if the first n bytes of the pattern match the text from the beginning of some part up to the current
    // byte.
    let mut covered = 0u128;
    for (number, part) in parts.enumerate() {
        if number > 0 {
            covered = behind(behind(covered, b':'), b':');
        }
        let part = part.as_ref().iter().copied();
        covered = part.fold(past_stars(covered | 1), &behind);
        if reach == Reach::AnyParts && covered & whole != 0 {
            return true;
        }
    }
    covered & whole != 0
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_match_as_they_are_shown() {
        for name in [
            "a\u{1b}[2Jb",
            "a\nb",
            "tab\there",
            "back\\slash",
            "a\\nb",
            "\\u{zz}",
            "back\\and\n",
            "gr\u{f6}\u{202e}",
        ] {
            let site = Site {
                name: name.into(),
                ..Site::default()
            };
            let shown: String = name
                .chars()
                .flat_map(|c| {
                    match c.is_control() || c == '\u{202e}' {
                        true => c.escape_default().to_string(),
                        false => c.to_string(),
                    }
                    .chars()
                    .collect::<Vec<_>>()
                })
                .collect();
            assert!(Pattern::new(&shown).unwrap().matches(&site), "{shown}");
            let ascii: String = name.chars().flat_map(char::escape_default).collect();
            assert!(Pattern::new(&ascii).unwrap().matches(&site), "{ascii}");
            assert!(Pattern::of_path(name).unwrap().matches(&site), "{name:?}");
            let other = Site {
                name: "other".into(),
                ..Site::default()
            };
            assert!(!Pattern::of_path(name).unwrap().matches(&other), "{name:?}");
        }
    }

    #[test]
    fn whole_parts_match_and_stars_take_anything() {
        let site = Site {
            name: "Slab::get".into(),
            module: "app::alloc".into(),
            ..Site::default()
        };
        for (pattern, hit) in [
            ("get", true),
            ("Slab::get", true),
            ("alloc", true),
            ("alloc::*", true),
            ("app", true),
            ("app::alloc::Slab::get", true),
            ("*", true),
            ("g*t", true),
            ("app::*get", true),
            ("ge", false),
            ("lloc", false),
            ("get::*", false),
            ("app::get", false),
        ] {
            assert_eq!(Pattern::new(pattern).unwrap().matches(&site), hit, "{pattern}");
        }
    }

    #[test]
    fn names_match_with_their_arguments_and_without() {
        let path = "<app::Map<u8, V> as app::Store>::insert_with::<app::Entry, f::{closure#0}>::{closure#1}";
        for name in [
            path,
            "Map::insert_with::{closure}",
            "Map::insert_with",
            "insert_with",
            "insert_with::<…>::{closure#1}",
            "insert_with::<...::{closure#0}>::{closure#1}",
            "Map*::{closure}",
        ] {
            let pattern = Pattern::typed(name).unwrap();
            assert!(Pattern::text_covers(pattern.as_str(), path), "{name}");
            let is_end = name.ends_with('}');
            assert_eq!(pattern.names(path), is_end, "{name}");
        }
        for other in ["Map::insert", "Map", "Store::insert_with", "insert_with::<u8>"] {
            assert!(!Pattern::typed(other).unwrap().names(path), "{other}");
        }
        assert!(Pattern::typed(&"x".repeat(300)).unwrap().names(&"x".repeat(300)));
        // A `…` in a path matches only itself, so a pattern made from this path selects no other path.
        let cut = Pattern::of_path("drop::<…>").unwrap();
        assert!(cut.names("drop::<…>") && !cut.names("drop::<u8>"));
    }

    #[test]
    fn bad_patterns_say_what_is_wanted() {
        for bad in ["", "a\nb", &"x".repeat(97)] {
            let error = Pattern::new(bad).unwrap_err().to_string();
            assert!(error.contains("1 to 96 bytes"), "{error}");
        }
        assert_eq!(Pattern::new(&"x".repeat(96)).unwrap().as_str().len(), 96);
    }

    /// Returns whether a pattern with `*` matches a whole text. On a mismatch, the last star takes one more byte.
    fn glob(pattern: &[u8], text: &[u8]) -> bool {
        let (mut p, mut t) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while t < text.len() {
            if pattern.get(p) == Some(&b'*') {
                star = Some((p, t));
                p += 1;
            } else if pattern.get(p) == Some(&text[t]) {
                p += 1;
                t += 1;
            } else if let Some((at, taken)) = star {
                star = Some((at, taken + 1));
                p = at + 1;
                t = taken + 1;
            } else {
                return false;
            }
        }
        pattern[p..].iter().all(|&byte| byte == b'*')
    }

    /// Computes the expected result of `covers_parts`, by matching each run of whole parts separately.
    fn covers_one_after_another(pattern: &[u8], path: &str) -> bool {
        let breaks = || path.match_indices("::").map(|(at, _)| at);
        let mut begins = std::iter::once(0).chain(breaks().map(|at| at + 2));
        begins.any(|begin| {
            let mut ends = breaks().chain([path.len()]).filter(|&end| begin <= end);
            ends.any(|end| glob(pattern, &path.as_bytes()[begin..end]))
        })
    }

    #[test]
    fn the_longest_pattern_has_room_for_its_end() {
        let path = "x".repeat(BYTES_MAX);
        assert!(Pattern::text_covers(&path, &path));
        assert!(Pattern::text_covers(&"*".repeat(BYTES_MAX), &path));
        assert!(!Pattern::text_covers(&path, &path[1..]));
    }

    proptest! {
        #[test]
        fn all_runs_at_once_are_each_by_itself(pattern in "[ab*:]{1,12}", path in "[ab:]{0,16}") {
            prop_assert_eq!(
                Pattern::text_covers(&pattern, &path),
                covers_one_after_another(pattern.as_bytes(), &path)
            );
            let site = Site { name: path.clone(), ..Site::default() };
            prop_assert_eq!(
                Pattern::new(&pattern).unwrap().matches(&site),
                Pattern::text_covers(&pattern, &path)
            );
        }
    }
}
