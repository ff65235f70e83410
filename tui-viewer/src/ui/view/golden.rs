//! Golden screens: the expected text and style of each cell.
//!
//! To write all of them again, run
//! `rm tui-viewer/src/{ui/view,views/*}/snapshots/*; INSTA_UPDATE=always cargo test -p tickscope-cli --lib`.

use insta::assert_snapshot;
use ratatui::layout::Size;
use tickscope_format::Snapshot;
use tickscope_format::snapshot::Mode;
use tickscope_programs::events::{Events, RingLine};
use tickscope_programs::status::{Pipe, Status};

use crate::app::message::Message;
use crate::app::state::App;
use crate::cli::args::look::ThemeKind;
use crate::modes::in_mode;
use crate::orderbook;
use crate::test_driver::{self, events, live, looks, text};

/// A large and a small screen. Tests of invariants cover every size.
const SIZES: [(u16, u16); 2] = [(120, 30), (60, 15)];
const UNIX_NS: u64 = orderbook::STARTED_UNIX_NS + 131_000_000_000;

/// Shows the test program on screens of these sizes, types keys into it, and compares the screens with the stored ones.
fn typed(name: &str, sizes: &[(u16, u16)], typed: &str) {
    for &(width, height) in sizes {
        let app = live(width, height).after(typed);
        assert_snapshot!(format!("{name}_{width}x{height}"), looks(&app));
    }
}

/// Shows a snapshot on screens of these sizes, types keys into it, and compares the screens with the stored ones.
fn shown(name: &str, sizes: &[(u16, u16)], snapshot: &Snapshot, typed: &str) {
    for &(width, height) in sizes {
        let app = test_driver::showing(width, height, snapshot.clone()).after(typed);
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
    let state = if live { "running" } else { "exited" };
    vec![
        ring("orderbook-sim", 41_873, state, "since 14:00:00", live),
        ring("orderbook-sim", 41_602, state, "since 13:12:40", live),
        ring("bench-decode", 40_110, "exited", "at 12:55:03", false),
    ]
}

pub(crate) fn waiting(width: u16, height: u16, live: bool) -> App {
    let mut app = test_driver::empty(width, height);
    let why = "No program called orderbook-sim yet (looked in /dev/shm/tickscope-1000).".to_string();
    let events = Events {
        rings: Some(rings(live)),
        ..Events::quiet(Status::Waiting { why })
    };
    app.update(Message::Events(Box::new(events)));
    app
}

/// Golden tests of a single view are in that view's directory. `golden_tables` and `golden_moments` test what several
/// views share.
#[test]
fn what_is_on_top_and_other_numbers() {
    typed("help", &SIZES, "?");
    typed("search", &SIZES, "/book::");
    typed("modes", &[(120, 30), (20, 5)], "ee");
    typed("per_call", &SIZES, "jb");
    typed("ticks", &[(80, 24)], "jU");
    typed("threads", &[(60, 15)], "ajj");
}

#[test]
fn without_data() {
    for (width, height) in [(120, 30), (20, 5)] {
        for (name, live) in [("waiting", false), ("picker", true)] {
            let app = waiting(width, height, live);
            assert_snapshot!(format!("{name}_{width}x{height}"), looks(&app));
        }
    }
    let mut app = test_driver::empty(60, 15);
    let why = "not a tickscope file: begins with 7f454c46, wanted TICKSCOP".to_string();
    app.update(Message::Events(Box::new(Events::quiet(Status::Broken { why }))));
    assert_snapshot!("broken_60x15", looks(&app));
}

#[test]
fn every_state_tells_its_cause_and_the_next_step() {
    let [unix_ns, since_unix_ns] = [UNIX_NS; 2];
    let states = [
        (
            "stale",
            Status::Stale { since_unix_ns },
            "! STALE since 14:02:11",
            "No new snapshot",
        ),
        (
            "exited",
            Status::Exited { unix_ns },
            "■ EXITED at 14:02:11",
            "d writes a report",
        ),
        (
            "crashed",
            Status::Crashed {
                unix_ns: Some(unix_ns),
            },
            "■ CRASHED at 14:02:11",
            "s keeps",
        ),
        ("kept", Status::Kept, "◆ KEPT at 14:02:14", "no program behind it"),
        (
            "silent",
            Status::Piped(Pipe::Silent { since_unix_ns }),
            "! SILENT since 14:02:11",
            "No data",
        ),
        (
            "closed",
            Status::Piped(Pipe::Closed),
            "■ CLOSED at 14:02:14",
            "The stream has ended",
        ),
    ];
    for (name, status, state, step) in states {
        for (width, height) in SIZES {
            let mut app = live(width, height);
            events(&mut app, status.clone(), None);
            let screen = text(&app);
            assert!(screen.contains(state) && screen.contains(step), "{screen}");
            if height == 15 {
                assert_snapshot!(format!("{name}_60x15"), looks(&app));
            }
        }
    }
    let app = live(60, 15).after("p");
    let screen = text(&app);
    assert!(
        screen.contains("‖ FROZEN at 14:02:14") && screen.contains("p lets the screen follow"),
        "{screen}"
    );
}

#[test]
fn a_question() {
    let mut watched = orderbook::snapshot(1_341);
    watched.capture.viewers = 3;
    shown("ask_reset", &[(60, 15)], &watched, "r");
}

#[test]
fn without_unicode() {
    let mut app = App::new(Size::new(60, 15), ThemeKind::Sixteen, true, Some(0));
    events(&mut app, Status::Live, Some(orderbook::snapshot(1_340)));
    assert_snapshot!("ascii_60x15", text(&app));
}

#[test]
fn percentiles() {
    // If the percentile columns do not fit, the pane shows the percentiles. In the Hot view, the columns fit if the
    // screen is at least 136 cells wide.
    typed("percentiles", &[(120, 30), (80, 24)], "Gll");
    typed("percentiles_hot", &[(140, 30)], "2>>>>>");
}

#[test]
fn modes_and_what_measuring_costs() {
    let mode = |mode| in_mode(mode, orderbook::snapshot(1_340));
    shown("adaptive", &SIZES, &mode(Mode::Adaptive), "jjjjj");
    shown("sampled", &[(80, 24)], &mode(Mode::Sampled), "jjjjj");
    shown("off", &SIZES, &mode(Mode::Off), "");
    let mut dear = orderbook::snapshot(1_340);
    (dear.capture.cost.lower_ns, dear.capture.cost.upper_ns) = (200.0, 600.0);
    shown("short_calls", &[(120, 30)], &dear, "jjjjj");
}
