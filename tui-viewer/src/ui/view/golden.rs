//! Golden screens: what people see, cell by cell, and how each cell looks.
//!
//! All of them are written anew by
//! `rm tui-viewer/src/ui/view/snapshots/*golden*; INSTA_UPDATE=always cargo test -p tickscope-cli --lib golden`.

use insta::assert_snapshot;
use ratatui::layout::Size;
use tickscope_format::snapshot::Mode;

use crate::app::message::Message;
use crate::app::state::App;
use crate::app::view::View;
use crate::cli::args::look::ThemeKind;
use crate::modes::in_mode;
use crate::orderbook;
use crate::source::events::{Events, RingLine};
use crate::source::status::{Pipe, Status};
use crate::test_driver;
use crate::test_driver::{events, keys, live, looks, show, text};

const SIZES: [(u16, u16); 4] = [(120, 30), (80, 24), (60, 15), (20, 5)];
const UNIX_NS: u64 = orderbook::STARTED_UNIX_NS + 131_000_000_000;

fn at_every_size(name: &str, play: impl Fn(&mut App)) {
    for (width, height) in SIZES {
        let mut app = live(width, height);
        play(&mut app);
        assert_snapshot!(format!("{name}_{width}x{height}"), looks(&app));
    }
}

fn rings(live: bool) -> Vec<RingLine> {
    let ring = |name: &str, pid, state: &str, since: &str, live| RingLine {
        path: format!("/dev/shm/tickscope-1000/{name}.{pid}.0.ring").into(),
        name: name.into(),
        pid,
        state: state.into(),
        since: since.into(),
        live,
        library: String::new(),
    };
    vec![
        ring(
            "orderbook-sim",
            41_873,
            if live { "running" } else { "exited" },
            "since 14:00:00",
            live,
        ),
        ring(
            "orderbook-sim",
            41_602,
            if live { "running" } else { "exited" },
            "since 13:12:40",
            live,
        ),
        ring("bench-decode", 40_110, "exited", "at 12:55:03", false),
    ]
}

pub(super) fn waiting(width: u16, height: u16, live: bool) -> App {
    let mut app = test_driver::empty(width, height);
    let why = "No program called orderbook-sim yet (looked in /dev/shm/tickscope-1000).".to_string();
    let events = Events {
        rings: Some(rings(live)),
        ..Events::quiet(Status::Waiting { why })
    };
    app.update(Message::Events(Box::new(events)));
    app
}

/// Of the other views `golden_tables` and `golden_moments` have screens of each size, with more in them; it has those of other themes as well.
#[test]
fn the_views() {
    for view in [View::Tree, View::Hot, View::Function] {
        at_every_size(&view.title().to_lowercase(), |app| {
            keys(app, "jjj");
            show(app, view);
        });
    }
}

#[test]
fn the_help() {
    at_every_size("help", |app| {
        keys(app, "?");
    });
}

#[test]
fn a_search() {
    for (width, height) in [(120, 30), (60, 15)] {
        let mut app = live(width, height);
        keys(&mut app, "/book::");
        assert_snapshot!(format!("search_{width}x{height}"), looks(&app));
    }
}

#[test]
fn per_call_and_ticks() {
    for (width, height) in [(120, 30), (80, 24), (60, 15)] {
        let mut app = live(width, height);
        keys(&mut app, "jb");
        assert_snapshot!(format!("per_call_{width}x{height}"), looks(&app));
        keys(&mut app, "bU");
        assert_snapshot!(format!("ticks_{width}x{height}"), looks(&app));
    }
}

#[test]
fn without_data() {
    for (width, height) in SIZES {
        assert_snapshot!(
            format!("waiting_{width}x{height}"),
            looks(&waiting(width, height, false))
        );
        assert_snapshot!(
            format!("picker_{width}x{height}"),
            looks(&waiting(width, height, true))
        );
    }
    let mut app = test_driver::empty(60, 15);
    let why = "not a tickscope file: begins with 7f454c46, wanted TICKSCOP".to_string();
    app.update(Message::Events(Box::new(Events::quiet(Status::Broken { why }))));
    assert_snapshot!("broken_60x15", looks(&app));
}

#[test]
fn every_state_tells_its_cause_and_the_next_step() {
    let states = [
        (
            "stale",
            Status::Stale {
                since_unix_ns: UNIX_NS,
            },
            "! STALE since 14:02:11",
            "No sign of life",
        ),
        (
            "exited",
            Status::Exited { unix_ns: UNIX_NS },
            "■ EXITED at 14:02:11",
            "d writes a report",
        ),
        (
            "crashed",
            Status::Crashed {
                unix_ns: Some(UNIX_NS),
            },
            "■ CRASHED at 14:02:11",
            "s keeps",
        ),
        ("kept", Status::Kept, "◆ KEPT at 14:02:14", "no program behind it"),
        (
            "silent",
            Status::Piped(Pipe::Silent {
                since_unix_ns: UNIX_NS,
            }),
            "! SILENT since 14:02:11",
            "Nothing comes",
        ),
        (
            "closed",
            Status::Piped(Pipe::Closed),
            "■ CLOSED at 14:02:14",
            "The stream has ended",
        ),
    ];
    for (name, status, state, step) in states {
        for (width, height) in [(120, 30), (60, 15)] {
            let mut app = live(width, height);
            events(&mut app, status.clone(), None);
            let screen = text(&app);
            assert!(screen.contains(state) && screen.contains(step), "{screen}");
            assert_snapshot!(format!("{name}_{width}x{height}"), looks(&app));
        }
    }
    let mut app = live(60, 15);
    keys(&mut app, "p");
    let screen = text(&app);
    assert!(
        screen.contains("‖ FROZEN at 14:02:14") && screen.contains("p lets the screen follow"),
        "{screen}"
    );
}

#[test]
fn on_top() {
    let mut app = live(60, 15);
    keys(&mut app, "ajj");
    assert_snapshot!("threads_60x15", looks(&app));
    let mut app = live(60, 15);
    let mut watched = orderbook::snapshot(1_341);
    watched.capture.viewers = 3;
    events(&mut app, Status::Live, Some(watched));
    keys(&mut app, "r");
    assert_snapshot!("ask_reset_60x15", looks(&app));
}

#[test]
fn the_list_of_modes() {
    for (width, height) in [(120, 30), (60, 15), (20, 5)] {
        let mut app = live(width, height);
        keys(&mut app, "ee");
        assert_snapshot!(format!("modes_{width}x{height}"), looks(&app));
    }
}

#[test]
fn without_unicode() {
    let mut app = App::new(Size::new(60, 15), ThemeKind::Sixteen, true, Some(0));
    events(&mut app, Status::Live, Some(orderbook::snapshot(1_340)));
    assert_snapshot!("ascii_60x15", text(&app));
}

#[test]
fn percentiles() {
    // Where their columns have no room the pane below says them; in Hot they come at 136 cells.
    for (width, height) in [(120, 30), (80, 24)] {
        let mut app = live(width, height);
        keys(&mut app, "Gll");
        assert_snapshot!(format!("percentiles_{width}x{height}"), looks(&app));
    }
    let mut app = live(140, 30);
    keys(&mut app, "2>>>>>");
    assert_snapshot!("percentiles_hot_140x30", looks(&app));
}

#[test]
fn estimates() {
    for (name, mode) in [("adaptive", Mode::Adaptive), ("sampled", Mode::Sampled)] {
        for (width, height) in [(120, 30), (80, 24), (60, 15)] {
            let mut app = test_driver::empty(width, height);
            let estimated = in_mode(mode, orderbook::snapshot(1_340));
            events(&mut app, Status::Live, Some(estimated));
            keys(&mut app, "jjjjj");
            assert_snapshot!(format!("{name}_{width}x{height}"), looks(&app));
        }
    }
}

#[test]
fn measuring_is_off() {
    for (width, height) in [(120, 30), (60, 15)] {
        let mut app = live(width, height);
        let nothing = in_mode(Mode::Off, orderbook::snapshot(1_340));
        events(&mut app, Status::Live, Some(nothing));
        assert_snapshot!(format!("off_{width}x{height}"), looks(&app));
    }
}

#[test]
fn the_cost_of_measuring() {
    let mut dear = orderbook::snapshot(1_340);
    (dear.capture.cost.lower_ns, dear.capture.cost.upper_ns) = (200.0, 600.0);
    for (width, height) in [(120, 30), (60, 15)] {
        let mut app = test_driver::empty(width, height);
        events(&mut app, Status::Live, Some(dear.clone()));
        keys(&mut app, "jjjjj");
        assert_snapshot!(format!("short_calls_{width}x{height}"), looks(&app));
    }
}
