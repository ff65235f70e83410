//! Formats the numbers of two sides, and their change with a sign and a percentage.

use tickscope_analysis::compare::diff::{Change, Presence, Quantity};
use tickscope_analysis::compare::gate::Failure;
use tickscope_analysis::measure::Dimension;

use crate::glyphs::Glyphs;
use crate::number;

/// Above this percentage, a change is written as a factor, which is easier to read.
const LAST_PERCENT: f64 = 1_000.0;

/// How numbers are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) ascii: bool,
    /// Unit of self and total values.
    pub(super) dimension: Dimension,
}

impl Numbers {
    /// Returns a value of one side as text.
    pub(super) fn value(self, what: Quantity, value: f64) -> String {
        match what {
            Quantity::Calls => count(value),
            Quantity::Total | Quantity::SelfTime => match self.dimension {
                Dimension::Time => self.duration(value),
                Dimension::Count => count(value),
                Dimension::Bytes => count(value) + "B",
            },
            Quantity::P99 | Quantity::Max => self.duration(value),
            Quantity::Sum => format!("{} {}", Glyphs::of(self.ascii).sum, count(value)),
        }
    }

    fn duration(self, ns: f64) -> String {
        let text = if ns < 100.0 && ns.fract() != 0.0 {
            format!("{}ns", three_digits(ns))
        } else {
            number::duration(ns.round() as u64)
        };
        number::in_charset(text, self.ascii)
    }

    /// Returns the values before and after as text. Estimates and bounds are marked with a sign, such as `~`.
    pub(super) fn sides(self, change: &Change, what: Quantity) -> [String; 2] {
        if has_none(change, what) {
            return ["-", "-"].map(str::to_string);
        }
        let tilde = |is_rough: bool| if is_rough { "~" } else { "" };
        let sign = match what {
            Quantity::Calls => tilde(!change.calls_exact),
            Quantity::Total => tilde(change.is_rough[1]),
            Quantity::SelfTime => tilde(change.is_rough[0]),
            Quantity::P99 => tilde(change.is_p99_rough),
            // Reports on a single snapshot use the same signs.
            Quantity::Max if change.is_max_least => ">=",
            Quantity::Max if change.is_max_most => "<=",
            Quantity::Max | Quantity::Sum => "",
        };
        [&change.before, &change.after].map(|side| {
            if what.is_latency() && side.latency(what).is_none() {
                return "-".into();
            }
            format!("{sign}{}", self.value(what, side.get(what)))
        })
    }

    /// Returns the change of a value as text.
    pub(super) fn change(self, change: &Change, what: Quantity) -> String {
        if has_none(change, what) {
            return "-".into();
        }
        match change.presence {
            Presence::New => "new".into(),
            Presence::Gone => "gone".into(),
            Presence::Both => self.growth(change.before.get(what), change.after.get(what)),
        }
    }

    fn growth(self, before: f64, after: f64) -> String {
        if before == after {
            return "=".into();
        }
        if before == 0.0 {
            return "from 0".into();
        }
        let percent = (after - before) / before * 100.0;
        let sign = if percent > 0.0 { '+' } else { '-' };
        match percent.abs() {
            tiny if tiny < 0.01 => format!("{sign}<0.01%"),
            small if small < 1.0 => format!("{sign}{small:.2}%"),
            middle if middle < 100.0 => format!("{sign}{middle:.1}%"),
            large if large < LAST_PERCENT => format!("{sign}{large:.0}%"),
            _ => format!("{}{}", if self.ascii { 'x' } else { '×' }, count(after / before)),
        }
    }

    pub(super) fn arrow(self) -> &'static str {
        if self.ascii { "->" } else { "→" }
    }

    /// Returns the part of a failure's text that follows the name.
    pub(super) fn failure(self, what: Quantity, failure: &Failure) -> String {
        let (before, after) = (failure.before, failure.after);
        let unit = match what {
            Quantity::Calls => " calls",
            Quantity::Total => " total",
            Quantity::SelfTime => " self",
            Quantity::P99 => " p99",
            Quantity::Max => " max",
            Quantity::Sum => " in sum",
        };
        let chance = failure
            .chance
            .map(|chance| format!(", p = {}", three_digits(chance)));
        let chance = chance.unwrap_or_default();
        let (then, now) = (self.value(what, before), self.value(what, after));
        format!(
            " {then} {} {now}{unit} ({}{chance})",
            self.arrow(),
            self.growth(before, after)
        )
    }
}

/// Returns whether a row does not have this value. Counters have no self time, gauges have no sum, and latencies may be unknown
/// even on a side that has the row.
fn has_none(change: &Change, what: Quantity) -> bool {
    match what {
        Quantity::SelfTime => change.is_counter,
        Quantity::Sum => change.is_gauge,
        Quantity::P99 | Quantity::Max => match change.presence {
            Presence::Both => !change.has_latencies(),
            Presence::New => change.after.latency(what).is_none(),
            Presence::Gone => change.before.latency(what).is_none(),
        },
        Quantity::Calls | Quantity::Total => false,
    }
}

/// Returns a count, or a count per call of a scope, as text.
fn count(value: f64) -> String {
    if value >= 999.5 || value.fract() == 0.0 {
        number::count(value.round() as u64)
    } else {
        three_digits(value)
    }
}

/// Returns a number below 1000 with three digits, or with as many as it needs to differ from 0.
pub(super) fn three_digits(value: f64) -> String {
    match value {
        tiny if tiny < 0.000_5 => format!("{tiny:.1e}"),
        small if small < 0.1 => format!("{small:.3}"),
        one if one < 9.995 => format!("{one:.2}"),
        ten if ten < 99.95 => format!("{ten:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign_and_never_look_like_none() {
        let numbers = Numbers {
            ascii: false,
            dimension: Dimension::Time,
        };
        for (before, after, text) in [
            (3.0, 3.0, "="),
            (0.0, 3.0, "from 0"),
            (3.0, 0.0, "-100%"),
            (1e6, 1_000_001.0, "+<0.01%"),
            (1_000.0, 999.0, "-0.10%"),
            (100.0, 112.3, "+12.3%"),
            (1.0, 3.5, "+250%"),
            (1.0, 61.0, "×61"),
            (2.0, 61.0, "×30.5"),
            (1.0, 12_345.0, "×12.3k"),
        ] {
            assert_eq!(numbers.growth(before, after), text, "{before} {after}");
        }
    }

    #[test]
    fn quotients_keep_three_digits() {
        let numbers = Numbers {
            ascii: true,
            dimension: Dimension::Time,
        };
        for (value, text) in [
            (0.0, "0"),
            (3.0, "3"),
            (1_234.4, "1.23k"),
            (8.912, "8.91"),
            (0.05, "0.050"),
            (0.000_01, "1.0e-5"),
            (99.97, "100"),
        ] {
            assert_eq!(numbers.value(Quantity::Calls, value), text);
        }
        for (ns, text) in [(0.0, "0ns"), (7.25, "7.25ns"), (1_500.4, "1.50us")] {
            assert_eq!(numbers.value(Quantity::Total, ns), text);
        }
    }
}
