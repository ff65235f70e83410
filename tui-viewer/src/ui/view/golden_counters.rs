//! Golden screens of counters, values and gauges, also in windows, in comparisons and per call.

use insta::assert_snapshot;
use tickscope_format::Snapshot;
use tickscope_format::ids::{NodeId, SiteId};
use tickscope_format::latency::{Histogram, value_bucket};
use tickscope_format::snapshot::{Count, Extremes, Level, Site, Tally, Thread, ThreadState};
use tickscope_programs::status::Status;

use crate::app::state::App;
use crate::orderbook;
use crate::test_driver::{empty, events, keys, looks, showing, text};

/// Returns the made-up program after these tenths of a second, with a thread that counts finds and reads.
fn counting(tenths: u64) -> Snapshot {
    let mut s = orderbook::snapshot(tenths);
    let first_site = s.sites.len() as u32;
    for (module, name, line) in [
        ("reader", "run", 7),
        ("cache", "hit", 40),
        ("cache", "miss", 44),
        ("reader", "bytes", 19),
    ] {
        s.sites.push(Site {
            name: name.into(),
            module: format!("orderbook_sim::{module}"),
            file: format!("crates/{module}/src/lib.rs"),
            line,
            group: String::new(),
        });
    }
    let first_row = s.nodes.len() as u32;
    let site = |at: u32| SiteId(first_site + at);
    let top = s.nodes.push(None, site(0), 1, tenths * 40_000_000);
    for (at, calls, sum) in [(1, 900, 900), (2, 100, 100), (3, 1_000, 64_000)] {
        let node = s.nodes.push(Some(top), site(at), calls * tenths, 0);
        s.counts.push(Count {
            node,
            sum: sum * tenths,
        });
    }
    s.threads.push(Thread {
        name: "reader".into(),
        tid: 41_879,
        state: ThreadState::Idle,
        count: 1,
        first_row,
        rows: 4,
        ..Thread::default()
    });
    s
}

/// Shows the program of [`counting`], with a row selected by its name.
fn shown(width: u16, height: u16, name: &str) -> App {
    let mut app = showing(width, height, counting(1_340)).after("*");
    find(&mut app, name);
    app
}

/// Returns the line of the counter in the list.
fn row(app: &App) -> String {
    let text = text(app);
    let row = text
        .lines()
        .find(|line| line.ends_with("─ reader::bytes") || line.ends_with("- reader::bytes"));
    row.unwrap_or_default().to_string()
}

fn find(app: &mut App, name: &str) {
    keys(app, &format!("/{name}"));
    crate::test_driver::key(app, crate::keys::decoder::Code::Enter);
}

#[test]
fn in_the_tree() {
    for (width, height) in [(120, 30), (60, 15)] {
        assert_snapshot!(
            format!("counters_tree_{width}x{height}"),
            looks(&shown(width, height, "bytes"))
        );
    }
}

#[test]
fn in_hotspots_and_around_a_function() {
    let mut app = shown(120, 30, "bytes").after("2");
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
    // 340 tenths of a second at 64 000 a tenth.
    assert!(row(&app).contains("+21.8M"), "{}", row(&app));
}

#[test]
fn per_call_sums_are_divided_too() {
    let mut app = shown(120, 30, "miss").after("b");
    find(&mut app, "bytes");
    assert!(row(&app).contains(" 640 "), "{}", row(&app));
    assert!(!text(&app).contains("64.0k/s"), "no rate of what is per call");
}

#[test]
fn in_ascii_the_sign_is_a_word() {
    let mut app = App::new(
        ratatui::layout::Size::new(100, 24),
        crate::cli::args::look::ThemeKind::Mono,
        true,
        Some(0),
    );
    events(&mut app, Status::Live, Some(counting(1_340)));
    keys(&mut app, "*");
    find(&mut app, "bytes");
    let row = row(&app);
    assert!(row.contains("sum ") && row.contains(" 85.8M"), "{row}");
    assert!(text(&app).is_ascii());
}

/// Like [`counting`], with a thread that records the rows of its queries and the length of its queue.
fn giving(tenths: u64) -> Snapshot {
    let mut s = counting(tenths);
    let first_site = s.sites.len() as u32;
    for (module, name, line) in [
        ("db", "serve", 10),
        ("db", "rows", 25),
        ("db", "queue", 12),
        ("db", "balance", 13),
    ] {
        s.sites.push(Site {
            name: name.into(),
            module: format!("orderbook_sim::{module}"),
            file: format!("crates/{module}/src/lib.rs"),
            line,
            group: String::new(),
        });
    }
    let first_row = s.nodes.len() as u32;
    let site = |at: u32| SiteId(first_site + at);
    let top = s.nodes.push(None, site(0), 50 * tenths, tenths * 30_000_000);
    let numbers = [(0, 4), (1, 20), (12, 25), (tenths * 1_000, 1)];
    let mut histogram = Histogram::default();
    for (number, times) in numbers {
        histogram.add(&Histogram {
            buckets: vec![(value_bucket(number) as u16, times * tenths)],
            max_ticks: 0,
        });
    }
    let rows = s.nodes.push(Some(top), site(1), 50 * tenths, 0);
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
    for (at, last, highest) in [(2, tenths as i64 / 10, 200), (3, -(tenths as i64), 12)] {
        let gauge = s.nodes.push(Some(top), site(at), 100 * tenths, 0);
        let level = Level {
            last,
            set_tick: tenths,
            range: Extremes::of(last.min(0)).and(Extremes {
                max_exact: at == 2,
                ..Extremes::of(highest)
            }),
        };
        s.push_tally(gauge, Tally::Gauge { level: Some(level) });
    }
    s.threads.push(Thread {
        name: "server".into(),
        tid: 41_880,
        state: ThreadState::Idle,
        count: 1,
        first_row,
        rows: 4,
        ..Thread::default()
    });
    debug_assert_eq!(rows, NodeId(first_row + 1));
    s
}

/// Shows the program of [`giving`], with a row selected by its name.
fn given(width: u16, height: u16, name: &str) -> App {
    let mut app = showing(width, height, giving(1_340)).after("*");
    find(&mut app, name);
    app
}

fn row_of(app: &App, name: &str) -> String {
    let text = text(app);
    // On wide screens the pane stands after the name.
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
            looks(&given(width, height, "rows"))
        );
    }
    let mut app = given(120, 34, "db::balance");
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
    // In each of 340 tenths of a second, 50 more rows.
    assert!(row_of(&app, "db::rows").contains("+17.0k"), "{}", text(&app));
    // The level is 134, not a change of 34.
    let queue = row_of(&app, "db::queue");
    assert!(queue.contains(" 134 ") && !queue.contains("+34 "), "{queue}");
}

#[test]
fn values_in_ascii_and_per_call() {
    let mut app = App::new(
        ratatui::layout::Size::new(272, 34),
        crate::cli::args::look::ThemeKind::Mono,
        true,
        Some(0),
    );
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
    // 1.34 million in 50 queries, each with as many rows as before.
    let row = row_of(&app, "-- db::rows");
    assert!(row.contains("26.8k") && row.contains("1.34M"), "{row}");
}
