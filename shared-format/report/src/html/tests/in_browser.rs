//! Tests of the page's scripts in a browser, and of their number formatting in Node.js. `.ci/nightly pages` runs these tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tickscope_analysis::call_tree::{CallTree, TreeRow};
use tickscope_analysis::callers::{Link, Neighbours};
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::measure::Measure;
use tickscope_analysis::per_call::PerCall;
use tickscope_analysis::transform::bottom_up;
use tickscope_analysis::waits_in::in_nodes;
use tickscope_format::snapshot::Quantity;
use tickscope_testkit::orderbook;

use super::*;
use crate::diff::page as diff_page;
use crate::diff::tests::Made;
use crate::number;
use crate::text::TextOptions;

const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

const DESKTOP: &str = "1400,900";

/// Size of the narrowest window that the browser can open. It is narrow enough for the page's phone layout.
const PHONE: &str = "500,900";

fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names
        .iter()
        .flat_map(|name| places.iter().map(move |place| place.join(name)))
        .find(|program| program.is_file())
}

fn output_of(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Script that checks the page. It runs after the page's own scripts.
const CHECKS: &str = include_str!("check.js");

/// Opens a page in a window of this size, runs its scripts and then the checks, and returns the resulting HTML.
fn document(html: &str, window: &str) -> String {
    let (before, after) = html.rsplit_once("</script>").unwrap();
    rendered(&format!("{before}{CHECKS}</script>{after}"), "id=\"app\"", window)
}

/// Opens any HTML in the browser and returns the result after its scripts have run. The result must contain `part`.
fn rendered(html: &str, part: &str, window: &str) -> String {
    let browser = on_path(&BROWSERS);
    let browser = browser.expect("wanted chromium or chrome on PATH (Debian: apt-get install chromium)");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("page.html");
    fs::write(&file, html).unwrap();
    let document = output_of(
        Command::new(browser)
            // When run by root, the browser refuses to start with its sandbox. The page comes from this test, so it needs no
            // sandbox.
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--dump-dom",
            ])
            .arg(format!("--window-size={window}"))
            .arg(format!(
                "--user-data-dir={}",
                dir.path().join("profile").display()
            ))
            .arg(format!("file://{}", file.display())),
    );
    assert!(
        document.contains(part),
        "no {part} in {}; a browser in a sandbox of snap sees no temporary files",
        file.display()
    );
    document
}

/// Returns what the checks in a page found: their results, and the rows of the page's table with everything unfolded.
fn outcome(html: &str, window: &str) -> (Vec<String>, Vec<String>) {
    let document = document(html, window);
    let (_, outcome) = document.split_once("id=\"outcome\">").expect("an outcome");
    let (outcome, _) = outcome.split_once("</pre>").unwrap();
    let outcome = outcome
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&nbsp;", "\u{a0}")
        .replace("&amp;", "&");
    let (table, checks) = outcome
        .lines()
        .filter(|line| !line.is_empty())
        .map(str::to_string)
        .partition(|line| line.contains('\t'));
    (checks, table)
}

/// Returns the rows of the text report in the format in which the checks print the page's rows: table, columns and name,
/// separated by tabs.
fn rows_of_text(snapshot: &Snapshot, page: &FormOptions) -> Vec<String> {
    let options = TextOptions {
        top: usize::MAX,
        width: 200,
        per: page.text.per.clone(),
        by: page.text.by,
        ..TextOptions::default()
    };
    let text = text::report(snapshot, &options);
    // Without histograms, neither report has the three latency columns.
    let mut columns = if snapshot.latencies.row.is_empty() { 6 } else { 9 };
    if snapshot.has_wait_columns() {
        columns += 2;
    }
    let mut table = "";
    let mut rows = Vec::new();
    for line in text.lines() {
        if line.ends_with("FUNCTION") {
            table = "tree";
        } else if line.ends_with("WHERE") {
            table = "hot";
        } else if line.is_empty() || line.contains("(outside)") {
            table = "";
        } else if !table.is_empty() {
            let mut rest = line;
            let mut cells: Vec<&str> = Vec::new();
            while cells.len() < columns {
                let (cell, after) = rest.trim_start().split_once(' ').unwrap();
                cells.push(cell);
                rest = after;
            }
            let branches = |c: char| " ├└│─".contains(c);
            let name = rest.trim_start_matches(branches);
            let name = if table == "hot" {
                name.split("  ").next().unwrap()
            } else {
                name
            };
            rows.push(format!("{table}\t{}\t{}", cells.join("\t"), name.trim_end()));
        }
    }
    rows
}

/// Returns the callers and callees of a function in the format in which the checks print them.
fn links_of(tree: &CallTree, function: u32) -> Vec<String> {
    let found = Neighbours::of(tree, FunctionId(function)).unwrap();
    let line = |which: &str, link: &Link| {
        let other = link.function.map_or("-1".to_string(), |id| id.0.to_string());
        let estimated = link
            .uncertainty
            .is_some_and(|uncertainty| uncertainty.rough(0, link.figures.total_ticks).total_estimated);
        let mark = if estimated { "~" } else { "" };
        format!(
            "graph\t{function}\t{which}\t{other}\t{}\t{}\t{mark}",
            link.figures.total_ns, link.all_calls
        )
    };
    let callers = found.callers.iter().map(|link| line("from", link));
    callers
        .chain(found.callees.iter().map(|link| line("to", link)))
        .collect()
}

fn assert_links_hold(snapshot: &Snapshot, mut found: Vec<String>) {
    let tree = CallTree::build(snapshot, |_| true);
    let functions: BTreeSet<u32> = found
        .iter()
        .map(|line| line.split('\t').nth(1).unwrap().parse().unwrap())
        .collect();
    let mut wanted: Vec<String> = functions.into_iter().flat_map(|id| links_of(&tree, id)).collect();
    found.sort();
    wanted.sort();
    assert!(!wanted.is_empty());
    assert_eq!(found, wanted);
}

/// Checks the rows of the page's bottom-up tree, as printed by the checks in the page.
fn assert_callers_hold(snapshot: &Snapshot, found: &[String]) {
    let tree = bottom_up(&CallTree::build(snapshot, |_| true), usize::MAX, |_| true).tree;
    let path = |row: &TreeRow| {
        let mut path = vec![row.function.0.to_string()];
        let mut above = row.parent;
        while let Some(row) = above.map(|at| &tree.rows[at as usize]) {
            path.push(row.function.0.to_string());
            above = row.parent;
        }
        path.reverse();
        path.join(" ")
    };
    let wanted: BTreeSet<String> = (0u32..)
        .zip(&tree.rows)
        .map(|(at, row)| {
            let uncertainty = tree.uncertainty(at).unwrap_or_default();
            let rough = uncertainty.rough(row.self_ticks, row.total_ticks);
            let marks = u8::from(rough.self_estimated) + 2 * u8::from(rough.total_estimated);
            let (total, own, calls) = (row.total_ns, row.self_ns, row.calls);
            format!("callers\t{}\t{total}\t{own}\t{calls}\t{marks}", path(row))
        })
        .collect();
    let missing: Vec<&String> = found.iter().filter(|&line| !wanted.contains(line)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    assert_eq!(found.len(), wanted.len().min(300));
}

fn assert_checks_hold(snapshot: &Snapshot, options: &FormOptions) {
    assert_checks_hold_in(snapshot, options, DESKTOP);
}

fn assert_checks_hold_in(snapshot: &Snapshot, options: &FormOptions, window: &str) {
    let (checks, table) = outcome(&page(snapshot, options).unwrap(), window);
    assert!(checks.len() >= 19, "{checks:#?}");
    let failed: Vec<&String> = checks.iter().filter(|line| !line.starts_with("ok ")).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let (links, table): (Vec<String>, Vec<String>) =
        table.into_iter().partition(|line| line.starts_with("graph\t"));
    let measured = options.text.by.of(snapshot);
    assert_links_hold(&measured, links);
    let (callers, table): (Vec<String>, Vec<String>) =
        table.into_iter().partition(|line| line.starts_with("callers\t"));
    assert_callers_hold(&measured, &callers);
    let (waits, table): (Vec<String>, Vec<String>) =
        table.into_iter().partition(|line| line.starts_with("waits\t"));
    let wanted = in_nodes(snapshot, |_| true)
        .into_iter()
        .map(|call| format!("waits\t{}\t{}", call.call, call.samples));
    assert_eq!(waits, wanted.collect::<Vec<_>>());
    let wanted = rows_of_text(snapshot, options);
    assert!(wanted.len() >= 8, "{wanted:#?}");
    for (found, wanted) in table.iter().zip(&wanted) {
        // The text report does not mark open functions in its list of functions.
        let found = if wanted.starts_with("hot") {
            found.replace(" •", "")
        } else {
            found.clone()
        };
        assert_eq!(&found, wanted);
    }
    assert_eq!(table.len(), wanted.len());
}

#[test]
#[ignore = "wants chromium: .ci/nightly pages"]
fn names_are_text_and_all_numbers_are_those_of_the_text_report() {
    for snapshot in [
        wicked(),
        fixtures::order_sim_adaptive(),
        fixtures::order_sim_sampled(),
        fixtures::order_sim_counting(),
        fixtures::queries(),
        fixtures::order_sim_in_groups(),
        orderbook::waiting(1_340),
        fixtures::large(2_000),
    ] {
        assert_checks_hold(&snapshot, &FormOptions::default());
    }
}

#[test]
#[ignore = "wants chromium: .ci/nightly pages"]
fn on_a_phone_everything_is_there_as_well() {
    assert_checks_hold_in(&wicked(), &FormOptions::default(), PHONE);
}

/// Returns the options for a page that shows the measure `by`. If `per` is given (a function and its number of calls), the page
/// shows numbers per call of that function.
fn by(by: Measure, per: Option<(&str, u64)>) -> FormOptions {
    let mut options = FormOptions::default();
    options.text.by = by;
    options.text.per = per.map(|(name, calls)| PerCall {
        name: name.into(),
        calls,
    });
    options
}

#[test]
#[ignore = "wants chromium: .ci/nightly pages"]
fn numbers_per_call_are_those_of_the_text_report() {
    let per_call = by(Measure::Time, Some(("</script> & frame", 8_410_000)));
    assert_checks_hold(&fixtures::order_sim_adaptive(), &per_call);
    assert_checks_hold(&fixtures::order_sim_counting(), &per_call);
}

#[test]
#[ignore = "wants chromium: .ci/nightly pages"]
fn other_measures_are_those_of_the_text_report() {
    let mut snapshot = fixtures::order_sim();
    for row in 0..snapshot.nodes.len() as u32 {
        let allocations = u64::from(row % 3) * 1_234;
        snapshot
            .measures
            .push_row(Quantity::Allocations, row, allocations);
        let bytes = allocations * u64::from(row) * 48;
        snapshot.measures.push_row(Quantity::AllocatedBytes, row, bytes);
        if row % 6 == 4 {
            let live = u64::from(row) << 20;
            snapshot.measures.push_row(Quantity::LiveBytes, row, live);
            snapshot
                .measures
                .push_row(Quantity::LiveVariance, row, live << 19);
        }
    }
    for (measure, per) in [
        (Measure::Allocations, None),
        (Measure::Bytes, Some(("frame", 60))),
        (Measure::Live, None),
        (Measure::Calls, None),
    ] {
        assert_checks_hold(&snapshot, &by(measure, per));
    }
}

#[test]
#[ignore = "wants chromium: .ci/nightly pages"]
fn waiting_and_ready_are_those_of_the_text_report() {
    let mut snapshot = fixtures::order_sim_with_latencies();
    snapshot.waits = true;
    for row in (0..snapshot.nodes.len() as u32).step_by(2) {
        let ticks = snapshot.nodes.self_ticks[row as usize];
        snapshot.measures.push_row(Quantity::Waiting, row, ticks / 3);
        snapshot.measures.push_row(Quantity::Ready, row, ticks / 7);
    }
    for (measure, per) in [
        (Measure::Time, None),
        (Measure::Waiting, None),
        (Measure::Calls, Some(("frame", 60))),
    ] {
        assert_checks_hold(&snapshot, &by(measure, per));
    }
}

#[test]
#[ignore = "wants chromium: .ci/nightly pages"]
fn slow_calls_are_answered_and_shown_over_time() {
    assert_checks_hold(&fixture::slow_frames(), &FormOptions::default());
    let options = FormOptions {
        watch: Some(0),
        ..FormOptions::default()
    };
    let html = page(&fixture::slow_frames(), &options).unwrap();
    let document = document(&html, DESKTOP);
    let answer = slow_answer(&fixture::slow_frames());
    for sentence in answer.lines().take(2) {
        let sentence = sentence.replace('>', "&gt;");
        assert!(document.contains(&format!("<p>{sentence}</p>")), "{sentence}");
    }
    assert!(document.contains("frame=4711"), "notes");
}

#[test]
#[ignore = "wants chromium: .ci/nightly pages"]
fn what_threads_did_over_time_is_told_at_each_width() {
    for snapshot in [fixtures::order_sim(), wicked()] {
        let options = FormOptions {
            slots: Some(Arc::new(over_time(&snapshot, 40))),
            ..FormOptions::default()
        };
        for window in [DESKTOP, PHONE] {
            assert_checks_hold_in(&snapshot, &options, window);
        }
    }
    let options = FormOptions {
        slots: Some(Arc::new(over_time(&fixtures::order_sim(), 3_000))),
        ..FormOptions::default()
    };
    assert_checks_hold(&fixtures::order_sim(), &options);
}

#[test]
#[ignore = "wants chromium: .ci/nightly pages"]
fn without_rows_the_page_works_as_well() {
    let (checks, table) = outcome(&page_of(&fixtures::empty()), DESKTOP);
    assert_eq!(checks.iter().find(|line| !line.starts_with("ok ")), None);
    assert_eq!(table, Vec::<String>::new());
}

/// Script that selects each frame of a comparison's flame graph and then zooms to the last one.
const FRAMES: &str = "<script>
flame.draw();
document.body.dataset.wide = document.documentElement.scrollWidth <= innerWidth;
document.body.dataset.frames = flame.boxes.flat().length;
document.body.dataset.told = rows.map((row) => (owner.select(row), told.textContent)).join(\" | \");
flame.zoom(rows.at(-1));
document.body.dataset.zoomed = flame.boxes.at(-1).at(-1).width === place.clientWidth;
</script>";

#[test]
#[ignore = "wants chromium: .ci/nightly pages"]
fn the_flame_graph_of_a_comparison_is_drawn_and_told() {
    let [before, after] = [1_000, 60_000].map(|search| {
        fixtures::run(&[
            (0, "main", 1, 9_000),
            (1, "search", 10, search),
            (1, "draw", 1, 30_000),
        ])
    });
    let made = Made::new(&[before], &[after], None, &[]);
    let html = diff_page::report(&made.comparison()).replace("</body>", FRAMES);
    let document = rendered(&html, "id=\"frames\"", PHONE);
    for part in [
        "data-wide=\"true\"",
        // One frame for the whole program, and one for each of three functions.
        "data-frames=\"4\"",
        "data-zoomed=\"true\"",
        "app::search\n60.6% of all, and 2.5% before: +58.1 points\ntotal 1.00µs → 60.0µs (×60)",
        "app::draw\n30.3% of all, and 75.0% before: -44.7 points",
    ] {
        assert!(document.contains(part), "{part}");
    }
}

/// Returns values around every limit at which the format of a number changes, and random values of every magnitude.
fn values() -> Vec<u64> {
    let mut values = vec![0, u64::MAX];
    let mut random = 1u64;
    for shift in 0..64 {
        for _ in 0..40 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            values.push(random >> shift);
        }
    }
    let units = [1, 60, 3_600, 86_400, 31_536_000].map(|seconds| seconds * 1_000_000_000);
    for unit in units.into_iter().chain((0..20).map(|power| 10u64.pow(power))) {
        for times in [1, 2, 9, 10, 99, 100, 300, 999, 1_000] {
            for part in [0, unit / 200, unit / 20, unit / 2] {
                let value = unit.saturating_mul(times);
                values.extend([value.saturating_sub(part), value.saturating_sub(part + 1)]);
            }
        }
    }
    values
}

#[test]
#[ignore = "wants Node.js: .ci/nightly pages"]
fn scripts_write_numbers_as_the_text_report_does() {
    let node = on_path(&["node", "nodejs"]).expect("wanted Node.js on PATH (Debian: apt-get install nodejs)");
    let values = values();
    // Multiples of 1/4096 are exact in binary, so some of these shares lie exactly halfway between two rounded percentages.
    let shares: Vec<f64> = (0..=8_000)
        .map(|at| f64::from(at) / 8_000.0)
        .chain((0..4_096).map(|at| f64::from(at) / 4_096.0))
        .chain([-1.0, 2.0, 1e-9])
        .collect();
    let numbers = values.iter().map(u64::to_string).collect::<Vec<_>>().join("n,");
    let script = format!(
        "{}\nfor (const n of [{numbers}n]) console.log(duration(n), twoDigits(n), count(n), bytes(n), quotient(n, 1n), quotient(n, 777n));
         for (const share of {shares:?}) console.log(percent(share));",
        SCRIPTS[0]
    );
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("numbers.js");
    fs::write(&file, script).unwrap();
    let found = output_of(Command::new(node).arg(&file));
    let wanted = values
        .iter()
        .map(|&n| {
            let texts = [
                number::duration(n),
                number::two_digits(n),
                number::count(n),
                number::bytes(n),
                number::quotient(n, 1),
                number::quotient(n, 777),
            ];
            (texts.join(" "), n.to_string())
        })
        .chain(
            shares
                .iter()
                .map(|&share| (number::percent(share), share.to_string())),
        );
    let mut lines = found.lines();
    for (wanted, value) in wanted {
        assert_eq!(lines.next(), Some(wanted.as_str()), "{value}");
    }
    assert_eq!(lines.next(), None);
}
