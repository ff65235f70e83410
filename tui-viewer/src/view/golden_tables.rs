//! Golden screens of the views that are neither a tree nor a list of functions: Threads, Flame, Sites.

use insta::assert_snapshot;
use tickscope_format::Snapshot;
use tickscope_format::snapshot::{Rule, Thread, ThreadState};

use crate::model::Model;
use crate::orderbook;
use crate::stage::{empty, keys, live, looks, news, text};
use crate::status::Status;
use crate::theme::ThemeKind;

const SIZES: [(u16, u16); 4] = [(120, 30), (80, 24), (60, 15), (20, 5)];

/// The made-up program with CPU times: one thread waits inside a scope, another is outside of all, and many have ended.
fn with_cpu(tenths: u64) -> Snapshot {
    let mut s = orderbook::snapshot(tenths);
    for (thread, percent) in s.threads.iter_mut().zip([99, 81, 46, 0]) {
        // Not the same share each time.
        let share = percent * (90 + (tenths % 4) * 3) / 100;
        thread.cpu_ns = Some(tenths * 100_000_000 * percent / 100 + share * 1_000_000);
    }
    s.threads[1].open.clear();
    s.threads[1].state = ThreadState::Idle;
    s.threads.push(Thread {
        name: "job".into(),
        state: ThreadState::Finished,
        count: 111,
        cpu_ns: Some(7_000_000_000),
        first_row: s.nodes.len() as u32,
        ..Thread::default()
    });
    s
}

fn watched(width: u16, height: u16) -> Model {
    let mut model = empty(width, height);
    for tenths in 1_320..=1_340 {
        news(&mut model, Status::Live, Some(with_cpu(tenths)));
    }
    model
}

#[test]
fn the_threads() {
    for (width, height) in SIZES {
        let mut model = watched(width, height);
        keys(&mut model, "4");
        assert_snapshot!(format!("threads_{width}x{height}"), looks(&model));
    }
}

#[test]
fn the_flame() {
    for (width, height) in SIZES {
        let mut model = live(width, height);
        keys(&mut model, "5ljj");
        assert_snapshot!(format!("flame_{width}x{height}"), looks(&model));
    }
    let mut model = live(80, 24);
    keys(&mut model, "5ljj");
    crate::stage::key(&mut model, crate::keyboard::Code::Enter);
    assert_snapshot!("flame_zoomed_80x24", looks(&model));
    model.theme = ThemeKind::Mono;
    model.ascii = true;
    assert!(text(&model).is_ascii(), "{}", text(&model));
    assert_snapshot!("flame_mono_ascii_80x24", looks(&model));
}

#[test]
fn the_sites() {
    for (width, height) in SIZES {
        let mut model = empty(width, height);
        let mut s = orderbook::snapshot(1_340);
        s.measuring.rules = [("orderbook_sim::book", true), ("book::apply", false)]
            .map(|(pattern, off)| Rule {
                pattern: pattern.into(),
                off,
            })
            .to_vec();
        s.measuring.off_sites = [3, 4, 6].map(tickscope_format::ids::SiteId).to_vec();
        let published = (0..s.nodes.len()).filter(|&row| s.nodes.site[row] == 14);
        for row in published.collect::<Vec<_>>() {
            s.nodes.calls[row] = 0;
        }
        news(&mut model, Status::Live, Some(s));
        keys(&mut model, "6jjjj");
        assert_snapshot!(format!("sites_{width}x{height}"), looks(&model));
    }
}

#[test]
fn ascii_and_mono_at_every_size() {
    for (width, height) in SIZES {
        for typed in ["4", "5", "6", "5jjl", "4/ma", "6/book", "5/book"] {
            let mut model = watched(width, height);
            model.ascii = true;
            model.theme = ThemeKind::Mono;
            keys(&mut model, typed);
            news(&mut model, Status::Live, Some(with_cpu(1_341)));
            assert!(text(&model).is_ascii(), "{}", text(&model));
            for cell in crate::stage::screen(&model).content() {
                let reset = ratatui::style::Color::Reset;
                assert_eq!((cell.fg, cell.bg), (reset, reset));
            }
        }
    }
}
