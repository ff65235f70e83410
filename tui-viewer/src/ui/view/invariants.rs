//! Promises that hold in every view, at every size, in every theme, whatever the program is called.

mod anything;
mod looks;
mod tables;
mod together;

use ratatui::layout::Size;
use tickscope_format::Snapshot;
use tickscope_format::snapshot::ThreadState;

use crate::app::message::Message;
use crate::app::state::App;
use crate::app::view::View;
use crate::keys::decoder::Code;
use crate::keys::keymap::KEYS;
use crate::orderbook;
use crate::source::status::{Pipe, Status};
use crate::test_driver;
use crate::test_driver::{events, key, keys, live, show, text};
use crate::ui::view::canvas::PUTS;
use crate::ui::view::golden::waiting;

const UNIX_NS: u64 = orderbook::STARTED_UNIX_NS + 131_000_000_000;

/// Sizes at which people work, and some at which a layout ends.
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

/// What is typed to put something on top of a view, or to set it in another way.
const ON_TOP: [&str; 10] = ["", "?", "a", "e", "/book", "%", "p", ":", "i", "r"];

/// Every status there is.
fn statuses() -> [Status; 10] {
    let why = "for no reason".to_string();
    [
        Status::Live,
        Status::Waiting { why: why.clone() },
        Status::Stale {
            since_unix_ns: UNIX_NS,
        },
        Status::Exited { unix_ns: UNIX_NS },
        Status::Crashed { unix_ns: None },
        Status::Kept,
        Status::Broken { why },
        Status::Piped(Pipe::Flowing),
        Status::Piped(Pipe::Silent {
            since_unix_ns: UNIX_NS,
        }),
        Status::Piped(Pipe::Closed),
    ]
}

/// All keys that mean something somewhere, each once.
fn codes() -> Vec<Code> {
    let mut codes: Vec<Code> = Vec::new();
    for &(code, _) in KEYS.iter().flat_map(|line| line.keys) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes
}

/// A view with something on top, as people get there.
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
            // Each has a quarter of the sizes; the next one has others.
            for &size in sizes.iter().skip(n % 4).step_by(4) {
                resize(&mut app, size);
                test_driver::screen(&app);
            }
        }
    }
    for live in [true, false] {
        for &(width, height) in &sizes {
            test_driver::screen(&waiting(width, height, live));
        }
    }
}

#[test]
fn every_key_in_every_view_leaves_a_screen() {
    for view in View::ALL {
        let sizes = [(120, 30), (60, 15), (39, 9), (20, 5)];
        for (code, size) in codes().into_iter().zip(sizes.into_iter().cycle()) {
            let mut app = staged(view, "", size);
            key(&mut app, code);
            test_driver::screen(&app);
            key(&mut app, Code::Esc);
            test_driver::screen(&app);
        }
    }
}

/// The made-up program with many more rows below its last one, side by side or one inside the other.
fn grown(rows: u32, deep: bool) -> Snapshot {
    let mut grown = orderbook::snapshot(1_340);
    let parent = tickscope_format::ids::NodeId(grown.nodes.len() as u32 - 1);
    for n in 0..rows {
        let mut site = grown.sites[14].clone();
        site.name = format!("{}_{}", site.name, n);
        grown.sites.push(site);
        let parent = if deep { parent.0 + n } else { parent.0 };
        let site = tickscope_format::ids::SiteId(grown.sites.len() as u32 - 1);
        grown.nodes.push(
            Some(tickscope_format::ids::NodeId(parent)),
            site,
            1,
            1_000_000_000 - u64::from(n),
        );
    }
    if let Some(thread) = grown.threads.last_mut() {
        thread.rows += rows;
        thread.state = ThreadState::Running;
    }
    grown
}

#[test]
fn only_what_is_on_the_screen_is_written() {
    for deep in [false, true] {
        for view in View::ALL {
            let mut app = test_driver::empty(60, 15);
            events(&mut app, Status::Live, Some(grown(2_000, deep)));
            // What grew is what costs most now.
            keys(&mut app, "gE");
            if view == View::Tree {
                key(&mut app, Code::End);
                assert!(app.list().rows.len() > 2_000, "{}", text(&app));
                assert!(
                    text(&app).contains("publish_"),
                    "a name keeps its room\n{}",
                    text(&app)
                );
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
    let mut app = live(120, 30);
    keys(&mut app, "%");
    let screen = text(&app);
    assert!(
        screen.contains("(outside)") && screen.contains("% of wall time"),
        "{screen}"
    );
    // Four threads with a fifth of 134 s each outside of scopes, and 268 s within.
    assert!(screen.contains("28.6%"), "{screen}");
}
