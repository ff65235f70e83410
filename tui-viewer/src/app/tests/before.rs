//! Comparisons of the last seconds with the seconds before them, and windows that span a reset that was undone.

use tickscope_analysis::window::between;

use super::*;

/// Returns the app after it has watched a program for 24 s.
fn watched_long(width: u16, height: u16) -> App {
    let mut app = empty(width, height);
    lives(&mut app, 1_100..=1_340);
    app
}

/// Like [`watched_long`], but one function took an extra second in each of the last ten seconds.
fn slower_of_late() -> App {
    let mut app = empty(120, 30);
    for tenth in 1_100..=1_340 {
        let mut s = snapshot(tenth);
        let late = tenth.saturating_sub(1_240) * 100_000_000;
        s.nodes.self_ticks[2] += (late as f64 * s.clock.ticks_per_second / 1e9) as u64;
        gets(&mut app, s);
    }
    app
}

/// Returns the change of the value that `read` returns, summed over all rows.
fn changes(data: &Data, rows: impl Iterator<Item = What>, read: fn(&Data, What) -> u64) -> i128 {
    let change = |what: What| {
        let then = data
            .counterpart(what)
            .map_or(0, |(then, there)| read(then, there));
        i128::from(read(data, what)) - i128::from(then)
    };
    rows.map(change).sum()
}

#[test]
fn one_key_tells_what_changed_in_the_last_ten_seconds() {
    for (width, height) in [(120, 30), (80, 24), (60, 15)] {
        let mut app = watched_long(width, height).after("'");
        let screen = text(&app);
        let told: String = screen.lines().take(2).collect();
        assert!(told.contains("vs 10.0 s before"), "{screen}");
        has(&in_one_line(&app), "the last 10 s against the 10.0 s before");
        let now = data(&app).measured_ns;
        let then = data(&app).then.as_ref().expect("compared").measured_ns;
        assert!(now.abs_diff(then) < now / 1_000, "steady work: {now} {then}");
        keys(&mut app, "'");
        assert!(data(&app).then.is_none());
        hides(&app, "before");
        let since_reset = data(&live(width, height)).measured_ns;
        assert_eq!(data(&app).measured_ns, since_reset);
    }
}

#[test]
fn a_report_of_a_comparison_says_that_its_numbers_are_plain() {
    for (width, words) in [
        (120, "r.txt: the plain numbers; tickscope diff compares"),
        (80, "r.txt (plain; see tickscope diff)"),
    ] {
        let mut app = watched_long(width, 30);
        let wrote = |what| Message::Wrote(what, Ok(vec!["/tmp/r.txt".into()]));
        app.update(wrote("report"));
        assert!(!last_line(&app).contains("plain"), "{}", last_line(&app));
        keys(&mut app, "'");
        app.update(wrote("report"));
        assert!(last_line(&app).contains(words), "{}", last_line(&app));
        app.update(wrote("snapshot"));
        assert!(!last_line(&app).contains("plain"), "{}", last_line(&app));
    }
}

#[test]
fn what_runs_is_not_gone_because_a_reset_has_set_its_calls_to_zero() {
    let mut app = watched_long(120, 30).after("m'");
    let mut anew = in_epoch(2, 20);
    anew.capture.unix_ns = snapshot(1_360).capture.unix_ns;
    // `match::run` is open in two threads.
    let run = anew.nodes.site[0];
    for row in 0..anew.nodes.len() {
        if anew.nodes.site[row] == run {
            anew.nodes.calls[row] = 0;
        }
    }
    gets(&mut app, anew);
    let screen = text(&app);
    let line = screen
        .lines()
        .find(|line| line.contains("match::run"))
        .expect("it runs");
    assert!(line.contains('•') && !line.contains("gone"), "{line}");
}

#[test]
fn changes_add_up_in_every_view() {
    let mut app = slower_of_late();
    keys(&mut app, "E'");
    let measured = |data: &Data| i128::from(data.measured_ns);
    let whole = measured(data(&app)) - measured(data(&app).then.as_ref().expect("compared"));
    assert!(
        (whole - 10_000_000_000).abs() < 10_000_000,
        "ten seconds more: {whole}"
    );
    for view in "12345".chars() {
        key(&mut app, Code::Char(view));
        assert!(text(&app).contains("10.0 s before"), "{view}: {}", text(&app));
        sums_hold(data(&app));
    }
    let data = data(&app);
    let tree = (0..data.tree.rows.len() as u32).map(|row| View::Tree.row(row));
    assert_eq!(
        changes(data, tree, |data, what| data.figures(what).self_ns),
        whole
    );
    let hot = (0..data.hot().len() as u32).map(|row| View::Hot.row(row));
    assert_eq!(changes(data, hot, |data, what| data.figures(what).self_ns), whole);
    let threads = (0..data.threads().len() as u32).map(|row| View::Threads.row(row));
    assert_eq!(
        changes(data, threads, |data, what| data.figures(what).total_ns),
        whole
    );
    let sites = (0..data.sites().len() as u32).map(|row| View::Sites.row(row));
    let calls = changes(data, sites, |data, what| data.figures(what).calls);
    let tree = (0..data.tree.rows.len() as u32).map(|row| View::Tree.row(row));
    assert_eq!(changes(data, tree, |data, what| data.figures(what).calls), calls);
}

#[test]
fn what_is_not_known_is_not_compared() {
    let mut app = watched(120, 30).after("'");
    says(&app, "the past is shorter than 20 s");
    says(&app, "m sets a mark");
    assert!(data(&app).then.is_none());
    lacks(&tabs(&app), "window");
    keys(&mut app, "w'");
    has(&tabs(&app), "window 1.0 s   vs 1.0 s before");
    sums_hold(data(&app));
    // A longer window needs more history than there is. The next key press goes back to the shorter window.
    keys(&mut app, "w");
    has(&tabs(&app), "window 10.0 s   nothing known before");
    assert!(data(&app).then.is_none());
    keys(&mut app, "w");
    has(&tabs(&app), "vs 1.0 s before");
    key(&mut app, Code::Esc);
    has(&tabs(&app), "window 1.0 s");
    lacks(&tabs(&app), "before");
}

#[test]
fn a_mark_comes_before_the_time_before() {
    let mut app = watched_long(120, 30).after("ww");
    assert!(last_line(&app).contains("' compares them with the 10 s before"));
    keys(&mut app, "m'");
    has(&tabs(&app), "window 10.0 s   vs 14:02:14");
    keys(&mut app, "'");
    has(&tabs(&app), "vs 10.0 s before");
    keys(&mut app, "'");
    assert!(tabs(&app).contains("window 10.0 s") && data(&app).then.is_none());
}

#[test]
fn the_time_before_goes_along_with_the_moment_on_screen() {
    let mut app = watched_long(120, 30).after("',,,,");
    has(&tabs(&app), "vs 10.0 s before");
    sums_hold(data(&app));
    keys(&mut app, "{{");
    assert!(header(&app).contains("PAST"));
    has(&tabs(&app), "nothing known before");
    keys(&mut app, "L");
    has(&tabs(&app), "vs 10.0 s before");
}

/// Returns a snapshot of a program that was reset at 125 s and whose reset was undone at 130 s.
fn reset_and_undone(tenth: u64) -> Snapshot {
    let mut s = snapshot(tenth);
    let epoch = orderbook::snapshot(1_000).capture.reset_epoch;
    if (1_251..1_300).contains(&tenth) {
        s = between(&s, &snapshot(1_250));
        s.capture.reset_epoch = epoch + 1;
    } else if tenth >= 1_300 {
        s.capture.reset_epoch = epoch + 2;
        s.capture.withdraws = Some(epoch);
    }
    s
}

#[test]
fn a_window_reaches_over_a_reset_that_was_taken_back() {
    let mut app = empty(120, 30);
    for tenth in 1_100..=1_320 {
        gets(&mut app, reset_and_undone(tenth));
    }
    let mut other = empty(120, 30);
    lives(&mut other, 1_100..=1_320);
    // The first window begins before the reset. The second would begin between the reset and its undo, so it begins at
    // the reset instead.
    for (typed, window) in [("ww", "window 10.0 s"), ("wwp,,w", "")] {
        keys(&mut app, typed);
        keys(&mut other, typed);
        assert!(tabs(&app).contains(window), "{}", tabs(&app));
        lacks(&tabs(&app), "since reset");
        assert_eq!(data(&app).measured_ns, data(&other).measured_ns, "{}", text(&app));
        sums_hold(data(&app));
        keys(&mut app, "L");
        keys(&mut other, "L");
    }
}

#[test]
fn a_window_that_begins_in_what_was_taken_back_begins_at_its_reset() {
    let mut app = empty(120, 30);
    for tenth in 1_100..=1_380 {
        gets(&mut app, reset_and_undone(tenth));
    }
    keys(&mut app, "ww");
    has(&tabs(&app), "window 13.0 s");
    sums_hold(data(&app));
    for tenth in 1_381..=1_410 {
        gets(&mut app, reset_and_undone(tenth));
    }
    has(&tabs(&app), "window 10.0 s");
}
