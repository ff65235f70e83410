use tickscope_format::ids::SiteId;
use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::{Quantity as MeasuredQuantity, Snapshot};
use tickscope_testkit::fixture::programs::run;

use super::*;
use crate::measure::Measure;

fn condition(text: &str) -> Condition {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns one run for each percentage. In each run, the times of `rows` are multiplied by the percentage.
fn runs(percent: &[u64], rows: &[(usize, &str, u64, u64)]) -> Vec<Snapshot> {
    let scaled = |percent: u64| {
        let rows: Vec<_> = rows
            .iter()
            .map(|&(depth, name, calls, ns)| (depth, name, calls, ns * percent))
            .collect();
        run(&rows)
    };
    percent.iter().map(|&percent| scaled(percent)).collect()
}

fn verdict(before: &[Snapshot], after: &[Snapshot], text: &str) -> Verdict {
    let condition = condition(text);
    let diff = Diff::by(condition.measure, before, after, None).unwrap();
    judge(&diff, &condition).unwrap()
}

fn failed(diff: &Diff, verdict: &Verdict) -> Vec<String> {
    let name = |failure: &Failure| match failure.of {
        Judged::Whole => "(all)".to_string(),
        Judged::Function(id) => diff.functions.get(id).name.clone(),
    };
    let mut names: Vec<String> = verdict.failures.iter().map(name).collect();
    names.sort();
    names
}

fn refusal(diff: &Diff, text: &str) -> String {
    judge(diff, &condition(text)).unwrap_err().to_string()
}

const ROWS: [(usize, &str, u64, u64); 3] = [
    (0, "main", 1, 10_000),
    (1, "work", 100, 90_000),
    (2, "tiny", 1, 10),
];

#[test]
fn conditions_are_read() {
    let read = condition(" calls(<A as B>::c) >= 1.5 % ");
    assert_eq!(read.what, Quantity::Calls);
    assert_eq!(read.function.as_deref(), Some("<A as B>::c"));
    assert_eq!((read.or_equal, read.growth), (true, Growth::Percent(1.5)));
    assert_eq!(read.to_string(), "calls(<A as B>::c) >= 1.5 %");
    assert_eq!(condition("calls>0").growth, Growth::Absolute(0.0));
    assert_eq!(condition("time > 10%").what, Quantity::Total);
    assert_eq!(condition("total > 2ms").growth, Growth::Absolute(2e6));
    assert_eq!(condition("p99(parse) > 25%").what, Quantity::P99);
    assert_eq!(condition("max > 2ms").growth, Growth::Absolute(2e6));
    assert_eq!(condition("self > 0").growth, Growth::Absolute(0.0));
    for bad in [
        "",
        "calls",
        "calls > ",
        "calls > 1ms",
        "calls > -1",
        "calls > 1.2.3%",
        "calls > nan%",
        "calls > inf",
        "time > 5",
        "time < 5%",
        "size > 1%",
        "p95 > 5%",
        "p99 > 5",
        "calls() > 1%",
        "calls(x > 1%",
        "calls >= 0",
        "time >= 0%",
    ] {
        let error = bad.parse::<Condition>().unwrap_err().to_string();
        assert!(error.contains("> "), "{bad}: {error}");
    }
}

#[test]
fn calls_that_were_not_all_counted_are_not_judged() {
    let off = |calls| {
        let mut run = run(&[ROWS[0], (1, "work", calls, 90_000), ROWS[2]]);
        run.measuring.off_sites = vec![SiteId(1)];
        run
    };
    let on = run(&ROWS);
    let judged = |before: &Snapshot, after: &Snapshot, text: &str| {
        let condition = condition(text);
        let sides = [before, after].map(std::slice::from_ref);
        let diff = Diff::by(condition.measure, sides[0], sides[1], None).unwrap();
        judge(&diff, &condition)
            .map(|verdict| (verdict.judged, verdict.is_passed()))
            .map_err(|error| error.to_string())
    };
    let said = judged(&on, &off(20), "calls > 0").unwrap_err();
    assert_eq!(
        said,
        "calls > 0: app::work was off after, so not all of its calls were counted; record both sides with --budget off or --only"
    );
    assert!(
        judged(&off(20), &on, "calls(work) > 0")
            .unwrap_err()
            .contains("off before")
    );
    assert!(judged(&off(20), &on, "calls(tiny) > 0").is_ok());
    let mut for_a_time = off(20);
    for_a_time.was_off = std::mem::take(&mut for_a_time.measuring.off_sites);
    assert_eq!(judged(&on, &for_a_time, "calls > 0"), Err(said));
    // `work` was off on both sides, so it is left out.
    assert_eq!(judged(&off(20), &off(70), "calls > 0"), Ok((2, true)));
    assert!(
        judged(&off(20), &off(70), "calls(work) > 0")
            .unwrap_err()
            .contains("on both sides")
    );
    let diff = Diff::of(&[off(20)], &[off(70)], None).unwrap();
    let work = &diff.by_function[1];
    assert!(!work.calls_exact && !work.is_worth(0.0, |_| false));
}

#[test]
fn calls_are_exact() {
    let before = run(&[(0, "main", 1, 1), (1, "work", 100, 1)]);
    let with = |calls| run(&[(0, "main", 1, 1), (1, "work", calls, 1)]);
    for (calls, text, passes) in [
        (100, "calls > 0", true),
        (101, "calls > 0", false),
        (101, "calls > 1%", true),
        (101, "calls >= 1%", false),
        (102, "calls > 1%", false),
        (99, "calls > 0", true),
        (102, "calls(main) > 1%", true),
        (102, "calls(app::work) > 1%", false),
        (102, "calls > 2", true),
    ] {
        let verdict = verdict(std::slice::from_ref(&before), &[with(calls)], text);
        assert_eq!(verdict.is_passed(), passes, "{calls} {text}");
    }
}

#[test]
fn a_new_function_has_grown_and_one_that_is_gone_has_not() {
    let one = [run(&[(0, "main", 1, 1)])];
    let two = [run(&[(0, "main", 1, 1), (1, "more", 1, 1)])];
    let diff = Diff::of(&one, &two, None).unwrap();
    let verdict = judge(&diff, &condition("calls > 1000%")).unwrap();
    assert_eq!(failed(&diff, &verdict), ["more"]);
    assert!(self::verdict(&two, &one, "calls > 0").is_passed());
}

#[test]
fn counts_that_do_not_agree_are_told() {
    let with = |calls| run(&[(0, "main", calls, 1)]);
    let found = verdict(
        &[with(1), with(2), with(3)],
        &[with(4), with(4), with(4)],
        "calls > 0",
    );
    assert_eq!((found.failures[0].before, found.inexact), (2.0, 1));
}

#[test]
fn counts_with_noise_are_judged_by_rank_where_there_are_runs_enough() {
    let runs = |calls: [u64; 5]| calls.map(|calls| run(&[(0, "main", calls, 1)]));
    let (usual, other, more) = (
        runs([100, 90, 110, 95, 105]),
        runs([103, 112, 104, 93, 106]),
        runs([130, 125, 140, 122, 133]),
    );
    assert!(verdict(&usual, &other, "calls > 1%").is_passed());
    // Four runs a side are too few for the rank test, so the medians are compared.
    assert!(!verdict(&usual[..4], &other[..4], "calls > 1%").is_passed());
    let found = verdict(&usual, &more, "calls > 1%");
    assert_eq!((found.failures.len(), found.inexact), (1, 1));
    assert!(found.failures[0].chance.is_some());
}

#[test]
fn allocations_are_judged_with_callees_and_one_run_is_enough() {
    let allocating = |work: u64| {
        let mut run = runs(&[100], &ROWS).remove(0);
        run.measures.push_row(MeasuredQuantity::Allocations, 0, 5);
        run.measures.push_row(MeasuredQuantity::Allocations, 1, work);
        run
    };
    let (before, same, after) = ([allocating(100)], [allocating(100)], [allocating(102)]);
    assert!(verdict(&before, &same, "allocations > 0").is_passed());
    let grown = verdict(&before, &after, "allocations > 0");
    let diff = Diff::by(Measure::Allocations, &before, &after, None).unwrap();
    assert_eq!(failed(&diff, &grown), ["(all)", "main", "work"]);
    assert_eq!(grown.failures[1].after, 107.0);
    assert!(verdict(&before, &after, "allocations(tiny) > 0").is_passed());
    assert!(verdict(&before, &after, "allocations > 5%").is_passed());
    assert_eq!(condition("bytes > 4kB").growth, Growth::Absolute(4_000.0));
}

#[test]
fn the_rank_test_of_a_whole_by_counts_is_kept_also_if_it_passes() {
    let allocating = |counts: [u64; 5]| {
        counts.map(|count| {
            let mut run = run(&ROWS);
            run.measures.push_row(MeasuredQuantity::Allocations, 1, count);
            run
        })
    };
    let (before, after) = (
        allocating([100, 90, 110, 95, 105]),
        allocating([103, 112, 104, 93, 106]),
    );
    let found = verdict(&before, &after, "allocations > 1%");
    assert!(found.is_passed());
    let whole = found.whole.unwrap();
    assert_eq!((whole.before, whole.after), (100.0, 104.0));
    assert!(whole.chance.is_some());
    assert_eq!(verdict(&before[..1], &after[..1], "allocations > 5%").whole, None);
}

#[test]
fn waiting_is_judged_apart_from_working() {
    let waiting = |percent: u64| -> Vec<Snapshot> {
        let each = runs(&[99, 100, 100, 101, 102], &ROWS).into_iter();
        each.map(|mut run| {
            run.waits = true;
            // Only the waiting half of the 90 000 ns is scaled; the working half stays.
            let work = run.nodes.self_ticks[1];
            let waits = work / 2 * percent / 100;
            run.nodes.self_ticks[1] = work / 2 + waits;
            run.measures.push_row(MeasuredQuantity::Waiting, 1, waits);
            run
        })
        .collect()
    };
    let (before, same, after) = (waiting(100), waiting(100), waiting(130));
    assert!(verdict(&before, &same, "waiting > 10%").is_passed());
    let grown = verdict(&before, &after, "waiting > 10%");
    let diff = Diff::by(Measure::Waiting, &before, &after, None).unwrap();
    assert_eq!(failed(&diff, &grown), ["(all)", "main", "work"]);
    assert!(verdict(&before, &after, "waiting(tiny) > 0").is_passed());
    assert!(!verdict(&before, &after, "time > 10%").is_passed());
    assert!(verdict(&before, &after, "working > 3%").is_passed());
}

#[test]
fn times_want_five_runs_a_side() {
    let diff = Diff::of(&runs(&[100; 5], &ROWS), &runs(&[100; 4], &ROWS), None).unwrap();
    let error = refusal(&diff, "time > 10%");
    assert!(
        error.contains("at least 5 runs a side; found 5 before and 4 after"),
        "{error}"
    );
}

#[test]
fn slower_by_more_than_the_threshold_fails() {
    let before = runs(&[98, 103, 100, 99, 105], &ROWS);
    let slow = runs(&[121, 125, 130, 122, 128], &ROWS);
    let diff = Diff::of(&before, &slow, None).unwrap();
    let verdict = judge(&diff, &condition("time > 10%")).unwrap();
    assert_eq!(failed(&diff, &verdict), ["(all)", "main", "work"]);
    assert_eq!(verdict.judged, 3);
    assert!(verdict.failures[0].chance.unwrap() <= 1.0 / 252.0 + 1e-9);
    let own = judge(&diff, &condition("self > 10%")).unwrap();
    assert_eq!((own.judged, own.failures.len()), (2, 2));
    // Clearly slower, but by less than 10 %.
    let little = runs(&[107, 108, 108, 107, 109], &ROWS);
    assert!(self::verdict(&before, &little, "time > 10%").is_passed());
    assert!(!self::verdict(&before, &little, "time > 0%").is_passed());
    // One slow run may be chance, and a faster program does not fail.
    let once = runs(&[98, 103, 100, 99, 300], &ROWS);
    assert!(self::verdict(&before, &once, "time > 10%").is_passed());
    assert!(self::verdict(&slow, &before, "time > 10%").is_passed());
    // A small function is judged only if the condition names it.
    assert!(!self::verdict(&before, &slow, "time(tiny) > 10%").is_passed());
    let name = refusal(&diff, "time(tinny) > 10%");
    assert!(name.contains("no function or scope is called tinny"), "{name}");
}

/// Returns one run for each of `slowest_ns`. In each run, two of the 100 calls of `work` take that time, and one call takes
/// 20 µs longer.
fn with_slowest(slowest_ns: &[u64]) -> Vec<Snapshot> {
    let one = |&ns: &u64| {
        let mut snapshot = run(&[
            (0, "main", 1, 10_000),
            (1, "work", 100, 200_000),
            (2, "silent", 1, 90_000),
        ]);
        let mut latency = Histogram::default();
        (0..97).for_each(|_| latency.insert(1_000));
        [ns, ns, ns + 20_000]
            .into_iter()
            .for_each(|ns| latency.insert(ns));
        snapshot.latencies.push(1, &latency);
        snapshot
    };
    slowest_ns.iter().map(one).collect()
}

#[test]
fn percentiles_fail_where_they_have_grown_for_certain() {
    // Buckets of the histogram begin at 16 384, 18 432, 20 480 and 22 528 ns.
    let before = with_slowest(&[17_000, 17_500, 16_500, 18_400, 18_000]);
    let next = with_slowest(&[18_432, 18_500, 18_440, 18_600, 18_500]);
    let above = with_slowest(&[22_600, 22_700, 23_000, 22_800, 22_600]);
    let diff = Diff::of(&before, &above, None).unwrap();
    let found = judge(&diff, &condition("p99 > 10%")).unwrap();
    assert_eq!(failed(&diff, &found), ["work"]);
    assert_eq!(found.judged, 1, "no other one has any");
    assert_eq!(
        found.failures[0].before, 17_407.0,
        "the middle of the bucket, as reports have it"
    );
    for (after, text, passes) in [
        // After the change, all values are in the next bucket. Some of them are hardly any higher, so this is not certain to be
        // growth.
        (&next, "p99 > 1%", true),
        (&next, "p99(work) > 1%", true),
        (&above, "p99 > 20%", false),
        (&above, "p99 > 25%", true),
        (&above, "p99(work) > 3us", false),
        // The longest call is known exactly, so no bucket hides its growth.
        (&next, "max > 5%", true),
        (&above, "max > 10%", false),
        (&above, "max > 40%", true),
        (&before, "max > 0", true),
    ] {
        assert_eq!(verdict(&before, after, text).is_passed(), passes, "{text}");
    }
    // A faster function does not fail.
    assert!(verdict(&above, &before, "p99 > 0").is_passed());
}

#[test]
fn latencies_must_be_known_in_five_runs_a_side() {
    let mut after = with_slowest(&[30_000; 5]);
    after[0].latencies = Default::default();
    let diff = Diff::of(&with_slowest(&[17_000; 5]), &after, None).unwrap();
    for text in ["p99 > 10%", "max(work) > 10%"] {
        let error = refusal(&diff, text);
        assert!(
            error.starts_with(&format!(
                "{text}: found latencies of single calls in 5 runs before and 4 after, wanted 5 a side;"
            )),
            "{error}"
        );
    }
    let silent = refusal(&diff, "p99(silent) > 10%");
    assert!(silent.contains("in 0 runs before and 0 after"), "{silent}");
    let mut functions = diff.functions.list.iter();
    let work = functions.position(|function| function.name == "work");
    // Runs without latencies of `work` are left out of the median.
    assert_eq!(diff.by_function[work.unwrap()].after.max_ns, Some(50_000.0));
}

#[test]
fn many_functions_take_a_clearer_result_and_never_an_impossible_one() {
    let names: Vec<String> = (0..30).map(|n| format!("f{n}")).collect();
    let rows: Vec<(usize, &str, u64, u64)> = names.iter().map(|name| (0, name.as_str(), 1, 1_000)).collect();
    let before = runs(&[98, 103, 100, 99, 105], &rows);
    let apart = runs(&[121, 125, 130, 122, 128], &rows);
    assert_eq!(verdict(&before, &apart, "time > 10%").failures.len(), 31);
    // U is 2, which has a probability of 1 in 63. This is significant for one function, but not for 31.
    let nearly = runs(&[111, 125, 130, 122, 128], &rows);
    assert!(!verdict(&before, &nearly, "time(f1) > 10%").is_passed());
    assert!(verdict(&before, &nearly, "time > 10%").is_passed());
}

#[test]
fn new_functions_are_not_judged_by_time_but_the_whole_is() {
    let before = runs(&[98, 103, 100, 99, 105], &ROWS);
    let more = [ROWS[0], ROWS[1], (0, "extra", 1, 50_000)];
    let after = runs(&[98, 103, 100, 99, 105], &more);
    let diff = Diff::of(&before, &after, None).unwrap();
    let verdict = judge(&diff, &condition("time > 10%")).unwrap();
    assert_eq!(failed(&diff, &verdict), ["(all)"]);
}

#[test]
fn what_is_around_the_scope_is_not_judged_by_time() {
    let with = |frames: u64, set_up: u64| {
        run(&[
            (0, "main", 1, set_up),
            (1, "frame", frames, 1_000 * frames),
            (2, "work", frames, 500 * frames),
        ])
    };
    let long: Vec<_> = (0..5).map(|n| with(1_000, 500_000 + n)).collect();
    let short: Vec<_> = (0..5).map(|n| with(100, 500_000 + n)).collect();
    let diff = Diff::of(&long, &short, Some("frame")).unwrap();
    let verdict = judge(&diff, &condition("time > 10%")).unwrap();
    assert!(verdict.is_passed() && verdict.judged == 2);
    assert!(judge(&diff, &condition("calls > 0")).unwrap().is_passed());
}
