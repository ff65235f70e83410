//! Golden screens: what people see, cell by cell, and the promises that hold at every size.

use insta::assert_snapshot;
use proptest::prelude::*;
use ratatui::layout::Size;
use tickscope_format::snapshot::{Mode, ThreadState};

use crate::keyboard::Code;
use crate::model::Model;
use crate::model::message::Message;
use crate::modes::in_mode;
use crate::news::{News, RingLine};
use crate::orderbook;
use crate::stage::{self, at, key, keys, live, looks, news, text};
use crate::status::Status;
use crate::theme::ThemeKind;

const SIZES: [(u16, u16); 4] = [(120, 30), (80, 24), (60, 15), (20, 5)];
const UNIX_NS: u64 = orderbook::STARTED_UNIX_NS + 131_000_000_000;

fn at_every_size(name: &str, play: impl Fn(&mut Model)) {
    for (width, height) in SIZES {
        let mut model = live(width, height);
        play(&mut model);
        assert_snapshot!(format!("{name}_{width}x{height}"), looks(&model));
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

fn waiting(width: u16, height: u16, live: bool) -> Model {
    let mut model = stage::empty(width, height);
    let why = "No program called orderbook-sim yet (looked in /dev/shm/tickscope-1000).".to_string();
    let news = News {
        rings: Some(rings(live)),
        ..News::quiet(Status::Waiting { why })
    };
    model.update(Message::News(Box::new(news)));
    model
}

#[test]
fn the_tree() {
    at_every_size("tree", |model| {
        keys(model, "jjj");
    });
}

#[test]
fn the_hotspots() {
    at_every_size("hot", |model| {
        keys(model, "2j");
    });
}

#[test]
fn the_help() {
    at_every_size("help", |model| {
        keys(model, "?");
    });
}

#[test]
fn a_search() {
    for (width, height) in [(120, 30), (60, 15)] {
        let mut model = live(width, height);
        keys(&mut model, "/book::");
        assert_snapshot!(format!("search_{width}x{height}"), looks(&model));
    }
}

#[test]
fn a_command() {
    for (width, height) in [(120, 30), (80, 24), (60, 15)] {
        let mut model = live(width, height);
        keys(&mut model, ":re");
        key(&mut model, Code::Tab);
        assert_snapshot!(format!("command_{width}x{height}"), looks(&model));
    }
    let mut model = live(80, 24);
    keys(&mut model, ":off book::");
    key(&mut model, Code::Tab);
    key(&mut model, Code::Tab);
    assert_snapshot!("command_patterns_80x24", looks(&model));
    let mut model = live(80, 24);
    keys(&mut model, ":mode nothing");
    key(&mut model, Code::Enter);
    assert_snapshot!("command_wrong_80x24", looks(&model));
}

#[test]
fn per_call_and_ticks() {
    for (width, height) in [(120, 30), (80, 24), (60, 15)] {
        let mut model = live(width, height);
        keys(&mut model, "jb");
        assert_snapshot!(format!("per_call_{width}x{height}"), looks(&model));
        keys(&mut model, "bU");
        assert_snapshot!(format!("ticks_{width}x{height}"), looks(&model));
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
    let mut model = stage::empty(60, 15);
    let why = "not a tickscope file: begins with 7f454c46, wanted TICKSCOP".to_string();
    model.update(Message::News(Box::new(News::quiet(Status::Broken { why }))));
    assert_snapshot!("broken_60x15", looks(&model));
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
    ];
    for (name, status, state, step) in states {
        for (width, height) in [(120, 30), (60, 15)] {
            let mut model = live(width, height);
            news(&mut model, status.clone(), None);
            let screen = text(&model);
            assert!(screen.contains(state) && screen.contains(step), "{screen}");
            assert_snapshot!(format!("{name}_{width}x{height}"), looks(&model));
        }
    }
    let mut model = live(60, 15);
    keys(&mut model, "p");
    let screen = text(&model);
    assert!(
        screen.contains("‖ FROZEN at 14:02:14") && screen.contains("p lets the screen follow"),
        "{screen}"
    );
}

#[test]
fn on_top() {
    let mut model = live(60, 15);
    keys(&mut model, "ajj");
    assert_snapshot!("threads_60x15", looks(&model));
    let mut model = live(60, 15);
    let mut watched = orderbook::snapshot(1_341);
    watched.capture.viewers = 3;
    news(&mut model, Status::Live, Some(watched));
    keys(&mut model, "r");
    assert_snapshot!("ask_reset_60x15", looks(&model));
}

#[test]
fn without_colour_and_without_unicode() {
    let mut model = live(80, 24);
    model.theme = ThemeKind::Mono;
    keys(&mut model, "jj");
    assert_snapshot!("mono_80x24", looks(&model));
    for (width, height) in SIZES {
        for typed in [
            "jj", "2j", "?", "/book", "a", "p", "%", "x", ":off ", ":mode z", "jbU", "?/re",
        ] {
            let mut model = Model::new(Size::new(width, height), ThemeKind::Sixteen, true, Some(0));
            news(&mut model, Status::Live, Some(orderbook::snapshot(1_340)));
            keys(&mut model, typed);
            assert!(text(&model).is_ascii(), "{}", text(&model));
        }
    }
    let mut model = Model::new(Size::new(60, 15), ThemeKind::Sixteen, true, Some(0));
    news(&mut model, Status::Live, Some(orderbook::snapshot(1_340)));
    assert_snapshot!("ascii_60x15", text(&model));
}

#[test]
fn mono_names_no_colour() {
    for typed in ["jj", "2", "?", "/book", "a", "p", ":re", "?/re"] {
        let mut model = live(120, 30);
        model.theme = ThemeKind::Mono;
        keys(&mut model, typed);
        for cell in stage::screen(&model).content() {
            assert_eq!(
                (cell.fg, cell.bg),
                (ratatui::style::Color::Reset, ratatui::style::Color::Reset)
            );
        }
    }
}

#[test]
fn wall_time_has_a_row_for_what_is_outside() {
    let mut model = live(80, 24);
    keys(&mut model, "%");
    let screen = text(&model);
    assert!(
        screen.contains("(outside)") && screen.contains("% of wall time"),
        "{screen}"
    );
    // Four threads with a fifth of 134 s each outside of scopes, and 268 s within.
    assert!(screen.contains("28.6%"), "{screen}");
}

#[test]
fn odd_names_keep_the_columns_in_line() {
    let plain = text(&live(120, 30));
    let mut odd = orderbook::snapshot(1_340);
    let names = [
        "a\u{1b}[2Jb",
        "x\u{202e}y",
        "漢字の関数",
        "z\u{200b}\u{301}w",
        "ש\u{5dc}ום",
        "tab\there\nnewline",
    ];
    for (site, name) in odd.sites.iter_mut().zip(names) {
        site.name = name.into();
    }
    let mut model = stage::empty(120, 30);
    news(&mut model, Status::Live, Some(odd));
    let screen = text(&model);
    assert!(
        screen.contains(r"a\u{1b}[2Jb") && screen.contains(r"tab\there\nnewline"),
        "{screen}"
    );
    for (odd, plain) in screen.lines().zip(plain.lines()).skip(2).take(10) {
        let numbers = |line: &str| line.chars().take(58).collect::<String>();
        assert_eq!(numbers(odd), numbers(plain));
    }
}

#[test]
fn only_rows_on_the_screen_are_drawn() {
    let mut deep = orderbook::snapshot(1_340);
    for _ in 0..600 {
        let last = tickscope_format::ids::NodeId(deep.nodes.len() as u32 - 1);
        deep.nodes
            .push(Some(last), tickscope_format::ids::SiteId(14), 1, 1_000_000_000);
        if let Some(thread) = deep.threads.last_mut() {
            thread.rows += 1;
            thread.state = ThreadState::Running;
        }
    }
    let mut model = live(60, 15);
    at(&mut model, 5_000);
    news(&mut model, Status::Live, Some(deep));
    keys(&mut model, "gE");
    key(&mut model, Code::End);
    assert!(model.list().rows.len() > 600);
    let screen = text(&model);
    assert!(
        screen.contains("stats::publish"),
        "the name keeps its room however deep it is\n{screen}"
    );
}

#[test]
fn percentiles() {
    // Where their columns have no room the pane below says them; in Hot they come at 136 cells.
    for (width, height) in [(120, 30), (80, 24)] {
        let mut model = live(width, height);
        keys(&mut model, "Gll");
        assert_snapshot!(format!("percentiles_{width}x{height}"), looks(&model));
    }
    let mut model = live(140, 30);
    keys(&mut model, "2>>>>>");
    assert_snapshot!("percentiles_hot_140x30", looks(&model));
}

#[test]
fn estimates() {
    for (name, mode) in [("adaptive", Mode::Adaptive), ("sampled", Mode::Sampled)] {
        for (width, height) in [(120, 30), (80, 24), (60, 15)] {
            let mut model = stage::empty(width, height);
            let estimated = in_mode(mode, orderbook::snapshot(1_340));
            news(&mut model, Status::Live, Some(estimated));
            keys(&mut model, "jjjjj");
            assert_snapshot!(format!("{name}_{width}x{height}"), looks(&model));
        }
    }
}

#[test]
fn measuring_is_off() {
    for (width, height) in [(120, 30), (60, 15)] {
        let mut model = live(width, height);
        let nothing = in_mode(Mode::Off, orderbook::snapshot(1_340));
        news(&mut model, Status::Live, Some(nothing));
        assert_snapshot!(format!("off_{width}x{height}"), looks(&model));
    }
}

#[test]
fn the_cost_of_measuring() {
    let mut dear = orderbook::snapshot(1_340);
    (dear.capture.cost.lower_ns, dear.capture.cost.upper_ns) = (200.0, 600.0);
    for (width, height) in [(120, 30), (60, 15)] {
        let mut model = stage::empty(width, height);
        news(&mut model, Status::Live, Some(dear.clone()));
        keys(&mut model, "jjjjj");
        assert_snapshot!(format!("short_calls_{width}x{height}"), looks(&model));
        keys(&mut model, "xj");
        assert_snapshot!(format!("compensated_{width}x{height}"), looks(&model));
    }
}

/// A key of the table, a letter, or something that happens.
fn anything() -> impl Strategy<Value = Deed> {
    let mut codes: Vec<Code> = crate::action::KEYS
        .iter()
        .flat_map(|line| line.keys.iter().map(|&(code, _)| code))
        .collect();
    codes.extend("bok☃\u{202e}".chars().map(Code::Char));
    codes.extend([Code::Backspace, Code::Delete, Code::Other]);
    prop_oneof![
        8 => proptest::sample::select(codes).prop_map(Deed::Key),
        2 => (1u64..3_000).prop_map(Deed::Snapshot),
        1 => (0u16..=300, 0u16..=100).prop_map(|(w, h)| Deed::Resize(w, h)),
        1 => (0u64..5_000).prop_map(Deed::Wait),
        1 => (0usize..7).prop_map(Deed::Status),
        1 => (0u16..150, 0u16..50).prop_map(|(x, y)| Deed::Click(x, y)),
        1 => (-5isize..5).prop_map(Deed::Wheel),
    ]
}

#[derive(Clone, Debug)]
enum Deed {
    Key(Code),
    Snapshot(u64),
    Resize(u16, u16),
    Wait(u64),
    Status(usize),
    Click(u16, u16),
    Wheel(isize),
}

fn carry_out(model: &mut Model, deed: &Deed, now_ms: &mut u64) {
    match *deed {
        Deed::Key(code) => {
            key(model, code);
        }
        Deed::Snapshot(tenths) => {
            let mut snapshot = orderbook::snapshot(tenths);
            if tenths % 5 == 0 {
                // A reset: nothing is left but a thread that has just begun.
                snapshot.threads.truncate((tenths % 4) as usize);
                let rows = snapshot
                    .threads
                    .last()
                    .map_or(0, |t| (t.first_row + t.rows) as usize);
                snapshot.nodes.parent.truncate(rows);
                snapshot.nodes.site.truncate(rows);
                snapshot.nodes.calls.truncate(rows);
                snapshot.latencies = Default::default();
                snapshot.nodes.self_ticks.truncate(rows);
            }
            news(model, Status::Live, Some(snapshot));
        }
        Deed::Resize(width, height) => {
            model.update(Message::Resize(Size::new(width, height)));
        }
        Deed::Click(x, y) => {
            model.update(Message::Click(x, y));
        }
        Deed::Wheel(rows) => {
            model.update(Message::Wheel(rows));
        }
        Deed::Wait(ms) => {
            *now_ms += ms;
            at(model, *now_ms);
        }
        Deed::Status(index) => {
            let why = "for no reason".to_string();
            let all = [
                Status::Waiting { why: why.clone() },
                Status::Live,
                Status::Stale {
                    since_unix_ns: UNIX_NS,
                },
                Status::Exited { unix_ns: UNIX_NS },
                Status::Crashed { unix_ns: None },
                Status::Kept,
                Status::Broken { why },
            ];
            news(model, all[index % all.len()].clone(), None);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_size_and_any_keys(
        width in 0u16..=40,
        height in 0u16..=12,
        deeds in proptest::collection::vec(anything(), 0..60),
    ) {
        let mut model = live(width, height);
        let mut now_ms = 0;
        for deed in &deeds {
            carry_out(&mut model, deed, &mut now_ms);
            stage::screen(&model);
            at(&mut model, now_ms);
            let due = model.deadline().map(|due| due.as_millis() as u64);
            prop_assert!(due.is_none_or(|due| due > now_ms), "would spin");
            let list = model.list();
            let page = usize::from(model.layout().rows.height).max(1);
            let cursor = &list.cursor;
            prop_assert!(list.rows.is_empty() || cursor.index < list.rows.len());
            prop_assert!(cursor.offset <= cursor.index && cursor.index < cursor.offset + page);
        }
    }

    #[test]
    fn columns_stand_still(tenths in 1u64..100_000, hot in any::<bool>()) {
        let mut model = stage::empty(120, 30);
        let mut status = Status::Live;
        news(&mut model, status.clone(), Some(orderbook::snapshot(1_340)));
        if hot {
            keys(&mut model, "2");
        }
        let titles = text(&model).lines().nth(2).map(str::to_string);
        status = Status::Exited { unix_ns: UNIX_NS };
        at(&mut model, 60_000);
        news(&mut model, status, Some(orderbook::snapshot(tenths)));
        let screen = text(&model);
        prop_assert_eq!(screen.lines().nth(2).map(str::to_string), titles);
        for line in screen.lines().skip(3).take_while(|line| !line.is_empty()) {
            let cells: Vec<char> = line.chars().collect();
            // Gaps between the columns stay empty, whatever the numbers.
            for gap in [8, 19, 20, 27, 28, 35, 36, 43, 44, 51, 52, 59] {
                prop_assert!(cells.get(gap).is_none_or(|&c| c == ' '), "{} in {}", gap, line);
            }
        }
    }
}

#[test]
fn every_small_size_draws_every_screen() {
    for width in 0..=40 {
        for height in 0..=12 {
            for typed in ["", "2", "?", "a", "/book", "%", "p", ":off ", "?/re", "bU"] {
                let mut model = live(width, height);
                keys(&mut model, typed);
                stage::screen(&model);
            }
            stage::screen(&waiting(width, height, true));
        }
    }
    for (width, height) in [(1, 1), (300, 100), (20, 100), (300, 5), (59, 19), (100, 20)] {
        for typed in ["", "2", "?", "a", "/book", "%", "p", ":off ", "?/re", "bU"] {
            let mut model = live(width, height);
            keys(&mut model, typed);
            stage::screen(&model);
        }
    }
}
