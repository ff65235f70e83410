//! Golden screens of counters, values and gauges, including comparisons and numbers per call.

use insta::assert_snapshot;
use ratatui::layout::Size;
use tickscope_format::Snapshot;
use tickscope_format::ids::SiteId;
use tickscope_format::latency::{Histogram, value_bucket};
use tickscope_format::snapshot::{Count, Extremes, Level, Site, Tally, Thread, ThreadState};
use tickscope_programs::status::Status;

use crate::app::state::App;
use crate::app::tests::has;
use crate::cli::args::look::ThemeKind;
use crate::orderbook;
use crate::test_driver::{empty, events, keys, looks, showing, text};

/// Returns the test program after this many tenths of a second, with an added thread that counts cache hits, cache
/// misses and bytes read.
fn counting(tenths: u64) -> Snapshot {
    let mut s = orderbook::snapshot(tenths);
    let [run, hit, miss, bytes] = with_thread(
        &mut s,
        "reader",
        [
            ("reader", "run", 7),
            ("cache", "hit", 40),
            ("cache", "miss", 44),
            ("reader", "bytes", 19),
        ],
    );
    let top = s.nodes.push(None, run, 1, tenths * 40_000_000);
    for (site, calls, sum) in [(hit, 900, 900), (miss, 100, 100), (bytes, 1_000, 64_000)] {
        let node = s.nodes.push(Some(top), site, calls * tenths, 0);
        let sum = sum * tenths;
        s.counts.push(Count { node, sum });
    }
    s
}

/// Adds these sites, and a thread that will have one row for each of them. The caller must add those rows next.
fn with_thread<const N: usize>(s: &mut Snapshot, name: &str, sites: [(&str, &str, u32); N]) -> [SiteId; N] {
    s.threads.push(Thread {
        name: name.into(),
        tid: 41_875 + s.threads.len() as u32,
        state: ThreadState::Idle,
        count: 1,
        first_row: s.nodes.len() as u32,
        rows: N as u32,
        ..Thread::default()
    });
    sites.map(|(module, name, line)| {
        s.sites.push(Site {
            name: name.into(),
            module: format!("orderbook_sim::{module}"),
            file: format!("crates/{module}/src/lib.rs"),
            line,
            group: String::new(),
        });
        SiteId(s.sites.len() as u32 - 1)
    })
}

/// Shows a program and selects a row by searching for its name.
fn shown(width: u16, height: u16, snapshot: Snapshot, name: &str) -> App {
    showing(width, height, snapshot).after(&format!("*/{name}\n"))
}

fn find(app: &mut App, name: &str) {
    keys(app, &format!("/{name}\n"));
}

#[test]
fn in_the_tree() {
    for (width, height) in [(120, 30), (60, 15)] {
        assert_snapshot!(
            format!("counters_tree_{width}x{height}"),
            looks(&shown(width, height, counting(1_340), "bytes"))
        );
    }
}

#[test]
fn in_hotspots_and_around_a_function() {
    let mut app = shown(120, 30, counting(1_340), "bytes").after("2");
    assert_snapshot!("counters_hot_120x30", text(&app));
    keys(&mut app, "1");
    find(&mut app, "reader::run");
    keys(&mut app, "3");
    assert_snapshot!("counters_function_120x30", text(&app));
}

#[test]
fn a_comparison_shows_what_was_added_since() {
    let mut app = empty(120, 30);
    app.compare_with(counting(1_000).into(), "before.tks".into());
    events(&mut app, Status::Live, Some(counting(1_340)));
    keys(&mut app, "*");
    find(&mut app, "bytes");
    assert_snapshot!("counters_compare_120x30", text(&app));
    // 64 000 bytes in each of 340 tenths of a second.
    has(&row_of(&app, "─ reader::bytes"), "+21.8M");
}

#[test]
fn per_call_sums_are_divided_too() {
    let mut app = shown(120, 30, counting(1_340), "miss").after("b");
    find(&mut app, "bytes");
    has(&row_of(&app, "─ reader::bytes"), " 640 ");
    assert!(!text(&app).contains("64.0k/s"), "no rate of what is per call");
}

#[test]
fn in_ascii_the_sign_is_a_word() {
    let mut app = App::new(Size::new(100, 24), ThemeKind::Mono, true, Some(0));
    events(&mut app, Status::Live, Some(counting(1_340)));
    keys(&mut app, "*");
    find(&mut app, "bytes");
    let row = row_of(&app, "- reader::bytes");
    assert!(row.contains("sum ") && row.contains(" 85.8M"), "{row}");
    assert!(text(&app).is_ascii());
}

/// Like [`counting`], with another thread that records the number of rows of each query, the length of its queue, and a
/// balance.
fn giving(tenths: u64) -> Snapshot {
    let mut s = counting(tenths);
    let sites = [("serve", 10), ("rows", 25), ("queue", 12), ("balance", 13)];
    let sites = sites.map(|(name, line)| ("db", name, line));
    let [serve, rows, queue, balance] = with_thread(&mut s, "server", sites);
    let top = s.nodes.push(None, serve, 50 * tenths, tenths * 30_000_000);
    let numbers = [(0, 4), (1, 20), (12, 25), (tenths * 1_000, 1)];
    let mut histogram = Histogram::default();
    for (number, times) in numbers {
        histogram.add(&Histogram {
            buckets: vec![(value_bucket(number) as u16, times * tenths)],
            max_ticks: 0,
        });
    }
    let rows = s.nodes.push(Some(top), rows, 50 * tenths, 0);
    let range = numbers.map(|(number, _)| Extremes::of(number));
    let value = Tally::Value {
        sum: numbers
            .iter()
            .map(|(number, times)| number * times * tenths)
            .sum(),
        range: range.into_iter().reduce(Extremes::and),
    };
    s.push_tally(rows, value);
    s.latencies.push(rows.0, &histogram);
    for (site, last, highest) in [(queue, tenths as i64 / 10, 200), (balance, -(tenths as i64), 12)] {
        let gauge = s.nodes.push(Some(top), site, 100 * tenths, 0);
        let level = Level {
            last,
            set_tick: tenths,
            range: Extremes::of(last.min(0)).and(Extremes {
                max_exact: site == queue,
                ..Extremes::of(highest)
            }),
        };
        s.push_tally(gauge, Tally::Gauge { level: Some(level) });
    }
    s
}

fn row_of(app: &App, name: &str) -> String {
    let text = text(app);
    // On wide screens, the pane follows to the right of the row's name.
    let inside = format!("{name}  ");
    let is_it = |line: &&str| line.trim_end().ends_with(name) || line.contains(&inside);
    let row = text.lines().find(is_it);
    row.unwrap_or_default().to_string()
}

#[test]
fn values_and_gauges_have_plain_numbers() {
    for (width, height) in [(160, 34), (80, 24)] {
        assert_snapshot!(
            format!("values_tree_{width}x{height}"),
            looks(&shown(width, height, giving(1_340), "rows"))
        );
    }
    let mut app = shown(120, 34, giving(1_340), "db::balance");
    assert_snapshot!("gauges_tree_120x34", text(&app));
    keys(&mut app, "2");
    assert_snapshot!("values_hot_120x34", text(&app));
    keys(&mut app, "1");
    find(&mut app, "db::serve");
    keys(&mut app, "3");
    assert_snapshot!("values_function_120x34", text(&app));
}

#[test]
fn a_comparison_takes_numbers_from_each_other_and_levels_not() {
    let mut app = empty(140, 34);
    app.compare_with(giving(1_000).into(), "before.tks".into());
    events(&mut app, Status::Live, Some(giving(1_340)));
    keys(&mut app, "*");
    find(&mut app, "rows");
    assert_snapshot!("values_compare_140x34", text(&app));
    // 50 queries in each of 340 tenths of a second.
    has(&row_of(&app, "db::rows"), "+17.0k");
    // The level itself, 134, is shown, not its change of 34.
    let queue = row_of(&app, "db::queue");
    assert!(queue.contains(" 134 ") && !queue.contains("+34 "), "{queue}");
}

#[test]
fn values_in_ascii_and_per_call() {
    let mut app = App::new(Size::new(272, 34), ThemeKind::Mono, true, Some(0));
    events(&mut app, Status::Live, Some(giving(1_340)));
    keys(&mut app, "*");
    find(&mut app, "balance");
    assert!(text(&app).is_ascii());
    let row = row_of(&app, "-- db::balance");
    assert!(
        row.contains(" -1.34k ") && row.contains(">=-1.4k") && row.contains("<=12"),
        "{row}"
    );
    find(&mut app, "serve");
    keys(&mut app, "b");
    // In each tenth of a second, 50 queries return 1.34 million rows, which is 26.8 thousand rows per query. The
    // largest number, also 1.34 million, is not divided.
    let row = row_of(&app, "-- db::rows");
    assert!(row.contains("26.8k") && row.contains("1.34M"), "{row}");
}
