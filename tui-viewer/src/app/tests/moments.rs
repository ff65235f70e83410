//! Moments and stretches of time: windows, going back, marks and differences, sparklines.

use proptest::prelude::*;
use tickscope_format::Snapshot;
use tickscope_format::codec;
use tickscope_format::snapshot::CaptureKind;

use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::message::{Effect, Message};
use crate::app::state::App;
use crate::app::tests::{header, in_epoch, last_line};
use crate::keys::decoder::Code;
use crate::orderbook::snapshot;
use crate::source::events::{Events, Past};
use crate::source::status::Status;
use crate::test_driver::{at, empty, events, key, keys, line, selected, text};

/// The screen after each tenth of a second in turn.
pub(crate) fn lives(app: &mut App, tenths: impl IntoIterator<Item = u64>) {
    for tenth in tenths {
        events(app, Status::Live, Some(snapshot(tenth)));
    }
}

/// A program that was watched from 120 s to 134 s of its life, and the screen at the end.
pub(crate) fn watched(width: u16, height: u16) -> App {
    let mut app = empty(width, height);
    lives(&mut app, 1_200..=1_340);
    app
}

pub(crate) fn past(snapshot: &Snapshot) -> Past {
    let mut payload = Vec::new();
    codec::encode(snapshot, &mut payload).unwrap();
    Past {
        unix_ns: snapshot.capture.unix_ns,
        kind: CaptureKind::Periodic,
        payload: payload.into(),
    }
}

pub(crate) fn data(app: &App) -> &Data {
    app.derived.data.as_ref().expect("there is data")
}

pub(crate) fn tabs(app: &App) -> String {
    text(app).lines().nth(1).unwrap_or_default().to_string()
}

/// Self and below make the total, in every row of the tree.
pub(crate) fn sums_hold(data: &Data) {
    let change = |what: What| {
        let (now, then) = (
            data.figures(what),
            data.then
                .as_ref()
                .map(|then| then.figures(what))
                .unwrap_or_default(),
        );
        let less = |a: u64, b: u64| i128::from(a) - i128::from(b);
        (less(now.total_ns, then.total_ns), less(now.self_ns, then.self_ns))
    };
    for row in 0..data.tree.rows.len() as u32 {
        let below: i128 = data
            .tree
            .children(row)
            .iter()
            .map(|&child| change(What::Tree(child)).0)
            .sum();
        let (total, own) = change(What::Tree(row));
        assert_eq!(own + below, total, "row {row}");
    }
}

#[test]
fn a_window_shows_only_what_happened_in_it_and_says_how_long_it_is() {
    let mut app = watched(120, 30);
    let whole = data(&app).measured_ns;
    for (window, ns) in [("window 1.0 s", 1), ("window 10.0 s", 10)] {
        keys(&mut app, "w");
        assert!(tabs(&app).contains(window), "{}", tabs(&app));
        let measured = data(&app).measured_ns;
        let wanted = whole * ns / 134;
        assert!(measured.abs_diff(wanted) < wanted / 100, "{measured} of {wanted}");
        sums_hold(data(&app));
    }
    keys(&mut app, "w");
    assert_eq!(
        data(&app).measured_ns,
        whole,
        "without a mark since the reset again"
    );
    assert!(!tabs(&app).contains("window"), "{}", tabs(&app));
}

#[test]
fn a_window_moves_with_the_program_and_the_selection_stays() {
    let mut app = watched(120, 30);
    keys(&mut app, "wwjjjj");
    let (name, place) = (selected(&app), line(&app));
    for tenth in 1_341..1_360 {
        lives(&mut app, [tenth]);
        assert!(tabs(&app).contains("window 10.0 s"));
        assert_eq!(data(&app).snapshot.capture.since_reset_ns, 10_000_000_000);
        assert_eq!((selected(&app), line(&app)), (name.clone(), place));
    }
}

#[test]
fn a_short_history_says_how_short_and_a_reset_in_a_window_too() {
    let mut app = empty(120, 30);
    lives(&mut app, [1_308]);
    keys(&mut app, "ww");
    assert!(tabs(&app).contains("window 131 s since reset"), "{}", tabs(&app));
    lives(&mut app, [1_340]);
    assert!(
        tabs(&app).contains("window 3.2 s, not yet 10 s"),
        "{}",
        tabs(&app)
    );
    let mut anew = in_epoch(2, 20);
    anew.capture.unix_ns = snapshot(1_360).capture.unix_ns;
    events(&mut app, Status::Live, Some(anew));
    let line = tabs(&app);
    assert!(line.contains("window 2.0 s since reset, not yet 10 s"), "{line}");
    assert_eq!(data(&app).snapshot.capture.since_reset_ns, 2_000_000_000);
}

#[test]
fn records_of_the_file_make_a_window_at_once() {
    let mut app = empty(120, 30);
    let older = (1_200..1_340).map(|tenths| past(&snapshot(tenths)));
    let first = Events {
        past: older.collect(),
        snapshot: Some(std::rc::Rc::new(snapshot(1_340))),
        ..Events::quiet(Status::Live)
    };
    app.update(Message::Events(Box::new(first)));
    keys(&mut app, "ww");
    assert!(tabs(&app).contains("window 10.0 s"), "{}", tabs(&app));
    let row = app.list().rows[0].id;
    let activity = app
        .playback
        .activity()
        .and_then(|activity| activity.steps(row, 30))
        .unwrap();
    assert_eq!(activity.iter().flatten().count(), 14, "{activity:?}");
}

#[test]
fn keys_go_back_and_forth_and_the_program_is_followed_again() {
    let mut app = watched(120, 30);
    let shown = |app: &App| app.shown().unwrap().capture.seq;
    keys(&mut app, ",");
    assert_eq!(shown(&app), 1_339);
    assert!(
        header(&app).contains("PAST 14:02:13.9  0.1 s back"),
        "{}",
        header(&app)
    );
    keys(&mut app, ",,,.");
    assert_eq!(shown(&app), 1_337);
    keys(&mut app, "{");
    assert_eq!(shown(&app), 1_200);
    assert!(
        header(&app).contains("PAST 14:02:00.0  14.0 s back"),
        "{}",
        header(&app)
    );
    keys(&mut app, ",");
    assert_eq!(shown(&app), 1_200);
    assert!(last_line(&app).contains("no older snapshot"));

    let before = text(&app);
    app.screen.dirty = false;
    lives(&mut app, 1_341..=1_350);
    assert!(!app.screen.dirty, "what is looked at stands still");
    assert_eq!(text(&app), before);
    keys(&mut app, ".");
    assert!(header(&app).contains("13.9 s back"), "{}", header(&app));

    keys(&mut app, "}");
    assert_eq!(shown(&app), 1_350);
    keys(&mut app, ".");
    assert!(
        last_line(&app).contains("L follows the program"),
        "{}",
        last_line(&app)
    );
    lives(&mut app, [1_351]);
    assert_eq!(shown(&app), 1_350, "also the newest of then stands still");
    keys(&mut app, "L");
    assert_eq!(shown(&app), 1_351);
    lives(&mut app, [1_352]);
    assert_eq!(shown(&app), 1_352);
    assert!(header(&app).contains("LIVE 10 Hz"));
}

#[test]
fn long_steps_go_far() {
    let mut app = watched(120, 30);
    let shown = |app: &App| app.shown().unwrap().capture.seq;
    for (typed, seq) in [
        ("(", 1_290),
        ("(", 1_240),
        ("(", 1_200),
        (")", 1_250),
        (",", 1_249),
    ] {
        keys(&mut app, typed);
        assert_eq!(shown(&app), seq, "{typed}");
    }
    keys(&mut app, "{(");
    assert!(last_line(&app).contains("no older snapshot"));
    keys(&mut app, ")))");
    assert_eq!(shown(&app), 1_340, "forth no further than the newest");
    keys(&mut app, ")");
    assert!(last_line(&app).contains("L follows the program"));
    keys(&mut app, "L");
    assert!(header(&app).contains("LIVE"));
    keys(&mut app, "(,");
    assert!(
        header(&app).contains("PAST 14:02:08.9  5.1 s back"),
        "{}",
        header(&app)
    );
}

#[test]
fn a_small_screen_says_which_moment_it_shows() {
    let mut app = watched(60, 15);
    keys(&mut app, "ajj");
    key(&mut app, Code::Enter);
    keys(&mut app, "(");
    let line = header(&app);
    assert!(
        line.contains("PAST 14:02:09.0  5.0 s back only match-1"),
        "{line}"
    );
}

#[test]
fn freezing_and_going_back_agree() {
    let mut app = watched(120, 30);
    keys(&mut app, "p");
    lives(&mut app, [1_341]);
    keys(&mut app, ",");
    assert_eq!(
        app.shown().unwrap().capture.seq,
        1_339,
        "one before the frozen one"
    );
    for back_to_live in ["p", "L"] {
        keys(&mut app, back_to_live);
        assert!(!app.playback.stands_still() && !app.playback.is_past());
        assert_eq!(app.shown().unwrap().capture.seq, 1_341);
        keys(&mut app, ",");
    }
    keys(&mut app, "Lp");
    assert!(header(&app).contains("FROZEN"));
    keys(&mut app, "L");
    assert!(header(&app).contains("LIVE"));
    keys(&mut app, "L");
    assert!(last_line(&app).contains("follows the program"));
}

#[test]
fn a_window_ends_with_the_moment_on_screen_also_before_a_reset() {
    let mut app = watched(120, 30);
    let mut anew = in_epoch(2, 1);
    anew.capture.unix_ns = snapshot(1_341).capture.unix_ns;
    events(&mut app, Status::Live, Some(anew));
    keys(&mut app, "w,");
    assert_eq!(app.shown().unwrap().capture.seq, 1_340);
    assert!(tabs(&app).contains("window 1.0 s"), "{}", tabs(&app));
    assert_eq!(data(&app).snapshot.capture.since_reset_ns, 1_000_000_000);
}

#[test]
fn another_program_has_another_past() {
    let mut app = watched(120, 30);
    keys(&mut app, ",m");
    let other = Events {
        target: Some(crate::source::events::Target {
            name: "other".into(),
            pid: 7,
            path: "b.ring".into(),
        }),
        snapshot: Some(std::rc::Rc::new(snapshot(5))),
        ..Events::quiet(Status::Live)
    };
    app.update(Message::Events(Box::new(other)));
    assert!(header(&app).contains("LIVE"));
    keys(&mut app, ",");
    assert!(last_line(&app).contains("no older snapshot"));
    keys(&mut app, "'");
    assert!(last_line(&app).contains("m sets a mark"), "{}", last_line(&app));
}

#[test]
fn without_a_mark_there_is_nothing_to_compare_with() {
    let mut app = watched(120, 30);
    keys(&mut app, "'");
    let told = last_line(&app);
    assert!(
        told.contains("does not reach back 20 s yet") && told.contains("m sets a mark"),
        "{told}"
    );
    assert!(data(&app).then.is_none());
}

#[test]
fn a_mark_is_compared_with_and_counted_from() {
    let mut app = watched(120, 30);
    keys(&mut app, "m");
    assert!(tabs(&app).contains("mark 14:02:14"), "{}", tabs(&app));
    lives(&mut app, 1_341..=1_400);
    keys(&mut app, "'");
    assert!(tabs(&app).contains("vs 14:02:14"), "{}", tabs(&app));
    sums_hold(data(&app));
    let grown = data(&app).measured_ns - data(&app).then.as_ref().unwrap().measured_ns;
    // All changes are growth: what happened since the mark.
    keys(&mut app, "'www");
    assert!(tabs(&app).contains("window 6.0 s, since mark"), "{}", tabs(&app));
    assert!(data(&app).measured_ns.abs_diff(grown) < 100, "but for rounding");
}

#[test]
fn windows_are_compared_with_the_same_window_then() {
    let mut app = watched(120, 30);
    keys(&mut app, "wm'");
    lives(&mut app, 1_341..=1_400);
    let (now, then) = (data(&app), data(&app).then.as_ref().unwrap());
    assert_eq!(now.snapshot.capture.since_reset_ns, 1_000_000_000);
    assert_eq!(then.snapshot.capture.since_reset_ns, 1_000_000_000);
    assert!(
        now.measured_ns.abs_diff(then.measured_ns) < now.measured_ns / 1_000,
        "steady work"
    );
    assert!(
        tabs(&app).contains("window 1.0 s   vs 14:02:14"),
        "{}",
        tabs(&app)
    );
    sums_hold(now);
}

/// Another build of the program: a call of `rebalance` takes half as long again, one function is new, one is gone.
pub(crate) fn other_build() -> Snapshot {
    let mut s = snapshot(1_340);
    s.process.pid += 1;
    s.process.started_unix_ns += 1;
    for row in [4, 13] {
        s.nodes.self_ticks[row] += s.nodes.self_ticks[row] / 2;
    }
    for thread in &mut s.threads {
        thread.tid += 1;
    }
    s.sites[11].name = "crc32".into();
    s
}

#[test]
fn a_kept_snapshot_of_another_build_shows_what_changed() {
    let mut app = empty(120, 30);
    app.compare_with(snapshot(1_340).into(), "before.tks".into());
    events(&mut app, Status::Live, Some(other_build()));
    let screen = text(&app);
    let row = |name: &str| {
        let row = screen.lines().find(|line| line.contains(name));
        row.unwrap_or_else(|| panic!("no {name} in\n{screen}"))
    };
    assert!(tabs(&app).contains("vs before.tks"), "{}", tabs(&app));
    keys(&mut app, "2");
    let hot = text(&app);
    let first: Vec<&str> = hot.lines().skip(3).take(3).collect();
    assert!(
        first[0].contains("▲ +50%") && first[0].contains("rebalance"),
        "{hot}"
    );
    assert!(
        hot.lines()
            .any(|line| line.contains("new") && line.contains("crc32")),
        "{hot}"
    );
    assert!(
        hot.lines()
            .any(|line| line.contains("gone") && line.contains("checksum")),
        "{hot}"
    );
    assert!(row("match::run").contains('+'), "{screen}");
    sums_hold(data(&app));
    keys(&mut app, "'");
    assert!(!text(&app).contains("+50%"));
}

#[test]
fn differences_are_told_without_colour_and_without_unicode() {
    let mut app = empty(120, 30);
    app.screen.ascii = true;
    app.compare_with(snapshot(1_340).into(), "before.tks".into());
    events(&mut app, Status::Live, Some(other_build()));
    keys(&mut app, "2");
    let screen = text(&app);
    assert!(screen.is_ascii(), "{screen}");
    assert!(screen.contains("^ +50%"), "{screen}");
}

#[test]
fn a_restart_keeps_the_mark_to_compare_the_runs() {
    let mut app = watched(120, 30);
    keys(&mut app, "m'");
    let target = crate::source::events::Target {
        name: "orderbook-sim".into(),
        pid: 41_874,
        path: "b.ring".into(),
    };
    let again = Events {
        target: Some(target),
        new_run: Some((41_873, 41_874)),
        snapshot: Some(std::rc::Rc::new(other_build())),
        ..Events::quiet(Status::Live)
    };
    app.update(Message::Events(Box::new(again)));
    assert!(data(&app).then.is_some());
    sums_hold(data(&app));
    keys(&mut app, ",");
    assert!(
        last_line(&app).contains("no older snapshot"),
        "{}",
        last_line(&app)
    );
}

#[test]
fn a_report_is_of_the_moment_on_screen() {
    let mut app = watched(120, 30);
    keys(&mut app, "{");
    let effects = keys(&mut app, "d");
    let [Effect::WriteReport { snapshot, .. }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!(snapshot.capture.seq, 1_200);
}

#[test]
fn sparklines_stand_beside_wide_lists_and_in_the_detail() {
    let mut app = watched(230, 40);
    let screen = text(&app);
    assert!(screen.contains("LAST 30 s"), "{screen}");
    let row = screen.lines().find(|line| line.contains("match::step")).unwrap();
    assert!(row.contains('█'), "{row}");
    // Beside the list there is a chart of several lines below these words.
    let lines: Vec<&str> = screen.lines().collect();
    let last = lines.iter().position(|line| line.contains("last 30 s")).unwrap();
    assert!(
        lines[last + 3].trim_end().ends_with("████"),
        "steady work: {screen}"
    );
    keys(&mut app, "2");
    assert!(text(&app).contains("LAST 30 s"));
    // Below it, one line.
    let screen = text(&watched(140, 40));
    let last = screen.lines().find(|line| line.contains("last 30 s")).unwrap();
    assert!(last.trim_end().ends_with("████"), "steady work: {last}");
    // The screen as it was stays as it was while it stands still.
    keys(&mut app, "1p");
    let before = text(&app);
    at(&mut app, 60_000);
    lives(&mut app, 1_341..=1_400);
    key(&mut app, Code::Char('z'));
    let spark = |screen: &str| {
        let line = screen.lines().find(|line| line.contains("last 30 s"));
        line.map(|line| line[line.find("last 30 s").unwrap()..].to_string())
    };
    assert_eq!(spark(&text(&app)), spark(&before));
}

#[test]
fn escape_ends_a_comparison_and_leaves_the_past() {
    let mut app = watched(120, 30);
    keys(&mut app, "m'2");
    assert!(data(&app).then.is_some());
    key(&mut app, Code::Esc);
    assert!(data(&app).then.is_none(), "{}", text(&app));
    keys(&mut app, ",,");
    assert!(header(&app).contains("PAST"));
    key(&mut app, Code::Esc);
    assert!(header(&app).contains("LIVE"), "{}", header(&app));
}

#[test]
fn a_mark_from_before_a_reset_is_told_to_be_one() {
    let mut app = watched(120, 30);
    keys(&mut app, "m");
    events(&mut app, Status::Live, Some(in_epoch(9, 1_350)));
    keys(&mut app, "'");
    assert!(
        last_line(&app).contains("counted from zero since"),
        "{}",
        last_line(&app)
    );
    // The other way round nothing was counted from zero since.
    keys(&mut app, "'m('");
    let told = last_line(&app);
    assert!(
        told.contains("is later, and counted from zero in between"),
        "{told}"
    );
}

#[test]
fn a_snapshot_is_kept_from_the_list_of_modes() {
    let mut app = watched(120, 30);
    keys(&mut app, "e");
    let effects = keys(&mut app, "s");
    assert!(
        matches!(effects[..], [Effect::KeepSnapshot { .. }]),
        "{effects:?}"
    );
}

#[test]
fn a_frozen_screen_keeps_its_sparklines_while_records_come() {
    let mut app = empty(150, 30);
    let give = |app: &mut App, tenth: u64| {
        // Busy every other second.
        let mut next = snapshot(tenth + tenth / 10 % 2 * 10);
        // No program publishes to the millisecond, and history keeps fewer of what is older.
        next.capture.unix_ns = snapshot(tenth).capture.unix_ns + tenth * 37 % 60 * 1_000_000;
        let record = past(&next);
        app.update(Message::Events(Box::new(Events {
            past: vec![record],
            snapshot: Some(next.into()),
            ..Events::quiet(Status::Live)
        })));
    };
    (1_000..=1_340).for_each(|tenth| give(&mut app, tenth));
    keys(&mut app, "p");
    let list = |app: &App| text(app).lines().skip(2).map(str::to_string).collect::<Vec<_>>();
    let frozen = list(&app);
    for tenth in 1_341..1_800 {
        give(&mut app, tenth);
        assert_eq!(list(&app), frozen, "after {tenth} tenths");
    }
}

#[test]
fn a_sparkline_changes_with_the_seconds_and_not_with_each_snapshot() {
    let mut app = watched(160, 40);
    let row = app.list().rows[0].id;
    let steps = |app: &App| app.playback.activity().unwrap().steps(row, 30).unwrap();
    let before = steps(&app);
    lives(&mut app, 1_341..=1_349);
    assert_eq!(steps(&app), before);
    lives(&mut app, [1_350]);
    assert_eq!(
        steps(&app).iter().flatten().count(),
        before.iter().flatten().count() + 1
    );
}

#[test]
fn seconds_are_counted_of_all_calls_whatever_part_of_them_is_on_screen() {
    let mut plain = watched(160, 40);
    lives(&mut plain, 1_341..=1_380);
    for look in ["f", "jjf", "jF", "i", "c", "if"] {
        let mut app = watched(160, 40);
        keys(&mut app, look);
        lives(&mut app, 1_341..=1_380);
        for row in &plain.list().rows {
            let steps = |app: &App| {
                app.playback
                    .activity()
                    .and_then(|activity| activity.steps(row.id, 30))
            };
            assert_eq!(steps(&app), steps(&plain), "after {look}");
        }
    }
}

#[test]
fn seconds_are_those_of_the_thread_in_scope_however_it_was_chosen() {
    let chosen = |how: &str| {
        let mut app = watched(160, 40);
        keys(&mut app, how);
        key(&mut app, Code::Enter);
        keys(&mut app, "1");
        lives(&mut app, 1_341..=1_350);
        app
    };
    let (by_list, by_view) = (chosen("aj"), chosen("4"));
    assert_eq!(by_list.query.threads, by_view.query.threads);
    assert_ne!(
        by_view.query.threads,
        crate::app::thread_choice::ThreadChoice::All
    );
    for row in &by_list.list().rows {
        let steps = |app: &App| {
            app.playback
                .activity()
                .and_then(|activity| activity.steps(row.id, 30))
        };
        assert_eq!(steps(&by_view), steps(&by_list));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sums_hold_and_the_selection_stays_whatever_moment_and_window(
        steps in prop::collection::vec((0u64..40, prop::sample::select(b",.{}Lmwp''xa%".to_vec())), 1..30),
    ) {
        let mut app = empty(120, 30);
        let mut tenth = 1_000;
        lives(&mut app, [tenth]);
        keys(&mut app, "EjJ");
        let chosen = app.list().selected().map(|row| row.id);
        for (tenths, byte) in steps {
            tenth += tenths;
            if tenths > 0 {
                lives(&mut app, [tenth]);
            }
            key(&mut app, Code::Char(char::from(byte)));
            if app.has_popup() {
                key(&mut app, Code::Esc);
            }
            sums_hold(data(&app));
            prop_assert_eq!(app.list().selected().map(|row| row.id), chosen);
            let shares = app.list().rows.iter().map(|row| app.shares(data(&app), row.what));
            for (total, own) in shares {
                prop_assert!((0.0..=1.0).contains(&total) && (0.0..=1.0).contains(&own));
            }
        }
    }
}

#[test]
fn a_window_that_begins_with_a_coarse_moment_has_no_percentiles_of_before() {
    let moment = |tenth: u64| {
        let mut moment = snapshot(tenth);
        moment.measuring.histograms = true;
        moment
    };
    let mut app = empty(120, 30);
    // Ten seconds ago lies where only coarse records are.
    let mut coarse = moment(1_240);
    coarse.latencies = tickscope_format::latency::Latencies::default();
    for shown in [coarse, moment(1_330), moment(1_340)] {
        events(&mut app, Status::Live, Some(shown));
    }
    assert!(!data(&app).snapshot.latencies.row.is_empty());
    keys(&mut app, "ww");
    assert!(tabs(&app).contains("window 10.0 s"), "{}", tabs(&app));
    assert!(data(&app).snapshot.latencies.row.is_empty());
    let screen = text(&app);
    assert!(screen.contains("not kept for all of this window"), "{screen}");
}

#[test]
fn a_flame_of_a_window_without_time_says_which_window() {
    let mut app = empty(120, 30);
    for second in [0, 1, 2] {
        let mut idle = snapshot(1_340);
        idle.capture.since_reset_ns += second * 1_000_000_000;
        idle.capture.unix_ns += second * 1_000_000_000;
        idle.capture.tick += second * 1_000_000_000;
        events(&mut app, Status::Live, Some(idle));
    }
    keys(&mut app, "5w");
    let screen = text(&app);
    assert!(
        screen.contains("No time has been measured in the last 1.0 s."),
        "{screen}"
    );
}
