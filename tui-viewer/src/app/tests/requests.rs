//! Requests to the program, and programs that end or restart.

use super::*;

#[test]
fn what_was_asked_of_one_program_is_not_asked_of_another() {
    for new_run in [None, Some((41_873, 41_874))] {
        let mut watched = snapshot(1_340);
        watched.capture.viewers = 2;
        for typed in ["r", "]", "6 "] {
            let mut app = live(120, 30);
            app.requests.undoable = true;
            if typed == "r" {
                gets(&mut app, watched.clone());
            }
            keys(&mut app, typed);
            begins(&mut app, 41_874, new_run, snapshot(10));
            let requests = &app.requests;
            assert!(!requests.undoable && requests.pending.is_none(), "{typed}");
            assert!(requests.wished_hz.is_none(), "{typed}");
            assert!(requests.switching.is_empty(), "{typed}");
            assert!(app.overlay.is_none(), "{typed}");
        }
    }
}

#[test]
fn a_program_that_answers_and_ends_is_not_waited_for() {
    let mut app = live(120, 30).after("r");
    answer(&mut app, Request::Reset, Ok(2));
    events(&mut app, Status::Exited { unix_ns: 1 }, None);
    at(&mut app, 3_000);
    assert!(app.requests.pending.is_none());
    says(&app, "it ended before a snapshot");
    at(&mut app, 60_000);
    app.screen.dirty = false;
    assert_eq!(app.deadline(), None);
    at(&mut app, 120_000);
    assert!(!app.screen.dirty, "an idle screen writes nothing");
}

#[test]
fn a_new_run_keeps_folds_and_selection() {
    let mut app = live(120, 30).after("jjjj");
    begins(&mut app, 42_010, Some((41_873, 42_010)), snapshot(10));
    selects(&app, "tree::rebalance", 14);
    says(&app, "new run: now following pid 42010");
    assert!(header(&app).contains("pid 42010"));
}

#[test]
fn the_next_ring_of_the_same_process_leaves_what_was_known_of_it() {
    for (new, is_kept) in [(41_873, true), (41_874, false)] {
        let mut app = live(120, 30);
        let known = app.playback.past.history.times().next();
        assert!(known.is_some());
        begins(&mut app, new, Some((41_873, new)), snapshot(1_341));
        assert_eq!(
            app.playback.past.history.times().next() == known,
            is_kept,
            "{new}"
        );
    }
}

#[test]
fn a_frozen_screen_shows_the_same_numbers_until_it_is_released() {
    let mut app = live(120, 30).after("p");
    let before = text(&app);
    app.screen.dirty = false;
    gets(&mut app, snapshot(1_400));
    assert!(!app.screen.dirty, "nothing to draw");
    assert_eq!(text(&app), before);
    let mut gone = live(60, 15).after("p");
    events(&mut gone, Status::Exited { unix_ns: 0 }, None);
    assert!(header(&gone).contains("FROZEN") && text(&gone).contains("Meanwhile the program has ended"));
    keys(&mut app, "p");
    has(&header(&app), "02:20");
}

#[test]
fn a_reset_is_done_when_it_is_seen() {
    let mut app = live(120, 30);
    assert!(matches!(keys(&mut app, "r")[..], [Effect::Send(Request::Reset)]));
    assert!(header(&app).contains("resetting…"));
    assert!(keys(&mut app, "r").is_empty(), "once is enough");
    answer(&mut app, Request::Reset, Ok(2));
    gets(&mut app, in_epoch(1, 1_341));
    assert!(header(&app).contains("resetting…"), "promised is not done");
    gets(&mut app, in_epoch(2, 1));
    assert!(!header(&app).contains("resetting"));
    says(&app, "counting from zero; u takes it back");
    assert!(matches!(keys(&mut app, "u")[..], [Effect::Send(Request::Undo)]));
    assert!(header(&app).contains("undoing…"));
    answer(&mut app, Request::Undo, Ok(3));
    gets(&mut app, in_epoch(3, 1_343));
    says(&app, "the reset is taken back");
    assert!(keys(&mut app, "u").is_empty(), "one level");
    says(&app, "! there is no reset to undo");
    hides(&app, "taken back");
}

#[test]
fn an_undo_that_is_refused_says_why_and_is_offered_no_more() {
    let mut app = live(200, 30).after("r");
    answer(&mut app, Request::Reset, Ok(2));
    gets(&mut app, in_epoch(2, 1));
    keys(&mut app, "j");
    assert!(last_line(&app).contains("undo reset"));
    assert!(matches!(keys(&mut app, "u")[..], [Effect::Send(Request::Undo)]));
    answer(&mut app, Request::Undo, Err("there is no reset to undo".into()));
    assert!(last_line(&app).contains("! undo: there is no reset to undo"));
    assert!(!header(&app).contains("undoing"));
    at(&mut app, 10_000);
    assert!(!last_line(&app).contains("undo"), "{}", last_line(&app));
}

#[test]
fn a_reset_without_an_answer_is_told_after_two_seconds() {
    let mut app = live(120, 30);
    at(&mut app, 1_000);
    keys(&mut app, "r");
    assert_eq!(app.deadline().map(|deadline| deadline.as_millis()), Some(3_000));
    at(&mut app, 3_000);
    says(&app, "! no answer from the program");
    assert!(!header(&app).contains("resetting"));
    let why = Err("control is switched off in the program".into());
    answer(&mut app, Request::Reset, why);
    assert!(last_line(&app).contains("reset: control is switched off"));
}

#[test]
fn a_late_answer_counts_all_the_same() {
    let mut app = live(120, 30).after("r");
    at(&mut app, 2_000);
    assert!(last_line(&app).contains("no answer"));
    answer(&mut app, Request::Reset, Ok(2));
    gets(&mut app, in_epoch(2, 30));
    assert!(last_line(&app).contains("u takes it back"));
    assert!(matches!(keys(&mut app, "u")[..], [Effect::Send(Request::Undo)]));
}

#[test]
fn a_reset_asks_first_only_if_others_watch() {
    let mut watched = snapshot(1_340);
    watched.capture.viewers = 2;
    let mut app = showing(60, 15, watched);
    assert!(keys(&mut app, "r").is_empty());
    shows(&app, "1 other viewer is watching");
    key(&mut app, Code::Esc);
    assert!(app.overlay.is_none() && app.requests.pending.is_none());
    assert!(matches!(keys(&mut app, "ry")[..], [Effect::Send(Request::Reset)]));
}
