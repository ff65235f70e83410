//! Patterns that select sites: `parse`, `book::insert`, `alloc::*`.

use std::fmt;

use crate::error::FormatError;
use crate::snapshot::Site;

/// The longest pattern in bytes that fits into a request.
pub const BYTES_MAX: usize = 96;

// Matching has a bit for each place in a pattern, and one for its end.
const _: () = assert!(BYTES_MAX < u128::BITS as usize);

/// Selects sites by their path, `module::name`. A pattern matches any sequence of whole parts of the path: `insert`
/// selects every function of that name, `book` everything in modules of that name, `book::insert` the function in the
/// module. A `*` matches any text, including `::`. Characters may be written as escapes (`\n`, `\u{1b}`), as screens and reports show
/// control characters.
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
        let bad = |found: String| FormatError::Damaged {
            what: "pattern",
            offset: 0,
            found,
            wanted: format!("1 to {BYTES_MAX} bytes such as parse, book::insert or alloc::*"),
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

    /// Returns a pattern that selects what has this path, or none of an empty path. Names of functions may be long: the middle of what is
    /// too long becomes a star.
    pub fn of_path(path: &str) -> Option<Self> {
        let has_control = path.contains(char::is_control);
        let written = |c: char| match c {
            '\\' if has_control => c.escape_default().to_string(),
            c if c.is_control() => c.escape_default().to_string(),
            c => c.to_string(),
        };
        let parts: Vec<String> = path.chars().map(written).collect();
        let whole = parts.concat();
        if whole.len() <= BYTES_MAX {
            return Self::new(&whole).ok();
        }
        let half = (BYTES_MAX - 1) / 2;
        let fit = |taken: &mut usize, part: &&String| {
            *taken += part.len();
            (*taken <= half).then(|| part.to_string())
        };
        let start: String = parts.iter().scan(0, |taken, part| fit(taken, &part)).collect();
        let end: Vec<String> = parts
            .iter()
            .rev()
            .scan(0, |taken, part| fit(taken, &part))
            .collect();
        let end: String = end.into_iter().rev().collect();
        Self::new(&format!("{start}*{end}")).ok()
    }

    /// Returns the pattern as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or("")
    }

    /// Whether the pattern selects this site.
    pub fn matches(&self, site: &Site) -> bool {
        let (text, path) = (self.as_str(), site.path());
        covers(text, &path) || text.contains('\\') && covers(&unescaped(text), &path)
    }

    /// Whether the pattern `text` selects the site with this path, without allocating, with little stack, and slower than
    /// [`Self::matches`]. Escapes stand for themselves. A text that is longer than [`BYTES_MAX`] selects nothing.
    pub fn text_covers(text: &str, path: &str) -> bool {
        let pattern = text.as_bytes();
        let places = |wanted: u8| {
            let found = pattern.iter().enumerate().filter(|(_, byte)| **byte == wanted);
            found.fold(0, |places, (place, _)| places | 1 << place)
        };
        pattern.len() <= BYTES_MAX && covers_parts(pattern, path, places)
    }
}

/// Whether a pattern without escapes covers any sequence of whole parts of a path.
fn covers(pattern: &str, path: &str) -> bool {
    let mut places = [0u128; 256];
    for (place, byte) in pattern.bytes().enumerate() {
        places[usize::from(byte)] |= 1 << place;
    }
    covers_parts(pattern.as_bytes(), path, |byte| places[usize::from(byte)])
}

/// The text with characters in place of their escapes, those of [`char::escape_default`].
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let (c, length) = match after.as_bytes().first() {
            Some(b'n') => ('\n', 1),
            Some(b'r') => ('\r', 1),
            Some(b't') => ('\t', 1),
            Some(b'\\') => ('\\', 1),
            // It may be the name's own.
            _ => by_number(after).unwrap_or(('\\', 0)),
        };
        out.push(c);
        rest = &after[length..];
    }
    out + rest
}

/// The character of an escape such as `u{1b}`, and how long that is.
fn by_number(escape: &str) -> Option<(char, usize)> {
    let (number, _) = escape.strip_prefix("u{")?.split_once('}')?;
    let c = char::from_u32(u32::from_str_radix(number, 16).ok()?)?;
    Some((c, "u{}".len() + number.len()))
}

/// Whether a pattern with `*` covers any sequence of whole parts of a path. One pass over the path tries all sequences
/// at once, whatever the pattern: any process that may send requests chooses it.
/// `places` gives the places of a byte in the pattern, a bit each.
fn covers_parts(pattern: &[u8], path: &str, places: impl Fn(u8) -> u128) -> bool {
    let all_stars = pattern.iter().enumerate().filter(|(_, byte)| **byte == b'*');
    let stars = all_stars.fold(0u128, |stars, (place, _)| stars | 1 << place);
    let whole = 1u128 << pattern.len();
    let mut breaks = path.match_indices("::").map(|(at, _)| at).peekable();
    let mut begin = 0;
    // Bit n: the first n bytes of the pattern cover what lies between a part's beginning and here.
    let mut covered = 0u128;
    for here in 0..=path.len() {
        covered |= u128::from(here == begin);
        // A star may stand for nothing: the sum carries through stars side by side.
        covered |= ((covered & stars) + stars) ^ stars;
        let is_end = here == path.len() || breaks.next_if_eq(&here).is_some();
        if is_end && covered & whole != 0 {
            return true;
        }
        if is_end {
            begin = here + 2;
        }
        if let Some(&byte) = path.as_bytes().get(here) {
            covered = (covered & places(byte) & !stars) << 1 | covered & stars;
        }
    }
    false
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
    fn bad_patterns_say_what_is_wanted() {
        for bad in ["", "a\nb", &"x".repeat(97)] {
            let error = Pattern::new(bad).unwrap_err().to_string();
            assert!(error.contains("1 to 96 bytes"), "{error}");
        }
        assert_eq!(Pattern::new(&"x".repeat(96)).unwrap().as_str().len(), 96);
    }

    /// Whether a pattern with `*` covers all of a text: on a mismatch the last star takes one more.
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

    /// The plain way: each run of whole parts by itself.
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

        #[test]
        fn a_star_in_place_of_any_run_still_matches(text in "[a-c]{0,12}", from in 0usize..13, to in 0usize..13) {
            let (from, to) = (from.min(text.len()), to.min(text.len()));
            let (from, to) = (from.min(to), from.max(to));
            let pattern = format!("{}*{}", &text[..from], &text[to..]);
            prop_assert!(Pattern::text_covers(&pattern, &text));
        }
    }
}
