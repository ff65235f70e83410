//! Functions that earlier runs of the same build found too expensive to measure. A run starts with these functions switched off,
//! so that its overhead is low from the first call.
//!
//! The file is named after a hash of the function table, so another build does not use it. It contains the budget, the mode
//! (because the cost of a call depends on it), and a line for each function. If any part of the file cannot be parsed, the whole
//! file is ignored.

use std::fmt::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

use tickscope_format::file::learned;
use tickscope_format::snapshot::Mode;

const FIRST_LINE: &str = "tickscope functions 4";

/// A function that was switched off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Learned {
    /// Index of the function in the function table.
    pub(crate) number: u32,
    /// Mean duration of the function's calls in nanoseconds, including all calls inside them.
    pub(crate) mean_ns: f64,
    /// Time spent measuring the function, as a fraction of the program's CPU time.
    pub(crate) cost_share: f64,
}

/// The functions that were found too expensive.
struct Memory {
    build: u64,
    /// By earlier runs of this build.
    functions: Vec<Learned>,
    /// By this run; `None` before it stores any.
    kept: Mutex<Option<Vec<Learned>>>,
}

static MEMORY: OnceLock<Memory> = OnceLock::new();

/// Reads the functions that earlier runs of this build found too expensive with this budget and in this mode. If `forget` is
/// true, clears the stored list instead.
pub(crate) fn recall(
    table: &[u8],
    known: usize,
    budget: f64,
    mode: Mode,
    forget: bool,
) -> &'static [Learned] {
    let memory = MEMORY.get_or_init(|| {
        let build = hash(table);
        if forget {
            learned::write(build, &head(budget, mode));
        }
        let functions = learned::read(build).and_then(|text| parse(&text, known, budget, mode));
        Memory {
            build,
            functions: functions.unwrap_or_default(),
            kept: Mutex::new(None),
        }
    });
    &memory.functions
}

/// Returns the functions that were stored last, and whether an earlier run has stored them.
pub(crate) fn known() -> (Vec<Learned>, bool) {
    let Some(memory) = MEMORY.get() else {
        return (Vec::new(), true);
    };
    let kept = memory.kept.lock().unwrap_or_else(PoisonError::into_inner);
    let of_this_run = kept.as_ref().map(|kept| (kept.clone(), false));
    of_this_run.unwrap_or_else(|| (memory.functions.clone(), true))
}

/// Stores the functions that were found too expensive, for the next session and the next run.
pub(crate) fn keep(budget: f64, mode: Mode, functions: Vec<Learned>) {
    let Some(memory) = MEMORY.get() else { return };
    let mut text = head(budget, mode);
    for of in &functions {
        let _ = writeln!(text, "{} {:.1} {:.6}", of.number, of.mean_ns, of.cost_share);
    }
    learned::write(memory.build, &text);
    *memory.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(functions);
}

fn head(budget: f64, mode: Mode) -> String {
    format!("{FIRST_LINE}\nbudget {budget} {}\n", mode.as_str())
}

/// Returns `None` if the text is damaged, or is about another budget or mode. `known` is the number of functions.
fn parse(text: &str, known: usize, budget: f64, mode: Mode) -> Option<Vec<Learned>> {
    let one = |line: &str| {
        let mut words = line.split(' ');
        let of = Learned {
            number: words.next()?.parse().ok()?,
            mean_ns: words.next()?.parse().ok()?,
            cost_share: words.next()?.parse().ok()?,
        };
        let are_numbers = of.mean_ns.is_finite() && of.cost_share.is_finite();
        let is_known = (of.number as usize) < known;
        (are_numbers && is_known && words.next().is_none()).then_some(of)
    };
    text.strip_prefix(&head(budget, mode))?.lines().map(one).collect()
}

/// Computes an FNV-1a hash, but over words of eight bytes instead of single bytes, because a table is about half a megabyte long
/// and is hashed before `main`. See <http://www.isthe.com/chongo/tech/comp/fnv/>.
fn hash(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    words
        .chain(rest.iter().map(|byte| u64::from(*byte)))
        .fold(0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64, |hash, word| {
            (hash ^ word).wrapping_mul(0x0100_0000_01b3)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_or_of_another_budget_or_mode_is_as_if_not_there() {
        let text = "tickscope functions 4\nbudget 0.05 exact\n12 35.2 0.0125\n";
        let of = Learned {
            number: 12,
            mean_ns: 35.2,
            cost_share: 0.0125,
        };
        assert_eq!(parse(text, 13, 0.05, Mode::Exact), Some(vec![of]));
        assert_eq!(parse(text, 13, 0.1, Mode::Exact), None);
        assert_eq!(parse(text, 13, 0.05, Mode::Adaptive), None);
        let cut = text.strip_suffix(" 0.0125\n").unwrap();
        for damaged in [
            "",
            "x\n",
            cut,
            &text.replace("12", "one"),
            &text.replace("12", "13"),
            &text.replace("35.2", "NaN"),
            &text.replace("0.0125", "0.0125 4"),
        ] {
            assert_eq!(parse(damaged, 13, 0.05, Mode::Exact), None, "{damaged}");
        }
    }

    #[test]
    fn tables_that_differ_have_other_names() {
        let one = vec![1_u8; 99];
        for at in [0, 50, 98] {
            let mut other = one.clone();
            other[at] = 2;
            assert_ne!(hash(&one), hash(&other), "{at}");
        }
        assert_ne!(hash(&one[..98]), hash(&one));
    }
}
