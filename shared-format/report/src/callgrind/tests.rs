use std::collections::HashMap;
use std::process::Command;

use proptest::prelude::*;
use tickscope_analysis::hotspots::hot;
use tickscope_analysis::sampled_rows::with_sampled_rows;
use tickscope_testkit::fixture;
use tickscope_testkit::fixture::programs as fixtures;

use super::*;
use crate::source_code::tests::source_code;

fn by(snapshot: &Snapshot, by: Measure, addresses: &Addresses) -> String {
    let mut out = Vec::new();
    write(snapshot, by, addresses, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn callgrind(snapshot: &Snapshot) -> String {
    by(snapshot, Measure::Time, &Addresses::default())
}

/// Returns the file without the version of tickscope, so that it can be compared with a golden text.
fn unversioned(snapshot: &Snapshot) -> String {
    callgrind(snapshot).replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn golden() {
    insta::assert_snapshot!(unversioned(&fixture::two_threads()));
}

#[test]
fn lines_by_samples() {
    let text = by(&fixture::sampled(), Measure::Time, &source_code().addresses);
    insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn a_sampled_row_and_its_samples_are_one_function() {
    let addresses = source_code().addresses;
    let snapshot = fixture::sampled();
    let with = with_sampled_rows(&snapshot, &addresses);
    let text = by(&with, Measure::Time, &addresses);
    let positions = text
        .lines()
        .filter_map(|line| line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn=")));
    let mut defined: Vec<&str> = positions
        .filter_map(|position| Some(position.split_once(' ')?.1))
        .collect();
    defined.sort_unstable();
    assert!(defined.windows(2).all(|two| two[0] != two[1]), "{defined:?}");
}

#[test]
fn recursion() {
    insta::assert_snapshot!(unversioned(&fixture::recursion()));
}

#[test]
fn nothing_measured() {
    insta::assert_snapshot!(unversioned(&fixtures::empty()));
}

/// What a tool computes from a file: the nanoseconds and calls of the whole program (`summary`), of each function alone (`own`),
/// and of each function including its callees (`inclusive`).
#[derive(Debug, Default)]
struct Read {
    summary: (u64, u64),
    own: HashMap<String, (u64, u64)>,
    inclusive: HashMap<String, (u64, u64)>,
}

fn add(map: &mut HashMap<String, (u64, u64)>, name: &str, (ns, calls): (u64, u64)) {
    let sum = map.entry(name.to_string()).or_default();
    *sum = (sum.0 + ns, sum.1 + calls);
}

/// Reads a file as the published format requires: inclusive costs are the sums over all calls of a function.
fn read(text: &str) -> Read {
    let mut read = Read::default();
    let mut names: HashMap<String, String> = HashMap::new();
    let mut name_of = |position: &str| {
        let (number, name) = position.split_once(' ').unwrap_or((position, ""));
        assert!(number.starts_with('(') && number.ends_with(')'), "{position}");
        if !name.is_empty() {
            assert_eq!(names.insert(number.into(), name.into()), None, "named once");
        }
        names.get(number).expect("a name before its number").clone()
    };
    let (mut caller, mut callee, mut is_call) = (String::new(), String::new(), false);
    for line in text.split("events: Ns Calls\n").nth(1).unwrap().split('\n') {
        let pair = |text: &str| {
            let (ns, calls) = text.split_once(' ').unwrap();
            (ns.parse().unwrap(), calls.parse().unwrap())
        };
        match line.split_once('=') {
            Some(("fn", name)) => caller = name_of(name),
            Some(("cfn", name)) => callee = name_of(name),
            Some(("calls", count)) => {
                assert!(
                    !count.starts_with('0'),
                    "without a call it is the caller's own: {count}"
                );
                is_call = true;
            }
            Some(("fl" | "cfl", file)) => assert!(file.starts_with('('), "{file}"),
            Some(_) => panic!("{line}"),
            None if line.is_empty() => {}
            None => match line.strip_prefix("summary: ") {
                Some(summary) => read.summary = pair(summary),
                None => {
                    let costs = pair(line.split_once(' ').unwrap().1);
                    if std::mem::take(&mut is_call) {
                        add(&mut read.inclusive, &callee, costs);
                    } else {
                        add(&mut read.own, &caller, costs);
                    }
                }
            },
        }
    }
    read
}

/// Checks that the numbers in the file match the list of functions.
fn check(snapshot: &Snapshot) {
    let read = read(&callgrind(snapshot));
    let tree = CallTree::build(snapshot, |_| true);
    let names = full_names(&tree.functions, str::to_string);
    let rows = hot(&tree);
    for row in &rows {
        let name = &names[row.function.index()];
        let of = |costs: &HashMap<String, _>| costs.get(name).copied().unwrap_or_default();
        assert_eq!(of(&read.own), (row.self_ns, row.calls), "{name}");
        assert_eq!(of(&read.inclusive).0, row.total_ns, "{name}");
    }
    assert_eq!(
        read.own.values().map(|own| own.0).sum::<u64>(),
        tree.measured_ns()
    );
    let calls = rows.iter().map(|row| row.calls).sum();
    assert_eq!(read.summary, (tree.measured_ns(), calls));
}

#[test]
fn names_that_look_like_lines() {
    check(&fixtures::stumbling());
}

proptest! {
    #[test]
    fn self_and_inclusive_costs_are_ours(snapshot in fixtures::any_snapshot()) {
        check(&snapshot);
    }
}

#[test]
#[ignore = "wants valgrind: .ci/nightly instructions"]
fn callgrind_annotate_shows_our_numbers() {
    for snapshot in [
        fixture::two_threads(),
        fixture::recursion(),
        fixtures::stumbling(),
    ] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("callgrind.out"), callgrind(&snapshot)).unwrap();
        let annotate = |inclusive: &str| {
            let mut command = Command::new("callgrind_annotate");
            command.args([
                "--auto=no",
                "--threshold=100",
                "--show-percs=no",
                inclusive,
                "callgrind.out",
            ]);
            let output = command.current_dir(dir.path()).output();
            let output = output.expect("wanted callgrind_annotate (Debian: apt-get install valgrind)");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "");
            String::from_utf8(output.stdout).unwrap()
        };
        let (own, inclusive) = (annotate("--inclusive=no"), annotate("--inclusive=yes"));
        let tree = CallTree::build(&snapshot, |_| true);
        let names = full_names(&tree.functions, str::to_string);
        let ns_of = |text: &str, name: &str| {
            let end = format!(":{name}");
            let line = text.lines().find(|line| line.ends_with(&end));
            let line = line.unwrap_or_else(|| panic!("{name} in {text}"));
            let first = line.split_whitespace().next().unwrap();
            first.replace(',', "").parse::<u64>().unwrap_or(0)
        };
        for row in hot(&tree) {
            let name = &names[row.function.index()];
            assert_eq!(ns_of(&own, name), row.self_ns, "{name}");
            assert_eq!(ns_of(&inclusive, name), row.total_ns, "{name}");
        }
        let program = format!("[{}]", in_one_line(&snapshot.process.name, UNKNOWN));
        assert_eq!(ns_of(&inclusive, &program), tree.measured_ns());
    }
}

#[test]
fn each_measure_is_an_event_and_the_chosen_one_is_the_first() {
    let text = by(&fixture::allocating(), Measure::Bytes, &Addresses::default());
    assert!(text.contains("event: Bytes : Bytes\n"), "{text}");
    assert!(text.contains("\nevents: Bytes Ns Calls Allocations\n"), "{text}");
    let summary = text.lines().find_map(|line| line.strip_prefix("summary: "));
    let sums: Vec<&str> = summary.unwrap().split(' ').collect();
    assert_eq!((sums[0], sums[3]), ("5000", "50"));
}
