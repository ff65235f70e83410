//! What the slowest of many short operations lose to a publisher and a viewer, against the same program without either.
//!
//! Each setting has a process of its own, in which operations without a session and with one take turns.

use crate::options::Options;
use crate::{callgrind, child, instructions, kernel};
use crate::{cases::Case, series};

/// What may be added at p99.9 and p99.99, in nanoseconds.
const GOALS: [f64; 2] = [100.0, 1000.0];

/// Paired rounds of a setting: enough for an interval, and where there is time.
const ROUNDS: [usize; 2] = [9, 41];

/// What they are called, and how many operations are slower.
const NAMES: [&str; 2] = ["p99.9", "p99.99"];
const SLOWER: [f64; 2] = [1e-3, 1e-4];

/// Where others take the core in so large a part of those, they tell what the others do.
const BUSY: f64 = 0.5;

/// How long an operation is, in seconds.
const OPERATION: f64 = 1.1e-6;

/// Nodes of the thread, and records a second that the viewer asks for.
type Setting = (u64, u64);

/// The one that the goal is about, and wider ones.
const USUAL: Setting = (1, 10);
const WIDER: [Setting; 4] = [(1, 50), (1_000, 10), (1_000, 50), (10_000, 50)];

/// Whose instructions are counted.
const CASE: &str = "body1us";

/// What a child writes about a setting; medians of its rounds.
struct Told {
    /// Median, p99.9, p99.99 and longest of the operations, without and with, in nanoseconds.
    off: [f64; 4],
    on: [f64; 4],
    /// What p99.9 and p99.99 have more with than without: median and 95 % interval of the pairs.
    added: [[f64; 3]; 2],
    /// The same of those operations that kept their core.
    kept: [[f64; 3]; 2],
    /// Page faults, voluntary and involuntary switches of the thread in a second, without and with.
    kernel: [[f64; 3]; 2],
    /// Records a second that there were, and nodes.
    records: f64,
    nodes: f64,
}

/// How a figure stands to its goal: where the whole interval lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Reached,
    Missed,
    /// The goal lies in it.
    Open,
    /// Others decide it.
    Busy,
}

/// Prints the figure, and with `--long` what there is beside it. False where the goal was missed.
pub(crate) fn run(options: &Options) -> Result<bool, String> {
    let rounds = ROUNDS[usize::from(options.long)];
    println!(
        "operation of 1 us, {rounds} paired rounds without and with; load {}",
        kernel::load()
    );
    heading();
    let usual = Told::of(USUAL, rounds)?;
    usual.print(USUAL);
    if options.long {
        for setting in WIDER {
            Told::of(setting, rounds)?.print(setting);
        }
        print_instructions();
    }
    println!(
        "\nof operations that kept their core: {}, {}",
        text(usual.kept, 0),
        text(usual.kept, 1)
    );
    let verdicts = [0, 1].map(|at| usual.verdict(at));
    let figure = |at: usize| format!("{}: {}", text(usual.added, at), verdicts[at].text());
    println!("G11: {}, {}", figure(0), figure(1));
    if verdicts.contains(&Verdict::Busy) {
        println!(
            "(others take the core {:.0} times a second, also without a session)",
            usual.kernel[0][2]
        );
    }
    Ok(!verdicts.contains(&Verdict::Missed))
}

/// What is added, with its interval.
fn text(added: [[f64; 3]; 2], at: usize) -> String {
    let [middle, low, high] = added[at];
    format!(
        "{} {middle:+.0} ns [{low:+.0} {high:+.0}] of {:.0}",
        NAMES[at], GOALS[at]
    )
}

fn heading() {
    println!(
        "\n{:>6} {:>5} {:<7} {:>6} {:>7} {:>7} {:>8} {:>6} {:>6} {:>6}",
        "nodes", "rec/s", "", "p50 ns", "p99.9", "p99.99", "max us", "faults", "waits", "preempt"
    );
}

fn print_instructions() {
    if !callgrind::is_here() {
        println!("\ninstructions are not counted: there is no valgrind here");
        return;
    }
    let Some(case) = Case::named(CASE) else { return };
    match instructions::added(case) {
        Ok(added) => println!(
            "\ninstructions of the thread for a scope around 1 us, by callgrind: {:.1}",
            added[2]
        ),
        Err(error) => println!("\ninstructions are not counted: {error}"),
    }
}

// === impl Told ===

impl Told {
    fn of((nodes, hz): Setting, rounds: usize) -> Result<Self, String> {
        let words = [nodes, hz, rounds as u64].map(|number| number.to_string());
        let [nodes, hz, rounds] = words.each_ref().map(String::as_str);
        let told = child::numbers::<{ series::NUMBERS }>(&[child::HARM, nodes, hz, rounds])?;
        let four = |at: usize| [told[at], told[at + 1], told[at + 2], told[at + 3]];
        let three = |at: usize| [told[at], told[at + 1], told[at + 2]];
        Ok(Self {
            off: four(0),
            on: four(4),
            added: [three(8), three(11)],
            kept: [three(14), three(17)],
            kernel: [three(20), three(23)],
            records: told[26],
            nodes: told[27],
        })
    }

    fn verdict(&self, at: usize) -> Verdict {
        let preempted = self.kernel[0][2] * OPERATION;
        if preempted > BUSY * SLOWER[at] {
            return Verdict::Busy;
        }
        Verdict::of(self.added[at], GOALS[at])
    }

    fn print(&self, (_, asked): Setting) {
        let rows = [
            ("without", self.off, self.kernel[0]),
            ("with", self.on, self.kernel[1]),
        ];
        for (what, [middle, p999, p9999, most], [faults, waits, preempted]) in rows {
            let records = if what == "with" {
                format!("{:.1}", self.records)
            } else {
                format!("of {asked}")
            };
            println!(
                "{:>6.0} {records:>5} {what:<7} {middle:>6.0} {p999:>7.0} {p9999:>7.0} {:>8.1} {faults:>6.1} {waits:>6.1} {preempted:>6.1}",
                self.nodes,
                most / 1e3
            );
        }
    }
}

// === impl Verdict ===

impl Verdict {
    fn of([_, low, high]: [f64; 3], goal: f64) -> Self {
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
            Self::Busy => "machine too busy to tell",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_reaches_no_goal_and_misses_none() {
        let verdicts = [[40.0, -10.0, 90.0], [40.0, -10.0, 300.0], [140.0, 110.0, 300.0]];
        let verdicts = verdicts.map(|added| Verdict::of(added, 100.0));
        assert_eq!(verdicts, [Verdict::Reached, Verdict::Open, Verdict::Missed]);
    }
}
