//! Decides which functions of a program are measured by default, that is, unless a rule says otherwise.

use crate::function_table::{FunctionRef, Origin};
use crate::pattern::Pattern;
use crate::snapshot::{self, FunctionChoice};

/// Minimum code size in bytes. A smaller function is measured only on request, because most of its measured time would
/// be the cost of measuring.
pub const LEAST_BYTES: u32 = 100;

/// A [`FunctionChoice`] with its patterns parsed.
#[derive(Debug, Default)]
pub struct Chooser {
    every: bool,
    only: Vec<Pattern>,
    not: Vec<Pattern>,
}

/// Whether a function is measured, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The function is measured.
    On,
    /// The function is smaller than [`LEAST_BYTES`].
    Small,
    /// The function belongs to the standard library.
    Std,
    /// Only certain functions were requested, and this is not one of them.
    NotAskedFor,
    /// The function is excluded by this pattern.
    LeftOut(Pattern),
}

impl Chooser {
    /// Parses the patterns of a choice. Invalid patterns are ignored.
    pub fn of(choice: &FunctionChoice) -> Self {
        let read = |patterns: &[String]| {
            let patterns = patterns.iter().map(|text| Pattern::new(text));
            patterns.filter_map(Result::ok).collect()
        };
        Self {
            every: choice.every,
            only: read(&choice.only),
            not: read(&choice.not),
        }
    }

    /// Decides whether a function is measured.
    pub fn look(&self, function: &FunctionRef<'_>) -> Chosen {
        let by_itself = if self.every {
            Chosen::On
        } else if function.origin == Origin::Std {
            Chosen::Std
        } else if function.size < LEAST_BYTES {
            Chosen::Small
        } else {
            Chosen::On
        };
        if self.only.is_empty() && self.not.is_empty() {
            return by_itself;
        }
        let site = snapshot::Site {
            name: function.name.into(),
            module: function.module.into(),
            ..snapshot::Site::default()
        };
        let first = |patterns: &[Pattern]| patterns.iter().copied().find(|pattern| pattern.matches(&site));
        let chosen = if self.only.is_empty() {
            by_itself
        } else if first(&self.only).is_some() {
            Chosen::On
        } else {
            Chosen::NotAskedFor
        };
        match first(&self.not) {
            Some(pattern) if chosen == Chosen::On => Chosen::LeftOut(pattern),
            Some(_) | None => chosen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(path: &'static str, origin: Origin, size: u32) -> FunctionRef<'static> {
        let (module, name) = path.rsplit_once("::").unwrap();
        FunctionRef {
            name,
            module,
            file: "",
            line: 1,
            package: "",
            size,
            origin,
            poll: None,
        }
    }

    #[test]
    fn small_functions_and_those_of_std_count_only_if_asked_for() {
        let all = [
            function("app::run", Origin::Own, 500),
            function("app::small", Origin::Own, 20),
            function("regex::find", Origin::Dependency, 500),
            function("core::fmt::write", Origin::Std, 500),
        ];
        let looks = |every, only: &[&str], not: &[&str]| {
            let words = |list: &[&str]| list.iter().map(ToString::to_string).collect();
            let chooser = Chooser::of(&FunctionChoice {
                every,
                only: words(only),
                not: words(not),
            });
            all.each_ref().map(|function| chooser.look(function))
        };
        let left_out = |text| Chosen::LeftOut(Pattern::new(text).unwrap());
        use Chosen::{NotAskedFor, On, Small, Std};
        assert_eq!(looks(false, &[], &[]), [On, Small, On, Std]);
        assert_eq!(looks(true, &[], &[]), [On, On, On, On]);
        assert_eq!(looks(false, &["app"], &[]), [On, On, NotAskedFor, NotAskedFor]);
        let got = looks(false, &["app", "core"], &["small"]);
        assert_eq!(got, [On, left_out("small"), NotAskedFor, On]);
        assert_eq!(looks(false, &[], &["regex"]), [On, Small, left_out("regex"), Std]);
        let got = looks(true, &[], &["core", "app::run"]);
        assert_eq!(got, [left_out("app::run"), On, On, left_out("core")]);
    }
}
