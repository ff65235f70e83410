//! Properties that hold in every view, at every size, in every theme, for every program name.

mod looks;
mod tables;
mod together;

use ratatui::layout::Size;
use tickscope_format::Snapshot;
use tickscope_programs::status::{Pipe, Status};

use crate::app::message::Message;
use crate::app::state::App;
use crate::app::tests::{has, with_more};
use crate::app::view::View;
use crate::keys::decoder::Code;
use crate::keys::keymap::KEYS;
use crate::orderbook;
use crate::test_driver::{self, at, events, key, keys, live, show, text};
use crate::ui::view::canvas::PUTS;
use crate::ui::view::golden::waiting;

const UNIX_NS: u64 = orderbook::STARTED_UNIX_NS + 131_000_000_000;

/// Common terminal sizes, and sizes at which the layout changes.
const SIZES: [(u16, u16); 9] = [
    (60, 15),
    (80, 24),
    (120, 30),
    (300, 100),
    (1, 1),
    (20, 100),
    (300, 5),
    (59, 19),
    (100, 20),
];

/// Keys that open something over a view, or that change how the view is shown.
const ON_TOP: [&str; 10] = ["", "?", "a", "e", "/book", "%", "p", ":", "i", "r"];

/// Returns every status.
pub(crate) fn statuses() -> [Status; 10] {
    let since_unix_ns = UNIX_NS;
    let why = "for no reason".to_string();
    [
        Status::Live,
        Status::Waiting { why: why.clone() },
        Status::Stale { since_unix_ns },
        Status::Exited { unix_ns: UNIX_NS },
        Status::Crashed { unix_ns: None },
        Status::Kept,
        Status::Broken { why },
        Status::Piped(Pipe::Flowing),
        Status::Piped(Pipe::Silent { since_unix_ns }),
        Status::Piped(Pipe::Closed),
    ]
}

/// Returns all keys that have an action in some context, each once.
fn codes() -> Vec<Code> {
    let mut codes: Vec<Code> = Vec::new();
    for &(code, _) in KEYS.iter().flat_map(|line| line.keys()) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes
}

/// Returns an app that shows a view. The keys `typed` open something over it.
fn staged(view: View, typed: &str, (width, height): (u16, u16)) -> App {
    let mut app = live(width, height);
    let mut watched = orderbook::snapshot(1_341);
    watched.capture.viewers = 3;
    events(&mut app, Status::Live, Some(watched));
    keys(&mut app, "jjj");
    show(&mut app, view);
    keys(&mut app, typed);
    app
}

fn resize(app: &mut App, (width, height): (u16, u16)) {
    app.update(Message::Resize(Size::new(width, height)));
}

#[test]
fn every_size_draws_every_view_with_whatever_is_on_top() {
    let small = (0..=40).flat_map(|width| (0..=12).map(move |height| (width, height)));
    let sizes: Vec<_> = small.chain(SIZES).collect();
    for view in View::ALL {
        for (n, typed) in ON_TOP.into_iter().enumerate() {
            let mut app = staged(view, typed, (80, 24));
            // To save time, each app is drawn at only an eighth of the sizes, and the next app at another eighth.
            for &size in sizes.iter().skip(n % 8).step_by(8) {
                resize(&mut app, size);
                test_driver::screen(&app);
                let row = app.list().selected();
                assert!(row.is_none_or(|row| !row.is_heading()), "{view:?} {size:?}");
            }
        }
    }
    for live in [true, false] {
        let mut app = waiting(80, 24, live);
        for &size in &sizes {
            resize(&mut app, size);
            test_driver::screen(&app);
        }
    }
}

#[test]
fn every_key_in_every_view_leaves_a_screen() {
    for view in View::ALL {
        for (n, size) in [(120, 30), (60, 15), (39, 9), (20, 5)].into_iter().enumerate() {
            let mut app = staged(view, "", size);
            // Each size gets a quarter of the keys, to save time.
            for code in codes().into_iter().skip(n).step_by(4) {
                show(&mut app, view);
                key(&mut app, code);
                test_driver::screen(&app);
                key(&mut app, Code::Esc);
                test_driver::screen(&app);
            }
            keys(&mut app, "/bok☃\u{202e}");
            test_driver::screen(&app);
        }
    }
}

#[test]
fn only_what_is_on_the_screen_is_written() {
    for deep in [false, true] {
        for view in View::ALL {
            let mut app = test_driver::empty(60, 15);
            let s = orderbook::snapshot(1_340);
            let last = s.nodes.len() - 1;
            events(&mut app, Status::Live, Some(with_more(s, last, 2_000, deep)));
            // The added rows take the most time, so they are at the top once they are unfolded.
            keys(&mut app, "gE");
            if view == View::Tree {
                key(&mut app, Code::End);
                assert!(app.list().rows.len() > 2_000, "{}", text(&app));
                has(&text(&app), "more_");
            }
            show(&mut app, view);
            let before = PUTS.get();
            test_driver::screen(&app);
            let puts = PUTS.get() - before;
            assert!(puts <= 60 * 15, "{view:?} writes {puts} times on 900 cells");
        }
    }
}

#[test]
fn wall_time_has_a_row_for_what_is_outside() {
    let app = live(120, 30).after("%");
    let screen = text(&app);
    assert!(screen.contains("(outside)"), "{screen}");
    assert!(screen.contains("% of wall time"), "{screen}");
    // Each of the four threads is outside of scopes for a fifth of 134 s. Together, that is 107.2 s, as against 268 s
    // in scopes.
    assert!(screen.contains("28.6%"), "{screen}");
}

/// Returns the test program with random times in each row.
fn shuffled(random: &mut u64, tenths: u64) -> Snapshot {
    let mut shuffled = orderbook::snapshot(tenths);
    for ticks in &mut shuffled.nodes.self_ticks {
        *random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        *ticks = (*random >> 20) % 60_000_000_000;
    }
    shuffled
}

#[test]
fn the_selected_row_keeps_its_line_and_never_changes() {
    for view in View::ALL {
        let mut app = live(80, 24);
        at(&mut app, 5_000);
        show(&mut app, view);
        keys(&mut app, "jjj");
        let Some(selected) = app.list().selected().map(|row| row.id) else {
            continue;
        };
        let line = test_driver::line(&app);
        let mut random = 3;
        for n in 1..40 {
            at(&mut app, 5_000 + 100 * n);
            events(&mut app, Status::Live, Some(shuffled(&mut random, 1_340 + n)));
            let now = app.list().selected().map(|row| row.id);
            assert_eq!(now, Some(selected), "{view:?} after {n} tenths");
            // A frame of the flame graph moves when the width of a parent changes.
            if n < 20 && view != View::Flame {
                assert_eq!(test_driver::line(&app), line, "{view:?} after {n} tenths");
            }
        }
    }
}
