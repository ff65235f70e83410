//! What the screens say of themselves: which time, which order, which words.

use tickscope_analysis::window::between;
use tickscope_format::Snapshot;
use tickscope_format::snapshot::{Mode, ThreadState};

use crate::app::figures::What;
use crate::app::state::App;
use crate::app::tests::moments::{lives, watched};
use crate::app::tests::{in_epoch, names};
use crate::keys::decoder::Code;
use crate::modes::in_mode;
use crate::orderbook::{snapshot, waiting};
use crate::source::status::Status;
use crate::test_driver::{at, empty, events, key, keys, live, text};

fn line_of(screen: &str, part: &str) -> String {
    let line = screen.lines().find(|line| line.contains(part));
    line.unwrap_or_else(|| panic!("no {part} in\n{screen}"))
        .to_string()
}

fn used(tenths: u64, cpu_ms: [u64; 4]) -> Snapshot {
    let mut s = snapshot(tenths);
    for (thread, ms) in s.threads.iter_mut().zip(cpu_ms) {
        thread.cpu_ns = Some(ms * 1_000_000);
    }
    s
}

/// Compares the moment on screen with one a second later, as the program really goes on.
fn compared(width: u16, height: u16, change: impl FnOnce(&mut Snapshot)) -> App {
    let mut app = live(width, height);
    keys(&mut app, "m");
    let mut next = snapshot(2_000);
    change(&mut next);
    events(&mut app, Status::Live, Some(next));
    keys(&mut app, "'");
    app
}

#[test]
fn the_help_finds_every_word() {
    for (word, found) in [
        ("AVG", "TOTAL of a call on average"),
        ("paused", "clock stands still"),
        ("BUSY", "share of a CPU"),
        ("cost", "what measuring takes"),
        ("dropped", "found no place"),
        ("of the process", "100 % is one CPU"),
        ("calls/s", "in the last second"),
        ("wall time", "in scopes and outside"),
        ("stale", "no snapshot for 2 s"),
        ("chart", "calls took how long"),
    ] {
        for (width, height) in [(120, 30), (60, 15)] {
            let mut app = live(width, height);
            keys(&mut app, &format!("?/{word}"));
            // It may stand in more than one line.
            if !text(&app).contains(found) {
                key(&mut app, Code::Enter);
                keys(&mut app, "n");
            }
            assert!(text(&app).contains(found), "{word}: {}", text(&app));
        }
    }
}

#[test]
fn threads_keep_their_order_however_busy_they_are() {
    let mut app = live(120, 30);
    keys(&mut app, "4");
    let order: Vec<String> = names(&app).iter().map(ToString::to_string).collect();
    assert!(text(&app).contains("sort TOTAL"), "{}", text(&app));
    for second in 1..6u64 {
        at(&mut app, 3_000 * second);
        let busy = [second % 2 * 90, second % 3 * 40, 90 - second % 2 * 90, second];
        events(
            &mut app,
            Status::Live,
            Some(used(1_340 + second, busy.map(|ms| ms + 1_000 * second))),
        );
        assert_eq!(names(&app), order);
    }
}

#[test]
fn threads_that_share_their_work_do_not_change_places() {
    let mut app = live(120, 30);
    keys(&mut app, "4");
    let with = |tenths: u64, ahead: usize, percent: u64| {
        let mut s = snapshot(tenths);
        let (first, rows) = (s.threads[0].first_row as usize, s.threads[0].rows as usize);
        let second = s.threads[1].first_row as usize;
        for row in 0..rows.min(s.threads[1].rows as usize) {
            s.nodes.self_ticks[second + row] = s.nodes.self_ticks[first + row];
            let more = [first, second][ahead] + row;
            s.nodes.self_ticks[more] += s.nodes.self_ticks[more] * percent / 100;
        }
        s
    };
    for second in 1..6u64 {
        at(&mut app, 3_000 * second);
        events(
            &mut app,
            Status::Live,
            Some(with(1_340 + second, (second % 2) as usize, 2)),
        );
        assert_eq!(names(&app)[..2], ["match-0", "match-1"]);
    }
    at(&mut app, 20_000);
    events(&mut app, Status::Live, Some(with(1_350, 1, 10)));
    assert_eq!(names(&app)[..2], ["match-1", "match-0"], "clearly ahead");
    at(&mut app, 30_000);
    events(&mut app, Status::Live, Some(with(1_351, 0, 2)));
    assert_eq!(names(&app)[..2], ["match-1", "match-0"]);
    keys(&mut app, "14");
    assert_eq!(
        names(&app)[..2],
        ["match-0", "match-1"],
        "who looks anew sees them in order"
    );
}

#[test]
fn the_pane_explains_the_states_and_a_pause_inside_a_scope() {
    for (width, height) in [(120, 30), (80, 24)] {
        let mut s = snapshot(1_341);
        s.threads[0].state = ThreadState::Paused;
        let mut app = empty(width, height);
        events(&mut app, Status::Live, Some(s));
        keys(&mut app, "4");
        let screen = text(&app);
        let states = line_of(&screen, "running in a scope");
        for word in ["waiting", "idle", "paused clock", "finished"] {
            assert!(states.contains(word), "{states}");
        }
        assert!(!states.contains('…'), "{states}");
        assert!(line_of(&screen, "41877").contains("paused"), "{screen}");
        assert!(line_of(&screen, "open since").contains("match::step"), "{screen}");
        assert!(screen.contains("its clock stands still"), "{screen}");
    }
}

#[test]
fn sentences_name_the_window_they_are_of() {
    let mut app = watched(120, 30);
    keys(&mut app, "4");
    assert!(text(&app).contains("in scopes since the reset"));
    keys(&mut app, "6");
    assert!(
        text(&app).contains("calls since the reset, by all threads"),
        "{}",
        text(&app)
    );
    keys(&mut app, "w");
    assert!(
        text(&app).contains("calls in the last 1.0 s, by all threads"),
        "{}",
        text(&app)
    );
    assert!(!text(&app).contains("since the reset,"));
    keys(&mut app, "4");
    assert!(
        text(&app).contains("in scopes in the last 1.0 s"),
        "{}",
        text(&app)
    );
}

#[test]
fn sites_are_of_all_threads_whoever_is_chosen() {
    let mut app = live(120, 30);
    keys(&mut app, "4j");
    key(&mut app, Code::Enter);
    assert!(text(&app).contains("only match-1"), "{}", text(&app));
    keys(&mut app, "6");
    let screen = text(&app);
    let tabs = screen.lines().nth(1).unwrap_or_default();
    assert!(
        tabs.contains("all threads") && !tabs.contains("match-1"),
        "{tabs}"
    );
}

#[test]
fn differences_keep_their_units_and_say_how_they_are_sorted() {
    let mut app = compared(120, 30, |next| {
        for thread in &mut next.threads {
            thread.outside_ticks /= 3;
        }
    });
    let tabs = |app: &App| text(app).lines().nth(1).unwrap_or_default().to_string();
    assert!(tabs(&app).contains("sort: change of TOTAL ▼"), "{}", tabs(&app));
    assert!(
        text(&app).contains("columns show now minus then"),
        "{}",
        text(&app)
    );
    for (view, column) in [("4", "TOTAL"), ("6", "CALLS"), ("2", "SELF")] {
        keys(&mut app, view);
        assert!(
            tabs(&app).contains(&format!("sort: change of {column} ▼")),
            "{}",
            tabs(&app)
        );
    }
    keys(&mut app, "4");
    let screen = text(&app);
    let main = line_of(&screen, "41873  ");
    assert!(
        main.split_whitespace()
            .filter(|text| text.starts_with(['+', '-']) && text.len() > 1)
            .all(|text| { text.ends_with(char::is_alphabetic) }),
        "{main}"
    );
}

#[test]
fn equal_changes_stand_by_name() {
    let mut app = compared(120, 30, |next| {
        // Nothing has happened since.
        *next = snapshot(1_340);
        next.capture.unix_ns += 1_000_000_000;
    });
    keys(&mut app, "2");
    let listed: Vec<String> = names(&app).iter().map(ToString::to_string).collect();
    let mut sorted = listed.clone();
    sorted.sort();
    assert_eq!(listed, sorted);
}

#[test]
fn other_counters_are_put_in_order_at_once() {
    let mut app = live(120, 30);
    keys(&mut app, "2");
    let first = names(&app)[0].to_string();
    keys(&mut app, "j");
    let mut after = in_epoch(2, 1_341);
    let row = (0..after.nodes.len()).max_by_key(|&row| after.nodes.self_ticks[row]);
    after.nodes.self_ticks[row.expect("there are rows")] = 0;
    let sorted = |app: &App| {
        let data = app.derived.data.as_ref().expect("there is data");
        let of = |what: What| data.figures(what).self_ns;
        app.list().rows.is_sorted_by(|a, b| of(a.what) >= of(b.what))
    };
    let mut held = after.clone();
    held.capture.reset_epoch = 1;
    events(&mut app, Status::Live, Some(held));
    assert!(
        !sorted(&app) && names(&app)[0] == first,
        "nothing moves after a key"
    );
    events(&mut app, Status::Live, Some(after));
    assert!(sorted(&app), "{:?}", names(&app));
}

#[test]
fn a_sparkline_has_no_spike_after_an_undo() {
    let mut app = empty(160, 30);
    lives(&mut app, (1_200..=1_300).step_by(10));
    for tenth in (1_310..=1_330).step_by(10) {
        let mut reset = between(&snapshot(tenth), &snapshot(1_300));
        reset.capture.reset_epoch = 2;
        events(&mut app, Status::Live, Some(reset));
    }
    for tenth in (1_340..=1_400).step_by(10) {
        events(&mut app, Status::Live, Some(in_epoch(3, tenth)));
    }
    let id = app.list().rows[0].id;
    let steps = app
        .playback
        .activity()
        .and_then(|activity| activity.steps(id, 30))
        .expect("it is known");
    let known: Vec<f64> = steps.into_iter().flatten().collect();
    assert!(
        known.len() > 15 && known.iter().all(|&step| step > 0.8),
        "{known:?}"
    );
}

#[test]
fn only_the_usual_mode_is_ever_left_out_of_the_header() {
    let mut s = snapshot(1_340);
    s.capture.mode = Mode::USUAL;
    s.process.name = "a-program-with-quite-a-long-name".into();
    let mut app = empty(100, 30);
    events(&mut app, Status::Live, Some(s.clone()));
    let header = |app: &App| text(app).lines().next().unwrap_or_default().to_string();
    assert!(!header(&app).contains("adaptive"), "{}", header(&app));
    s.capture.mode = Mode::Exact;
    s.capture.unix_ns += 1;
    events(&mut app, Status::Live, Some(s));
    assert!(header(&app).contains("exact"), "{}", header(&app));
}

#[test]
fn a_short_screen_says_what_a_row_waits_for_before_what_its_marks_mean() {
    let mut app = empty(80, 24);
    let estimated = in_mode(Mode::Adaptive, waiting(1_340));
    events(&mut app, Status::Live, Some(estimated));
    keys(&mut app, "/book::insert");
    key(&mut app, Code::Enter);
    let all = text(&app);
    let line = all.lines().rev().nth(1).expect("the last line of the details");
    assert!(
        line.contains("no CPU  5.8%") && line.contains("± estimated"),
        "{all}"
    );
}
