//! Durations of two digits, for what is not known better.

use tickscope_format::render::number;

/// From here on minutes and hours say enough by themselves.
const LAST_NS: u64 = 299_000_000_000;

const UNITS: [(u64, &str); 4] = [(1, "ns"), (1_000, "µs"), (1_000_000, "ms"), (1_000_000_000, "s")];

/// Rounded to two digits, in at most 6 cells: `22µs`, `1.9ms`, `410ns`.
pub(crate) fn duration(ns: u64) -> String {
    let step = step(ns);
    text(ns.saturating_add(step / 2) / step * step)
}

/// Rounded up to two digits: what is at most the one is at most the other.
pub(crate) fn duration_up(ns: u64) -> String {
    let step = step(ns);
    text(ns.div_ceil(step).saturating_mul(step))
}

/// What the second digit counts.
fn step(ns: u64) -> u64 {
    10u64.pow(ns.max(1).ilog10().saturating_sub(1))
}

/// A duration that has two digits.
fn text(ns: u64) -> String {
    if ns > LAST_NS {
        return number::duration(ns);
    }
    let (unit, name) = UNITS
        .into_iter()
        .rev()
        .find(|&(unit, _)| ns >= unit)
        .unwrap_or(UNITS[0]);
    let (whole, tenth) = (ns / unit, ns % unit * 10 / unit);
    if whole < 10 && unit > 1 {
        format!("{whole}.{tenth}{name}")
    } else {
        format!("{whole}{name}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn two_digits_and_no_more() {
        for (ns, near, up) in [
            (0, "0ns", "0ns"),
            (7, "7ns", "7ns"),
            (412, "410ns", "420ns"),
            (995, "1.0µs", "1.0µs"),
            (1_840, "1.8µs", "1.9µs"),
            (22_100, "22µs", "23µs"),
            (99_499, "99µs", "100µs"),
            (1_849_999, "1.8ms", "1.9ms"),
            (134_000_000_000, "130s", "140s"),
            (561_000_000_000, "9m20s", "9m30s"),
        ] {
            assert_eq!(
                (duration(ns).as_str(), duration_up(ns).as_str()),
                (near, up),
                "{ns}"
            );
        }
    }

    proptest! {
        #[test]
        fn nothing_outgrows_six_cells(n in any::<u64>(), shift in 0u32..64) {
            for text in [duration(n >> shift), duration_up(n >> shift)] {
                prop_assert!(text.chars().count() <= 6, "{text}");
            }
        }
    }
}
