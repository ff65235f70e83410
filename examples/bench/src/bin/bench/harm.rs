//! Measures what the slowest of many short operations lose to a publisher and a viewer, against the same program
//! without them.
//!
//! Each setting has its own process, in which operations without a session and with one take turns.

pub(crate) mod series;

use tickscope_bench::statistics::Middle;
use tickscope_bench::{callgrind, child, kernel};

use crate::cases::Case;
use crate::overhead::instructions;

/// How much p99.9 may grow, in nanoseconds.
const GOAL: f64 = 100.0;

/// How many more of 100 000 operations may be interrupted, for 1 us or longer. With more, p99.99 is 1 us higher even if
/// nothing else interrupts.
const INTERRUPTED: f64 = 10.0;

/// The numbers of paired rounds: enough for an interval; with `--long`, enough to tell ten interruptions from none; and
/// for wider settings.
const ROUNDS: usize = 9;
const ROUNDS_LONG: usize = 121;
const ROUNDS_WIDER: usize = 21;

/// The nodes of the thread, and the records a second that the viewer asks for.
type Setting = (u64, u64);

/// The setting of the goal, and wider ones.
const USUAL: Setting = (1, 10);
const WIDER: [Setting; 4] = [(1, 50), (1_000, 10), (1_000, 50), (10_000, 50)];

/// The case whose instructions are counted.
const CASE: &str = "body1us";

/// What a child reports about a setting, as medians of its rounds.
struct Told {
    /// Figures without a session and with one.
    both: [[f64; series::FIGURES]; 2],
    /// The differences between both: of p99.9, of p99.99, of p99.9 of the uninterrupted operations, and of the
    /// interruptions in the time of 100 000 operations. Each has a median and a 95 % interval over the pairs.
    added: [Middle; 4],
    nodes: f64,
}

/// How a figure compares to its goal, by its whole interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Reached,
    Missed,
    /// The goal is inside the interval.
    Open,
}

/// Prints the figure, and with `--long` the wider settings. Returns false if a long measurement shows that the goal was
/// missed; a short one decides nothing.
///
/// The machine itself interrupts about one operation in 1 000 (timers, its host), so p99.9 of all operations is the
/// cost of an interruption or of none, by chance. The goal is therefore split: p99.9 of the operations without an
/// interruption, and how many more are interrupted.
pub(crate) fn run(long: bool) -> Result<bool, String> {
    let rounds = if long { ROUNDS_LONG } else { ROUNDS };
    println!(
        "operation of 1 us, {rounds} paired rounds without and with; load {}\n\
         (ns; quiet: p99.9 of those that nothing interrupted; interr.: interrupted for 1 us or more in the time of 100 000; faults, \
         waits, preempt: of the thread in a second)",
        kernel::load()
    );
    heading();
    let usual = Told::of(USUAL, rounds)?;
    usual.print(USUAL);
    if long {
        for setting in WIDER {
            Told::of(setting, ROUNDS_WIDER)?.print(setting);
        }
        print_instructions();
    }
    let [p999, p9999, quiet, interrupted] = usual.added;
    println!(
        "\nof all operations, with interruptions: p99.9 {} ns, p99.99 {} ns",
        text(p999),
        text(p9999)
    );
    let verdicts = [Verdict::of(quiet, GOAL), Verdict::of(interrupted, INTERRUPTED)];
    println!(
        "G11: p99.9 where nothing interrupts {} ns of {GOAL}: {}; interrupted for 1 us or more {} in the time of 100 000, of {INTERRUPTED}: {}",
        text(quiet),
        verdicts[0].text(),
        text(interrupted),
        verdicts[1].text(),
    );
    Ok(!long || !verdicts.contains(&Verdict::Missed))
}

/// Prints what is added, with its interval.
fn text(Middle { low, middle, high }: Middle) -> String {
    format!("{middle:+.0} [{low:+.0} {high:+.0}]")
}

fn heading() {
    println!(
        "\n{:>6} {:>5} {:<7} {:>6} {:>7} {:>7} {:>8} {:>7} {:>7} {:>6} {:>6} {:>7}",
        "nodes",
        "rec/s",
        "",
        "p50 ns",
        "p99.9",
        "p99.99",
        "max us",
        "quiet",
        "interr.",
        "faults",
        "waits",
        "preempt"
    );
}

fn print_instructions() {
    if !callgrind::is_here() {
        println!("\ninstructions are not counted: there is no valgrind here");
        return;
    }
    match Case::named(CASE).and_then(instructions::added) {
        Ok(added) => println!(
            "\ninstructions of the thread for a scope around 1 us, by callgrind: {:.1}",
            added[2]
        ),
        Err(error) => println!("\ninstructions are not counted: {error}"),
    }
}

impl Told {
    fn of((nodes, hz): Setting, rounds: usize) -> Result<Self, String> {
        let words = [nodes, hz, rounds as u64].map(|number| number.to_string());
        let [nodes, hz, rounds] = words.each_ref().map(String::as_str);
        let told = child::numbers::<{ series::NUMBERS }>(&["harm", nodes, hz, rounds])?;
        let (both, rest) = told.split_at(2 * series::FIGURES);
        let three = |at: usize| Middle {
            middle: rest[at],
            low: rest[at + 1],
            high: rest[at + 2],
        };
        Ok(Self {
            both: [0, series::FIGURES].map(|from| std::array::from_fn(|at| both[from + at])),
            added: [0, 3, 6, 9].map(three),
            nodes: rest[12],
        })
    }

    fn print(&self, (_, asked): Setting) {
        for (what, told) in ["without", "with"].iter().zip(self.both) {
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
                _ => format!("of {asked}"),
            };
            println!(
                "{:>6.0} {records:>5} {what:<7} {middle:>6.0} {p999:>7.0} {p9999:>7.0} {:>8.1} {quiet:>7.0} {interrupted:>7.1} {faults:>6.1} {waits:>6.1} {preempted:>7.1}",
                self.nodes,
                most / 1e3
            );
        }
    }
}

impl Verdict {
    fn of(Middle { low, high, .. }: Middle, goal: f64) -> Self {
        if high <= goal {
            Self::Reached
        } else if low > goal {
            Self::Missed
        } else {
            Self::Open
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Missed => "MISSED",
            Self::Open => "not told from noise",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_reaches_no_goal_and_misses_none() {
        let verdicts = [(40.0, -10.0, 90.0), (40.0, -10.0, 300.0), (140.0, 110.0, 300.0)];
        let verdicts = verdicts.map(|(middle, low, high)| Verdict::of(Middle { low, middle, high }, 100.0));
        assert_eq!(verdicts, [Verdict::Reached, Verdict::Open, Verdict::Missed]);
    }
}
