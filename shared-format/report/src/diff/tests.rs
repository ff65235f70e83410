//! Golden tests for each form, and tests with hostile names.

use insta::assert_snapshot;
use tickscope_analysis::compare::gate::{Condition, judge};
use tickscope_format::latency::Histogram;
use tickscope_testkit::fixture::programs as fixtures;
use tickscope_testkit::fixture::programs::run;

use super::*;
use crate::trend::Trend;

/// Returns a run of a game. It finds things by linear search if `searches` is true, and by lookup otherwise.
fn game(frames: u64, percent: u64, searches: bool) -> Snapshot {
    let compared = if searches { 61 } else { 9 };
    let ns = |ns: u64| ns * frames * percent / 100;
    let mut rows = vec![
        (0, "main", 1, 40_000 * percent),
        (1, "load", 1, 2_000_000),
        (1, "frame", frames, ns(1_500)),
        (2, "update", frames, ns(4_000)),
        (3, "find", 10 * frames, ns(800)),
        (4, "is_before", compared * 10 * frames, ns(compared * 60)),
        (2, "draw", frames, ns(20_000)),
        (3, "blit", 4 * frames, ns(100)),
    ];
    if searches {
        rows.push((3, "count_misses", 2 * frames, ns(30)));
    } else {
        rows.push((3, "remember", 3 * frames, ns(20)));
    }
    run(&rows)
}

/// A comparison, together with the data that it borrows.
pub(crate) struct Made {
    diff: Diff,
    verdicts: Vec<Verdict>,
    doubts: Vec<String>,
    runs: (Vec<Run>, Vec<Run>),
    per: Option<&'static str>,
}

impl Made {
    pub(crate) fn new(
        before: &[Snapshot],
        after: &[Snapshot],
        per: Option<&'static str>,
        gates: &[&str],
    ) -> Self {
        let diff = Diff::of(before, after, per).unwrap();
        let verdicts = gates.iter().map(|gate| {
            let condition: Condition = gate.parse().unwrap();
            judge(&diff, &condition).unwrap()
        });
        let runs = |name: &str, all: &[Snapshot]| {
            let all = all.iter().enumerate();
            all.map(|(n, run)| Run::of(&format!("{name}{}.tks", n + 1), run))
                .collect()
        };
        Self {
            verdicts: verdicts.collect(),
            doubts: doubts(before, after),
            runs: (runs("a", before), runs("b", after)),
            diff,
            per,
        }
    }

    pub(crate) fn comparison(&self) -> Comparison<'_> {
        Comparison {
            diff: &self.diff,
            measures: &[],
            runs: (&self.runs.0, &self.runs.1),
            per: self.per,
            verdicts: &self.verdicts,
            doubts: &self.doubts,
            tables: Tables::Both,
            min_share: 0.01,
            ascii: false,
            width: 100,
        }
    }
}

fn regression() -> Made {
    let before: Vec<_> = [100, 103, 98, 101, 99].map(|p| game(200, p, false)).into();
    let after: Vec<_> = [101, 99, 104, 100, 97].map(|p| game(300, p, true)).into();
    Made::new(
        &before,
        &after,
        Some("frame"),
        &["calls > 1%", "time > 10%", "self(draw) > 0.5%"],
    )
}

/// Returns a run of a server in which one call in fifty takes `slowest_ns`.
fn served(requests: u64, slowest_ns: u64, percent: u64) -> Snapshot {
    let mut snapshot = run(&[
        (0, "main", 1, 400_000),
        (1, "serve", requests, requests * 20_000 * percent / 100),
        (2, "parse", 3 * requests, requests * 100 * percent),
        (1, "tick", requests / 2, 400),
    ]);
    snapshot.capture.since_reset_ns = requests * 50_000_000;
    let mut latency = Histogram::default();
    (0..requests).for_each(|call| latency.insert(if call % 50 == 0 { slowest_ns } else { 20_000 }));
    snapshot.latencies.push(1, &latency);
    snapshot
}

fn slower_tail(per: Option<&'static str>, gates: &[&str]) -> Made {
    let before: Vec<_> = [100, 101, 98, 99, 103].map(|p| served(200, 300 * p, p)).into();
    let after: Vec<_> = [99, 103, 100, 98, 101].map(|p| served(400, 900 * p, p)).into();
    Made::new(&before, &after, per, gates)
}

/// Compares a run without hostile names with a run that has such names.
fn hostile() -> Made {
    let one = run(&[(0, "main", 1, 1_000)]);
    let mut rows = vec![(0, "main", 1, 1_000)];
    let long = "long".repeat(2_500);
    let names = [
        "<script>alert(1)</script>",
        "a|b",
        "tick`s",
        "back\\|slash",
        "line\nbreak\ttab",
        "@somebody #1 ~~x~~ **b** [l](x)",
        "&amp;",
        "语言",
        "",
        long.as_str(),
    ];
    for (n, name) in names.into_iter().enumerate() {
        rows.push((1, name, 1, 900_000 + n as u64));
    }
    Made::new(&[one], &[run(&rows)], None, &["calls > 0"])
}

#[test]
fn text_of_a_regression() {
    assert_snapshot!(text::report(&regression().comparison()));
}

#[test]
fn text_of_a_slower_tail() {
    let made = slower_tail(None, &["p99 > 25%", "max(serve) > 10us"]);
    assert_snapshot!(text::report(&made.comparison()));
    let wide = Comparison {
        width: 160,
        ascii: true,
        ..made.comparison()
    };
    let text = text::report(&wide);
    let line = text.lines().find(|line| line.ends_with("  app::serve")).unwrap();
    assert!(
        line.contains("29.7us   86.0us    +190%   30.0us   90.0us    +200%"),
        "{line}"
    );
    assert!(text.contains("  SELF"), "{text}");
    let title = text.lines().find(|line| line.contains("  P99")).unwrap();
    assert_eq!(
        title.split_whitespace().collect::<Vec<_>>(),
        ["CALLS", "TOTAL", "SELF", "P99", "MAX"]
    );
    assert!(!text.contains("Their single calls"), "{text}");
}

#[test]
fn markdown_of_a_slower_tail() {
    assert_snapshot!(markdown::report(
        &slower_tail(Some("serve"), &["p99 > 25%"]).comparison()
    ));
}

#[test]
fn a_page_has_columns_of_latencies() {
    let made = slower_tail(None, &[]);
    let page = page::report(&made.comparison());
    assert_eq!(page.matches("<th colspan=\"3\">").count(), 2 * 5);
    assert!(page.contains("<th colspan=\"3\">P99</th><th colspan=\"3\">Max</th></tr>"));
    let row = page.lines().find(|line| line.contains(">app::serve<")).unwrap();
    assert_eq!(row.matches("<td").count(), 15, "{row}");
    assert!(
        row.contains("data-n=\"60000\" class=\"more\">+200%</td></tr>"),
        "{row}"
    );
}

/// Compares runs in which a hundred functions are called more often, and one function becomes a little slower.
fn many_changes() -> Made {
    let names: Vec<String> = (0..100).map(|n| format!("changed_{n}")).collect();
    let side = |is_after: u64, percent: u64| {
        let mut rows = vec![(0, "main", 1, 900_000 * percent)];
        rows.extend(
            names
                .iter()
                .map(|name| (1, name.as_str(), 1 + is_after, 10_000 * percent * (1 + is_after))),
        );
        rows.push((1, "caller", 1, 10));
        rows.push((2, "slower", 7, (20 + 4 * is_after) * 1_000 * percent));
        run(&rows)
    };
    let runs = |is_after: u64| -> Vec<Snapshot> { [98, 99, 100, 101, 102].map(|p| side(is_after, p)).into() };
    Made::new(&runs(0), &runs(1), None, &["time(slower) > 10%"])
}

#[test]
fn what_a_gate_failed_for_is_always_shown() {
    let made = many_changes();
    let comparison = made.comparison();
    // The flame graph's data at the end of a page contain all names, so only the text before them is searched.
    let slower = |text: &str| {
        let seen = text.split("<script").next().unwrap_or_default();
        seen.matches("app::slower").count()
    };
    let of_failures = slower(&comparison.failures().join(""));
    assert_eq!(of_failures, 1);
    for tables in [Tables::Functions, Tables::Paths] {
        let only = Comparison { tables, ..comparison };
        let passed = Comparison {
            verdicts: &[],
            ..only
        };
        for report in [text::report, markdown::report, page::report] {
            assert_eq!(
                slower(&report(&only)),
                2,
                "in the sentence and in the table: {}",
                report(&only)
            );
            assert_eq!(slower(&report(&passed)), 0, "it is small");
        }
        let markdown = markdown::report(&only);
        let rows = markdown.lines().filter(|line| line.contains("`app::")).count();
        // The caller of the path is shown as well, which takes one more row.
        let (kept, left) = match tables {
            Tables::Paths => (2, "\n81 more paths have changed."),
            Tables::Functions | Tables::Both => (1, "\n81 more functions have changed."),
        };
        assert_eq!(rows, 1 + 20 + kept, "{markdown}");
        assert!(markdown.contains(left), "{markdown}");
    }
}

#[test]
fn a_side_that_did_more_hints_at_numbers_per_call() {
    let hint = |before: Snapshot, after: Snapshot, per| {
        let made = Made::new(&[before], &[after], per, &[]);
        made.comparison().about_lengths()
    };
    let longer = || (served(200, 1_000, 100), served(500, 1_000, 100));
    let (before, after) = longer();
    assert_eq!(
        hint(before, after, None).unwrap(),
        "one side did more (200 calls of serve in 10.0s before, 500 in 25.0s after); --per FUNCTION compares numbers per call, \
         for example --per serve"
    );
    let (before, after) = longer();
    assert_eq!(hint(before, after, Some("serve")), None);
    // The program is slower and one function is called more often, but most functions are called as often as before.
    let (mut before, after) = (served(200, 1_000, 100), served(200, 1_000, 300));
    before.nodes.calls[2] /= 3;
    assert_eq!(hint(before, after, None), None);
    assert_eq!(hint(fixtures::empty(), served(200, 1_000, 100), None), None);
}

#[test]
fn a_long_list_of_runs_is_cut_in_the_heading() {
    let made = Made::new(&[fixtures::empty()], &[fixtures::empty()], None, &[]);
    let run = |name: &str, ns, part: Option<&str>| Run {
        target: name.into(),
        length_ns: ns,
        part: part.map(str::to_string),
        ..made.runs.0[0].clone()
    };
    let comparison = made.comparison();
    let mode = "(order-book, exact)";
    let side = |runs: &[Run]| comparison.side(runs).replace(mode, "(..)");
    let of = |name: &str| side(&vec![run(name, 1, None); 20]);
    assert_eq!(
        of("a.tks"),
        "a.tks a.tks a.tks a.tks a.tks a.tks and 14 more (..)"
    );
    let long = "target/recordings/of-the-main-branch.tks";
    assert_eq!(of(long), format!("{long} and 19 more (..)"));
    let part = Some("9.5 s, from then to then");
    assert_eq!(
        side(&[run("a", 9_500_000_000, part)]),
        "a (..), 9.5 s, from then to then"
    );
    let two = [run("a", 9_500_000_000, part), run("b", 10_000_000_000, part)];
    assert_eq!(side(&two), "a b (..), 9.50s to 10.0s of each");
    assert_eq!(side(&[two[0].clone(), two[0].clone()]), "a a (..), 9.50s of each");
}

#[test]
fn markdown_of_a_regression() {
    assert_snapshot!(markdown::report(&regression().comparison()));
}

#[test]
fn a_failed_gate_of_times_says_why_the_whole_is_not_among_them() {
    let failed = |before: &[Snapshot], after: &[Snapshot], per| {
        let made = Made::new(before, after, per, &["time > 10%"]);
        made.comparison().failures().join("\n")
    };
    let five = |runs: [u64; 5], make: &dyn Fn(u64) -> Snapshot| -> Vec<Snapshot> { runs.map(make).into() };
    let before = five([98, 99, 100, 101, 102], &|n| {
        run(&[(0, "waits", 1, 1_000 * n), (0, "works", 1, 20_000)])
    });
    let after = five([10, 20, 200, 210, 220], &|n| {
        run(&[(0, "waits", 1, 1_000 * n), (0, "works", 1, 30_000)])
    });
    let text = failed(&before, &after, None);
    assert!(text.contains("app::works 20.0µs → 30.0µs total"), "{text}");
    assert!(
        text.contains("; (all) +91.7% is not significant, p = 0."),
        "{text}"
    );

    let frames = |frames: u64, start: u64, each: u64| {
        run(&[(0, "main", 1, start), (1, "frame", frames, frames * each)])
    };
    let before = five([98, 99, 100, 101, 102], &|n| frames(100, 1_000_000, 100 * n));
    let after = five([98, 99, 100, 101, 102], &|n| frames(200, 3_000_000, 200 * n));
    let text = failed(&before, &after, Some("frame"));
    assert!(
        text.contains("; (all) +75.0% is not judged: it includes what is outside of the scope"),
        "{text}"
    );
}

#[test]
fn what_has_not_changed_is_one_line() {
    let runs: Vec<_> = [100, 103, 98, 101, 99].map(|p| game(200, p, false)).into();
    let again: Vec<_> = [101, 99, 104, 100, 97].map(|p| game(200, p, false)).into();
    let made = Made::new(&runs, &again, None, &["calls > 0", "time > 10%"]);
    assert_snapshot!(text::report(&made.comparison()));
    assert!(made.comparison().failures().is_empty());
    assert!(markdown::report(&made.comparison()).starts_with("**tickscope diff: passed**"));
}

#[test]
fn failures_are_a_line_each() {
    let failures = regression().comparison().failures();
    assert_eq!(failures.len(), 2, "{failures:?}");
    assert!(
        failures[0].starts_with("calls > 1% failed: app::is_before 90 → 610 calls (+578%)"),
        "{}",
        failures[0]
    );
}

#[test]
fn hostile_names_in_text() {
    let made = hostile();
    let comparison = Comparison {
        ascii: true,
        ..made.comparison()
    };
    let text = text::report(&comparison);
    assert!(text.is_ascii() && text.lines().all(|line| line.len() < 200));
    assert_snapshot!(text);
}

#[test]
fn hostile_names_in_markdown() {
    let text = markdown::report(&hostile().comparison());
    assert!(!text.contains("<script") && !text.contains('\t'));
    for line in text.lines().filter(|line| line.starts_with('|')) {
        assert_eq!(line.matches('|').count(), 8, "{line}");
    }
    assert_snapshot!(text);
}

#[test]
fn hostile_names_in_a_page() {
    let made = hostile();
    let page = page::report(&made.comparison());
    assert_eq!(page.matches("<script").count(), 3, "the page's own");
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert!(!page.contains("http:") && !page.contains("https:"));
    let (_, body) = page.split_once("<body>").unwrap();
    let (body, _) = body.split_once("<script>").unwrap();
    assert_snapshot!(body);
}

/// Returns the data from which the scripts of a page draw the flame graph.
fn frames(made: &Made) -> serde_json::Value {
    let page = page::report(&made.comparison());
    let (_, data) = page.split_once("id=\"frames\">").expect("a flame graph");
    serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn frames_of_the_runs_after_say_what_has_changed() {
    let frames = frames(&regression());
    let column = |name: &str| frames[name].as_array().unwrap().clone();
    let label = |at: usize| column("label")[column("fn")[at].as_u64().unwrap() as usize].clone();
    let of = |name: &str| (0..column("fn").len()).find(|&at| label(at) == format!("app::{name}"));
    let trend = |name: &str| column("trend")[of(name).expect(name)].as_u64().unwrap();
    // A linear search has replaced a lookup, and the time for loading is spread over more frames.
    assert_eq!(trend("is_before"), Trend::MuchMore as u64);
    assert_eq!(trend("load"), Trend::Less as u64);
    assert_eq!(trend("main"), Trend::Same as u64, "it is around the frames");
    assert!(of("remember").is_none(), "a path that is gone has no frame");
    let told = column("told")[of("is_before").unwrap()].to_string();
    assert!(told.contains(" before: +"), "{told}");
    assert!(told.contains(" points\\ntotal "), "{told}");
    let told = column("told")[of("count_misses").unwrap()].to_string();
    assert!(told.contains("it was not there before"), "{told}");
    let widths: Vec<f64> = serde_json::from_value(frames["width"].clone()).unwrap();
    let ups: Vec<usize> = serde_json::from_value(frames["up"].clone()).unwrap();
    let mut below = vec![0.0; widths.len()];
    for at in (0..widths.len()).rev() {
        assert!(
            widths[at] >= below[at] * 0.999_999,
            "frame {at} is as wide as the frames below it"
        );
        if ups[at] > 0 {
            below[at - ups[at]] += widths[at];
        }
    }
}

#[cfg(feature = "json")]
fn document(made: &Made) -> serde_json::Value {
    serde_json::from_str(&json::report(&made.comparison())).unwrap()
}

#[cfg(feature = "json")]
#[test]
fn json_has_everything_and_sums_hold() {
    for made in [regression(), hostile()] {
        let value = document(&made);
        assert_eq!(value["passed"], false);
        let functions = value["functions"].as_array().unwrap();
        assert_eq!(functions.len(), made.diff.by_function.len());
        assert_eq!(value["paths"].as_array().unwrap().len(), made.diff.paths.len());
        let names: Vec<&str> = functions.iter().map(|f| f["name"].as_str().unwrap()).collect();
        let listed = made.diff.functions.list.iter().map(|f| f.name.as_str());
        assert!(names.iter().copied().eq(listed), "as they are");
        assert_eq!(json::report(&made.comparison()), json::report(&made.comparison()));
    }
    let value = document(&slower_tail(None, &["max > 10%"]));
    let [main, serve] = [0, 1].map(|id| &value["functions"][id]);
    assert_eq!(serve["max_ns"]["before"], 30_000.0);
    assert_eq!(serve["max_ns"]["change"], 60_000.0);
    assert_eq!(value["paths"][1]["p99_ns"], serve["p99_ns"]);
    assert!(main["p99_ns"].is_null() && main["max_ns"].is_null());
    assert_eq!(
        value["gates"][0]["failures"][0]["after"],
        serve["max_ns"]["after"]
    );
    assert_eq!(value["before"][0]["length_ns"], 10_000_000_000_u64);
    let note = value["notes"][0].as_str().unwrap();
    assert!(note.starts_with("one side did more"), "{note}");
    let value = document(&regression());
    assert_eq!(value["gates"][0]["failures"][0]["name"], "is_before");
    assert_eq!(value["before"][0]["per_calls"], 200);
}

#[test]
fn nothing_at_all_is_compared() {
    let made = Made::new(&[fixtures::empty()], &[fixtures::empty()], None, &["calls > 0"]);
    assert_snapshot!(text::report(&made.comparison()));
    assert!(markdown::report(&made.comparison()).contains("passed"));
    assert!(page::report(&made.comparison()).contains("(all)"));
}

#[test]
fn modes_and_programs_that_differ_are_told() {
    let exact = game(10, 100, false);
    let mut sampled = exact.clone();
    sampled.capture.mode = Mode::Sampled;
    sampled.process.name = "other\n".into();
    sampled.capture.losses.dropped = 7;
    let told = doubts(std::slice::from_ref(&exact), std::slice::from_ref(&sampled));
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].contains("exact before, sampled after"), "{told:?}");
    assert!(told[1].contains("other\\n"), "{told:?}");
    let both = doubts(std::slice::from_ref(&sampled), std::slice::from_ref(&sampled));
    assert!(both[0].contains("estimates (mode sampled)"), "{both:?}");
    assert!(doubts(std::slice::from_ref(&exact), std::slice::from_ref(&exact)).is_empty());
}

#[test]
fn a_counter_has_a_sum_and_no_time_in_every_form() {
    let counting = |calls: u64, bytes: u64| {
        let mut snapshot = run(&[(0, "frame", 10, 5_000), (1, "bytes", calls, 0)]);
        snapshot.counts = vec![tickscope_format::snapshot::Count {
            node: tickscope_format::ids::NodeId(1),
            sum: bytes,
        }];
        snapshot
    };
    // The number of calls is the same, but the sum has doubled, so the row has changed.
    let made = Made::new(&[counting(20, 1_000)], &[counting(20, 2_000)], None, &[]);
    let comparison = made.comparison();
    let line = |text: &str, name: &str| -> String {
        let found = text.lines().find(|line| line.contains(name));
        let words: Vec<&str> = found.unwrap().split_whitespace().collect();
        words.join(" ")
    };
    let text = text::report(&comparison);
    assert_eq!(
        line(&text, "bytes"),
        "20 20 = Σ 1.00k Σ 2.00k +100% - - - app::bytes"
    );
    assert_eq!(
        line(&text, "(all)"),
        "10 10 = 5.00µs 5.00µs = 5.00µs 5.00µs = (all)",
        "calls are calls of scopes, as in reports"
    );
    assert!(
        text.contains("Σ is the sum that a counter has added up"),
        "{text}"
    );
    let ascii = Comparison {
        ascii: true,
        ..comparison
    };
    assert!(text::report(&ascii).contains("sum 1.00k sum 2.00k"), "in ASCII");
    let markdown = markdown::report(&comparison);
    assert!(
        markdown.contains("| 20 | = | Σ 1.00k → Σ 2.00k | +100% | - | - |"),
        "{markdown}"
    );
    let page = page::report(&comparison);
    assert!(page.contains(">Σ 1.00k</td>"), "{page}");
    assert!(page.contains("class=\"more\">+100%"), "{page}");
    #[cfg(feature = "json")]
    {
        let document = document(&made);
        assert_eq!(document["functions"][1]["sum"]["change"], 1_000.0);
        assert_eq!(document["functions"][0]["sum"], serde_json::Value::Null);
    }
    let per = Made::new(&[counting(20, 1_000)], &[counting(20, 1_000)], Some("frame"), &[]);
    let bytes = &per.diff.by_function[1];
    assert_eq!((bytes.before.calls, bytes.before.sum), (2.0, 100.0));
}
