//! Patterns that choose sites: `parse`, `book::insert`, `alloc::*`.

use std::fmt;

use crate::error::FormatError;
use crate::snapshot::Site;

/// Longest pattern in bytes: what fits into a request.
pub const BYTES_MAX: usize = 96;

/// Chooses sites by their path, `module::name`. A pattern matches any run of whole parts of it, so `insert` is
/// every function of that name, `book` all in a module of that name, `book::insert` the one in the other. A `*`
/// stands for anything, `::` included.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    bytes: [u8; BYTES_MAX],
    length: u8,
}

// === impl Pattern ===

impl Pattern {
    /// A pattern.
    ///
    /// # Errors
    /// [`FormatError::Damaged`] where it is empty, longer than [`BYTES_MAX`], or holds control characters.
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

    /// The pattern as it was given.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or("")
    }

    /// Whether it chooses this site.
    pub fn matches(&self, site: &Site) -> bool {
        let path = match site.module.as_str() {
            "" => site.name.clone(),
            module => format!("{module}::{}", site.name),
        };
        let begins = std::iter::once(0).chain(path.match_indices("::").map(|(at, _)| at + 2));
        let ends = || path.match_indices("::").map(|(at, _)| at).chain([path.len()]);
        begins
            .flat_map(|begin| {
                ends()
                    .filter(move |&end| begin <= end)
                    .map(move |end| (begin, end))
            })
            .any(|(begin, end)| glob(self.as_str().as_bytes(), &path.as_bytes()[begin..end]))
    }
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

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn a_star_in_place_of_any_run_still_matches(text in "[a-c]{0,12}", from in 0usize..13, to in 0usize..13) {
            let (from, to) = (from.min(text.len()), to.min(text.len()));
            let (from, to) = (from.min(to), from.max(to));
            let pattern = format!("{}*{}", &text[..from], &text[to..]);
            prop_assert!(glob(pattern.as_bytes(), text.as_bytes()));
        }
    }
}
