//! What every key does, and what it never does.

mod before;
mod commanding;
mod flame;
mod groups;
mod measuring;
pub(crate) mod moments;
mod notices;
mod recording;
mod shapes;
mod sites;
mod telling;
mod threads;
mod units;
mod writing;

use std::rc::Rc;

use proptest::prelude::*;
use tickscope_format::Snapshot;

use crate::app::message::{Effect, Message};
use crate::app::row::Fold;
use crate::app::state::Model;
use crate::app::view::View;
use crate::cli::args::ReportFormat;
use crate::cli::args::look::ThemeKind;
use crate::keys::decoder::Code;
use crate::orderbook;
use crate::orderbook::snapshot;
use crate::source::events::{News, Outcome, Request, RingLine, Target};
use crate::source::status::Status;
use crate::test_driver::{at, empty, key, keys, line, live, news, selected, text};

/// The made-up program after the reset that began this epoch.
fn in_epoch(epoch: u64, tenths: u64) -> Snapshot {
    let mut s = snapshot(tenths);
    s.capture.reset_epoch = epoch;
    s
}

fn answer(model: &mut Model, request: Request, result: Result<u64, String>) {
    let outcomes = vec![Outcome { request, result }];
    model.update(Message::News(Box::new(News {
        outcomes,
        ..News::quiet(Status::Live)
    })));
}

fn names(model: &Model) -> Vec<&str> {
    let data = model.data.as_ref().expect("there is data");
    model.list().rows.iter().map(|row| data.label(row.what)).collect()
}

fn header(model: &Model) -> String {
    text(model).lines().next().unwrap_or_default().to_string()
}

fn last_line(model: &Model) -> String {
    text(model).lines().last().unwrap_or_default().to_string()
}

/// The screen as one line, for what is longer than one.
fn in_one_line(model: &Model) -> String {
    let screen = text(model);
    screen.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_was_asked_of_one_program_is_not_asked_of_another() {
    for new_run in [None, Some((41_873, 41_874))] {
        let mut watched = snapshot(1_340);
        watched.capture.viewers = 2;
        for typed in ["r", "]", "6 "] {
            let mut model = live(120, 30);
            model.undoable = true;
            if typed == "r" {
                news(&mut model, Status::Live, Some(watched.clone()));
            }
            keys(&mut model, typed);
            let mut other = snapshot(10);
            other.process.pid = 41_874;
            model.update(Message::News(Box::new(News {
                target: Some(Target {
                    name: "orderbook-sim".into(),
                    pid: 41_874,
                    path: "b.ring".into(),
                }),
                new_run,
                snapshot: Some(Rc::new(other)),
                ..News::quiet(Status::Live)
            })));
            assert!(
                !model.undoable && model.pending.is_none() && model.popup.is_none(),
                "{typed}"
            );
            assert!(model.wished_hz.is_none() && model.switching.is_empty(), "{typed}");
        }
    }
}

#[test]
fn a_program_that_answers_and_ends_is_not_waited_for() {
    let mut model = live(120, 30);
    keys(&mut model, "r");
    answer(&mut model, Request::Reset, Ok(2));
    news(&mut model, Status::Exited { unix_ns: 1 }, None);
    at(&mut model, 3_000);
    assert!(model.pending.is_none());
    assert!(
        last_line(&model).contains("it ended before a snapshot"),
        "{}",
        text(&model)
    );
    at(&mut model, 60_000);
    model.dirty = false;
    assert_eq!(model.deadline(), None);
    at(&mut model, 120_000);
    assert!(!model.dirty, "an idle screen writes nothing");
}

#[test]
fn what_is_hot_opens_once_and_only_once() {
    let mut model = live(120, 30);
    assert_eq!(
        names(&model)[..4],
        ["match::run", "match::step", "book::apply", "book::insert"]
    );
    assert_eq!(model.list().rows.len(), 14);
    keys(&mut model, "C");
    assert_eq!(model.list().rows.len(), 6);
    at(&mut model, 9_000);
    news(&mut model, Status::Live, Some(snapshot(1_400)));
    assert_eq!(model.list().rows.len(), 6, "closed by the user stays closed");
}

#[test]
fn the_first_look_fits_the_screen() {
    // 12 lines: the hottest path, and no more where it would not all be seen.
    assert_eq!(live(60, 15).list().rows.len(), 11);
    // 20 lines: all that takes a twentieth of the time.
    let model = live(120, 30);
    assert!(names(&model).contains(&"wire::checksum") && !names(&model).contains(&"stats::publish"));
    // 3 lines: the hottest path whatever its length.
    assert_eq!(live(20, 5).list().rows.len(), 11);
}

#[test]
fn the_hottest_path_waits_until_the_data_says_which_it_is() {
    let mut model = empty(120, 30);
    news(&mut model, Status::Live, Some(snapshot(1)));
    assert_eq!(model.list().rows.len(), 3, "a tenth of a second says nothing");
    news(&mut model, Status::Live, Some(snapshot(10)));
    assert!(model.list().rows.len() > 3);
}

#[test]
fn up_and_down_stop_at_the_ends() {
    let mut model = live(60, 15);
    key(&mut model, Code::Up);
    assert_eq!(selected(&model), "match::run");
    keys(&mut model, "jj");
    assert_eq!(selected(&model), "book::apply");
    keys(&mut model, "G");
    assert_eq!(selected(&model), "orderbook_sim::main");
    keys(&mut model, "j");
    assert_eq!(selected(&model), "orderbook_sim::main");
    key(&mut model, Code::Home);
    assert_eq!(selected(&model), "match::run");
    key(&mut model, Code::PageDown);
    assert_eq!(selected(&model), "orderbook_sim::main");
    key(&mut model, Code::Ctrl('u'));
    assert_eq!(model.list().cursor.index, 4);
}

#[test]
fn a_page_moves_the_list_by_a_page() {
    let mut model = live(60, 7);
    let page = usize::from(model.layout().rows.height);
    key(&mut model, Code::PageDown);
    assert_eq!((model.list().cursor.index, line(&model)), (page, 0));
    key(&mut model, Code::PageUp);
    assert_eq!((model.list().cursor.index, line(&model)), (0, 0));
}

#[test]
fn arrows_open_and_close_and_walk() {
    let mut model = live(120, 30);
    keys(&mut model, "G");
    key(&mut model, Code::Right);
    assert_eq!(
        (selected(&model).as_str(), model.list().rows.len()),
        ("orderbook_sim::main", 15)
    );
    key(&mut model, Code::Right);
    assert_eq!(selected(&model), "stats::publish");
    key(&mut model, Code::Left);
    assert_eq!(selected(&model), "orderbook_sim::main");
    key(&mut model, Code::Left);
    assert_eq!(model.list().rows.len(), 14);
    keys(&mut model, " ");
    assert_eq!(model.list().rows.len(), 15);
    keys(&mut model, " ");
    assert_eq!(model.list().selected().map(|row| row.fold), Some(Fold::Closed(1)));
}

#[test]
fn whole_subtrees_open_and_close() {
    let mut model = live(120, 30);
    keys(&mut model, "CE");
    assert_eq!(model.list().rows.len(), 14, "all of match::run, nothing else");
    keys(&mut model, "C");
    assert_eq!(model.list().rows.len(), 6);
    keys(&mut model, "H");
    assert_eq!(selected(&model), "tree::rebalance", "the end of the hottest path");
}

#[test]
fn siblings_are_stepped_over_what_is_between() {
    let mut model = live(120, 30);
    keys(&mut model, "J");
    assert_eq!(selected(&model), "ingest::run");
    keys(&mut model, "K");
    assert_eq!(selected(&model), "match::run");
    keys(&mut model, "jjJ");
    assert_eq!(selected(&model), "risk::check");
}

#[test]
fn views_change_and_t_shows_the_heaviest_place() {
    let mut model = live(120, 30);
    keys(&mut model, "2");
    assert_eq!(
        (model.view, selected(&model).as_str()),
        (View::Hot, "risk::check")
    );
    keys(&mut model, "jjjt");
    assert_eq!(
        (model.view, selected(&model).as_str()),
        (View::Tree, "wire::decode")
    );
    key(&mut model, Code::Esc);
    assert_eq!(model.view, View::Hot, "one step back");
    key(&mut model, Code::Tab);
    assert_eq!(model.view, View::Function);
    key(&mut model, Code::BackTab);
    assert_eq!(model.view, View::Hot);
    for view in [View::Tree, View::Sites, View::Flame] {
        key(&mut model, Code::BackTab);
        assert_eq!(model.view, view);
    }
}

#[test]
fn columns_sort_and_turn_round() {
    let mut model = live(120, 30);
    keys(&mut model, "2");
    keys(&mut model, ">");
    assert_eq!(names(&model)[0], "match::run", "by total time");
    keys(&mut model, ">");
    assert_eq!(names(&model)[0], "wire::encode", "by calls");
    keys(&mut model, "I");
    let first = names(&model)[0].to_string();
    assert!(
        ["ingest::run", "orderbook_sim::main"].contains(&first.as_str()),
        "{first}"
    );
    keys(&mut model, ">>>");
    assert_eq!(names(&model)[0], "alloc::slab_get", "by name, and no further");
    keys(&mut model, "<<<<<");
    assert_eq!(names(&model)[0], "risk::check");
    assert!(text(&model).contains("%SELF▼"));
}

#[test]
fn a_search_moves_as_it_is_typed_and_escape_returns() {
    let mut model = live(60, 15);
    keys(&mut model, "jj/chec");
    assert_eq!(selected(&model), "risk::check");
    assert!(
        last_line(&model).contains("2 of 15 rows  match 1/2"),
        "{}",
        last_line(&model)
    );
    key(&mut model, Code::Down);
    assert_eq!(selected(&model), "wire::checksum");
    assert_eq!(model.list().rows.len(), 14, "opened as far as needed");
    key(&mut model, Code::Esc);
    assert_eq!(
        (selected(&model).as_str(), model.list().rows.len()),
        ("book::apply", 11),
        "as it was"
    );
    assert!(model.search.is_none());
}

#[test]
fn a_kept_search_steps_with_n() {
    let mut model = live(120, 30);
    keys(&mut model, "/book::");
    key(&mut model, Code::Enter);
    assert_eq!(selected(&model), "book::apply");
    keys(&mut model, "n");
    assert_eq!(selected(&model), "book::insert");
    keys(&mut model, "nn");
    assert_eq!(selected(&model), "book::apply", "around the end");
    keys(&mut model, "N");
    assert_eq!(selected(&model), "book::cancel");
    keys(&mut model, "\\");
    assert_eq!(
        names(&model),
        [
            "match::run",
            "match::step",
            "book::apply",
            "book::insert",
            "book::cancel"
        ]
    );
    key(&mut model, Code::Esc);
    assert!(model.search.is_none() && model.list().rows.len() == 14);
    assert_eq!(selected(&model), "book::cancel", "kept: the selection stays");
}

#[test]
fn a_search_without_a_match_leaves_the_view_alone() {
    let mut model = live(60, 15);
    keys(&mut model, "jj/boko");
    assert_eq!(selected(&model), "book::apply");
    assert!(last_line(&model).contains("no match"));
    for _ in 0..2 {
        key(&mut model, Code::Backspace);
    }
    assert_eq!(selected(&model), "book::apply");
    keys(&mut model, "q?p");
    assert_eq!(
        model.search.as_ref().map(|search| search.text().to_string()),
        Some("boq?p".to_string())
    );
}

#[test]
fn q_closes_what_is_on_top_and_then_quits() {
    let mut model = live(60, 15);
    assert!(keys(&mut model, "?q").is_empty() && model.popup.is_none());
    assert!(matches!(keys(&mut model, "q")[..], [Effect::Quit]));
    for before in ["", "/bo", "?", "a"] {
        let mut model = live(60, 15);
        keys(&mut model, before);
        assert!(matches!(key(&mut model, Code::Ctrl('c'))[..], [Effect::Quit]));
    }
}

#[test]
fn escape_never_quits() {
    for before in ["", "/bo", "?", "a", "2jt", "p", "%"] {
        let mut model = live(60, 15);
        keys(&mut model, before);
        for _ in 0..5 {
            assert!(key(&mut model, Code::Esc).is_empty());
        }
    }
}

#[test]
fn the_same_row_stays_under_the_finger() {
    let mut model = live(120, 30);
    at(&mut model, 5_000);
    keys(&mut model, "jjj");
    let (name, place) = (selected(&model), line(&model));
    let order: Vec<String> = names(&model).iter().map(|name| name.to_string()).collect();
    // risk::check overtakes book::apply.
    let mut turned = snapshot(1_350);
    turned.nodes.self_ticks[7] *= 100;
    at(&mut model, 6_900);
    news(&mut model, Status::Live, Some(turned));
    assert_eq!(
        names(&model),
        order,
        "no row moves within two seconds after a key"
    );
    let due = model.deadline().expect("the order is due");
    at(&mut model, due.as_millis() as u64);
    assert_ne!(names(&model), order, "then they do");
    assert_eq!((selected(&model), model.deadline()), (name, None));
    let _ = place;
}

#[test]
fn rows_change_places_at_most_once_a_second() {
    let mut model = live(120, 30);
    at(&mut model, 5_000);
    news(&mut model, Status::Live, Some(snapshot(1_350)));
    let order: Vec<String> = names(&model).iter().map(|name| name.to_string()).collect();
    let mut turned = snapshot(1_351);
    turned.nodes.self_ticks[7] *= 100;
    at(&mut model, 5_900);
    news(&mut model, Status::Live, Some(turned));
    assert_eq!(names(&model), order);
    at(&mut model, 6_000);
    assert_ne!(names(&model), order);
}

#[test]
fn what_vanishes_gives_way_to_what_is_above_it_and_comes_back() {
    let mut model = live(120, 30);
    keys(&mut model, "jjjj");
    assert_eq!(selected(&model), "tree::rebalance");
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
    news(&mut model, Status::Live, Some(young));
    assert_eq!(selected(&model), "match::step", "the nearest that is left");
    news(&mut model, Status::Live, Some(snapshot(1_342)));
    assert_eq!(selected(&model), "tree::rebalance", "it is what was chosen");
}

#[test]
fn a_new_run_keeps_folds_and_selection() {
    let mut model = live(120, 30);
    keys(&mut model, "jjjj");
    let target = Some(Target {
        name: "orderbook-sim".into(),
        pid: 42_010,
        path: "b.ring".into(),
    });
    let mut next = snapshot(10);
    next.process.pid = 42_010;
    let told = News {
        target,
        snapshot: Some(Rc::new(next)),
        new_run: Some((41_873, 42_010)),
        ..News::quiet(Status::Live)
    };
    model.update(Message::News(Box::new(told)));
    assert_eq!(
        (selected(&model).as_str(), model.list().rows.len()),
        ("tree::rebalance", 14)
    );
    assert!(
        last_line(&model).contains("new run: pid 42010"),
        "{}",
        last_line(&model)
    );
    assert!(header(&model).contains("pid 42010"));
}

#[test]
fn the_next_ring_of_the_same_process_leaves_what_was_known_of_it() {
    for (new, is_kept) in [(41_873, true), (41_874, false)] {
        let mut model = live(120, 30);
        let known = model.time.history.times().next();
        assert!(known.is_some());
        model.update(Message::News(Box::new(News {
            target: Some(Target {
                name: "orderbook-sim".into(),
                pid: new,
                path: "b.ring".into(),
            }),
            new_run: Some((41_873, new)),
            ..News::quiet(Status::Live)
        })));
        assert_eq!(model.time.history.times().next() == known, is_kept, "{new}");
    }
}

#[test]
fn a_frozen_screen_shows_the_same_numbers_until_it_is_released() {
    let mut model = live(120, 30);
    keys(&mut model, "p");
    let before = text(&model);
    model.dirty = false;
    news(&mut model, Status::Live, Some(snapshot(1_400)));
    assert!(!model.dirty, "nothing to draw");
    assert_eq!(text(&model), before);
    let mut gone = live(60, 15);
    keys(&mut gone, "p");
    news(&mut gone, Status::Exited { unix_ns: 0 }, None);
    assert!(header(&gone).contains("FROZEN") && text(&gone).contains("Meanwhile the program has ended"));
    keys(&mut model, "p");
    assert!(header(&model).contains("02:20"), "{}", header(&model));
}

#[test]
fn what_does_not_move_cannot_be_frozen() {
    let states = [
        (Status::Kept, "KEPT", "a kept snapshot does not move"),
        (Status::Exited { unix_ns: 0 }, "EXITED", "the program has ended"),
    ];
    for (status, word, why) in states {
        let mut model = live(120, 30);
        news(&mut model, status, None);
        keys(&mut model, "p");
        assert!(
            !model.frozen && header(&model).contains(word),
            "{}",
            header(&model)
        );
        assert!(last_line(&model).contains(why), "{}", last_line(&model));
    }
}

#[test]
fn a_reset_is_done_when_it_is_seen() {
    let mut model = live(120, 30);
    assert!(matches!(
        keys(&mut model, "r")[..],
        [Effect::Send(Request::Reset)]
    ));
    assert!(header(&model).contains("resetting…"));
    assert!(keys(&mut model, "r").is_empty(), "once is enough");
    answer(&mut model, Request::Reset, Ok(2));
    news(&mut model, Status::Live, Some(in_epoch(1, 1_341)));
    assert!(header(&model).contains("resetting…"), "promised is not done");
    news(&mut model, Status::Live, Some(in_epoch(2, 1)));
    assert!(!header(&model).contains("resetting"));
    assert!(last_line(&model).contains("u takes it back"));
    assert!(matches!(keys(&mut model, "u")[..], [Effect::Send(Request::Undo)]));
    assert!(header(&model).contains("undoing…"));
    answer(&mut model, Request::Undo, Ok(3));
    news(&mut model, Status::Live, Some(in_epoch(3, 1_343)));
    assert!(last_line(&model).contains("taken back"));
    assert!(keys(&mut model, "u").is_empty(), "one level");
    assert!(
        last_line(&model).contains("! there is no reset to undo") && !text(&model).contains("taken back"),
        "{}",
        last_line(&model)
    );
}

#[test]
fn an_undo_that_is_refused_says_why_and_is_offered_no_more() {
    let mut model = live(200, 30);
    keys(&mut model, "r");
    answer(&mut model, Request::Reset, Ok(2));
    news(&mut model, Status::Live, Some(in_epoch(2, 1)));
    keys(&mut model, "j");
    assert!(last_line(&model).contains("undo reset"));
    assert!(matches!(keys(&mut model, "u")[..], [Effect::Send(Request::Undo)]));
    answer(&mut model, Request::Undo, Err("there is no reset to undo".into()));
    assert!(last_line(&model).contains("! undo: there is no reset to undo"));
    assert!(!header(&model).contains("undoing"));
    at(&mut model, 10_000);
    assert!(!last_line(&model).contains("undo"), "{}", last_line(&model));
    let mut gone = live(60, 15);
    news(&mut gone, Status::Exited { unix_ns: 0 }, None);
    assert!(keys(&mut gone, "u").is_empty() && last_line(&gone).contains("no reset to undo"));
}

#[test]
fn a_reset_without_an_answer_is_told_after_two_seconds() {
    let mut model = live(120, 30);
    at(&mut model, 1_000);
    keys(&mut model, "r");
    assert_eq!(model.deadline().map(|deadline| deadline.as_millis()), Some(3_000));
    at(&mut model, 3_000);
    assert!(
        last_line(&model).contains("! no answer from the program"),
        "{}",
        last_line(&model)
    );
    assert!(!header(&model).contains("resetting"));
    answer(
        &mut model,
        Request::Reset,
        Err("control is switched off in the program".into()),
    );
    assert!(last_line(&model).contains("reset: control is switched off"));
}

#[test]
fn a_late_answer_counts_all_the_same() {
    let mut model = live(120, 30);
    keys(&mut model, "r");
    at(&mut model, 2_000);
    assert!(last_line(&model).contains("no answer"));
    answer(&mut model, Request::Reset, Ok(2));
    news(&mut model, Status::Live, Some(in_epoch(2, 30)));
    assert!(last_line(&model).contains("u takes it back"));
    assert!(matches!(keys(&mut model, "u")[..], [Effect::Send(Request::Undo)]));
}

#[test]
fn the_list_stays_at_its_top_until_a_row_is_chosen() {
    let overtaken = || {
        let mut next = snapshot(1_350);
        next.nodes.self_ticks[18] *= 400;
        next
    };
    let mut model = live(60, 7);
    at(&mut model, 5_000);
    news(&mut model, Status::Live, Some(overtaken()));
    assert_eq!(names(&model)[0], "ingest::run");
    assert_eq!(
        (selected(&model).as_str(), model.list().cursor.offset),
        ("match::run", 0)
    );
    let mut model = live(60, 7);
    keys(&mut model, "j");
    at(&mut model, 5_000);
    news(&mut model, Status::Live, Some(overtaken()));
    assert_eq!(
        (selected(&model).as_str(), line(&model)),
        ("match::step", 1),
        "under the finger"
    );
}

#[test]
fn a_reset_asks_first_only_if_others_watch() {
    let mut model = empty(60, 15);
    let mut watched = snapshot(1_340);
    watched.capture.viewers = 2;
    news(&mut model, Status::Live, Some(watched));
    assert!(keys(&mut model, "r").is_empty());
    assert!(
        text(&model).contains("1 other viewer is watching"),
        "{}",
        text(&model)
    );
    key(&mut model, Code::Esc);
    assert!(model.popup.is_none() && model.pending.is_none());
    assert!(matches!(
        keys(&mut model, "ry")[..],
        [Effect::Send(Request::Reset)]
    ));
    let mut gone = live(60, 15);
    news(&mut gone, Status::Exited { unix_ns: 0 }, None);
    assert!(keys(&mut gone, "r").is_empty());
    assert!(last_line(&gone).contains("nothing to reset"));
}

#[test]
fn one_thread_or_all() {
    let mut model = live(120, 30);
    keys(&mut model, "ajj");
    key(&mut model, Code::Enter);
    assert!(text(&model).contains("only match-1 (a: all)"));
    assert!(header(&model).contains(" 1 of 4 threads"), "{}", header(&model));
    assert_eq!(names(&model)[0], "match::run");
    assert_eq!(model.list().rows.len(), 9);
    assert!(text(&model).contains("100.0%"));
    keys(&mut model, "a");
    assert_eq!(names(&model).last(), Some(&"orderbook_sim::main"));
    assert!(text(&model).contains("all threads"));
}

#[test]
fn a_thread_that_has_gone_is_said_so() {
    let mut model = live(120, 30);
    keys(&mut model, "ajj");
    key(&mut model, Code::Enter);
    let mut without = snapshot(1_341);
    without.threads[1].name = "other".into();
    news(&mut model, Status::Live, Some(without));
    assert!(
        text(&model).contains("no thread match-1 any more. a shows all"),
        "{}",
        text(&model)
    );
}

#[test]
fn the_choice_of_a_thread_stays_on_its_thread() {
    let mut model = live(120, 30);
    keys(&mut model, "ajj");
    let mut grown = snapshot(1_341);
    let newcomer = tickscope_format::snapshot::Thread {
        name: "new".into(),
        ..Default::default()
    };
    grown.threads.insert(0, newcomer);
    news(&mut model, Status::Live, Some(grown));
    key(&mut model, Code::Enter);
    assert!(text(&model).contains("only match-1 (a: all)"), "{}", text(&model));
}

#[test]
fn the_busiest_thread_is_listed_first_and_its_share_is_never_cut() {
    let mut pool = snapshot(1_340);
    pool.threads[0].name = "a-thread-pool-worker-with-a-long-name".into();
    pool.threads[0].tid = 0;
    pool.threads[0].count = 111;
    pool.threads[0].state = tickscope_format::snapshot::ThreadState::Finished;
    for (width, height) in [(20, 8), (32, 9), (44, 12), (60, 15), (120, 30)] {
        let mut model = empty(width, height);
        let mut turned = pool.clone();
        turned.threads.reverse();
        news(&mut model, Status::Live, Some(turned));
        keys(&mut model, "a");
        let screen = text(&model);
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
        let mut model = live(60, 15);
        news(&mut model, status, Some(idle.clone()));
        for view in ["1", "2"] {
            keys(&mut model, view);
            assert!(
                text(&model).contains("No scope has been entered since the reset."),
                "{}",
                text(&model)
            );
        }
        keys(&mut model, "aj");
        key(&mut model, Code::Enter);
        assert!(
            text(&model).contains("This thread has entered no scope"),
            "{}",
            text(&model)
        );
    }
}

#[test]
fn warnings_stand_until_they_are_read() {
    let mut model = empty(60, 15);
    let mut warned = snapshot(1_340);
    warned.process.warnings = vec![
        "TICKSCOPE_MODE=fast: not a mode; exact is used.".into(),
        "b".into(),
    ];
    news(&mut model, Status::Live, Some(warned));
    assert!(
        text(&model).contains("! TICKSCOPE_MODE=fast: not a mode"),
        "{}",
        text(&model)
    );
    key(&mut model, Code::Esc);
    assert!(!text(&model).contains("TICKSCOPE_MODE"));
}

#[test]
fn percents_have_three_bases() {
    let mut model = live(120, 30);
    keys(&mut model, "%%j");
    assert!(text(&model).contains("% of parent"));
    let data = model.data.as_ref().expect("data");
    let row = model.list().selected().expect("selected");
    let (total, _) = model.shares(data, row.what);
    assert!(
        (total - 0.984).abs() < 0.001,
        "match::step of match::run: {total}"
    );
    keys(&mut model, "%");
    assert!(text(&model).contains("% of measured"));
    keys(&mut model, "2%%");
    assert!(text(&model).contains("% of measured"), "a function has no parent");
}

#[test]
fn files_are_written_from_what_is_on_the_screen() {
    let mut model = live(120, 30);
    keys(&mut model, "pajj");
    key(&mut model, Code::Enter);
    news(&mut model, Status::Live, Some(snapshot(1_400)));
    let effects = keys(&mut model, "ds");
    let [
        Effect::WriteReport {
            snapshot: a,
            thread,
            compensated: false,
            formats,
            file: None,
            ..
        },
        Effect::KeepSnapshot {
            snapshot: b,
            file: None,
        },
    ] = &effects[..]
    else {
        panic!("{effects:?}");
    };
    assert_eq!(formats[..], [ReportFormat::Text, ReportFormat::Html]);
    assert_eq!((a.capture.seq, b.capture.seq), (1_340, 1_340), "the frozen one");
    assert_eq!(*thread, Some(tickscope_format::ids::ThreadId(1)));
    model.update(Message::Wrote(
        "report",
        Ok(vec!["./orderbook-sim-41873-20261120-140214.txt".into()]),
    ));
    assert!(last_line(&model).contains("report written to ./orderbook-sim-41873-20261120-140214.txt"));
    at(&mut model, 4_999);
    assert!(last_line(&model).contains("report written"));
    at(&mut model, 5_000);
    assert!(!last_line(&model).contains("report written"));
    model.update(Message::Wrote(
        "snapshot",
        Err("./x.tks: No space left on device".into()),
    ));
    assert!(last_line(&model).contains("! snapshot not written"));
}

#[test]
fn a_notice_leaves_the_offers_of_a_command_in_sight() {
    let mut model = live(120, 30);
    model.update(Message::Wrote("report", Err("no room".into())));
    keys(&mut model, ":");
    let lines: Vec<String> = text(&model).lines().rev().take(3).map(str::to_string).collect();
    assert!(lines[0].starts_with(" :"), "{lines:?}");
    assert!(
        lines[1].contains("reset  undo") || lines[1].contains("reset"),
        "{lines:?}"
    );
    assert!(lines[2].contains("! report not written: no room"), "{lines:?}");
    keys(&mut model, "report x.svg");
    key(&mut model, Code::Enter);
    assert!(
        text(&model).contains("! x.svg: this ending says no form"),
        "{}",
        text(&model)
    );
    assert!(last_line(&model).contains(":report x.svg"));
}

#[test]
fn a_notice_goes_with_the_next_key_and_does_not_come_back() {
    let wrote = |model: &mut Model| {
        model.update(Message::Wrote("report", Ok(vec!["./a.txt".into()])));
    };
    let told = |model: &Model| text(model).contains("report written to ./a.txt");
    let mut model = live(120, 30);
    wrote(&mut model);
    keys(&mut model, "X");
    assert!(told(&model), "a key that does nothing");
    keys(&mut model, "/");
    assert!(!told(&model));
    keys(&mut model, "boo");
    wrote(&mut model);
    assert!(
        told(&model) && last_line(&model).contains("/boo"),
        "{}",
        text(&model)
    );
    keys(&mut model, "k");
    key(&mut model, Code::Enter);
    assert!(!told(&model), "read while the search was typed");
    for (width, height) in [(120, 30), (60, 15)] {
        let mut model = live(width, height);
        keys(&mut model, "/book");
        key(&mut model, Code::Enter);
        wrote(&mut model);
        assert!(
            told(&model) && last_line(&model).contains("nN match"),
            "{}",
            text(&model)
        );
        keys(&mut model, "n");
        assert!(!told(&model));
    }
    model.update(Message::Wrote("report", Err("no room".into())));
    keys(&mut model, "j");
    assert!(
        text(&model).contains("! report not written: no room"),
        "an error stays its time"
    );
    let mut warned = snapshot(1_340);
    warned.process.warnings = vec!["the clock is odd".into()];
    let mut model = live(60, 15);
    news(&mut model, Status::Live, Some(warned));
    wrote(&mut model);
    key(&mut model, Code::Esc);
    assert!(
        !told(&model) && text(&model).contains("the clock is odd"),
        "one thing at a time"
    );
}

#[test]
fn rates_are_stepped_through() {
    let mut model = live(120, 30);
    assert!(matches!(
        keys(&mut model, "]")[..],
        [Effect::Send(Request::Interval { ns: 50_000_000 })]
    ));
    assert!(keys(&mut model, "]").is_empty() && last_line(&model).contains("fastest"));
    assert!(matches!(
        keys(&mut model, "[")[..],
        [Effect::Send(Request::Interval { ns: 100_000_000 })]
    ));
    assert!(matches!(
        keys(&mut model, "[")[..],
        [Effect::Send(Request::Interval { ns: 200_000_000 })]
    ));
}

#[test]
fn the_rest_of_the_keys() {
    let mut model = live(120, 30);
    assert!(
        matches!(&keys(&mut model, "jjjy")[..], [Effect::Copy(name)] if name == "orderbook_sim::book::insert")
    );
    keys(&mut model, "TTT");
    assert_eq!(model.theme, ThemeKind::Mono);
    assert!(last_line(&model).contains("theme: no colours"));
    let tree = live(120, 30);
    assert!(last_line(&tree).contains("w window"), "{}", last_line(&tree));
    assert!(matches!(key(&mut model, Code::Ctrl('l'))[..], [Effect::Repaint]));
    assert!(matches!(key(&mut model, Code::Ctrl('z'))[..], [Effect::Suspend]));
    let mut small = live(60, 7);
    keys(&mut small, "jjjjjz");
    assert_eq!(line(&small), 2, "mid-screen");
}

#[test]
fn the_mouse_selects_folds_sorts_and_changes_views() {
    let mut model = live(120, 30);
    let top = model.layout().rows.y;
    assert!(matches!(keys(&mut model, "M")[..], [Effect::Mouse(true)]));
    model.update(Message::Click(70, top + 2));
    assert_eq!(
        (selected(&model).as_str(), model.list().rows.len()),
        ("book::apply", 14)
    );
    let buffer = crate::test_driver::screen(&model);
    let mark = (0..120)
        .find(|&x| buffer[(x, top + 2)].symbol() == "▾")
        .expect("it is open");
    model.update(Message::Click(mark, top + 2));
    assert_eq!(
        (selected(&model).as_str(), model.list().rows.len()),
        ("book::apply", 10)
    );
    let calls = text(&model)
        .lines()
        .nth(2)
        .and_then(|line| line.find("CALLS"))
        .expect("a title") as u16;
    model.update(Message::Click(calls, top - 1));
    assert!(text(&model).contains("CALLS▼"));
    model.update(Message::Click(calls, top - 1));
    assert!(text(&model).contains("CALLS▲"));
    model.update(Message::Click(12, 1));
    assert_eq!(model.view, View::Hot);
    model.update(Message::Click(u16::MAX, u16::MAX));
    let mut small = live(60, 7);
    model.update(Message::Wheel(3));
    small.update(Message::Wheel(3));
    assert_eq!((small.list().cursor.offset, line(&small)), (3, 0));
    small.update(Message::Wheel(-2));
    assert_eq!(
        (small.list().cursor.offset, line(&small)),
        (1, 2),
        "the selection stays where it can"
    );
}

#[test]
fn three_unknown_keys_call_for_help() {
    let mut model = live(120, 30);
    keys(&mut model, "XX");
    assert!(!last_line(&model).contains("? shows the keys"));
    keys(&mut model, "X");
    assert!(last_line(&model).contains("? shows the keys"));
    at(&mut model, 3_000);
    assert!(!last_line(&model).contains("? shows the keys"));
    keys(&mut model, "XXjX");
    assert!(!last_line(&model).contains("? shows the keys"), "in a row");
}

#[test]
fn a_key_of_other_views_says_where_it_works() {
    let mut model = live(120, 30);
    keys(&mut model, "4i");
    assert_eq!(last_line(&model).trim(), "i works in Tree");
    keys(&mut model, "f");
    assert_eq!(last_line(&model).trim(), "f works in Tree, Hot, Flame");
    // On top of a view it means nothing that would help.
    keys(&mut model, "ai");
    assert!(!last_line(&model).contains("works in"));
}

#[test]
fn the_help_scrolls_to_its_end_and_no_further() {
    let mut model = live(60, 15);
    keys(&mut model, "?");
    key(&mut model, Code::End);
    let end = text(&model);
    assert!(end.contains("AVG change"), "{end}");
    keys(&mut model, "jjjk");
    assert_ne!(text(&model), end, "one line up at once");
    key(&mut model, Code::F1);
    assert!(model.popup.is_none());
}

#[test]
fn the_picker_opens_what_is_selected() {
    let mut model = empty(60, 15);
    let ring = |name: &str| RingLine {
        path: name.into(),
        name: name.into(),
        pid: 1,
        state: "running".into(),
        since: String::new(),
        live: true,
    };
    let status = Status::Waiting { why: "which?".into() };
    let rings = Some(vec![ring("a"), ring("b"), ring("c")]);
    model.update(Message::News(Box::new(News {
        rings,
        ..News::quiet(status.clone())
    })));
    keys(&mut model, "j");
    let rings = Some(vec![ring("new"), ring("a"), ring("b"), ring("c")]);
    model.update(Message::News(Box::new(News {
        rings,
        ..News::quiet(status)
    })));
    let effects = key(&mut model, Code::Enter);
    assert!(
        matches!(&effects[..], [Effect::Open(path)] if path.as_os_str() == "b"),
        "{effects:?}"
    );
    model.update(Message::NotOpened("b: damaged".into()));
    assert!(last_line(&model).contains("! b: damaged"));
}

#[test]
fn nothing_new_is_nothing_to_draw() {
    let mut model = live(120, 30);
    at(&mut model, 10_000);
    model.dirty = false;
    for ms in [10_100, 12_000, 60_000] {
        at(&mut model, ms);
        news(&mut model, Status::Live, None);
        assert!(!model.dirty, "at {ms} ms");
    }
    assert_eq!(model.deadline(), None);
}

#[test]
fn the_footer_offers_only_what_works_now() {
    let mut model = live(200, 30);
    assert!(!last_line(&model).contains("undo") && !last_line(&model).contains("match"));
    keys(&mut model, "/book");
    key(&mut model, Code::Enter);
    assert!(last_line(&model).contains("nN match") && last_line(&model).contains("/book"));
    let mut kept = live(200, 30);
    news(&mut kept, Status::Kept, None);
    assert!(!last_line(&kept).contains("r reset") && !last_line(&kept).contains("freeze"));
    let context = model.context();
    for line in crate::keys::keymap::lines(context).filter(|line| line.hint.is_some()) {
        let shown =
            last_line(&model).contains(&format!("{} {}", line.hint_keys(false), line.hint.unwrap().text));
        let works = line.keys.iter().any(|&(_, action)| model.offers(action));
        assert!(!shown || works, "{}", line.help);
    }
}

#[test]
fn the_footer_keeps_what_people_look_for_first() {
    let all = [
        "↑↓ move",
        "←→ fold",
        "Enter open",
        "/ find",
        "b /call",
        "w window",
        ",. past",
        "m' mark",
        "p freeze",
    ];
    let right = ["r reset", "d report", "? help", "q quit"];
    let footer = last_line(&live(120, 30));
    for hint in all.iter().chain(&right) {
        assert!(footer.contains(hint), "{hint}: {footer}");
    }
    // A search that is kept takes the place of its key and of the arrows.
    let mut model = live(120, 30);
    keys(&mut model, "/book::");
    key(&mut model, Code::Enter);
    let footer = last_line(&model);
    for hint in ["/book::", "nN match", "w window", "p freeze", "Esc clear"]
        .iter()
        .chain(&right)
    {
        assert!(footer.contains(hint), "{hint}: {footer}");
    }
    assert!(!footer.contains("find"), "{footer}");
    let small = last_line(&live(60, 15));
    assert!(
        small.contains("w window") && small.contains("? help  q quit"),
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
        let mut model = live(120, 30);
        at(&mut model, 10_000);
        for _ in 0..down {
            keys(&mut model, "j");
        }
        let (name, place) = (selected(&model), line(&model));
        let shuffled = |ticks: &[u64], step: usize| {
            let mut shuffled = orderbook::snapshot(1_400 + step as u64);
            let nodes = shuffled.nodes.len();
            shuffled.nodes.self_ticks.copy_from_slice(&ticks[..nodes]);
            shuffled
        };
        for (step, ticks) in snapshots.iter().enumerate() {
            at(&mut model, 10_000 + 240 * (step as u64 + 1));
            news(&mut model, Status::Live, Some(shuffled(ticks, step)));
            prop_assert_eq!((selected(&model), line(&model)), (name.clone(), place));
            let data = model.data.as_ref().expect("data");
            for row in &model.list().rows {
                let (total, own) = model.shares(data, row.what);
                prop_assert!((0.0..=1.0).contains(&total) && own <= total);
            }
        }
        // Long after the key rows may move, but the selection is still the same function.
        for (step, ticks) in snapshots.iter().enumerate() {
            at(&mut model, 20_000 + step as u64 * 5_000);
            news(&mut model, Status::Live, Some(shuffled(ticks, step)));
            prop_assert_eq!(selected(&model), name.clone());
        }
    }
}
