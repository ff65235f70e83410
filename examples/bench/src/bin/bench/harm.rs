//! Measures how much a publisher and a viewer slow down the slowest of many short operations, compared with the same
//! program without them.
//!
//! Series with and without a session alternate.

mod series;

use tickscope_bench::kernel;
use tickscope_bench::statistics::Middle;

/// Allowed increase of p99.9, in nanoseconds.
const GOAL: f64 = 100.0;

/// Allowed number of additional interruptions of 1 us or longer, per 100,000 operations. Any more of them would by
/// themselves raise p99.99 by 1 us.
const INTERRUPTED: f64 = 10.0;

/// Number of paired rounds: normally enough for a confidence interval, and with `--long` enough to tell ten
/// interruptions from none.
const ROUNDS: usize = 9;
const ROUNDS_LONG: usize = 121;

/// Verdicts: the confidence interval lies entirely within the goal, lies entirely beyond it, or includes it.
const REACHED: &str = "reached";
const MISSED: &str = "MISSED";
const OPEN: &str = "not told from noise";

/// Prints the measurements. Returns false if a long measurement shows that a goal was missed; a short one never fails.
///
/// The machine itself (timers, its host) interrupts about one operation in 1,000. So it is a matter of chance whether
/// p99.9 of all operations includes the cost of an interruption. The goal is therefore split in two: p99.9 of the
/// operations that were not interrupted, and the number of additional interruptions.
pub(crate) fn run(long: bool) -> Result<bool, String> {
    let rounds = if long { ROUNDS_LONG } else { ROUNDS };
    println!(
        "operation of 1 us, {rounds} paired rounds without and with; load {}\n\
         (ns; quiet: p99.9 of those that nothing interrupted; interr.: interrupted for 1 us or more in the time of 100 000; faults, \
         waits, preempt: of the thread in a second)",
        kernel::load()
    );
    let told = series::run(rounds)?;
    print(&told.both);
    let [p999, p9999, quiet, interrupted] = told.added;
    println!(
        "\nof all operations, with interruptions: p99.9 {} ns, p99.99 {} ns",
        text(p999),
        text(p9999)
    );
    let verdicts = [verdict(quiet, GOAL), verdict(interrupted, INTERRUPTED)];
    println!(
        "G11: p99.9 where nothing interrupts {} ns of {GOAL}: {}; interrupted for 1 us or more {} in the time of 100 000, of {INTERRUPTED}: {}",
        text(quiet),
        verdicts[0],
        text(interrupted),
        verdicts[1],
    );
    Ok(!long || !verdicts.contains(&MISSED))
}

/// Formats the increase caused by a session, with its confidence interval.
fn text(Middle { low, middle, high }: Middle) -> String {
    format!("{middle:+.0} [{low:+.0} {high:+.0}]")
}

/// Prints the measurements without and with a session.
fn print(both: &[[f64; series::FIGURES]; 2]) {
    println!(
        "\n{:>5} {:<7} {:>6} {:>7} {:>7} {:>8} {:>7} {:>7} {:>6} {:>6} {:>7}",
        "rec/s", "", "p50 ns", "p99.9", "p99.99", "max us", "quiet", "interr.", "faults", "waits", "preempt"
    );
    for (what, told) in ["without", "with"].iter().zip(both) {
        let [
            middle,
            p999,
            p9999,
            most,
            quiet,
            interrupted,
            faults,
            waits,
            preempted,
            records,
        ] = told;
        let records = match *what {
            "with" => format!("{records:.1}"),
            _ => format!("of {}", series::HZ),
        };
        println!(
            "{records:>5} {what:<7} {middle:>6.0} {p999:>7.0} {p9999:>7.0} {:>8.1} {quiet:>7.0} {interrupted:>7.1} {faults:>6.1} {waits:>6.1} {preempted:>7.1}",
            most / 1e3
        );
    }
}

fn verdict(Middle { low, high, .. }: Middle, goal: f64) -> &'static str {
    if high <= goal {
        REACHED
    } else if low > goal {
        MISSED
    } else {
        OPEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_reaches_no_goal_and_misses_none() {
        let verdicts = [(40.0, -10.0, 90.0), (40.0, -10.0, 300.0), (140.0, 110.0, 300.0)];
        let verdicts = verdicts.map(|(middle, low, high)| verdict(Middle { low, middle, high }, 100.0));
        assert_eq!(verdicts, [REACHED, OPEN, MISSED]);
    }
}
