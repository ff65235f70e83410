//! Golden screens of counters, and that windows, comparisons and numbers per call hold for them.

use insta::assert_snapshot;
use tickscope_format::Snapshot;
use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::{Count, Site, Thread, ThreadState};

use crate::app::state::App;
use crate::orderbook;
use crate::source::status::Status;
use crate::test_driver::{empty, events, keys, looks, text};

/// The made-up program after so many tenths of a second, with a thread that counts what it finds and what it reads.
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

/// Shows it, with a row selected by its name.
fn shown(width: u16, height: u16, name: &str) -> App {
    let mut app = empty(width, height);
    events(&mut app, Status::Live, Some(counting(1_340)));
    keys(&mut app, "*");
    find(&mut app, name);
    app
}

/// The row of the counter in the list.
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
    for (width, height) in [(120, 30), (80, 24), (60, 15)] {
        assert_snapshot!(
            format!("counters_tree_{width}x{height}"),
            looks(&shown(width, height, "bytes"))
        );
    }
}

#[test]
fn in_hotspots_and_around_a_function() {
    let mut app = shown(120, 30, "bytes");
    keys(&mut app, "2");
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
    let mut app = shown(120, 30, "miss");
    keys(&mut app, "b");
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
