//! Lists of patterns that decide how a site is treated. A thread reads them without a lock, at the first scope of the site.
//!
//! Each list is protected by a sequence lock. A reader that finds a list in the middle of a change leaves the decision to the
//! writer, which checks all known sites after each change.

use tickscope_format::pattern::{BYTES_MAX, Pattern};

use crate::enabled::platform::sync::{AtomicU64, Ordering, fence};
use crate::enabled::record::arena::zeroed;

const WORDS: usize = BYTES_MAX / size_of::<u64>();

zeroed! {
    /// A list of at most `N` patterns. Each pattern has a decision, which is represented by a number.
    #[derive(Debug)]
    pub(crate) struct Choices<const N: usize> {
        /// Odd while the list is being changed.
        version: AtomicU64,
        count: AtomicU64,
        choices: [Choice; N],
    }
}

zeroed! {
    #[derive(Debug)]
    struct Choice {
        decides: AtomicU64,
        length: AtomicU64,
        pattern: [AtomicU64; WORDS],
    }
}

impl<const N: usize> Choices<N> {
    /// Replaces the list. The caller must hold the capture lock, and must check all known sites afterwards.
    pub(crate) fn set(&self, patterns: impl Iterator<Item = (Pattern, u64)>) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        // SYNC POINT: the version becomes odd before the list changes (pairs with the fence in `decide`).
        fence(Ordering::Release);
        let mut count = 0;
        for (choice, (pattern, decides)) in self.choices.iter().zip(patterns) {
            let text = pattern.as_str().as_bytes();
            for (word, bytes) in choice.pattern.iter().zip(text.chunks(size_of::<u64>())) {
                let mut whole = [0; size_of::<u64>()];
                whole[..bytes.len()].copy_from_slice(bytes);
                word.store(u64::from_ne_bytes(whole), Ordering::Relaxed);
            }
            choice.length.store(text.len() as u64, Ordering::Relaxed);
            choice.decides.store(decides, Ordering::Relaxed);
            count += 1;
        }
        self.count.store(count, Ordering::Relaxed);
        self.version.store(version + 2, Ordering::Release);
        // SYNC POINT: the list is changed before all known sites are checked (pairs with the fence in `decide`).
        fence(Ordering::SeqCst);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Calls `apply` with the decision of the last pattern that matches `path`, if there is one. If the list changes in the
    /// meantime, calls `apply` again with the new decision, or with `None` if no pattern matches any more. The site of `path`
    /// must already be in the list of known sites.
    pub(crate) fn decide(&self, path: &str, apply: impl Fn(Option<u64>)) {
        let mut was_applied = false;
        loop {
            let version = self.version.load(Ordering::Acquire);
            if version % 2 == 1 {
                return;
            }
            let count = (self.count.load(Ordering::Relaxed) as usize).min(N);
            let mut choices = self.choices[..count].iter().rev();
            let last = choices.find(|choice| choice.matches(path));
            let decides = last.map(|choice| choice.decides.load(Ordering::Relaxed));
            // SYNC POINT: the list is read before its version is read again.
            fence(Ordering::Acquire);
            if self.version.load(Ordering::Relaxed) != version {
                continue;
            }
            if decides.is_some() || was_applied {
                apply(decides);
            }
            was_applied = decides.is_some();
            // SYNC POINT: the decision is applied before the version is read once more (pairs with the fence in `set`).
            fence(Ordering::SeqCst);
            if self.version.load(Ordering::Relaxed) == version {
                return;
            }
        }
    }
}

impl Choice {
    fn matches(&self, path: &str) -> bool {
        let mut bytes = [0; BYTES_MAX];
        for (to, word) in bytes.chunks_mut(size_of::<u64>()).zip(&self.pattern) {
            to.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
        }
        let length = (self.length.load(Ordering::Relaxed) as usize).min(BYTES_MAX);
        // A torn read may result in text that is not UTF-8. The check of the version in `decide` catches all other torn reads.
        std::str::from_utf8(&bytes[..length]).is_ok_and(|text| Pattern::text_covers(text, path))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::enabled::record::arena::zeros;

    #[test]
    fn the_last_pattern_that_matches_decides() {
        static CHOICES: Choices<3> = zeros();
        let decided = |path| {
            let decided = Cell::new(None);
            CHOICES.decide(path, |decides| decided.set(decides));
            decided.get()
        };
        assert!(CHOICES.is_empty() && decided("book::insert").is_none());
        let patterns = [("book", 1), ("insert", 2), ("*::remove", 3)];
        CHOICES.set(
            patterns
                .into_iter()
                .map(|(text, decides)| (Pattern::new(text).unwrap(), decides)),
        );
        for (path, decides) in [
            ("book::insert", Some(2)),
            ("book::find", Some(1)),
            ("app::remove", Some(3)),
            ("app::find", None),
        ] {
            assert_eq!(decided(path), decides, "{path}");
        }
        CHOICES.set(std::iter::empty());
        assert!(CHOICES.is_empty() && decided("book::insert").is_none());
    }
}
