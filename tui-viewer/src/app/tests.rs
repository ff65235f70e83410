//! What every key does, and what it never does.

mod before;
mod flame;
mod functions;
mod groups;
mod helping;
mod measuring;
pub(crate) mod moments;
mod muting;
mod notices;
mod piped;
mod recording;
mod shapes;
mod sites;
mod slow;
mod source;
mod telling;
mod threads;
mod timeline;
mod units;
mod writing;

use std::rc::Rc;

use proptest::prelude::*;
use tickscope_format::Snapshot;

use crate::app::message::{Effect, Message};
use crate::app::row::Fold;
use crate::app::state::App;
use crate::app::view::View;
use crate::cli::args::look::ThemeKind;
use crate::keys::decoder::Code;
use crate::orderbook;
use crate::orderbook::snapshot;
use crate::source::events::{Events, Outcome, Request, RingLine, Target};
use crate::source::status::Status;
use crate::test_driver::{at, empty, events, key, keys, line, live, selected, text};

/// The made-up program after the reset that began this epoch.
fn in_epoch(epoch: u64, tenths: u64) -> Snapshot {
    let mut s = snapshot(tenths);
    s.capture.reset_epoch = epoch;
    s
}

fn answer(app: &mut App, request: Request, result: Result<u64, String>) {
    let outcomes = vec![Outcome::new(request, result)];
    app.update(Message::Events(Box::new(Events {
        outcomes,
        ..Events::quiet(Status::Live)
    })));
}

fn names(app: &App) -> Vec<&str> {
    let data = app.derived.data.as_ref().expect("there is data");
    app.list().rows.iter().map(|row| data.label(row.what)).collect()
}

fn header(app: &App) -> String {
    text(app).lines().next().unwrap_or_default().to_string()
}

fn last_line(app: &App) -> String {
    text(app).lines().last().unwrap_or_default().to_string()
}

/// The screen as one line, for what is longer than one.
fn in_one_line(app: &App) -> String {
    let screen = text(app);
    screen.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_was_asked_of_one_program_is_not_asked_of_another() {
    for new_run in [None, Some((41_873, 41_874))] {
        let mut watched = snapshot(1_340);
        watched.capture.viewers = 2;
        for typed in ["r", "]", "6 "] {
            let mut app = live(120, 30);
            app.requests.undoable = true;
            if typed == "r" {
                events(&mut app, Status::Live, Some(watched.clone()));
            }
            keys(&mut app, typed);
            let mut other = snapshot(10);
            other.process.pid = 41_874;
            app.update(Message::Events(Box::new(Events {
                target: Some(Target {
                    name: "orderbook-sim".into(),
                    pid: 41_874,
                    path: "b.ring".into(),
                }),
                new_run,
                snapshot: Some(Rc::new(other)),
                ..Events::quiet(Status::Live)
            })));
            assert!(
                !app.requests.undoable && app.requests.pending.is_none() && app.overlay.is_none(),
                "{typed}"
            );
            assert!(
                app.requests.wished_hz.is_none() && app.requests.switching.is_empty(),
                "{typed}"
            );
        }
    }
}

#[test]
fn a_program_that_answers_and_ends_is_not_waited_for() {
    let mut app = live(120, 30);
    keys(&mut app, "r");
    answer(&mut app, Request::Reset, Ok(2));
    events(&mut app, Status::Exited { unix_ns: 1 }, None);
    at(&mut app, 3_000);
    assert!(app.requests.pending.is_none());
    assert!(
        last_line(&app).contains("it ended before a snapshot"),
        "{}",
        text(&app)
    );
    at(&mut app, 60_000);
    app.screen.dirty = false;
    assert_eq!(app.deadline(), None);
    at(&mut app, 120_000);
    assert!(!app.screen.dirty, "an idle screen writes nothing");
}

#[test]
fn what_is_hot_opens_once_and_only_once() {
    let mut app = live(120, 30);
    assert_eq!(
        names(&app)[..4],
        ["match::run", "match::step", "book::apply", "book::insert"]
    );
    assert_eq!(app.list().rows.len(), 14);
    keys(&mut app, "C");
    assert_eq!(app.list().rows.len(), 6);
    at(&mut app, 9_000);
    events(&mut app, Status::Live, Some(snapshot(1_400)));
    assert_eq!(app.list().rows.len(), 6, "closed by the user stays closed");
}

#[test]
fn the_first_look_fits_the_screen() {
    // 12 lines: the hottest path, and no more where it would not all be seen.
    assert_eq!(live(60, 15).list().rows.len(), 11);
    // 20 lines: all that takes a twentieth of the time.
    let app = live(120, 30);
    assert!(names(&app).contains(&"wire::checksum") && !names(&app).contains(&"stats::publish"));
    // 3 lines: the hottest path whatever its length.
    assert_eq!(live(20, 5).list().rows.len(), 11);
}

#[test]
fn the_hottest_path_waits_until_the_data_says_which_it_is() {
    let mut app = empty(120, 30);
    events(&mut app, Status::Live, Some(snapshot(1)));
    assert_eq!(app.list().rows.len(), 3, "a tenth of a second says nothing");
    events(&mut app, Status::Live, Some(snapshot(10)));
    assert!(app.list().rows.len() > 3);
}

#[test]
fn up_and_down_stop_at_the_ends() {
    let mut app = live(60, 15);
    key(&mut app, Code::Up);
    assert_eq!(selected(&app), "match::run");
    keys(&mut app, "jj");
    assert_eq!(selected(&app), "book::apply");
    keys(&mut app, "G");
    assert_eq!(selected(&app), "orderbook_sim::main");
    keys(&mut app, "j");
    assert_eq!(selected(&app), "orderbook_sim::main");
    key(&mut app, Code::Home);
    assert_eq!(selected(&app), "match::run");
    key(&mut app, Code::PageDown);
    assert_eq!(selected(&app), "orderbook_sim::main");
    key(&mut app, Code::Ctrl('u'));
    assert_eq!(app.list().cursor.index, 4);
}

#[test]
fn a_page_moves_the_list_by_a_page() {
    let mut app = live(60, 7);
    let page = usize::from(app.layout().rows.height);
    key(&mut app, Code::PageDown);
    assert_eq!((app.list().cursor.index, line(&app)), (page, 0));
    key(&mut app, Code::PageUp);
    assert_eq!((app.list().cursor.index, line(&app)), (0, 0));
}

#[test]
fn arrows_open_and_close_and_walk() {
    let mut app = live(120, 30);
    keys(&mut app, "G");
    key(&mut app, Code::Right);
    assert_eq!(
        (selected(&app).as_str(), app.list().rows.len()),
        ("orderbook_sim::main", 15)
    );
    key(&mut app, Code::Right);
    assert_eq!(selected(&app), "stats::publish");
    key(&mut app, Code::Left);
    assert_eq!(selected(&app), "orderbook_sim::main");
    key(&mut app, Code::Left);
    assert_eq!(app.list().rows.len(), 14);
    keys(&mut app, " ");
    assert_eq!(app.list().rows.len(), 15);
    keys(&mut app, " ");
    assert_eq!(app.list().selected().map(|row| row.fold), Some(Fold::Closed(1)));
}

#[test]
fn whole_subtrees_open_and_close() {
    let mut app = live(120, 30);
    keys(&mut app, "CE");
    assert_eq!(app.list().rows.len(), 14, "all of match::run, nothing else");
    keys(&mut app, "C");
    assert_eq!(app.list().rows.len(), 6);
    keys(&mut app, "H");
    assert_eq!(selected(&app), "tree::rebalance", "the end of the hottest path");
}

#[test]
fn siblings_are_stepped_over_what_is_between() {
    let mut app = live(120, 30);
    keys(&mut app, "J");
    assert_eq!(selected(&app), "ingest::run");
    keys(&mut app, "K");
    assert_eq!(selected(&app), "match::run");
    keys(&mut app, "jjJ");
    assert_eq!(selected(&app), "risk::check");
}

#[test]
fn views_change_and_t_shows_the_heaviest_place() {
    let mut app = live(120, 30);
    keys(&mut app, "2");
    assert_eq!(
        (app.views.current, selected(&app).as_str()),
        (View::Hot, "risk::check")
    );
    keys(&mut app, "jjjt");
    assert_eq!(
        (app.views.current, selected(&app).as_str()),
        (View::Tree, "wire::decode")
    );
    key(&mut app, Code::Esc);
    assert_eq!(app.views.current, View::Hot, "one step back");
    key(&mut app, Code::Tab);
    assert_eq!(app.views.current, View::Function);
    key(&mut app, Code::BackTab);
    assert_eq!(app.views.current, View::Hot);
    for view in [View::Tree, View::Timeline, View::Slow, View::Tasks, View::Sites] {
        key(&mut app, Code::BackTab);
        assert_eq!(app.views.current, view);
    }
}

#[test]
fn columns_sort_and_turn_round() {
    let mut app = live(120, 30);
    keys(&mut app, "2");
    keys(&mut app, ">");
    assert_eq!(names(&app)[0], "match::run", "by total time");
    // Nothing waits in this program.
    keys(&mut app, ">>");
    assert_eq!(names(&app)[0], "wire::encode", "by calls");
    keys(&mut app, "I");
    let first = names(&app)[0].to_string();
    assert!(
        ["ingest::run", "orderbook_sim::main"].contains(&first.as_str()),
        "{first}"
    );
    keys(&mut app, ">>>>");
    assert_eq!(names(&app)[0], "alloc::slab_get", "by name, and no further");
    keys(&mut app, "<<<<<");
    assert_eq!(names(&app)[0], "risk::check");
    assert!(text(&app).contains("%SELF▼"));
}

#[test]
fn a_search_moves_as_it_is_typed_and_escape_returns() {
    let mut app = live(60, 15);
    keys(&mut app, "jj/chec");
    assert_eq!(selected(&app), "risk::check");
    assert!(
        last_line(&app).contains("2 of 15 rows  match 1/2"),
        "{}",
        last_line(&app)
    );
    key(&mut app, Code::Down);
    assert_eq!(selected(&app), "wire::checksum");
    assert_eq!(app.list().rows.len(), 14, "opened as far as needed");
    key(&mut app, Code::Esc);
    assert_eq!(
        (selected(&app).as_str(), app.list().rows.len()),
        ("book::apply", 11),
        "as it was"
    );
    assert!(app.views.search.is_none());
}

#[test]
fn a_kept_search_steps_with_n() {
    let mut app = live(120, 30);
    keys(&mut app, "/book::");
    key(&mut app, Code::Enter);
    assert_eq!(selected(&app), "book::apply");
    keys(&mut app, "n");
    assert_eq!(selected(&app), "book::insert");
    keys(&mut app, "nn");
    assert_eq!(selected(&app), "book::apply", "around the end");
    keys(&mut app, "N");
    assert_eq!(selected(&app), "book::cancel");
    keys(&mut app, "\\");
    assert_eq!(
        names(&app),
        [
            "match::run",
            "match::step",
            "book::apply",
            "book::insert",
            "book::cancel"
        ]
    );
    key(&mut app, Code::Esc);
    assert!(app.views.search.is_none() && app.list().rows.len() == 14);
    assert_eq!(selected(&app), "book::cancel", "kept: the selection stays");
}

#[test]
fn a_search_without_a_match_leaves_the_view_alone() {
    let mut app = live(60, 15);
    keys(&mut app, "jj/boko");
    assert_eq!(selected(&app), "book::apply");
    assert!(last_line(&app).contains("no match"));
    for _ in 0..2 {
        key(&mut app, Code::Backspace);
    }
    assert_eq!(selected(&app), "book::apply");
    keys(&mut app, "q?p");
    assert_eq!(
        app.views.search.as_ref().map(|search| search.text().to_string()),
        Some("boq?p".to_string())
    );
}

#[test]
fn q_closes_what_is_on_top_and_then_quits() {
    let mut app = live(60, 15);
    assert!(keys(&mut app, "?q").is_empty() && app.overlay.is_none());
    assert!(matches!(keys(&mut app, "q")[..], [Effect::Quit]));
    for before in ["", "/bo", "?", "a"] {
        let mut app = live(60, 15);
        keys(&mut app, before);
        assert!(matches!(key(&mut app, Code::Ctrl('c'))[..], [Effect::Quit]));
    }
}

#[test]
fn escape_never_quits() {
    for before in ["", "/bo", "?", "a", "2jt", "p", "%"] {
        let mut app = live(60, 15);
        keys(&mut app, before);
        for _ in 0..5 {
            assert!(key(&mut app, Code::Esc).is_empty());
        }
    }
}

#[test]
fn the_same_row_stays_under_the_finger() {
    let mut app = live(120, 30);
    at(&mut app, 5_000);
    keys(&mut app, "jjj");
    let (name, place) = (selected(&app), line(&app));
    let order: Vec<String> = names(&app).iter().map(|name| name.to_string()).collect();
    // risk::check overtakes book::apply.
    let mut turned = snapshot(1_350);
    turned.nodes.self_ticks[7] *= 100;
    at(&mut app, 6_900);
    events(&mut app, Status::Live, Some(turned));
    assert_eq!(names(&app), order, "no row moves within two seconds after a key");
    let due = app.deadline().expect("the order is due");
    at(&mut app, due.as_millis() as u64);
    assert_ne!(names(&app), order, "then they do");
    assert_eq!((selected(&app), app.deadline()), (name, None));
    let _ = place;
}

#[test]
fn rows_change_places_at_most_once_a_second() {
    let mut app = live(120, 30);
    at(&mut app, 5_000);
    events(&mut app, Status::Live, Some(snapshot(1_350)));
    let order: Vec<String> = names(&app).iter().map(|name| name.to_string()).collect();
    let mut turned = snapshot(1_351);
    turned.nodes.self_ticks[7] *= 100;
    at(&mut app, 5_900);
    events(&mut app, Status::Live, Some(turned));
    assert_eq!(names(&app), order);
    at(&mut app, 6_000);
    assert_ne!(names(&app), order);
}

#[test]
fn what_vanishes_gives_way_to_what_is_above_it_and_comes_back() {
    let mut app = live(120, 30);
    keys(&mut app, "jjjj");
    assert_eq!(selected(&app), "tree::rebalance");
    let mut young = snapshot(1_341);
    // Only match::run and match::step of the first thread are left.
    young.threads.truncate(1);
    young.threads[0].rows = 2;
    for column in [&mut young.nodes.parent, &mut young.nodes.site] {
        column.truncate(2);
    }
    young.nodes.calls.truncate(2);
    young.latencies = Default::default();
    young.nodes.self_ticks.truncate(2);
    events(&mut app, Status::Live, Some(young));
    assert_eq!(selected(&app), "match::step", "the nearest that is left");
    events(&mut app, Status::Live, Some(snapshot(1_342)));
    assert_eq!(selected(&app), "tree::rebalance", "it is what was chosen");
}

#[test]
fn a_new_run_keeps_folds_and_selection() {
    let mut app = live(120, 30);
    keys(&mut app, "jjjj");
    let target = Some(Target {
        name: "orderbook-sim".into(),
        pid: 42_010,
        path: "b.ring".into(),
    });
    let mut next = snapshot(10);
    next.process.pid = 42_010;
    let told = Events {
        target,
        snapshot: Some(Rc::new(next)),
        new_run: Some((41_873, 42_010)),
        ..Events::quiet(Status::Live)
    };
    app.update(Message::Events(Box::new(told)));
    assert_eq!(
        (selected(&app).as_str(), app.list().rows.len()),
        ("tree::rebalance", 14)
    );
    assert!(
        last_line(&app).contains("new run: pid 42010"),
        "{}",
        last_line(&app)
    );
    assert!(header(&app).contains("pid 42010"));
}

#[test]
fn the_next_ring_of_the_same_process_leaves_what_was_known_of_it() {
    for (new, is_kept) in [(41_873, true), (41_874, false)] {
        let mut app = live(120, 30);
        let known = app.playback.history.times().next();
        assert!(known.is_some());
        app.update(Message::Events(Box::new(Events {
            target: Some(Target {
                name: "orderbook-sim".into(),
                pid: new,
                path: "b.ring".into(),
            }),
            new_run: Some((41_873, new)),
            ..Events::quiet(Status::Live)
        })));
        assert_eq!(app.playback.history.times().next() == known, is_kept, "{new}");
    }
}

#[test]
fn a_frozen_screen_shows_the_same_numbers_until_it_is_released() {
    let mut app = live(120, 30);
    keys(&mut app, "p");
    let before = text(&app);
    app.screen.dirty = false;
    events(&mut app, Status::Live, Some(snapshot(1_400)));
    assert!(!app.screen.dirty, "nothing to draw");
    assert_eq!(text(&app), before);
    let mut gone = live(60, 15);
    keys(&mut gone, "p");
    events(&mut gone, Status::Exited { unix_ns: 0 }, None);
    assert!(header(&gone).contains("FROZEN") && text(&gone).contains("Meanwhile the program has ended"));
    keys(&mut app, "p");
    assert!(header(&app).contains("02:20"), "{}", header(&app));
}

#[test]
fn what_does_not_move_cannot_be_frozen() {
    let states = [
        (Status::Kept, "KEPT", "a kept snapshot does not move"),
        (Status::Exited { unix_ns: 0 }, "EXITED", "the program has ended"),
    ];
    for (status, word, why) in states {
        let mut app = live(120, 30);
        events(&mut app, status, None);
        keys(&mut app, "p");
        assert!(
            !app.playback.stands_still() && header(&app).contains(word),
            "{}",
            header(&app)
        );
        assert!(last_line(&app).contains(why), "{}", last_line(&app));
    }
}

#[test]
fn a_reset_is_done_when_it_is_seen() {
    let mut app = live(120, 30);
    assert!(matches!(keys(&mut app, "r")[..], [Effect::Send(Request::Reset)]));
    assert!(header(&app).contains("resetting…"));
    assert!(keys(&mut app, "r").is_empty(), "once is enough");
    answer(&mut app, Request::Reset, Ok(2));
    events(&mut app, Status::Live, Some(in_epoch(1, 1_341)));
    assert!(header(&app).contains("resetting…"), "promised is not done");
    events(&mut app, Status::Live, Some(in_epoch(2, 1)));
    assert!(!header(&app).contains("resetting"));
    assert!(last_line(&app).contains("u takes it back"));
    assert!(matches!(keys(&mut app, "u")[..], [Effect::Send(Request::Undo)]));
    assert!(header(&app).contains("undoing…"));
    answer(&mut app, Request::Undo, Ok(3));
    events(&mut app, Status::Live, Some(in_epoch(3, 1_343)));
    assert!(last_line(&app).contains("taken back"));
    assert!(keys(&mut app, "u").is_empty(), "one level");
    assert!(
        last_line(&app).contains("! there is no reset to undo") && !text(&app).contains("taken back"),
        "{}",
        last_line(&app)
    );
}

#[test]
fn an_undo_that_is_refused_says_why_and_is_offered_no_more() {
    let mut app = live(200, 30);
    keys(&mut app, "r");
    answer(&mut app, Request::Reset, Ok(2));
    events(&mut app, Status::Live, Some(in_epoch(2, 1)));
    keys(&mut app, "j");
    assert!(last_line(&app).contains("undo reset"));
    assert!(matches!(keys(&mut app, "u")[..], [Effect::Send(Request::Undo)]));
    answer(&mut app, Request::Undo, Err("there is no reset to undo".into()));
    assert!(last_line(&app).contains("! undo: there is no reset to undo"));
    assert!(!header(&app).contains("undoing"));
    at(&mut app, 10_000);
    assert!(!last_line(&app).contains("undo"), "{}", last_line(&app));
    let mut gone = live(60, 15);
    events(&mut gone, Status::Exited { unix_ns: 0 }, None);
    assert!(keys(&mut gone, "u").is_empty() && last_line(&gone).contains("no reset to undo"));
}

#[test]
fn a_reset_without_an_answer_is_told_after_two_seconds() {
    let mut app = live(120, 30);
    at(&mut app, 1_000);
    keys(&mut app, "r");
    assert_eq!(app.deadline().map(|deadline| deadline.as_millis()), Some(3_000));
    at(&mut app, 3_000);
    assert!(
        last_line(&app).contains("! no answer from the program"),
        "{}",
        last_line(&app)
    );
    assert!(!header(&app).contains("resetting"));
    answer(
        &mut app,
        Request::Reset,
        Err("control is switched off in the program".into()),
    );
    assert!(last_line(&app).contains("reset: control is switched off"));
}

#[test]
fn a_late_answer_counts_all_the_same() {
    let mut app = live(120, 30);
    keys(&mut app, "r");
    at(&mut app, 2_000);
    assert!(last_line(&app).contains("no answer"));
    answer(&mut app, Request::Reset, Ok(2));
    events(&mut app, Status::Live, Some(in_epoch(2, 30)));
    assert!(last_line(&app).contains("u takes it back"));
    assert!(matches!(keys(&mut app, "u")[..], [Effect::Send(Request::Undo)]));
}

#[test]
fn the_list_stays_at_its_top_until_a_row_is_chosen() {
    let overtaken = || {
        let mut next = snapshot(1_350);
        next.nodes.self_ticks[18] *= 400;
        next
    };
    let mut app = live(60, 7);
    at(&mut app, 5_000);
    events(&mut app, Status::Live, Some(overtaken()));
    assert_eq!(names(&app)[0], "ingest::run");
    assert_eq!(
        (selected(&app).as_str(), app.list().cursor.offset),
        ("ingest::run", 0),
        "the cursor stays on the top row"
    );
    let mut app = live(60, 7);
    keys(&mut app, "j");
    at(&mut app, 5_000);
    events(&mut app, Status::Live, Some(overtaken()));
    assert_eq!(
        (selected(&app).as_str(), line(&app)),
        ("match::step", 1),
        "under the finger"
    );
}

#[test]
fn a_reset_asks_first_only_if_others_watch() {
    let mut app = empty(60, 15);
    let mut watched = snapshot(1_340);
    watched.capture.viewers = 2;
    events(&mut app, Status::Live, Some(watched));
    assert!(keys(&mut app, "r").is_empty());
    assert!(
        text(&app).contains("1 other viewer is watching"),
        "{}",
        text(&app)
    );
    key(&mut app, Code::Esc);
    assert!(app.overlay.is_none() && app.requests.pending.is_none());
    assert!(matches!(keys(&mut app, "ry")[..], [Effect::Send(Request::Reset)]));
    let mut gone = live(60, 15);
    events(&mut gone, Status::Exited { unix_ns: 0 }, None);
    assert!(keys(&mut gone, "r").is_empty());
    assert!(last_line(&gone).contains("nothing to reset"));
}

#[test]
fn one_thread_or_all() {
    let mut app = live(120, 30);
    keys(&mut app, "ajj");
    key(&mut app, Code::Enter);
    assert!(text(&app).contains("only match-1 (a: all)"));
    assert!(header(&app).contains(" 1 of 4 threads"), "{}", header(&app));
    assert_eq!(names(&app)[0], "match::run");
    assert_eq!(app.list().rows.len(), 9);
    assert!(text(&app).contains("100.0%"));
    keys(&mut app, "a");
    assert_eq!(names(&app).last(), Some(&"orderbook_sim::main"));
    assert!(!text(&app).contains("only match-1"));
}

#[test]
fn a_thread_that_has_gone_is_said_so() {
    let mut app = live(120, 30);
    keys(&mut app, "ajj");
    key(&mut app, Code::Enter);
    let mut without = snapshot(1_341);
    without.threads[1].name = "other".into();
    events(&mut app, Status::Live, Some(without));
    assert!(
        text(&app).contains("no thread match-1 any more. a shows all"),
        "{}",
        text(&app)
    );
}

#[test]
fn the_choice_of_a_thread_stays_on_its_thread() {
    let mut app = live(120, 30);
    keys(&mut app, "ajj");
    let mut grown = snapshot(1_341);
    let newcomer = tickscope_format::snapshot::Thread {
        name: "new".into(),
        ..Default::default()
    };
    grown.threads.insert(0, newcomer);
    events(&mut app, Status::Live, Some(grown));
    key(&mut app, Code::Enter);
    assert!(text(&app).contains("only match-1 (a: all)"), "{}", text(&app));
}

#[test]
fn the_busiest_thread_is_listed_first_and_its_share_is_never_cut() {
    let mut pool = snapshot(1_340);
    pool.threads[0].name = "a-thread-pool-worker-with-a-long-name".into();
    pool.threads[0].tid = 0;
    pool.threads[0].count = 111;
    pool.threads[0].state = tickscope_format::snapshot::ThreadState::Finished;
    for (width, height) in [(20, 8), (32, 9), (44, 12), (60, 15), (120, 30)] {
        let mut app = empty(width, height);
        let mut turned = pool.clone();
        turned.threads.reverse();
        events(&mut app, Status::Live, Some(turned));
        keys(&mut app, "a");
        let screen = text(&app);
        let at = |share: &str| {
            screen
                .lines()
                .position(|line| line.contains(&format!("{share} │")))
        };
        assert!(at("46.9%").is_some() && at("46.9%") < at("28.2%"), "{screen}");
        assert!(
            width < 60 || screen.contains("finished     ×111  46.9% │"),
            "{screen}"
        );
    }
}

#[test]
fn an_empty_list_says_why() {
    let mut idle = snapshot(1_340);
    idle.nodes = tickscope_format::snapshot::Nodes::default();
    idle.latencies = Default::default();
    for thread in &mut idle.threads {
        (thread.first_row, thread.rows) = (0, 0);
        thread.open.clear();
    }
    for status in [Status::Live, Status::Exited { unix_ns: 0 }, Status::Kept] {
        let mut app = live(60, 15);
        events(&mut app, status, Some(idle.clone()));
        for view in ["1", "2"] {
            keys(&mut app, view);
            assert!(
                text(&app).contains("No scope has been entered since the reset."),
                "{}",
                text(&app)
            );
        }
        keys(&mut app, "aj");
        key(&mut app, Code::Enter);
        assert!(
            text(&app).contains("This thread has entered no scope"),
            "{}",
            text(&app)
        );
    }
}

#[test]
fn warnings_stand_until_they_are_read() {
    let mut app = empty(60, 15);
    let mut warned = snapshot(1_340);
    warned.process.warnings = vec![
        "TICKSCOPE_MODE=fast: not a mode; exact is used.".into(),
        "b".into(),
    ];
    events(&mut app, Status::Live, Some(warned));
    assert!(
        text(&app).contains("! TICKSCOPE_MODE=fast: not a mode"),
        "{}",
        text(&app)
    );
    key(&mut app, Code::Esc);
    assert!(!text(&app).contains("TICKSCOPE_MODE"));
}

#[test]
fn percents_have_three_bases() {
    let mut app = live(120, 30);
    keys(&mut app, "%%j");
    assert!(text(&app).contains("% of parent"));
    let data = app.derived.data.as_ref().expect("data");
    let row = app.list().selected().expect("selected");
    let (total, _) = app.shares(data, row.what);
    assert!(
        (total - 0.984).abs() < 0.001,
        "match::step of match::run: {total}"
    );
    keys(&mut app, "%");
    assert!(text(&app).contains("% of measured"));
    keys(&mut app, "2%%");
    assert!(text(&app).contains("% of measured"), "a function has no parent");
}

#[test]
fn files_are_written_from_what_is_on_the_screen() {
    let mut app = live(120, 30);
    keys(&mut app, "pajj");
    key(&mut app, Code::Enter);
    events(&mut app, Status::Live, Some(snapshot(1_400)));
    let effects = keys(&mut app, "ds");
    let [
        Effect::WriteReport {
            snapshot: a,
            thread,
            ..
        },
        Effect::KeepSnapshot(b),
    ] = &effects[..]
    else {
        panic!("{effects:?}");
    };
    assert_eq!((a.capture.seq, b.capture.seq), (1_340, 1_340), "the frozen one");
    assert_eq!(*thread, Some(tickscope_format::ids::ThreadId(1)));
    app.update(Message::Wrote(
        "report",
        Ok(vec!["./orderbook-sim-41873-20261120-140214.txt".into()]),
    ));
    assert!(last_line(&app).contains("report written to ./orderbook-sim-41873-20261120-140214.txt"));
    at(&mut app, 4_999);
    assert!(last_line(&app).contains("report written"));
    at(&mut app, 5_000);
    assert!(!last_line(&app).contains("report written"));
    app.update(Message::Wrote(
        "snapshot",
        Err("./x.tks: No space left on device".into()),
    ));
    assert!(last_line(&app).contains("! snapshot not written"));
}

#[test]
fn a_notice_goes_with_the_next_key_and_does_not_come_back() {
    let wrote = |app: &mut App| {
        app.update(Message::Wrote("report", Ok(vec!["./a.txt".into()])));
    };
    let told = |app: &App| text(app).contains("report written to ./a.txt");
    let mut app = live(120, 30);
    wrote(&mut app);
    keys(&mut app, "Q");
    assert!(told(&app), "a key that does nothing");
    keys(&mut app, "/");
    assert!(!told(&app));
    keys(&mut app, "boo");
    wrote(&mut app);
    assert!(told(&app) && last_line(&app).contains("/boo"), "{}", text(&app));
    keys(&mut app, "k");
    key(&mut app, Code::Enter);
    assert!(!told(&app), "read while the search was typed");
    for (width, height) in [(120, 30), (66, 15)] {
        let mut app = live(width, height);
        keys(&mut app, "/book");
        key(&mut app, Code::Enter);
        wrote(&mut app);
        assert!(
            told(&app) && last_line(&app).contains("nN match"),
            "{}",
            text(&app)
        );
        keys(&mut app, "n");
        assert!(!told(&app));
    }
    app.update(Message::Wrote("report", Err("no room".into())));
    keys(&mut app, "j");
    assert!(
        text(&app).contains("! report not written: no room"),
        "an error stays its time"
    );
    let mut warned = snapshot(1_340);
    warned.process.warnings = vec!["the clock is odd".into()];
    let mut app = live(60, 15);
    events(&mut app, Status::Live, Some(warned));
    wrote(&mut app);
    key(&mut app, Code::Esc);
    assert!(
        !told(&app) && text(&app).contains("the clock is odd"),
        "one thing at a time"
    );
}

#[test]
fn rates_are_stepped_through() {
    let mut app = live(120, 30);
    assert!(matches!(
        keys(&mut app, "]")[..],
        [Effect::Send(Request::Interval { ns: 50_000_000 })]
    ));
    assert!(keys(&mut app, "]").is_empty() && last_line(&app).contains("fastest"));
    assert!(matches!(
        keys(&mut app, "[")[..],
        [Effect::Send(Request::Interval { ns: 100_000_000 })]
    ));
    assert!(matches!(
        keys(&mut app, "[")[..],
        [Effect::Send(Request::Interval { ns: 200_000_000 })]
    ));
}

#[test]
fn the_rest_of_the_keys() {
    let mut app = live(120, 30);
    assert!(
        matches!(&keys(&mut app, "jjjy")[..], [Effect::Copy(name)] if name == "orderbook_sim::book::insert")
    );
    keys(&mut app, "TTT");
    assert_eq!(app.screen.theme, ThemeKind::Mono);
    assert!(last_line(&app).contains("theme: no colours"));
    let tree = live(120, 30);
    assert!(last_line(&tree).contains("w window"), "{}", last_line(&tree));
    assert!(matches!(key(&mut app, Code::Ctrl('l'))[..], [Effect::Repaint]));
    assert!(matches!(key(&mut app, Code::Ctrl('z'))[..], [Effect::Suspend]));
    let mut small = live(60, 7);
    keys(&mut small, "jjjjjz");
    assert_eq!(line(&small), 2, "mid-screen");
}

#[test]
fn the_mouse_selects_folds_sorts_and_changes_views() {
    let mut app = live(120, 30);
    let top = app.layout().rows.y;
    assert!(matches!(keys(&mut app, "M")[..], [Effect::Mouse(true)]));
    app.update(Message::Click(70, top + 2));
    assert_eq!(
        (selected(&app).as_str(), app.list().rows.len()),
        ("book::apply", 14)
    );
    let buffer = crate::test_driver::screen(&app);
    let mark = (0..120)
        .find(|&x| buffer[(x, top + 2)].symbol() == "▾")
        .expect("it is open");
    app.update(Message::Click(mark, top + 2));
    assert_eq!(
        (selected(&app).as_str(), app.list().rows.len()),
        ("book::apply", 10)
    );
    let calls = text(&app)
        .lines()
        .nth(2)
        .and_then(|line| line.find("CALLS"))
        .expect("a title") as u16;
    app.update(Message::Click(calls, top - 1));
    assert!(text(&app).contains("CALLS▼"));
    app.update(Message::Click(calls, top - 1));
    assert!(text(&app).contains("CALLS▲"));
    app.update(Message::Click(12, 1));
    assert_eq!(app.views.current, View::Hot);
    app.update(Message::Click(u16::MAX, u16::MAX));
    let mut small = live(60, 7);
    app.update(Message::Wheel(3, 0, 0));
    small.update(Message::Wheel(3, 0, 0));
    assert_eq!((small.list().cursor.offset, line(&small)), (3, 0));
    small.update(Message::Wheel(-2, 0, 0));
    assert_eq!(
        (small.list().cursor.offset, line(&small)),
        (1, 2),
        "the selection stays where it can"
    );
}

#[test]
fn three_unknown_keys_call_for_help() {
    let mut app = live(120, 30);
    keys(&mut app, "ZZ");
    assert!(!last_line(&app).contains("? shows the keys"));
    keys(&mut app, "Z");
    assert!(last_line(&app).contains("? shows the keys"));
    at(&mut app, 3_000);
    assert!(!last_line(&app).contains("? shows the keys"));
    keys(&mut app, "ZZjZ");
    assert!(!last_line(&app).contains("? shows the keys"), "in a row");
}

#[test]
fn a_key_of_other_views_says_where_it_works() {
    let mut app = live(120, 30);
    keys(&mut app, "4i");
    assert_eq!(last_line(&app).trim(), "i works in Tree");
    keys(&mut app, "f");
    assert_eq!(last_line(&app).trim(), "f works in Tree, Hot, Flame, Timeline");
    // On top of a view it means nothing that would help.
    keys(&mut app, "ai");
    assert!(!last_line(&app).contains("works in"));
}

#[test]
fn the_help_scrolls_to_its_end_and_no_further() {
    let mut app = live(60, 15);
    keys(&mut app, "?");
    key(&mut app, Code::End);
    let end = text(&app);
    assert!(end.contains("AVG change"), "{end}");
    keys(&mut app, "jjjk");
    assert_ne!(text(&app), end, "one line up at once");
    key(&mut app, Code::F1);
    assert!(app.overlay.is_none());
}

#[test]
fn the_picker_opens_what_is_selected() {
    let mut app = empty(60, 15);
    let ring = |name: &str| RingLine {
        path: name.into(),
        name: name.into(),
        pid: 1,
        state: "running".into(),
        since: String::new(),
        live: true,
        library: String::new(),
    };
    let status = Status::Waiting { why: "which?".into() };
    let rings = Some(vec![ring("a"), ring("b"), ring("c")]);
    app.update(Message::Events(Box::new(Events {
        rings,
        ..Events::quiet(status.clone())
    })));
    keys(&mut app, "j");
    let rings = Some(vec![ring("new"), ring("a"), ring("b"), ring("c")]);
    app.update(Message::Events(Box::new(Events {
        rings,
        ..Events::quiet(status)
    })));
    let effects = key(&mut app, Code::Enter);
    assert!(
        matches!(&effects[..], [Effect::Open(path)] if path.as_os_str() == "b"),
        "{effects:?}"
    );
    app.update(Message::NotOpened("b: damaged".into()));
    assert!(last_line(&app).contains("! b: damaged"));
}

#[test]
fn nothing_new_is_nothing_to_draw() {
    let mut app = live(120, 30);
    at(&mut app, 10_000);
    app.screen.dirty = false;
    for ms in [10_100, 12_000, 60_000] {
        at(&mut app, ms);
        events(&mut app, Status::Live, None);
        assert!(!app.screen.dirty, "at {ms} ms");
    }
    assert_eq!(app.deadline(), None);
}

#[test]
fn the_footer_offers_only_what_works_now() {
    let mut app = live(200, 30);
    assert!(!last_line(&app).contains("undo") && !last_line(&app).contains("match"));
    keys(&mut app, "/book");
    key(&mut app, Code::Enter);
    assert!(last_line(&app).contains("nN match") && last_line(&app).contains("/book"));
    let mut kept = live(200, 30);
    events(&mut kept, Status::Kept, None);
    assert!(!last_line(&kept).contains("r reset") && !last_line(&kept).contains("freeze"));
    let context = app.context();
    for line in crate::keys::keymap::lines(context).filter(|line| line.hint.is_some()) {
        let shown =
            last_line(&app).contains(&format!("{} {}", line.hint_keys(false), line.hint.unwrap().text));
        let works = line.keys.iter().any(|&(_, action)| app.offers(action));
        assert!(!shown || works, "{}", line.help);
    }
}

#[test]
fn the_footer_keeps_what_people_look_for_first() {
    let all = ["←→ fold", "Enter open", "/ find", "<> sort", "w window"];
    let right = ["d report", "? keys", "q quit"];
    let footer = last_line(&live(300, 30));
    assert!(!footer.contains("reset"), "six are enough: {footer}");
    for hint in all.iter().chain(&right) {
        assert!(footer.contains(hint), "{hint}: {footer}");
    }
    // A search that is kept takes the place of its key and of the arrows.
    let mut app = live(120, 30);
    keys(&mut app, "/book::");
    key(&mut app, Code::Enter);
    let footer = last_line(&app);
    for hint in ["/book::", "nN match", "Esc clear", "? keys", "q quit"] {
        assert!(footer.contains(hint), "{hint}: {footer}");
    }
    assert!(!footer.contains("find"), "{footer}");
    let small = last_line(&live(60, 15));
    assert!(
        small.contains("/ find") && small.contains("? keys  q quit"),
        "{small}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_chosen_row_is_kept_whatever_the_numbers(
        down in 0usize..11,
        snapshots in proptest::collection::vec(proptest::collection::vec(0u64..1 << 40, 24), 1..8),
    ) {
        let mut app = live(120, 30);
        at(&mut app, 10_000);
        for _ in 0..down {
            keys(&mut app, "j");
        }
        let (name, place) = (selected(&app), line(&app));
        let shuffled = |ticks: &[u64], step: usize| {
            let mut shuffled = orderbook::snapshot(1_400 + step as u64);
            let nodes = shuffled.nodes.len();
            shuffled.nodes.self_ticks.copy_from_slice(&ticks[..nodes]);
            shuffled
        };
        for (step, ticks) in snapshots.iter().enumerate() {
            at(&mut app, 10_000 + 240 * (step as u64 + 1));
            events(&mut app, Status::Live, Some(shuffled(ticks, step)));
            prop_assert_eq!((selected(&app), line(&app)), (name.clone(), place));
            let data = app.derived.data.as_ref().expect("data");
            for row in &app.list().rows {
                let (total, own) = app.shares(data, row.what);
                prop_assert!((0.0..=1.0).contains(&total) && own <= total);
            }
        }
        // Long after the key rows may move, but the selection is still the same function.
        for (step, ticks) in snapshots.iter().enumerate() {
            at(&mut app, 20_000 + step as u64 * 5_000);
            events(&mut app, Status::Live, Some(shuffled(ticks, step)));
            prop_assert_eq!(selected(&app), name.clone());
        }
    }
}

/// How often tables, what the view shows of them, and rows were derived.
fn derived(app: &App) -> [u64; 3] {
    let derived = &app.derived;
    [
        derived.data_memo.revision(),
        derived.seen_memo.revision(),
        derived.rows_memo.revision(),
    ]
}

#[test]
fn only_what_depends_on_a_key_is_derived_again() {
    let mut app = live(120, 30);
    let [data, seen, rows] = derived(&app);
    keys(&mut app, "jjk");
    at(&mut app, 100);
    key(&mut app, Code::F1);
    key(&mut app, Code::Esc);
    assert_eq!(
        derived(&app),
        [data, seen, rows],
        "moving and looking derive nothing"
    );
    keys(&mut app, "I");
    assert_eq!(derived(&app)[..2], [data, seen], "another order needs rows alone");
    let rows = derived(&app)[2];
    keys(&mut app, "2");
    let after = derived(&app);
    assert_eq!(after[0], data, "another view has the same tables");
    assert!(after[1] > seen && after[2] > rows);
    keys(&mut app, "v");
    assert!(derived(&app)[0] > data, "another measure changes the tables");
    let before = derived(&app);
    keys(&mut app, "p");
    let next = snapshot(1_350);
    events(&mut app, Status::Live, Some(next));
    assert_eq!(
        derived(&app),
        before,
        "a frozen screen derives nothing from what comes"
    );
}
