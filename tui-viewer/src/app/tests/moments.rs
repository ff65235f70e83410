//! Moments and stretches of time: windows, going back in time, marks, comparisons, and sparklines.

use super::*;

/// Sends the app a live snapshot for each of these tenths of a second, in order.
pub(crate) fn lives(app: &mut App, tenths: impl IntoIterator<Item = u64>) {
    for tenth in tenths {
        gets(app, snapshot(tenth));
    }
}

/// Returns an app that has watched the test program from second 120 to second 134 of its run.
pub(crate) fn watched(width: u16, height: u16) -> App {
    let mut app = empty(width, height);
    lives(&mut app, 1_200..=1_340);
    app
}

pub(crate) fn data(app: &App) -> &Data {
    app.data().expect("there is data")
}

pub(crate) fn tabs(app: &App) -> String {
    text(app).lines().nth(1).unwrap_or_default().to_string()
}

/// Returns the activity of a row in the last seconds, as far as it is known.
fn steps(app: &App, row: RowId) -> Option<Vec<Option<f64>>> {
    app.playback.activity()?.steps(row, 30)
}

/// Asserts that each row's total time is the sum of its self time and its children's total times. In a comparison,
/// asserts the same of the changes in these times.
pub(crate) fn sums_hold(data: &Data) {
    let change = |what: What| {
        let then = data.then.as_ref().map(|then| then.figures(what));
        let (now, then) = (data.figures(what), then.unwrap_or_default());
        let less = |a: u64, b: u64| i128::from(a) - i128::from(b);
        (less(now.total_ns, then.total_ns), less(now.self_ns, then.self_ns))
    };
    for row in 0..data.tree.rows.len() as u32 {
        let children = data.tree.children(row).iter();
        let below: i128 = children.map(|&child| change(View::Tree.row(child)).0).sum();
        let (total, own) = change(View::Tree.row(row));
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
    // Without a mark, the window after the last 10 s is the whole time since the reset.
    assert_eq!(data(&app).measured_ns, whole);
    lacks(&tabs(&app), "window");
}

#[test]
fn a_short_history_says_how_short_and_a_reset_in_a_window_too() {
    let mut app = empty(120, 30);
    lives(&mut app, [1_308]);
    keys(&mut app, "ww");
    has(&tabs(&app), "window 131 s since reset");
    lives(&mut app, [1_340]);
    has(&tabs(&app), "window 3.2 s, not yet 10 s");
    let mut anew = in_epoch(2, 20);
    anew.capture.unix_ns = snapshot(1_360).capture.unix_ns;
    gets(&mut app, anew);
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
        snapshot: Some(Rc::new(snapshot(1_340))),
        ..Events::quiet(Status::Live)
    };
    app.update(Message::Events(Box::new(first)));
    keys(&mut app, "ww");
    has(&tabs(&app), "window 10.0 s");
    let row = app.list().rows[0].id;
    let activity = steps(&app, row).unwrap();
    assert_eq!(activity.iter().flatten().count(), 14, "{activity:?}");
}

#[test]
fn keys_go_back_and_forth_and_the_program_is_followed_again() {
    let mut app = watched(120, 30);
    let shown = |app: &App| app.shown().unwrap().capture.seq;
    keys(&mut app, ",");
    assert_eq!(shown(&app), 1_339);
    has(&header(&app), "PAST 14:02:13.9  0.1 s back");
    keys(&mut app, ",,,.");
    assert_eq!(shown(&app), 1_337);
    keys(&mut app, "{");
    assert_eq!(shown(&app), 1_200);
    has(&header(&app), "PAST 14:02:00.0  14.0 s back");
    keys(&mut app, ",");
    assert_eq!(shown(&app), 1_200);
    assert!(last_line(&app).contains("no older snapshot"));

    let before = text(&app);
    app.screen.dirty = false;
    lives(&mut app, 1_341..=1_350);
    assert!(!app.screen.dirty, "a past moment does not change");
    assert_eq!(text(&app), before);
    keys(&mut app, ".");
    has(&header(&app), "13.9 s back");

    keys(&mut app, "}");
    assert_eq!(shown(&app), 1_350);
    keys(&mut app, ".");
    says(&app, "L follows the program");
    lives(&mut app, [1_351]);
    // While the screen shows a past moment, new snapshots do not change it.
    assert_eq!(shown(&app), 1_350);
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
    has(&header(&app), "PAST 14:02:08.9  5.1 s back");
}

#[test]
fn a_small_screen_says_which_moment_it_shows() {
    let mut app = watched(60, 15).after("ajj\n");
    keys(&mut app, "(");
    let line = header(&app);
    has(&line, "PAST 14:02:09.0  5.0 s back only match-1");
}

#[test]
fn freezing_and_going_back_agree() {
    let mut app = watched(120, 30).after("p");
    lives(&mut app, [1_341]);
    keys(&mut app, ",");
    // The step goes to the snapshot before the frozen one.
    assert_eq!(app.shown().unwrap().capture.seq, 1_339);
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
    gets(&mut app, anew);
    keys(&mut app, "w,");
    assert_eq!(app.shown().unwrap().capture.seq, 1_340);
    has(&tabs(&app), "window 1.0 s");
    assert_eq!(data(&app).snapshot.capture.since_reset_ns, 1_000_000_000);
}

#[test]
fn another_program_has_another_past() {
    let mut app = watched(120, 30).after(",m");
    begins(&mut app, 7, None, snapshot(5));
    assert!(header(&app).contains("LIVE"));
    keys(&mut app, ",");
    says(&app, "no older snapshot");
    keys(&mut app, "'");
    says(&app, "m sets a mark");
}

#[test]
fn another_program_has_other_threads_and_no_way_back_to_those() {
    let mut app = watched(120, 30).after("4j\n");
    shows(&app, "only match-1");
    begins(&mut app, 7, None, snapshot(5));
    assert!(!text(&app).contains("only match-1"), "{}", text(&app));
    key(&mut app, Code::Esc);
    assert_eq!(app.views.current, View::Tree);
}

#[test]
fn a_mark_is_compared_with_and_counted_from() {
    let mut app = watched(120, 30).after("m");
    has(&tabs(&app), "mark 14:02:14");
    lives(&mut app, 1_341..=1_400);
    keys(&mut app, "'");
    has(&tabs(&app), "vs 14:02:14");
    sums_hold(data(&app));
    let grown = data(&app).measured_ns - data(&app).then.as_ref().unwrap().measured_ns;
    // Times have only grown since the mark, so the differences are the same as the times in the window since the mark.
    keys(&mut app, "'www");
    has(&tabs(&app), "window 6.0 s, since mark");
    assert!(data(&app).measured_ns.abs_diff(grown) < 100, "but for rounding");
}

#[test]
fn windows_are_compared_with_the_same_window_then() {
    let mut app = watched(120, 30).after("wm'");
    lives(&mut app, 1_341..=1_400);
    let (now, then) = (data(&app), data(&app).then.as_ref().unwrap());
    assert_eq!(now.snapshot.capture.since_reset_ns, 1_000_000_000);
    assert_eq!(then.snapshot.capture.since_reset_ns, 1_000_000_000);
    assert!(
        now.measured_ns.abs_diff(then.measured_ns) < now.measured_ns / 1_000,
        "steady work"
    );
    has(&tabs(&app), "window 1.0 s   vs 14:02:14");
    sums_hold(now);
}

/// Returns another build: a call of `rebalance` takes 1.5 times as long, one function is new, one function is gone.
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
fn differences_are_told_without_colour_and_without_unicode() {
    let mut app = empty(120, 30);
    app.screen.ascii = true;
    app.compare_with(snapshot(1_340).into(), "before.tks".into());
    gets(&mut app, other_build());
    keys(&mut app, "2");
    let screen = text(&app);
    assert!(screen.is_ascii(), "{screen}");
    assert!(screen.contains("^ +50%"), "{screen}");
}

#[test]
fn a_restart_keeps_the_mark_to_compare_the_runs() {
    let mut app = watched(120, 30).after("m'");
    begins(&mut app, 41_874, Some((41_873, 41_874)), other_build());
    assert!(data(&app).then.is_some());
    sums_hold(data(&app));
    keys(&mut app, ",");
    says(&app, "no older snapshot");
}

#[test]
fn sparklines_stand_beside_wide_lists_and_in_the_detail() {
    let app = watched(230, 40);
    has(&line_of(&text(&app), "match::step"), "█");
    shows(&app, "LAST 30 s");
    // In a pane beside the list, the chart is several lines high and below `last 30 s`. In a pane below the list, the
    // chart is on the same line as `last 30 s`.
    for (app, below) in [(app, 3), (watched(140, 40), 0)] {
        let screen = text(&app);
        let mut chart = screen.lines().skip_while(|line| !line.contains("last 30 s"));
        let line = chart.nth(below).expect("a chart").trim_end();
        assert!(line.ends_with("████"), "steady work: {screen}");
    }
}

#[test]
fn escape_ends_a_comparison_and_leaves_the_past() {
    let mut app = watched(120, 30).after("m'2");
    assert!(data(&app).then.is_some());
    key(&mut app, Code::Esc);
    assert!(data(&app).then.is_none(), "{}", text(&app));
    keys(&mut app, ",,");
    assert!(header(&app).contains("PAST"));
    key(&mut app, Code::Esc);
    has(&header(&app), "LIVE");
}

#[test]
fn a_mark_from_before_a_reset_is_told_to_be_one() {
    let mut app = watched(120, 30).after("m");
    gets(&mut app, in_epoch(9, 1_350));
    keys(&mut app, "'");
    says(&app, "a reset came after");
    // If the mark is later than the moment on screen, the notice must not say that a reset came after the mark.
    keys(&mut app, "'m('");
    says(&app, "is later, after a reset");
}

#[test]
fn a_frozen_screen_keeps_its_sparklines_while_records_come() {
    let mut app = empty(150, 30);
    let give = |app: &mut App, tenth: u64| {
        // The program is busy every other second.
        let mut next = snapshot(tenth + tenth / 10 % 2 * 10);
        // No program publishes exactly on time, and history keeps fewer of the older snapshots.
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
        if tenth % 10 == 0 {
            assert_eq!(list(&app), frozen, "after {tenth} tenths");
        }
    }
}

#[test]
fn seconds_are_counted_of_all_calls_whatever_part_of_them_is_on_screen() {
    let mut plain = watched(160, 40);
    lives(&mut plain, 1_341..=1_380);
    for look in ["f", "jjf", "jF", "i", "c", "if"] {
        let mut app = watched(160, 40).after(look);
        lives(&mut app, 1_341..=1_380);
        for row in &plain.list().rows {
            assert_eq!(steps(&app, row.id), steps(&plain, row.id), "after {look}");
        }
    }
}

#[test]
fn seconds_are_those_of_the_thread_in_scope_however_it_was_chosen() {
    let chosen = |how: &str| {
        let mut app = watched(160, 40).after(how);
        key(&mut app, Code::Enter);
        keys(&mut app, "1");
        lives(&mut app, 1_341..=1_350);
        app
    };
    let (by_list, by_view) = (chosen("aj"), chosen("4"));
    assert_eq!(by_list.query.threads, by_view.query.threads);
    assert_ne!(by_view.query.threads, ThreadChoice::All);
    for row in &by_list.list().rows {
        assert_eq!(steps(&by_view, row.id), steps(&by_list, row.id));
    }
}

#[test]
fn a_flame_of_a_window_without_time_says_which_window() {
    let mut app = empty(120, 30);
    for second in [0, 1, 2] {
        let mut idle = snapshot(1_340);
        idle.capture.since_reset_ns += second * 1_000_000_000;
        idle.capture.unix_ns += second * 1_000_000_000;
        idle.capture.tick += second * 1_000_000_000;
        gets(&mut app, idle);
    }
    keys(&mut app, "5w");
    shows(&app, "No time has been measured in the last 1.0 s.");
}
