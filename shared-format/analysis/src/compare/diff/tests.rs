//! Tests of comparisons, with snapshots made by hand and by a proptest strategy.

use proptest::prelude::*;
use tickscope_testkit::fixture;
use tickscope_testkit::fixture::programs::{self as fixtures, run};

use super::*;
use crate::compare::change::median;

fn of<'a>(diff: &'a Diff, name: &str) -> &'a Change {
    let index = diff.functions.list.iter().position(|f| f.name == name);
    &diff.by_function[index.unwrap_or_else(|| panic!("no {name}"))]
}

#[test]
fn functions_and_paths_of_both_sides() {
    let before = run(&[(0, "main", 1, 10), (1, "old", 2, 20), (1, "both", 3, 30)]);
    let after = run(&[
        (0, "main", 1, 15),
        (1, "both", 4, 30),
        (2, "both", 4, 5),
        (1, "new", 7, 1),
    ]);
    let diff = Diff::of(&[before], &[after], None).unwrap();
    assert_eq!(of(&diff, "old").presence, Presence::Gone);
    assert_eq!(of(&diff, "new").presence, Presence::New);
    let both = of(&diff, "both");
    assert_eq!(both.presence, Presence::Both);
    assert_eq!((both.before.calls, both.after.calls), (3.0, 8.0));
    assert_eq!(both.after.total_ns, 35.0, "recursion is counted once");
    assert_eq!(both.of(Quantity::Total), 5.0);
    assert_eq!(diff.whole.of(Quantity::Total), -9.0);
    assert_eq!(of(&diff, "main").after.total_ns, 51.0);
    let of_row = |row: &PathRow| (row.depth, diff.functions.get(row.function).name.as_str());
    let paths: Vec<(u32, &str)> = diff.paths.iter().map(of_row).collect();
    let due = [(0, "main"), (1, "old"), (1, "both"), (2, "both"), (1, "new")];
    assert_eq!(paths, due);
    let is_worth = |name: &str, least_ns| {
        let index = diff.functions.list.iter().position(|f| f.name == name);
        diff.is_function_worth(FunctionId(index.unwrap() as u32), least_ns)
    };
    assert!(is_worth("new", 1e9) && is_worth("main", 9.0) && !is_worth("main", 10.0));
}

#[test]
fn several_runs_are_medians_and_counts_say_whether_they_agree() {
    let runs = |calls: [u64; 3]| {
        [30, 10, 20]
            .iter()
            .zip(calls)
            .map(|(&ns, calls)| run(&[(0, "main", 1, ns), (1, "work", calls, ns)]))
            .collect::<Vec<_>>()
    };
    let diff = Diff::of(&runs([5, 5, 5]), &runs([5, 9, 6]), None).unwrap();
    assert_eq!(of(&diff, "main").before.self_ns, 20.0);
    assert!(of(&diff, "main").calls_exact && !of(&diff, "work").calls_exact);
    assert_eq!(of(&diff, "work").after.calls, 6.0);
    let (before, after) = diff.in_runs(FunctionId(0), Quantity::SelfTime);
    assert_eq!((before, after), (vec![30.0, 10.0, 20.0], vec![30.0, 10.0, 20.0]));
}

#[test]
fn runs_of_different_length_compare_per_call_of_a_scope() {
    let frames = |frames: u64| {
        run(&[
            (0, "main", 1, 1_000),
            (1, "set_up", 1, 5_000),
            (1, "frame", frames, 10 * frames),
            (2, "work", 3 * frames, 7 * frames),
            (0, "job", 4 * frames, 2 * frames),
        ])
    };
    let diff = Diff::of(&[frames(100)], &[frames(250)], Some("frame")).unwrap();
    assert_eq!(diff.per_calls, (vec![100], vec![250]));
    for name in ["frame", "work", "job", "set_up"] {
        let change = of(&diff, name);
        assert_eq!(change.before, change.after, "{name}");
    }
    assert_eq!(of(&diff, "work").after.calls, 3.0);
    assert_eq!(of(&diff, "job").after.calls, 4.0, "of another thread");
    let set_up = of(&diff, "set_up");
    assert!(set_up.calls_per_run && set_up.times_per_run && !set_up.around_scope);
    let main = of(&diff, "main");
    assert!(main.calls_per_run && !main.times_per_run && main.around_scope);
    assert_eq!((main.before.calls, main.after.calls), (1.0, 1.0));
    assert!(diff.whole.around_scope);

    let missing = Diff::of(&[frames(1)], &[run(&[(0, "main", 1, 1)])], Some("frame")).unwrap_err();
    assert!(missing.is_after && missing.run == 0, "{missing:?}");
    assert!(missing.why.contains("frame"), "{missing:?}");
}

#[test]
fn estimates_of_any_run_are_marked() {
    let exact = fixture::two_threads();
    let mut about = exact.clone();
    about.estimates.push(fixture::estimate(2, 7, 40, 40));
    let diff = Diff::of(&[exact], &[about], None).unwrap();
    let marked = |name: &str| {
        let change = of(&diff, name);
        (change.self_estimated, change.total_estimated)
    };
    assert_eq!(marked("Tree::rebalance"), (true, true));
    assert_eq!(marked("main"), (false, false));
}

#[test]
fn times_within_the_noise_of_many_runs_are_not_worth_showing() {
    let runs =
        |times: &[u64]| -> Vec<Snapshot> { times.iter().map(|&ns| run(&[(0, "main", 1, ns)])).collect() };
    let worth = |before: &[u64], after: &[u64]| {
        let diff = Diff::of(&runs(before), &runs(after), None).unwrap();
        (
            diff.is_function_worth(FunctionId(0), 1.0),
            diff.is_path_worth(0, 1.0),
        )
    };
    let (usual, noisy, faster) = (
        [100, 90, 130, 95, 120],
        [140, 92, 125, 128, 97],
        [60, 70, 61, 66, 80],
    );
    assert_eq!(worth(&usual, &noisy), (false, false));
    assert_eq!(worth(&usual, &faster), (true, true));
    assert_eq!(worth(&usual[..4], &noisy[..4]), (true, true), "too few to tell");
}

#[test]
fn medians() {
    assert_eq!(median([]), 0.0);
    assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
    assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn self_times_add_up_to_the_roots_on_both_sides(
        before in fixtures::any_snapshot(),
        after in fixtures::any_snapshot(),
    ) {
        let diff = Diff::of(std::slice::from_ref(&before), std::slice::from_ref(&after), None).unwrap();
        for (snapshot, side) in [
            (&before, (|change: &Change| change.before) as fn(&Change) -> Values),
            (&after, |change: &Change| change.after),
        ] {
            let measured: u64 = snapshot.self_nanos().iter().sum();
            let functions: f64 = diff.by_function.iter().map(|change| side(change).self_ns).sum();
            let paths: f64 = diff.paths.iter().map(|row| side(&row.change).self_ns).sum();
            let roots = diff.paths.iter().filter(|row| row.parent.is_none());
            let roots: f64 = roots.map(|row| side(&row.change).total_ns).sum();
            for sum in [functions, paths, roots, side(&diff.whole).total_ns] {
                prop_assert_eq!(sum, measured as f64);
            }
            let calls: f64 = diff.by_function.iter().map(|change| side(change).calls).sum();
            prop_assert_eq!(calls, snapshot.calls() as f64);
        }
        let none = Diff::of(std::slice::from_ref(&before), std::slice::from_ref(&before), None).unwrap();
        prop_assert!((0..none.paths.len()).all(|path| !none.is_path_worth(path, 0.0)));
    }
}
