//! How programs are measured: modes and the key that steps through them, latencies, unknown values, and the cost of
//! measuring.

use super::*;
use crate::app::state::Overlay;

fn switched(epoch: u64, mode: Mode) -> Snapshot {
    in_mode(mode, in_epoch(epoch, 10))
}

/// Chooses a mode from the list, as users do.
fn choose(app: &mut App, mode: Mode) -> Vec<Effect> {
    let line = Mode::ALL
        .iter()
        .position(|&other| other == mode)
        .expect("it is one");
    assert!(keys(app, "eg").is_empty(), "a look does nothing");
    keys(app, &"j".repeat(line));
    key(app, Code::Enter)
}

#[test]
fn every_mode_is_taken_from_the_list_and_done_when_it_is_seen() {
    let mut app = live(120, 30);
    let steps = [
        (Mode::Exact, "every call is timed; , goes back to earlier numbers"),
        (
            Mode::Sampled,
            "calls are counted, times are shares of samples (~ if rough)",
        ),
        (Mode::Off, ""),
        (
            Mode::Adaptive,
            "calls are counted, times are estimates (~ if rough)",
        ),
    ];
    for ((mode, meaning), epoch) in steps.into_iter().zip(2..) {
        let effects = choose(&mut app, mode);
        assert!(
            matches!(effects[..], [Effect::Send(Request::Mode(asked))] if asked == mode),
            "{effects:?}"
        );
        assert!(header(&app).contains("switching…"));
        assert!(keys(&mut app, "er").is_empty(), "one at a time");
        answer(&mut app, Request::Mode(mode), Ok(epoch));
        assert!(header(&app).contains("switching…"), "promised is not done");
        gets(&mut app, switched(epoch, mode));
        assert!(!header(&app).contains("switching"));
        let told = format!("{} from here on, counting from zero: {meaning}", mode.as_str());
        has(&in_one_line(&app), &told);
    }
    assert!(keys(&mut app, "u").is_empty(), "no reset to undo");
}

#[test]
fn a_look_at_the_modes_loses_nothing() {
    let mut app = live(120, 30);
    assert!(keys(&mut app, "e").is_empty());
    let screen = text(&app);
    assert!(line_of(&screen, "now").contains("adaptive"), "{screen}");
    has(&screen, "Another mode counts from zero; u cannot undo that:");
    has(&screen, "s keeps a snapshot first.");
    assert!(matches!(keys(&mut app, "s")[..], [Effect::KeepSnapshot(_)]));
    assert!(key(&mut app, Code::Enter).is_empty(), "the mode in force");
    assert!(app.overlay.is_none() && app.requests.pending.is_none() && app.notices.current.is_none());
    assert!(keys(&mut app, "eee").is_empty());
    assert!(matches!(app.overlay, Some(Overlay::Modes { index: 3 })));
    assert!(key(&mut app, Code::Esc).is_empty());
    assert!(app.overlay.is_none() && app.requests.pending.is_none());
    keys(&mut app, "ee");
    events(&mut app, Status::Exited { unix_ns: 0 }, None);
    assert!(key(&mut app, Code::Enter).is_empty());
    assert!(last_line(&app).contains("! mode: no program answers, the program is exited"));
}

#[test]
fn the_list_of_modes_begins_at_the_one_in_force() {
    for (index, mode) in Mode::ALL.into_iter().enumerate() {
        let app = showing(80, 24, in_mode(mode, snapshot(1_340))).after("e");
        assert!(matches!(app.overlay, Some(Overlay::Modes { index: at }) if at == index));
        let screen = text(&app);
        let line = line_of(&screen, " now ");
        assert!(line.contains(mode.as_str()), "{screen}");
    }
}

#[test]
fn a_mode_behind_a_frozen_screen_is_said_to_be_there() {
    let mut app = live(120, 30).after("p");
    choose(&mut app, Mode::Exact);
    answer(&mut app, Request::Mode(Mode::Exact), Ok(2));
    gets(&mut app, switched(2, Mode::Exact));
    let words = "exact from here on, counting from zero behind the frozen screen";
    has(&in_one_line(&app), words);
    assert!(!header(&app).contains("exact"), "what is shown is adaptive");
}

#[test]
fn a_mode_that_is_refused_says_why() {
    for why in [
        "the program takes no requests (Builder::allow_remote_control)",
        "the program's collector is older and does not know this request",
    ] {
        let mut app = live(120, 30);
        choose(&mut app, Mode::Exact);
        answer(&mut app, Request::Mode(Mode::Exact), Err(why.into()));
        says(&app, &format!("! mode: {why}"));
        assert!(!header(&app).contains("switching"));
        assert_eq!(choose(&mut app, Mode::Exact).len(), 1, "it may be asked again");
    }
}

#[test]
fn viewers_beyond_those_that_are_counted_are_not_denied() {
    let mut watched = snapshot(1_340);
    watched.capture.viewers = 16;
    let mut app = showing(60, 15, watched);
    choose(&mut app, Mode::Exact);
    shows(&app, "15 or more other viewers are watching.");
}

#[test]
fn another_mode_asks_first_only_if_others_watch() {
    let mut watched = snapshot(1_340);
    watched.capture.viewers = 3;
    let mut app = showing(60, 15, watched);
    assert!(choose(&mut app, Mode::Exact).is_empty());
    let screen = text(&app);
    has(&screen, "Switch measuring to exact?");
    has(&screen, "2 other viewers are");
    for says in [
        "They see it too. Counts begin at zero.",
        "y switch    Esc keep the mode",
    ] {
        assert!(screen.contains(says), "{screen}");
    }
    key(&mut app, Code::Esc);
    assert!(app.overlay.is_none() && app.requests.pending.is_none());
    choose(&mut app, Mode::Exact);
    assert!(matches!(
        keys(&mut app, "y")[..],
        [Effect::Send(Request::Mode(Mode::Exact))]
    ));
}

#[test]
fn the_header_names_every_mode_and_the_usual_one_where_there_is_room() {
    for (mode, wide, narrow) in [
        (Mode::Exact, "exact", "exact"),
        (Mode::Sampled, "sampled 987 Hz", "sampled"),
        (Mode::Off, "measuring off", "off"),
    ] {
        for (width, height, word) in [(120, 30, wide), (60, 15, narrow), (40, 10, narrow)] {
            let app = showing(width, height, in_mode(mode, snapshot(1_340)));
            assert!(header(&app).contains(word), "{width}: {}", header(&app));
        }
    }
    for (width, height, named) in [(120, 30, true), (100, 30, true), (80, 24, false), (60, 15, false)] {
        let header = header(&live(width, height));
        assert_eq!(header.contains(Mode::USUAL.as_str()), named, "{width}: {header}");
    }
}

#[test]
fn rows_are_sorted_by_what_only_a_hundredth_exceeds() {
    let mut app = live(290, 30).after("2");
    for _ in 0..12 {
        if !text(&app).contains("sort P99 ▼") {
            keys(&mut app, ">");
        }
    }
    shows(&app, "sort P99 ▼");
    let p99 = app.list().rows.iter();
    let p99: Vec<Option<u64>> = p99
        .map(|row| data(&app).latency(row.what).quantile(0.99))
        .collect();
    assert!(p99.is_sorted_by(|a, b| a >= b), "{p99:?}");
    // Rows without a completed call come last.
    assert_eq!(p99.iter().flatten().count() + 3, p99.len());
    keys(&mut app, "I");
    assert_eq!(names(&app).last(), Some(&"stats::publish"));
}

#[test]
fn an_unknown_beginning_has_no_age() {
    let mut app = live(120, 30);
    shows(&app, "running in 2 threads since 14:00:00");
    let mut unknown = snapshot(1_340);
    unknown.threads[1].open[0].began_tick = 0;
    gets(&mut app, unknown);
    let line = line_of(&text(&app), "running in 2 threads");
    assert!(
        line.ends_with("in 2 threads"),
        "one of the two may have begun before the other: {line}"
    );
    keys(&mut app, "2/match::run");
    let line = line_of(&text(&app), "running in 2 threads");
    assert!(line.ends_with("in 2 threads"), "{line}");
    // `ingest::run` is open only in another thread, so its start is still known.
    key(&mut app, Code::Esc);
    keys(&mut app, "1/ingest::run");
    let line = line_of(&text(&app), "running in 1 thread");
    assert!(line.ends_with("since 14:00:00"), "{line}");
}

#[test]
fn what_is_not_known_is_a_dash_and_says_why() {
    let mut app = live(272, 30);
    let mut bare = snapshot(1_340);
    bare.latencies = Default::default();
    for (histograms, why) in [
        (false, "histograms are off in the program"),
        (true, "no call has ended since the reset"),
    ] {
        bare.measuring.histograms = histograms;
        gets(&mut app, bare.clone());
        let screen = text(&app);
        assert!(screen.contains(why), "{screen}");
        let row = line_of(&screen, "match::step");
        assert!(row.contains("23.6µs       -        -"), "{row}");
    }
    let sampled = showing(120, 30, in_mode(Mode::Sampled, snapshot(1_340)));
    assert!(text(&sampled).contains("sampling sees where time goes"));
}

#[test]
fn the_whole_has_room_for_its_mark() {
    for width in [120, 100, 60] {
        let mut app = live(width, 15);
        let mut one = in_mode(Mode::Sampled, snapshot(1_340));
        one.nodes.self_ticks[9..].fill(0);
        // Make the error large, as it is after only a few samples.
        for estimate in &mut one.estimates {
            estimate.total_error = estimate.total_error.max(20_000_000_000);
        }
        gets(&mut app, one);
        shows(&app, " ~100% ");
    }
}

#[test]
fn short_calls_are_marked_without_unicode_as_well() {
    let mut app = live(120, 30);
    hides(&app, "†");
    let mut dear = snapshot(1_340);
    dear.capture.cost.upper_ns = 406.0;
    gets(&mut app, dear);
    app.screen.ascii = true;
    shows(&app, "alloc::slab_get !");
}

/// A snapshot may contain counted calls even though measuring is off: calls that were still open when it was switched off.
#[test]
fn what_is_still_counted_where_nothing_is_measured_has_no_times() {
    let mut stray = snapshot(1_340);
    stray.capture.mode = Mode::Off;
    stray.nodes.self_ticks.fill(0);
    stray.latencies = Default::default();
    let app = showing(120, 30, stray);
    hides(&app, "†");
    shows(&app, "calls took  - (measuring is off)");
}

#[test]
fn what_no_sample_met_is_not_known_and_what_was_not_called_took_nothing() {
    let mut s = in_mode(Mode::Sampled, snapshot(1_340));
    let row = |s: &Snapshot, name: &str| {
        let named = |row: &usize| s.sites[s.nodes.site[*row] as usize].name == name;
        (0..s.nodes.len()).rev().find(named).expect("a row")
    };
    let (unseen, uncalled) = (row(&s, "publish"), row(&s, "checksum"));
    s.nodes.self_ticks[unseen] = 0;
    s.nodes.self_ticks[uncalled] = 0;
    s.nodes.calls[uncalled] = 0;
    for (width, height) in [(120, 30), (80, 24), (60, 15)] {
        let mut app = showing(width, height, s.clone()).after("2");
        for _ in 0..2 {
            hides(&app, "~0ns");
            keys(&mut app, "1");
        }
        let mut line = |name: &str| {
            keys(&mut app, &format!("/{name}\n"));
            let screen = text(&app);
            let line = screen
                .lines()
                .find(|line| line.contains(name) && line.contains('%'));
            line.unwrap_or_else(|| panic!("{screen}")).to_string()
        };
        let (unseen, uncalled) = (line("stats::publish"), line("wire::checksum"));
        assert!(unseen.contains(" - "), "{unseen}");
        assert!(uncalled.contains(" 0ns "), "{uncalled}");
    }
}
