//! Folded stacks, for flame graphs: one line for each path that has self time.
//!
//! A line such as `worker;book::insert 1234567` has the path from the top of the thread, a space, and the self time in
//! nanoseconds or the self value of another measure. Threads are merged by path. In names, `;` becomes `:`, and characters that
//! would break the line are escaped, as in `\n`. If a name ends with a space and a number, the space becomes `_`, because tools
//! would take the number for another column.
//!
//! Each line repeats its whole path, so for a chain of calls, the size of the output grows with the square of the depth. Frames
//! deeper than the collector's default depth limit are therefore combined into one frame, `(deeper)`.

use std::io::{self, Write};

use tickscope_analysis::call_tree::CallTree;
use tickscope_format::snapshot::{Snapshot, saturating_sum};

use crate::names::full_names;

/// Maximum number of frames in a path, which is the collector's default depth limit.
const FRAMES_MAX: u32 = 512;

/// Name of the frame that combines all deeper frames.
const DEEPER: &str = "(deeper)";

/// Writes the stacks in the order in which their nodes first occur.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn write(snapshot: &Snapshot, out: &mut impl Write) -> io::Result<()> {
    let tree = CallTree::build(snapshot, |_| true);
    let names = full_names(&tree.functions, tame);
    let mut path = String::new();
    // Length of `path` at each level above the current row.
    let mut ends: Vec<usize> = Vec::new();
    let mut stack: Vec<u32> = tree.top().iter().rev().copied().collect();
    while let Some(index) = stack.pop() {
        let row = &tree.rows[index as usize];
        ends.truncate(row.depth as usize);
        path.truncate(ends.last().copied().unwrap_or(0));
        if row.depth > 0 {
            path.push(';');
        }
        path.push_str(&names[row.function.index()]);
        ends.push(path.len());
        if row.self_ns > 0 {
            writeln!(out, "{path} {}", row.self_ns)?;
        }
        let children = tree.children(index);
        if row.depth + 1 < FRAMES_MAX {
            stack.extend(children.iter().rev());
            continue;
        }
        let below = saturating_sum(children.iter().map(|&child| tree.rows[child as usize].total_ns));
        if below > 0 {
            writeln!(out, "{path};{DEEPER} {below}")?;
        }
    }
    Ok(())
}

/// Changes a name so that tools take it for a single frame.
fn tame(name: &str) -> String {
    let name = name.replace(';', ":");
    match name.rsplit_once(' ') {
        Some((before, number)) if number.chars().all(|c| c.is_ascii_digit() || c == '.') => {
            format!("{before}_{number}")
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::process::{Command, Stdio};

    use proptest::prelude::*;
    use tickscope_testkit::fixture;
    use tickscope_testkit::fixture::programs as fixtures;

    use super::*;

    fn folded(snapshot: &Snapshot) -> String {
        let mut out = Vec::new();
        write(snapshot, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn golden() {
        insta::assert_snapshot!(folded(&fixture::two_threads()));
        assert_eq!(folded(&fixtures::empty()), "");
    }

    #[test]
    fn hostile_names() {
        insta::assert_snapshot!(folded(&fixtures::hostile()));
        let text = folded(&fixtures::stumbling());
        let rows = CallTree::build(&fixtures::stumbling(), |_| true).rows.len();
        assert_eq!(text.lines().count(), rows, "a line for each row");
        assert!(text.lines().any(|line| line.len() > 9_000));
    }

    #[test]
    #[ignore = "wants inferno: .ci/nightly inferno"]
    fn inferno_draws_each_path() {
        for snapshot in [fixture::two_threads(), fixtures::stumbling()] {
            let mut command = Command::new("inferno-flamegraph");
            command.args(["--countname", "ns", "--minwidth", "0"]);
            let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
            let mut child = child.expect("wanted inferno-flamegraph (cargo install inferno)");
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(folded(&snapshot).as_bytes()).unwrap();
            drop(stdin);
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success());
            let svg = String::from_utf8(output.stdout).unwrap();
            let tree = CallTree::build(&snapshot, |_| true);
            let totals = tree.rows.iter().map(|row| row.total_ns);
            for ns in totals.chain([tree.measured_ns()]) {
                let written = format!("({} ns, ", grouped(ns));
                assert!(svg.contains(&written), "{written}\n{svg}");
            }
        }
    }

    fn grouped(n: u64) -> String {
        let digits = n.to_string();
        let parts = digits.as_bytes().rchunks(3).rev();
        let parts: Vec<_> = parts.map(|part| String::from_utf8_lossy(part)).collect();
        parts.join(",")
    }

    #[test]
    fn a_number_at_the_end_of_a_name_is_no_column() {
        assert_eq!(tame("round 12"), "round_12");
        assert_eq!(tame("round 1.5"), "round_1.5");
        assert_eq!(tame("a; 12 b"), "a: 12 b");
    }

    #[test]
    fn what_lies_too_deep_is_one_frame() {
        let sum = |text: &str| -> u64 {
            let ns = text.lines().map(|line| line.rsplit_once(' ').unwrap().1);
            ns.map(|ns| ns.parse::<u64>().unwrap()).sum()
        };
        for depth in [511, 512, 513, 600] {
            let snapshot = fixtures::deep(depth);
            let tree = CallTree::build(&snapshot, |_| true);
            let text = folded(&snapshot);
            assert_eq!(sum(&text), tree.measured_ns(), "{depth}");
            let deepest = text.lines().map(|line| line.split(';').count()).max().unwrap();
            assert_eq!(deepest, depth.min(513), "{depth}");
            assert_eq!(text.matches(";(deeper) ").count(), usize::from(depth > 512));
        }
    }

    proptest! {
        #[test]
        fn every_line_is_a_path_and_the_sums_are_those_of_the_tree(snapshot in fixtures::any_snapshot()) {
            let text = folded(&snapshot);
            let tree = CallTree::build(&snapshot, |_| true);
            let mut totals: HashMap<&str, u64> = HashMap::new();
            let mut sum = 0;
            for line in text.lines() {
                let (path, ns) = line.rsplit_once(' ').unwrap();
                let ns: u64 = ns.parse().unwrap();
                sum += ns;
                *totals.entry(path.split(';').next().unwrap()).or_default() += ns;
            }
            prop_assert_eq!(sum, tree.measured_ns());
            let names = full_names(&tree.functions, tame);
            for &top in tree.top() {
                let row = &tree.rows[top as usize];
                let total = totals.get(names[row.function.index()].as_str());
                prop_assert_eq!(total.copied().unwrap_or(0), row.total_ns);
            }
        }
    }
}
