//! The effect of every key, and effects that it must not have.

mod before;
mod flame;
mod functions;
mod groups;
mod helping;
mod measuring;
pub(crate) mod moments;
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

use moments::{data, lives, sums_hold, tabs, watched};
use ratatui::layout::Size;
use tickscope_format::Snapshot;
use tickscope_format::ids::{NodeId, SiteId, ThreadId};
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{Mode, Rule, Thread, ThreadState};
use tickscope_programs::events::{Events, Outcome, Request, RingLine, Target};
use tickscope_programs::status::{Pipe, Status};

use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::message::{Effect, Message};
use crate::app::row::{Fold, RowId};
use crate::app::state::App;
use crate::app::thread_choice::ThreadChoice;
use crate::app::view::View;
use crate::cli::args::look::ThemeKind;
use crate::keys::action::Context;
use crate::keys::decoder::Code;
use crate::modes::in_mode;
use crate::orderbook;
use crate::orderbook::snapshot;
use crate::test_driver::past;
use crate::test_driver::{at, empty, events, key, keys, line, live, looks, screen, selected, showing, text};

/// Returns the made-up program after the reset that began this epoch.
fn in_epoch(epoch: u64, tenths: u64) -> Snapshot {
    let mut s = snapshot(tenths);
    s.capture.reset_epoch = epoch;
    s
}

/// Passes events of a running program to the app.
fn tell(app: &mut App, events: Events) {
    app.update(Message::Events(Box::new(events)));
}

fn answer(app: &mut App, request: Request, result: Result<u64, String>) {
    let outcomes = vec![Outcome::new(request, result)];
    tell(
        app,
        Events {
            outcomes,
            ..Events::quiet(Status::Live)
        },
    );
}

/// Returns the requests to the program.
fn asked(effects: Vec<Effect>) -> Vec<Request> {
    let request = |effect| {
        let Effect::Send(request) = effect else {
            return None;
        };
        Some(request)
    };
    effects.into_iter().filter_map(request).collect()
}

/// Starts the program again, or another program with its name.
fn begins(app: &mut App, pid: u32, new_run: Option<(u32, u32)>, mut snapshot: Snapshot) {
    snapshot.process.pid = pid;
    let target = Target {
        name: "orderbook-sim".into(),
        pid,
        path: "b.ring".into(),
    };
    tell(
        app,
        Events {
            target: Some(target),
            new_run,
            snapshot: Some(Rc::new(snapshot)),
            ..Events::quiet(Status::Live)
        },
    );
}

fn pattern(text: &str) -> Pattern {
    Pattern::new(text).expect("a pattern")
}

/// Returns the snapshot with rules, applied as the collector does it.
fn ruled(mut s: Snapshot, rules: &[(&str, bool)]) -> Snapshot {
    for &(text, off) in rules {
        let rule = pattern(text);
        s.measuring.rules.push(Rule {
            pattern: text.into(),
            off,
        });
        let sites = (0..).zip(&s.sites).filter(|(_, site)| rule.matches(site));
        let sites: Vec<SiteId> = sites.map(|(site, _)| SiteId(site)).collect();
        let others = |site: &SiteId| !sites.contains(site);
        s.measuring.off_sites.retain(others);
        s.measuring.off_sites.extend(sites.into_iter().filter(|_| off));
    }
    s
}

/// Returns the made-up program with the CPU times of its threads in milliseconds.
fn used(tenths: u64, cpu_ms: [u64; 4]) -> Snapshot {
    let mut s = snapshot(tenths);
    for (thread, ms) in s.threads.iter_mut().zip(cpu_ms) {
        thread.cpu_ns = Some(ms * 1_000_000);
    }
    s
}

/// Returns the program before any scope was entered.
fn without_rows(mut s: Snapshot) -> Snapshot {
    s.threads.clear();
    s.nodes = Default::default();
    s.latencies = Default::default();
    s
}

/// Adds rows below a row, side by side or one inside the other. The thread `main` is the last one: its rows may grow.
pub(crate) fn with_more(mut s: Snapshot, parent: usize, count: u32, deep: bool) -> Snapshot {
    let mut parent = NodeId(parent as u32);
    for n in 0..count {
        let mut site = s.sites[14].clone();
        site.name = format!("more_{n:03}");
        s.sites.push(site);
        let site = SiteId(s.sites.len() as u32 - 1);
        let node = s.nodes.push(Some(parent), site, 1, 1_000_000_000 - u64::from(n));
        parent = if deep { node } else { parent };
    }
    s.threads.last_mut().expect("there are threads").rows += count;
    s
}

fn names(app: &App) -> Vec<&str> {
    let data = data(app);
    app.list().rows.iter().map(|row| data.label(row.what)).collect()
}

fn header(app: &App) -> String {
    text(app).lines().next().unwrap_or_default().to_string()
}

fn last_line(app: &App) -> String {
    text(app).lines().last().unwrap_or_default().to_string()
}

/// Returns the screen as one line, for texts longer than a line.
fn in_one_line(app: &App) -> String {
    let screen = text(app);
    screen.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Returns the first line of the screen with this text.
fn line_of(screen: &str, part: &str) -> String {
    let line = screen.lines().find(|line| line.contains(part));
    line.unwrap_or_else(|| panic!("no {part} in\n{screen}"))
        .to_string()
}

/// Asserts that this view is shown, and this row is selected.
#[track_caller]
fn stands(app: &App, view: View, row: &str) {
    assert_eq!((app.views.current, &*selected(app)), (view, row));
}

#[track_caller]
pub(crate) fn has(text: &str, words: &str) {
    assert!(text.contains(words), "no {words} in\n{text}");
}

#[track_caller]
fn lacks(text: &str, words: &str) {
    assert!(!text.contains(words), "{words} in\n{text}");
}

/// Asserts that the screen has these words.
#[track_caller]
fn shows(app: &App, words: &str) {
    has(&text(app), words);
}

#[track_caller]
fn hides(app: &App, words: &str) {
    lacks(&text(app), words);
}

/// Asserts that the last line has these words.
#[track_caller]
fn says(app: &App, words: &str) {
    has(&last_line(app), words);
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
            begins(&mut app, 41_874, new_run, snapshot(10));
            let requests = &app.requests;
            assert!(!requests.undoable && requests.pending.is_none(), "{typed}");
            assert!(
                requests.wished_hz.is_none() && requests.switching.is_empty(),
                "{typed}"
            );
            assert!(app.overlay.is_none(), "{typed}");
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
    says(&app, "it ended before a snapshot");
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
    // 12 lines have the hottest path, and no other rows, because these would not all be visible.
    assert_eq!(live(60, 15).list().rows.len(), 11);
    // 20 lines have all rows that take a twentieth of the time.
    let app = live(120, 30);
    assert!(names(&app).contains(&"wire::checksum") && !names(&app).contains(&"stats::publish"));
    // 3 lines still open the hottest path at its full length.
    assert_eq!(live(20, 5).list().rows.len(), 11);
}

#[test]
fn the_hottest_path_waits_until_the_data_says_which_it_is() {
    let mut app = showing(120, 30, snapshot(1));
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
    stands(&app, View::Hot, "risk::check");
    keys(&mut app, "jjjt");
    stands(&app, View::Tree, "wire::decode");
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
    // No function waits in this program.
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
    says(&app, "2 of 15 rows  match 1/2");
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
    keys(&mut app, "/book::\n");
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
    let name = selected(&app);
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
    // Only `match::run` and `match::step` of the first thread are left.
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
    begins(&mut app, 42_010, Some((41_873, 42_010)), snapshot(10));
    assert_eq!(
        (selected(&app).as_str(), app.list().rows.len()),
        ("tree::rebalance", 14)
    );
    says(&app, "new run: now following pid 42010");
    assert!(header(&app).contains("pid 42010"));
}

#[test]
fn the_next_ring_of_the_same_process_leaves_what_was_known_of_it() {
    for (new, is_kept) in [(41_873, true), (41_874, false)] {
        let mut app = live(120, 30);
        let known = app.playback.history.times().next();
        assert!(known.is_some());
        begins(&mut app, new, Some((41_873, new)), snapshot(1_341));
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
    says(&app, "counting from zero; u takes it back");
    assert!(matches!(keys(&mut app, "u")[..], [Effect::Send(Request::Undo)]));
    assert!(header(&app).contains("undoing…"));
    answer(&mut app, Request::Undo, Ok(3));
    events(&mut app, Status::Live, Some(in_epoch(3, 1_343)));
    says(&app, "the reset is taken back");
    assert!(keys(&mut app, "u").is_empty(), "one level");
    says(&app, "! there is no reset to undo");
    hides(&app, "taken back");
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
    let mut app = live(60, 7);
    let mut overtaken = snapshot(1_350);
    overtaken.nodes.self_ticks[18] *= 400;
    at(&mut app, 5_000);
    events(&mut app, Status::Live, Some(overtaken));
    assert_eq!(names(&app)[0], "ingest::run");
    assert_eq!((&*selected(&app), app.list().cursor.offset), ("ingest::run", 0));
}

#[test]
fn a_reset_asks_first_only_if_others_watch() {
    let mut app = empty(60, 15);
    let mut watched = snapshot(1_340);
    watched.capture.viewers = 2;
    events(&mut app, Status::Live, Some(watched));
    assert!(keys(&mut app, "r").is_empty());
    shows(&app, "1 other viewer is watching");
    key(&mut app, Code::Esc);
    assert!(app.overlay.is_none() && app.requests.pending.is_none());
    assert!(matches!(keys(&mut app, "ry")[..], [Effect::Send(Request::Reset)]));
}

#[test]
fn one_thread_or_all() {
    let mut app = live(120, 30);
    keys(&mut app, "ajj\n");
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
fn the_choice_of_a_thread_stays_on_its_thread() {
    let mut app = live(120, 30);
    keys(&mut app, "ajj");
    let mut grown = snapshot(1_341);
    let newcomer = Thread {
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
    pool.threads[0].state = ThreadState::Finished;
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
            shows(&app, "No scope has been entered since the reset.");
        }
        keys(&mut app, "aj\n");
        shows(&app, "This thread has entered no scope");
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
    shows(&app, "! TICKSCOPE_MODE=fast: not a mode");
    key(&mut app, Code::Esc);
    assert!(!text(&app).contains("TICKSCOPE_MODE"));
}

#[test]
fn percents_have_three_bases() {
    let mut app = live(120, 30);
    keys(&mut app, "%%j");
    assert!(text(&app).contains("% of parent"));
    let data = data(&app);
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
    keys(&mut app, "pajj\n");
    events(&mut app, Status::Live, Some(snapshot(1_400)));
    let effects = keys(&mut app, "ds");
    let [
        Effect::WriteReport {
            snapshot: a, thread, ..
        },
        Effect::KeepSnapshot(b),
    ] = &effects[..]
    else {
        panic!("{effects:?}");
    };
    assert_eq!((a.capture.seq, b.capture.seq), (1_340, 1_340), "the frozen one");
    assert_eq!(*thread, Some(ThreadId(1)));
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
    keys(&mut app, "k\n");
    assert!(!told(&app), "read while the search was typed");
    for (width, height) in [(120, 30), (66, 15)] {
        let mut app = live(width, height);
        keys(&mut app, "/book\n");
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
    let mut app = showing(60, 15, warned);
    wrote(&mut app);
    key(&mut app, Code::Esc);
    assert!(
        !told(&app) && text(&app).contains("the clock is odd"),
        "one thing at a time"
    );
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
    let buffer = screen(&app);
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
    // On top of a view the key has no meaning that would help.
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
    keys(&mut app, "/book\n");
    assert!(last_line(&app).contains("nN match") && last_line(&app).contains("/book"));
    lacks(&last_line(&app), "find");
    lacks(&last_line(&live(300, 30)), "reset");
    let context = app.context();
    for line in crate::keys::keymap::lines(context).filter(|line| line.hint.is_some()) {
        let shown =
            last_line(&app).contains(&format!("{} {}", line.hint_keys(false), line.hint.unwrap().text));
        let works = line.keys().iter().any(|&(_, action)| app.offers(action));
        assert!(!shown || works, "{}", line.help);
    }
}

/// Returns how often tables, the part that the view shows, and rows were derived.
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
