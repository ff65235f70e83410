//! What the screens say of themselves: which time, which order, which words.

use tickscope_format::Snapshot;
use tickscope_format::profile::between::between;
use tickscope_format::snapshot::{Mode, ThreadState};

use crate::app::figures::What;
use crate::app::state::Model;
use crate::app::tests::moments::{lives, watched};
use crate::app::tests::{in_epoch, names};
use crate::keys::decoder::Code;
use crate::orderbook::snapshot;
use crate::source::status::Status;
use crate::test_driver::{at, empty, key, keys, live, news, text};

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
fn compared(width: u16, height: u16, change: impl FnOnce(&mut Snapshot)) -> Model {
    let mut model = live(width, height);
    keys(&mut model, "m");
    let mut next = snapshot(2_000);
    change(&mut next);
    news(&mut model, Status::Live, Some(next));
    keys(&mut model, "'");
    model
}

#[test]
fn the_help_finds_every_word() {
    for (word, found) in [
        ("AVG", "TOTAL of a call on average"),
        ("paused", "clock stands still"),
        ("BUSY", "share of a CPU"),
        ("cost", "what measuring takes"),
        ("dropped", "found no place"),
        ("nodes", "rows of the whole tree"),
        ("wall time", "in scopes and outside"),
        ("stale", "no snapshot for 2 s"),
        ("chart", "calls took how long"),
    ] {
        for (width, height) in [(120, 30), (60, 15)] {
            let mut model = live(width, height);
            keys(&mut model, &format!("?/{word}"));
            assert!(text(&model).contains(found), "{word}: {}", text(&model));
        }
    }
}

#[test]
fn threads_keep_their_order_however_busy_they_are() {
    let mut model = live(120, 30);
    keys(&mut model, "4");
    let order: Vec<String> = names(&model).iter().map(ToString::to_string).collect();
    assert!(text(&model).contains("sort TOTAL"), "{}", text(&model));
    for second in 1..6u64 {
        at(&mut model, 3_000 * second);
        let busy = [second % 2 * 90, second % 3 * 40, 90 - second % 2 * 90, second];
        news(
            &mut model,
            Status::Live,
            Some(used(1_340 + second, busy.map(|ms| ms + 1_000 * second))),
        );
        assert_eq!(names(&model), order);
    }
}

#[test]
fn threads_that_share_their_work_do_not_change_places() {
    let mut model = live(120, 30);
    keys(&mut model, "4");
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
        at(&mut model, 3_000 * second);
        news(
            &mut model,
            Status::Live,
            Some(with(1_340 + second, (second % 2) as usize, 2)),
        );
        assert_eq!(names(&model)[..2], ["match-0", "match-1"]);
    }
    at(&mut model, 20_000);
    news(&mut model, Status::Live, Some(with(1_350, 1, 10)));
    assert_eq!(names(&model)[..2], ["match-1", "match-0"], "clearly ahead");
    at(&mut model, 30_000);
    news(&mut model, Status::Live, Some(with(1_351, 0, 2)));
    assert_eq!(names(&model)[..2], ["match-1", "match-0"]);
    keys(&mut model, "14");
    assert_eq!(
        names(&model)[..2],
        ["match-0", "match-1"],
        "who looks anew sees them in order"
    );
}

#[test]
fn the_pane_explains_the_states_and_a_pause_inside_a_scope() {
    for (width, height) in [(120, 30), (80, 24)] {
        let mut s = snapshot(1_341);
        s.threads[0].state = ThreadState::Paused;
        let mut model = empty(width, height);
        news(&mut model, Status::Live, Some(s));
        keys(&mut model, "4");
        let screen = text(&model);
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
    let mut model = watched(120, 30);
    keys(&mut model, "4");
    assert!(text(&model).contains("in scopes since the reset"));
    keys(&mut model, "6");
    assert!(
        text(&model).contains("calls since the reset, by all threads"),
        "{}",
        text(&model)
    );
    keys(&mut model, "w");
    assert!(
        text(&model).contains("calls in the last 1.0 s, by all threads"),
        "{}",
        text(&model)
    );
    assert!(!text(&model).contains("since the reset,"));
    keys(&mut model, "4");
    assert!(
        text(&model).contains("in scopes in the last 1.0 s"),
        "{}",
        text(&model)
    );
}

#[test]
fn sites_are_of_all_threads_whoever_is_chosen() {
    let mut model = live(120, 30);
    keys(&mut model, "4j");
    key(&mut model, Code::Enter);
    assert!(text(&model).contains("only match-1"), "{}", text(&model));
    keys(&mut model, "6");
    let screen = text(&model);
    let tabs = screen.lines().nth(1).unwrap_or_default();
    assert!(
        tabs.contains("all threads") && !tabs.contains("match-1"),
        "{tabs}"
    );
}

#[test]
fn differences_keep_their_units_and_say_how_they_are_sorted() {
    let mut model = compared(120, 30, |next| {
        for thread in &mut next.threads {
            thread.outside_ticks /= 3;
        }
    });
    let tabs = |model: &Model| text(model).lines().nth(1).unwrap_or_default().to_string();
    assert!(
        tabs(&model).contains("sort: change of TOTAL ▼"),
        "{}",
        tabs(&model)
    );
    assert!(
        text(&model).contains("columns show now minus then"),
        "{}",
        text(&model)
    );
    for (view, column) in [("4", "TOTAL"), ("6", "CALLS"), ("2", "SELF")] {
        keys(&mut model, view);
        assert!(
            tabs(&model).contains(&format!("sort: change of {column} ▼")),
            "{}",
            tabs(&model)
        );
    }
    keys(&mut model, "4");
    let screen = text(&model);
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
    let mut model = compared(120, 30, |next| {
        // Nothing has happened since.
        *next = snapshot(1_340);
        next.capture.unix_ns += 1_000_000_000;
    });
    keys(&mut model, "2");
    let listed: Vec<String> = names(&model).iter().map(ToString::to_string).collect();
    let mut sorted = listed.clone();
    sorted.sort();
    assert_eq!(listed, sorted);
}

#[test]
fn other_counters_are_put_in_order_at_once() {
    let mut model = live(120, 30);
    keys(&mut model, "2");
    let first = names(&model)[0].to_string();
    keys(&mut model, "j");
    let mut after = in_epoch(2, 1_341);
    let row = (0..after.nodes.len()).max_by_key(|&row| after.nodes.self_ticks[row]);
    after.nodes.self_ticks[row.expect("there are rows")] = 0;
    let sorted = |model: &Model| {
        let data = model.data.as_ref().expect("there is data");
        let of = |what: What| data.figures(what).self_ns;
        model.list().rows.is_sorted_by(|a, b| of(a.what) >= of(b.what))
    };
    let mut held = after.clone();
    held.capture.reset_epoch = 1;
    news(&mut model, Status::Live, Some(held));
    assert!(
        !sorted(&model) && names(&model)[0] == first,
        "nothing moves after a key"
    );
    news(&mut model, Status::Live, Some(after));
    assert!(sorted(&model), "{:?}", names(&model));
}

#[test]
fn a_sparkline_has_no_spike_after_an_undo() {
    let mut model = empty(160, 30);
    lives(&mut model, (1_200..=1_300).step_by(10));
    for tenth in (1_310..=1_330).step_by(10) {
        let mut reset = between(&snapshot(tenth), &snapshot(1_300));
        reset.capture.reset_epoch = 2;
        news(&mut model, Status::Live, Some(reset));
    }
    for tenth in (1_340..=1_400).step_by(10) {
        news(&mut model, Status::Live, Some(in_epoch(3, tenth)));
    }
    let id = model.list().rows[0].id;
    let steps = model
        .pulse()
        .and_then(|pulse| pulse.steps(id, 30))
        .expect("it is known");
    let known: Vec<f64> = steps.into_iter().flatten().collect();
    assert!(
        known.len() > 15 && known.iter().all(|&step| step > 0.8),
        "{known:?}"
    );
}

#[test]
fn only_a_mode_of_estimates_is_never_left_out_of_the_header() {
    let mut s = snapshot(1_340);
    s.capture.mode = Mode::Exact;
    s.process.name = "a-program-with-quite-a-long-name".into();
    let mut model = empty(100, 30);
    news(&mut model, Status::Live, Some(s.clone()));
    let header = |model: &Model| text(model).lines().next().unwrap_or_default().to_string();
    assert!(!header(&model).contains("exact"), "{}", header(&model));
    s.capture.mode = Mode::Adaptive;
    s.capture.unix_ns += 1;
    news(&mut model, Status::Live, Some(s));
    assert!(header(&model).contains("adaptive"), "{}", header(&model));
}
