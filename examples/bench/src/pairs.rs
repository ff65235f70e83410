//! Two ways of doing the same, compared in turns: the time of each, and the instructions where valgrind is installed.

use crate::statistics::{interval, median, sorted};
use crate::timing::timed;

/// Two ways of doing something so often.
#[derive(Debug)]
pub struct Pair {
    /// What is done.
    pub name: &'static str,
    /// Without tickscope.
    pub plain: fn(u64),
    /// With it.
    pub measured: fn(u64),
}

/// Returns the number of rounds that a command line has: 101 if it says none.
///
/// # Errors
/// The word is no number of rounds.
pub fn rounds(word: Option<&str>) -> Result<usize, String> {
    match word {
        None => Ok(101),
        Some(word) => match word.parse() {
            Ok(rounds @ 3..=100_000) => Ok(rounds),
            _ => Err(format!("{word}: wanted 3 to 100000 rounds")),
        },
    }
}

/// Does what a run under callgrind counts: the name of a pair, `plain` or `measured`, and how often. `what` is the
/// word for what is done.
///
/// # Errors
/// The words are something else.
pub fn count(pairs: &[Pair], what: &str, words: &[String]) -> Result<(), String> {
    let [name, which, count] = words else {
        return Err("wanted a case, plain or measured, and a number".into());
    };
    let known = pairs.iter().find(|pair| pair.name == name);
    let known = known.ok_or_else(|| format!("{name}: no such case"))?;
    let count = match count.parse() {
        Ok(count @ 1..) => count,
        _ => return Err(format!("{count}: wanted a number of {what}")),
    };
    match which.as_str() {
        "plain" => (known.plain)(count),
        _ => (known.measured)(count),
    }
    Ok(())
}

/// Prints medians of the nanoseconds of one, and of the difference with its 95 % interval. A round does it `count` times.
#[expect(
    clippy::print_stdout,
    reason = "the text of programs that speak to their user"
)]
pub fn print_times(pairs: &[Pair], rounds: usize, count: u64) {
    let ns = |body: fn(u64)| timed(|| body(count)) / count as f64;
    for pair in pairs {
        let turns: Vec<(f64, f64)> = (0..rounds).map(|_| (ns(pair.plain), ns(pair.measured))).collect();
        let plain = sorted(turns.iter().map(|turn| turn.0));
        let measured = sorted(turns.iter().map(|turn| turn.1));
        let added = sorted(turns.iter().map(|turn| turn.1 - turn.0));
        let (low, high) = interval(&added);
        println!(
            "{:14} {:8.2} {:10.2} {:11.2} [{low:.2} {high:.2}]",
            pair.name,
            median(&plain),
            median(&measured),
            median(&added),
        );
    }
}

/// Prints the same in instructions. `run` counts those of this program with these words: the difference between few and many
/// is that of what is done.
///
/// # Errors
/// The program could not be run.
#[expect(
    clippy::print_stdout,
    reason = "the text of programs that speak to their user"
)]
pub fn print_instructions(
    pairs: &[Pair],
    run: impl Fn(&[&str]) -> Result<u64, String>,
) -> Result<(), String> {
    println!("The same in instructions, by callgrind:");
    for pair in pairs {
        let of = |which| -> Result<f64, String> {
            let few = run(&["count", pair.name, which, "1000"])?;
            let many = run(&["count", pair.name, which, "101000"])?;
            Ok((many as f64 - few as f64) / 100_000.0)
        };
        let (plain, measured) = (of("plain")?, of("measured")?);
        println!(
            "{:14} {plain:8.2} {measured:10.2} {:11.2}",
            pair.name,
            measured - plain
        );
    }
    Ok(())
}
