//! Chooses the functions that are counted from the start.

use std::ffi::CStr;

use tickscope_format::pattern::{self, Pattern};
use tickscope_format::snapshot::FunctionChoice;

use crate::enabled::platform::os;
use crate::enabled::runtime::settings::{AutoStart, Settings};

/// Default budget for measuring functions, as a share of the program's CPU time.
const BUDGET: f64 = 0.05;

/// Maximum budget, as a multiple of the program's own CPU time.
const MOST_BUDGET: f64 = 10.0;

const FUNCTIONS: &CStr = c"TICKSCOPE_FUNCTIONS";
const ONLY: &CStr = c"TICKSCOPE_ONLY";
const NOT: &CStr = c"TICKSCOPE_NOT";
const BUDGET_VARIABLE: &CStr = c"TICKSCOPE_BUDGET";
const RELEARN: &CStr = c"TICKSCOPE_RELEARN";

/// Returns how much measuring functions may cost, as a multiple of the program's own CPU time; `None` if there is no limit.
pub(crate) fn budget() -> Option<f64> {
    match text(BUDGET_VARIABLE) {
        Some("off") => None,
        Some(value) => Some(share(value).unwrap_or(BUDGET)),
        None => Some(BUDGET),
    }
}

/// Returns whether to forget the functions that were too expensive in earlier runs.
pub(crate) fn relearns() -> bool {
    text(RELEARN) == Some("on")
}

/// Parses a share such as `5%` or `0.05`.
fn share(value: &str) -> Option<f64> {
    let share = match value.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
        None => value.trim().parse().ok()?,
    };
    (0.0..=MOST_BUDGET).contains(&share).then_some(share)
}

/// Returns the value of a variable; `None` if it is not set, empty or not UTF-8.
fn text(name: &'static CStr) -> Option<&'static str> {
    let value = os::variable(name).and_then(|value| std::str::from_utf8(value).ok());
    value.filter(|value| !value.is_empty())
}

/// Returns a warning for each variable with an invalid value.
pub(crate) fn warnings() -> Vec<String> {
    let mut warnings = Vec::new();
    let mut warn = |name: &CStr, found: &str, allowed: &str, rest: &str| {
        let name = name.to_string_lossy();
        warnings.push(format!(
            "{name}={found} is not understood; allowed: {allowed}; {rest}"
        ));
    };
    let unused = "the variable is ignored";
    let is_known = |value: &&str| ["on", "every", "off"].contains(value);
    if let Some(value) = lossy(FUNCTIONS).filter(|value| !is_known(&value.as_str())) {
        warn(FUNCTIONS, &value, "on, every, off", unused);
    }
    if let Some(value) = lossy(RELEARN).filter(|value| !["on", "off"].contains(&value.as_str())) {
        warn(RELEARN, &value, "on, off", unused);
    }
    if let Some(value) = lossy(BUDGET_VARIABLE).filter(|value| value != "off" && share(value).is_none()) {
        let rest = format!("the budget is {}%", BUDGET * 100.0);
        warn(BUDGET_VARIABLE, &value, "0% to 1000%, off", &rest);
    }
    for name in [ONLY, NOT] {
        let Some(value) = lossy(name) else { continue };
        let bad = value.split(',').filter(|text| Pattern::new(text.trim()).is_err());
        let bad: Vec<&str> = bad.collect();
        if !bad.is_empty() {
            let allowed = format!(
                "1 to {} bytes like parse, book::insert or alloc::*, with commas between them",
                pattern::BYTES_MAX
            );
            let rest = format!("\"{}\" is left out", bad.join("\", \""));
            warn(name, &value, &allowed, &rest);
        }
    }
    warnings
}

/// Returns the value of a variable for use in a message; `None` if it is not set or empty.
fn lossy(name: &'static CStr) -> Option<String> {
    let value = os::variable(name).map(|value| String::from_utf8_lossy(value).into_owned());
    value.filter(|value| !value.is_empty())
}

/// Returns whether `TICKSCOPE_FUNCTIONS` requests that functions be measured.
pub(crate) fn is_asked_for() -> bool {
    matches!(os::variable(FUNCTIONS), Some(b"on" | b"every"))
}

/// Returns the environment's choice of functions to count; `None` if no functions are to be counted.
pub(crate) fn of_environment() -> Option<FunctionChoice> {
    let asked = os::variable(FUNCTIONS);
    let every = match asked {
        Some(b"off") => return None,
        Some(b"every") => true,
        Some(b"on") => false,
        // Without `TICKSCOPE_FUNCTIONS`, functions are counted only if the environment starts a session or a report.
        Some(_) | None => {
            Settings::auto_start()?;
            false
        }
    };
    if Settings::auto_start() == Some(AutoStart::Off) {
        return None;
    }
    Some(FunctionChoice {
        every,
        only: patterns(ONLY),
        not: patterns(NOT),
    })
}

/// Parses a list of patterns separated by commas. Invalid patterns are left out.
fn patterns(name: &'static CStr) -> Vec<String> {
    let parts = text(name).unwrap_or("").split(',').map(str::trim);
    let patterns = parts.filter(|text| Pattern::new(text).is_ok());
    patterns.map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_share_or_a_percentage() {
        assert_eq!(share("5%"), Some(0.05));
        assert_eq!(share(" 2.5 %"), Some(0.025));
        assert_eq!(share("0.1"), Some(0.1));
        assert_eq!(share("1000%"), Some(10.0));
        assert_eq!(share("1001%").or(share("-1")).or(share("much")), None);
    }
}
