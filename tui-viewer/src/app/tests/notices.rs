//! The notices on the last line of the screen after key presses, word for word.

use super::*;

/// Screen width in cells at which every notice in the tables below fits on one line.
const WIDE: u16 = 160;

/// Checks a table. Each line has keys to type, and words that the last line of the screen must then contain.
#[track_caller]
fn check(app: &mut App, table: &str) {
    let lines = table.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty()) {
        let (typed, words) = line.split_once(" | ").expect("keys and words");
        keys(app, typed);
        says(app, words);
    }
}

#[test]
fn keys_say_what_they_did() {
    let mut app = live(WIDE, 40);
    check(
        &mut app,
        "
        M | mouse on: click and wheel; with Shift most terminals still select text
        M | mouse off
        y | copied orderbook_sim::engine::match::run
        i | bottom-up: self time of functions, by who called them; i turns back
        i | top-down: who calls what
        c | recursion in one row, but nothing calls itself here
        c | recursion call by call
        b | every number per call of
        b | totals again
        U | times in ticks of the clock
        U | times in seconds
        T | theme:
        m | is marked; ' compares with it, w counts from it
        ' | differences to
        ' | plain numbers again
        L | this is the newest snapshot; the screen follows the program
        . | this is the newest snapshot
        , | there is no older snapshot
        ",
    );
}

#[test]
fn rows_that_have_no_function_say_what_to_choose() {
    // Calls at the top of a thread have no caller, so their row has no function.
    let mut app = live(WIDE, 40).after("1g3k");
    assert_eq!(selected(&app), "(top of a thread)", "{}", text(&app));
    key(&mut app, Code::Enter);
    let words = "no scope called it: these calls are at the top of their threads";
    says(&app, words);
    check(
        &mut app,
        "
        t | no function, so no place in the tree
        o | (top of a thread) has no source
        ",
    );
    keys(&mut app, "1%");
    key(&mut app, Code::End);
    keys(&mut app, "kkkkk");
    assert_eq!(selected(&app), "(outside)", "{}", text(&app));
    let words = "f | no function to focus on: choose a row with a function";
    check(&mut app, words);
    let mut app = live(WIDE, 40);
    let words = "iF | bottom-up there is no subtree of calls: i goes back to top-down, f shows the function";
    check(&mut app, words);
}

#[test]
fn a_function_says_where_it_stands() {
    let app = live(WIDE, 40).after("2\n\n");
    says(&app, "this is the function itself: its callers are above");
}

#[test]
fn rates_are_stepped_through_between_their_ends() {
    let mut app = live(WIDE, 40);
    for (typed, ms, says_so) in [
        ("]", Some(50), "asked for 20 snapshots a second"),
        ("]", None, "20 a second is the fastest rate"),
        ("[", Some(100), "asked for 10 snapshots a second"),
        ("[", Some(200), "asked for 5 snapshots a second"),
        ("[", Some(500), "asked for 2 snapshots a second"),
        ("[", None, "2 a second is the slowest rate"),
    ] {
        let wanted: Vec<Request> = ms
            .map(|ms| Request::Interval { ns: ms * 1_000_000 })
            .into_iter()
            .collect();
        assert_eq!(asked(keys(&mut app, typed)), wanted);
        says(&app, says_so);
    }
    answer(&mut app, Request::Interval { ns: 500_000_000 }, Ok(0));
    says(&app, "the program accepted: 2 snapshots a second");
}

#[test]
fn one_thing_is_asked_after_the_other() {
    let mut app = live(WIDE, 40);
    assert_eq!(keys(&mut app, "r").len(), 1);
    assert!(keys(&mut app, "W").is_empty());
    let words = "! watch: the program has not answered the previous request yet";
    says(&app, words);
}

#[test]
fn of_an_ended_program_nothing_is_asked() {
    let mut app = live(WIDE, 40);
    events(&mut app, Status::Exited { unix_ns: 1 }, None);
    app.requests.undoable = true;
    assert!(keys(&mut app, "ru]e").is_empty());
    check(
        &mut app,
        "
        r | ! nothing to reset: the program is exited
        u | ! nothing to undo: the program is exited
        ] | ! no rate to change: the program is exited
        e | ! no mode to change: the program is exited
        p | nothing to freeze: the program has ended, the numbers stand still
        ",
    );
    let mut app = live(WIDE, 40);
    let why = "no program runs".into();
    events(&mut app, Status::Waiting { why }, None);
    check(&mut app, "p | nothing to freeze: no program is being read");
    events(&mut app, Status::Kept, None);
    check(&mut app, "p | a kept snapshot does not move");
    assert!(!app.playback.stands_still());
}

#[test]
fn an_answer_without_a_snapshot_is_not_waited_for_for_ever() {
    let mut app = live(WIDE, 40).after("r");
    answer(&mut app, Request::Reset, Ok(2));
    at(&mut app, 3_000);
    let words = "! the program has answered, but no snapshot of it has come in 2 s";
    says(&app, words);
    let mut app = live(WIDE, 40);
    let pattern = tickscope_format::pattern::Pattern::new("book").expect("a pattern");
    answer(&mut app, Request::SitesOff(pattern), Ok(1));
    at(&mut app, 3_000);
    let words = "! book: the program has answered, but no snapshot has shown it in 2 s";
    says(&app, words);
}

#[test]
fn windows_and_differences_are_named() {
    let mut app = watched(WIDE, 40);
    check(
        &mut app,
        "
        w | numbers of the last second; w: the last 10 s
        ' | the last second against the second before: + is more than then; ' shows plain numbers
        w | the last 10 s and the 10 s before
        w | the last second and the second before; w: 10 s
        ",
    );
    let mut app = live(WIDE, 40).after("m");
    gets(&mut app, snapshot(1_350));
    let words = "' | differences to 14:02:14: + is more than then; ' shows plain numbers";
    check(&mut app, words);
    let mut app = watched(WIDE, 40).after("mw");
    let words = "' | differences to 14:02:14: + is more than then; ' compares with the time just before";
    check(&mut app, words);
}

#[test]
fn screens_without_rows_say_why() {
    let mut app = empty(WIDE, 40);
    shows(&app, "Looking for a program.");
    events(&mut app, Status::Live, None);
    shows(&app, "Reading the first record.");
    shows(&app, "It is there when the program's `start` returns.");
    gets(&mut app, Snapshot::default());
    for (view, says) in [
        ("4", "No thread has entered a scope since the program began."),
        ("6", "No place in the source has been met yet."),
        ("1", "No scope has been entered since the reset."),
        ("m'", "Nothing was counted, now or then."),
    ] {
        keys(&mut app, view);
        assert!(text(&app).contains(says), "{view}: {}", text(&app));
    }
}

#[test]
fn a_thread_that_has_gone_is_told() {
    let mut app = live(WIDE, 40).after("4\n");
    let mut next = snapshot(1_341);
    for thread in &mut next.threads {
        thread.name.push_str("-other");
        thread.tid += 1_000;
    }
    gets(&mut app, next);
    shows(&app, "There is no thread match-0 any more. a shows all threads.");
    shows(&app, "The chosen thread is not there any more.");
    keys(&mut app, "d");
    let words = "! nothing to report: there is no thread match-0 here; a shows all";
    says(&app, words);
}

#[test]
fn what_a_window_cannot_tell_of_latencies() {
    let mut app = watched(WIDE, 40).after("w");
    let why = "- (no call has ended in this window)";
    for _ in 0..20 {
        if !text(&app).contains(why) {
            keys(&mut app, "j");
        }
    }
    shows(&app, why);
    // Records that are ten seconds old are coarse and have no latencies.
    let mut app = empty(WIDE, 40);
    for tenth in [1_240, 1_330, 1_340] {
        let mut s = snapshot(tenth);
        s.measuring.histograms = true;
        if tenth == 1_240 {
            s.latencies = Default::default();
        }
        gets(&mut app, s);
    }
    keys(&mut app, "ww");
    shows(&app, "- (not kept for all of this window)");
}

#[test]
fn a_program_that_is_waited_for_with_its_numbers_on_screen() {
    let mut app = live(WIDE, 40);
    let why = String::new();
    events(&mut app, Status::Waiting { why }, None);
    shows(&app, "Waiting for the program.");
}

/// Long notices wrap, so that neither the cause of an error nor the suggested next step is cut off.
#[test]
fn a_notice_that_is_longer_than_a_line_goes_on_in_the_next_ones() {
    let why = "cannot create /a/b/x.txt: there is no directory /a/b; make the directory first";
    let last = |app: &App, count: usize| {
        let screen = text(app);
        let lines: Vec<&str> = screen.lines().map(str::trim).collect();
        lines[lines.len() - count..].join(" ")
    };
    for height in [15, 30] {
        let mut app = live(60, height);
        app.update(Message::Wrote("report", Err(why.into())));
        assert_eq!(last(&app, 2), format!("! report not written: {why}"));
        // While a search is being typed, the notice is still shown in full, above the line of the search.
        keys(&mut app, "/");
        assert!(
            last(&app, 3).starts_with(&format!("! report not written: {why} /")),
            "{}",
            text(&app)
        );
    }
    let mut long = live(60, 30);
    long.update(Message::Wrote("report", Err("word ".repeat(60))));
    assert!(last(&long, 3).starts_with("! report not written: word"));
    assert!(last(&long, 1).ends_with('…'), "{}", text(&long));
    let mut low = live(60, 8);
    low.update(Message::Wrote("report", Err(why.into())));
    assert!(last(&low, 1).starts_with("! report not written"));
}
