//! Which functions count from the beginning.

use tickscope_format::function_table::{FunctionRef, Origin};
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot;

use crate::enabled::platform::os;
use crate::enabled::runtime::settings::{AutoStart, Settings};

/// Smaller functions do not count unless they are asked for: most of what is measured of them is the measuring.
const LEAST_BYTES: u32 = 100;

/// How much of the program's CPU time measuring functions may take, if nothing else is asked for.
const BUDGET: f64 = 0.05;

/// Returns how much of the program's CPU time measuring functions may take, from 0 to 1; `None` if there is no limit.
pub(crate) fn budget() -> Option<f64> {
    let value = os::variable(c"TICKSCOPE_BUDGET").and_then(|value| std::str::from_utf8(value).ok());
    match value {
        Some("off") => None,
        Some(value) => Some(share(value).unwrap_or(BUDGET)),
        None => Some(BUDGET),
    }
}

/// Reads `5%` or `0.05`.
fn share(value: &str) -> Option<f64> {
    let share = match value.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
        None => value.trim().parse().ok()?,
    };
    (0.0..=1.0).contains(&share).then_some(share)
}

/// Which functions count.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    /// All that have sleds.
    every: bool,
    only: Vec<Pattern>,
    not: Vec<Pattern>,
}

impl Choice {
    /// Returns what the environment asks for; `None` if no function is to count.
    pub(crate) fn of_environment() -> Option<Self> {
        let asked = os::variable(c"TICKSCOPE_FUNCTIONS");
        let every = match asked {
            Some(b"off") => return None,
            Some(b"every") => true,
            Some(b"on") => false,
            // By itself a program measures nothing.
            Some(_) | None => {
                Settings::auto_start()?;
                false
            }
        };
        if Settings::auto_start() == Some(AutoStart::Off) {
            return None;
        }
        Some(Self {
            every,
            only: patterns(os::variable(c"TICKSCOPE_ONLY")),
            not: patterns(os::variable(c"TICKSCOPE_NOT")),
        })
    }

    /// Returns whether a function counts.
    pub(crate) fn has(&self, function: &FunctionRef<'_>) -> bool {
        let is_usual = function.origin != Origin::Std && function.size >= LEAST_BYTES;
        if self.only.is_empty() && self.not.is_empty() {
            return self.every || is_usual;
        }
        let site = snapshot::Site {
            name: function.name.into(),
            module: function.module.into(),
            ..snapshot::Site::default()
        };
        let any = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(&site));
        let is_in = if self.only.is_empty() {
            self.every || is_usual
        } else {
            any(&self.only)
        };
        is_in && !any(&self.not)
    }
}

/// Reads patterns that commas separate. What is no pattern is left out.
fn patterns(value: Option<&[u8]>) -> Vec<Pattern> {
    let text = value
        .and_then(|value| std::str::from_utf8(value).ok())
        .unwrap_or("");
    text.split(',')
        .filter_map(|text| Pattern::new(text.trim()).ok())
        .collect()
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
    fn a_budget_is_a_share_or_a_percentage() {
        assert_eq!(share("5%"), Some(0.05));
        assert_eq!(share(" 2.5 %"), Some(0.025));
        assert_eq!(share("0.1"), Some(0.1));
        assert_eq!(share("120%").or(share("-1")).or(share("much")), None);
    }

    #[test]
    fn small_functions_and_those_of_std_count_only_if_asked_for() {
        let all = [
            function("app::run", Origin::Own, 500),
            function("app::small", Origin::Own, 20),
            function("regex::find", Origin::Dependency, 500),
            function("core::fmt::write", Origin::Std, 500),
        ];
        let chosen = |every, only: &str, not: &str| -> Vec<&str> {
            let choice = Choice {
                every,
                only: patterns(Some(only.as_bytes())),
                not: patterns(Some(not.as_bytes())),
            };
            let names = all.iter().filter(|function| choice.has(function));
            names.map(|function| function.name).collect()
        };
        assert_eq!(chosen(false, "", ""), ["run", "find"]);
        assert_eq!(chosen(true, "", ""), ["run", "small", "find", "write"]);
        assert_eq!(chosen(false, "app", ""), ["run", "small"]);
        assert_eq!(chosen(false, "app, core", "small"), ["run", "write"]);
        assert_eq!(chosen(false, "", "regex"), ["run"]);
        assert_eq!(chosen(true, "", "core,app::run"), ["small", "find"]);
    }
}
