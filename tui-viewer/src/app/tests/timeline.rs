//! The timeline: what its columns show, and choosing a stretch of time, which all views then show.

use tickscope_analysis::functions::Functions;
use tickscope_format::snapshot::{Column, LineSample, Quantity};
use tickscope_testkit::fixture;

use super::*;
use crate::app::timeline::{Lanes, name_cells};
use crate::app::window::Window;
use crate::test_driver::find_code;

/// Returns the working and the waiting load of each line in a column, from top to bottom.
fn loads(app: &App, column: u16) -> Vec<Option<(f64, f64)>> {
    let timeline = &app.views.timeline;
    let rows = app.list().rows.iter();
    let keys = rows.filter_map(|row| row.id.as_lane());
    keys.map(|key| Some(timeline.load(key, column)?).map(|load| (load.working, load.waiting)))
        .collect()
}

/// Returns the number of columns whose load is known.
fn known(app: &App) -> usize {
    let columns = 0..app.views.timeline.columns();
    columns
        .filter(|&column| app.views.timeline.slot(column).is_some())
        .count()
}

/// Returns the length in ns of the chosen stretch of time.
fn chosen_ns(app: &App) -> u64 {
    let Window::Chosen(ns) = app.query.window else {
        panic!("{:?}", app.query.window)
    };
    ns
}

/// Lets the app read all slots. It reads for a few milliseconds each time that `at` advances the clock.
fn read_all(app: &mut App) {
    let mut ms = 1;
    while app.views.timeline.is_unread || app.views.strip.is_unread {
        at(app, ms);
        ms += 1;
    }
}

/// Returns the time in seconds that all columns together show in a line.
fn seconds_of(app: &App, lane: usize) -> f64 {
    let columns = 0..app.views.timeline.columns();
    let sum: f64 = columns
        .filter_map(|column| loads(app, column)[lane])
        .map(|(working, waiting)| working + waiting)
        .sum();
    sum * app.views.timeline.slot_ns() as f64 / 1e9
}

#[test]
fn columns_add_up_to_what_happened_in_their_time() {
    let mut app = watched(120, 40).after("9");
    read_all(&mut app);
    let timeline = &app.views.timeline;
    let (end_ns, long_ns) = (
        timeline.end_ns(),
        timeline.slot_ns() * u64::from(timeline.columns()),
    );
    // The app has watched only from 120 s to 134 s, so 14 of the 30 s on the screen are known.
    let known_s = known(&app) as f64 * timeline.slot_ns() as f64 / 1e9;
    assert!((13.0..14.1).contains(&known_s), "{known_s} s are known");
    assert!((30_000_000_000..31_000_000_000).contains(&long_ns));
    assert!(snapshot(1_340).capture.unix_ns - end_ns < 2 * timeline.slot_ns());
    for lane in 0..app.list().rows.len() {
        let now = data(&app).figures(app.list().rows[lane].what).total_ns as f64 / 1e9;
        // The test program has been working at a steady rate for all 134 s.
        let wanted = now / 134.0 * known_s;
        let seen = seconds_of(&app, lane);
        assert!(
            (seen - wanted).abs() <= wanted * 0.01 + 0.001,
            "{lane}: {seen}, not {wanted}"
        );
    }
}

#[test]
fn waiting_is_told_from_work() {
    let mut app = empty(120, 40);
    let waits = |tenths: u64| {
        let mut s: Snapshot = snapshot(tenths);
        let half = s.nodes.self_ticks.iter().map(|ticks| ticks / 2);
        let rows = (0..).zip(half).collect();
        let outside = Vec::new();
        s.measures.set(Quantity::Waiting, Column { rows, outside });
        s
    };
    for tenths in 1_200..=1_300 {
        gets(&mut app, waits(tenths));
    }
    keys(&mut app, "9");
    read_all(&mut app);
    let last = app.views.timeline.columns() - 1;
    for (working, waiting) in loads(&app, last).into_iter().flatten() {
        assert!((working - waiting).abs() < 0.001, "{working} {waiting}");
    }
    shows(&app, "off CPU 4");
}

#[test]
fn a_chosen_time_is_the_window_of_every_view_until_escape() {
    let mut app = watched(120, 40).after("9");
    read_all(&mut app);
    for _ in 0..9 {
        key(&mut app, Code::ShiftLeft);
    }
    let ns = chosen_ns(&app);
    // The chosen stretch is ten columns long. Its length may differ slightly, because it begins and ends at snapshots
    // in the history.
    let wanted = 10 * app.views.timeline.slot_ns();
    assert!(ns.abs_diff(wanted) <= 100_000_000, "{ns} {wanted}");
    let label = format!("window {:.1} s", ns as f64 / 1e9);
    for view in ["1", "2", "5", "4", "9"] {
        keys(&mut app, view);
        assert!(tabs(&app).contains(&label), "{}", tabs(&app));
        assert_eq!(data(&app).snapshot.capture.since_reset_ns, ns);
        sums_hold(data(&app));
    }
    // Extends the choice from its moving end to the right, beyond its fixed end.
    let end_ns = app.cursor_ns().expect("the screen is paused");
    for _ in 0..12 {
        keys(&mut app, ">");
    }
    let ns = chosen_ns(&app);
    assert!(ns <= wanted, "{ns}");
    assert!(app.cursor_ns() >= Some(end_ns));
    key(&mut app, Code::Esc);
    assert_eq!((app.query.window, app.cursor_ns()), (Window::Reset, None));
}

#[test]
fn the_mouse_chooses_a_time_from_where_it_is_pressed() {
    let mut app = watched(120, 40).after("9");
    read_all(&mut app);
    let rows = app.layout().rows;
    let x = name_cells(120) + 2 + app.views.timeline.columns();
    app.update(Message::Click(x - 5, rows.y + 5));
    // A click on a column goes to a moment, and does not choose a range.
    assert!(app.cursor_ns().is_some() && !app.has_range());
    let line = app.list().cursor.index;
    // The click also selects the line.
    assert_eq!(line, 5 / usize::from(app.lane_lines()));
    app.update(Message::Drag(x - 20, rows.y + 1));
    let ns = chosen_ns(&app);
    assert!(
        ns.abs_diff(16 * app.views.timeline.slot_ns()) <= 100_000_000,
        "{ns}"
    );
    assert_eq!(app.list().cursor.index, line);
    // Outside of the lines a drag has no effect.
    app.update(Message::Drag(x - 30, 0));
    assert_eq!(app.query.window, Window::Chosen(ns));
}

#[test]
fn a_step_goes_to_the_column_beside_it_and_the_lines_stand_still() {
    let mut app = watched(120, 40).after("9");
    read_all(&mut app);
    key(&mut app, Code::Left);
    let first = app.cursor_ns().expect("the screen is paused");
    let column = app.views.timeline.column_before(first);
    // The cursor is on the last column, which is complete.
    assert_eq!(column, Some(app.views.timeline.columns() - 1));
    key(&mut app, Code::Left);
    let second = app.cursor_ns().expect("the screen is paused");
    assert_eq!(
        app.views.timeline.column_before(second),
        column.map(|column| column - 1)
    );
    let end_ns = app.views.timeline.end_ns();
    lives(&mut app, 1_341..=1_360);
    assert_eq!(app.views.timeline.end_ns(), end_ns);
    keys(&mut app, "l");
    assert_eq!(app.cursor_ns(), Some(first));
    // Other keys may move the cursor off the screen, and the timeline follows it.
    keys(&mut app, "{");
    let oldest = app.cursor_ns().expect("the screen is paused");
    assert!(app.views.timeline.column_before(oldest).is_some());
}

#[test]
fn a_reset_and_a_gap_are_no_work() {
    let mut app = empty(120, 40);
    lives(&mut app, 1_200..=1_250);
    for tenths in 1..=30 {
        let mut s = snapshot(tenths);
        s.capture.reset_epoch = 2;
        s.capture.unix_ns = snapshot(1_250 + tenths).capture.unix_ns;
        gets(&mut app, s);
    }
    keys(&mut app, "9");
    read_all(&mut app);
    let all = 0..app.views.timeline.columns();
    let most = all
        .flat_map(|column| loads(&app, column))
        .flatten()
        .fold(0.0, |most: f64, (working, waiting)| most.max(working + waiting));
    assert!(most <= 1.01, "{most} CPUs in a thread");
    // For more than a minute, there are no snapshots.
    let mut gap = empty(120, 40);
    lives(&mut gap, (1_000..=1_050).chain(1_700..=1_800));
    keys(&mut gap, "9-");
    read_all(&mut gap);
    let known: Vec<bool> = (0..gap.views.timeline.columns())
        .map(|column| gap.views.timeline.slot(column).is_some())
        .collect();
    let changes = known.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(changes, 3, "unknown, known, unknown, known: {known:?}");
}

#[test]
fn what_is_read_later_fills_columns_that_were_unknown() {
    let mut app = showing(120, 40, snapshot(1_340)).after("9");
    assert_eq!(known(&app), 0);
    let earlier = (1_000..1_340).map(|tenths| past(&snapshot(tenths))).collect();
    app.update(Message::Events(Box::new(Events {
        past: earlier,
        ..Events::quiet(Status::Live)
    })));
    read_all(&mut app);
    assert_eq!(known(&app), usize::from(app.views.timeline.columns()));
    // A new column appears once its time has passed.
    let end_ns = app.views.timeline.end_ns();
    lives(&mut app, 1_341..=1_343);
    read_all(&mut app);
    assert!(app.views.timeline.end_ns() > end_ns);
    let last = app.views.timeline.columns() - 1;
    assert!(app.views.timeline.slot(last).is_some());
}

#[test]
fn functions_that_are_sampled_have_time_in_their_lines() {
    let mut app = empty(120, 40);
    for second in 1..=20 {
        let mut s = fixture::sampled();
        s.capture.unix_ns += second * 1_000_000_000;
        s.capture.since_reset_ns += second * 1_000_000_000;
        s.capture.seq += second;
        s.nodes.self_ticks.iter_mut().for_each(|ticks| *ticks *= second);
        let samples: Vec<LineSample> = s
            .lines
            .samples
            .iter()
            .map(|sample| LineSample {
                samples: sample.samples * second,
                cpu_ns: sample.cpu_ns * second,
                ..*sample
            })
            .collect();
        s.lines.set(samples);
        let effects = events(&mut app, Status::Live, Some(s));
        find_code(&mut app, effects);
    }
    keys(&mut app, "9f");
    read_all(&mut app);
    let functions = Functions::of(&data(&app).snapshot);
    let mut sampled = functions.list.iter();
    let sampled = sampled.find(|function| function.name == "memchr_avx2").unwrap();
    let timeline = &app.views.timeline;
    let loads = (0..timeline.columns()).filter_map(|column| timeline.load(sampled.key, column));
    assert!(loads.map(|load| load.working).sum::<f64>() > 0.0);
}

#[test]
fn functions_stand_in_place_of_threads_and_enter_opens_them() {
    let mut app = watched(120, 40).after("9f");
    assert_eq!(app.views.timeline.lanes, Lanes::Functions);
    let name = selected(&app);
    key(&mut app, Code::Enter);
    assert_eq!(app.views.current, View::Function);
    assert!(text(&app).contains(&name));
    key(&mut app, Code::Esc);
    assert_eq!(app.views.current, View::Timeline);
    keys(&mut app, "f\n");
    assert_eq!(app.views.current, View::Tree);
    has(&tabs(&app), "only ");
    key(&mut app, Code::Esc);
    assert_eq!(app.views.current, View::Timeline);
}

#[test]
fn time_is_zoomed_between_ten_seconds_and_an_hour() {
    let mut app = watched(120, 40).after("9+");
    shows(&app, "the last 10 s");
    keys(&mut app, "+");
    assert!(text(&app).contains("as close as it gets"));
    keys(&mut app, "------");
    shows(&app, "the last 1 h");
    keys(&mut app, "0");
    assert!(text(&app).contains("the last 30 s"));
}

#[test]
fn beside_threads_stands_what_they_did_in_the_thirty_seconds_before_the_moment_on_screen() {
    let mut app = watched(120, 30).after("4");
    read_all(&mut app);
    let strip = &app.views.strip;
    assert_eq!(strip.columns(), 30);
    let load = app.list().rows[0]
        .id
        .as_lane()
        .and_then(|key| strip.load(key, 25));
    assert!(load.is_some_and(|load| load.working > 0.9), "{load:?}");
    assert!(
        text(&app).contains('█') || text(&app).contains('▇'),
        "{}",
        text(&app)
    );
    keys(&mut app, "((");
    let cursor_ns = app.cursor_ns().expect("the screen is paused");
    let end_ns = app.views.strip.end_ns();
    assert!(
        end_ns.abs_diff(cursor_ns) <= app.views.strip.slot_ns(),
        "{end_ns} {cursor_ns}"
    );
}

/// Returns the lines of the second view as text. The first is the time axis.
fn below(app: &App) -> Vec<String> {
    let area = app.layout().second.expect("there is room");
    let all = text(app);
    let lines = all.lines().skip(usize::from(area.y));
    lines.take(usize::from(area.height)).map(str::to_string).collect()
}

#[test]
fn a_time_line_below_the_tree_is_read_while_it_is_there() {
    let mut app = watched(120, 40).after("P");
    assert_eq!(known(&app), 0, "a flame graph needs no history");
    assert!(text(&app).contains("below the tree: the flame graph; P: the time line of threads"));
    keys(&mut app, "P");
    read_all(&mut app);
    assert!(known(&app) > 10, "{}", known(&app));
    assert_eq!(app.views.current, View::Tree);
    let lines = below(&app);
    has(&lines[0], " the last 30 s ");
    has(&lines[0], " -10 s ─");
    for (line, name) in lines[1..]
        .iter()
        .step_by(2)
        .zip(["match-0", "match-1", "ingest", "main"])
    {
        assert!(line.contains(name), "{lines:?}");
    }
    // Keys act on the tree.
    let before = selected(&app);
    keys(&mut app, "j");
    assert_ne!(selected(&app), before);
    keys(&mut app, "P");
    assert!(
        app.layout().second.is_none() && text(&app).contains("below the tree: nothing; P: the flame graph")
    );
    // While the timeline is hidden, new snapshots are not read into it.
    let end_ns = app.views.timeline.end_ns();
    gets(&mut app, snapshot(1_400));
    assert_eq!(app.views.timeline.end_ns(), end_ns);
}

#[test]
fn below_the_tree_stands_a_thread_a_line_whatever_the_view_shows() {
    let mut app = watched(120, 40);
    // The view Timeline is set to functions. Below the tree, the timeline must show threads nevertheless.
    keys(&mut app, "9f");
    for _ in 0..9 {
        key(&mut app, Code::ShiftLeft);
    }
    keys(&mut app, "1PP");
    read_all(&mut app);
    let lines = below(&app);
    has(&lines[1], "match-0");
    has(&lines[1], "▆");
    // The chosen stretch of time is marked as in the view Timeline.
    assert!(lines[0].contains('┌') && lines[0].contains('┐'), "{lines:?}");
    key(&mut app, Code::Esc);
    assert!(!below(&app)[0].contains('┌'), "{:?}", below(&app));
    // Unlike the flame graph, the timeline does not depend on the tree, so it stays when the tree is turned bottom-up.
    keys(&mut app, "i");
    assert!(below(&app)[1].contains("match-0"), "{:?}", below(&app));
    keys(&mut app, "P");
    assert!(app.layout().second.is_none());
    keys(&mut app, "P");
    // A bottom-up tree has no flame graph, so the key goes from no second view directly to the timeline.
    assert!(below(&app)[1].contains("match-0"));
}

#[test]
fn threads_without_room_are_counted() {
    let mut app = empty(120, 30);
    for tenths in [1_300, 1_340] {
        let mut s = snapshot(tenths);
        for index in 0..20u32 {
            let mut thread = s.threads[3].clone();
            (thread.name, thread.tid) = (format!("more-{index}"), 60_000 + index);
            s.threads.push(thread);
        }
        gets(&mut app, s);
    }
    keys(&mut app, "PP");
    read_all(&mut app);
    let lines = below(&app);
    let shown = lines.len() - 2;
    let last = lines.last().expect("the last line");
    assert!(last.contains(&format!("and {} more", 24 - shown)), "{lines:?}");
}
