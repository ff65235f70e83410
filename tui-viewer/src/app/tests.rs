//! Tests of what each key does, and of what it must not do.

mod before;
mod flame;
mod functions;
mod groups;
mod helping;
mod measuring;
pub(crate) mod moments;
mod moving;
mod notices;
mod on_top;
mod piped;
mod recording;
mod requests;
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
use crate::app::message::{Effect, Message};
use crate::app::row::{Fold, RowId, What};
use crate::app::state::App;
use crate::app::threads::ThreadChoice;
use crate::app::view::View;
use crate::cli::args::look::ThemeKind;
use crate::keys::action::Context;
use crate::keys::decoder::Code;
use crate::modes::in_mode;
use crate::orderbook::{self, snapshot};
use crate::test_driver::{
    at, empty, events, key, keys, line, live, looks, past, screen, selected, showing, text,
};

/// Returns a snapshot of the made-up program, taken after the reset that began this epoch.
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

/// Shows the next snapshot of a running program.
fn gets(app: &mut App, snapshot: Snapshot) {
    events(app, Status::Live, Some(snapshot));
}

/// Returns those effects that are requests to the program.
fn asked(effects: Vec<Effect>) -> Vec<Request> {
    let request = |effect| {
        let Effect::Send(request) = effect else {
            return None;
        };
        Some(request)
    };
    effects.into_iter().filter_map(request).collect()
}

/// Starts the program again, or another program with the same name.
fn begins(app: &mut App, pid: u32, new_run: Option<(u32, u32)>, mut snapshot: Snapshot) {
    snapshot.process.pid = pid;
    let target = Target {
        name: "orderbook-sim".into(),
        pid,
        path: "b.ring".into(),
    };
    app.update(Message::Events(Box::new(Events {
        target: Some(target),
        new_run,
        snapshot: Some(Rc::new(snapshot)),
        ..Events::quiet(Status::Live)
    })));
}

fn pattern(text: &str) -> Pattern {
    Pattern::new(text).expect("a pattern")
}

/// Returns the snapshot with these rules, applied in the same way as by the collector.
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

/// Returns a snapshot of the made-up program in which the threads have these CPU times, in milliseconds.
fn used(tenths: u64, cpu_ms: [u64; 4]) -> Snapshot {
    let mut s = snapshot(tenths);
    for (thread, ms) in s.threads.iter_mut().zip(cpu_ms) {
        thread.cpu_ns = Some(ms * 1_000_000);
    }
    s
}

/// Returns the snapshot as it would be before any scope was entered.
fn without_rows(mut s: Snapshot) -> Snapshot {
    s.threads.clear();
    s.nodes = Default::default();
    s.latencies = Default::default();
    s
}

/// Adds `count` rows below a row: as its children or, if `deep`, as a chain. The row must belong to the last thread, `main`.
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

/// Selects the first row whose name contains `part`.
fn go_to(app: &mut App, part: &str) {
    let row = names(app).iter().position(|name| name.contains(part));
    let row = row.unwrap_or_else(|| panic!("{part} in {:?}", names(app)));
    app.select(row);
}

fn header(app: &App) -> String {
    text(app).lines().next().unwrap_or_default().to_string()
}

fn last_line(app: &App) -> String {
    text(app).lines().last().unwrap_or_default().to_string()
}

/// Returns the text on screen as one line, in order to find sentences that are wrapped.
fn in_one_line(app: &App) -> String {
    let screen = text(app);
    screen.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Returns the first line of the screen that contains this text.
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

/// Asserts that this row is selected, in a list of `rows` rows.
#[track_caller]
fn selects(app: &App, row: &str, rows: usize) {
    assert_eq!((&*selected(app), app.list().rows.len()), (row, rows));
}

#[track_caller]
pub(crate) fn has(text: &str, words: &str) {
    assert!(text.contains(words), "no {words} in\n{text}");
}

#[track_caller]
fn lacks(text: &str, words: &str) {
    assert!(!text.contains(words), "{words} in\n{text}");
}

/// Asserts that the screen contains these words.
#[track_caller]
fn shows(app: &App, words: &str) {
    has(&text(app), words);
}

#[track_caller]
fn hides(app: &App, words: &str) {
    lacks(&text(app), words);
}

/// Asserts that the last line contains these words.
#[track_caller]
fn says(app: &App, words: &str) {
    has(&last_line(app), words);
}

#[test]
fn q_closes_what_is_on_top_and_then_quits() {
    let mut app = live(60, 15);
    assert!(keys(&mut app, "?q").is_empty() && app.overlay.is_none());
    assert!(matches!(keys(&mut app, "q")[..], [Effect::Quit]));
    for before in ["", "/bo", "?", "a"] {
        let mut app = live(60, 15).after(before);
        assert!(matches!(key(&mut app, Code::Ctrl('c'))[..], [Effect::Quit]));
    }
}

#[test]
fn escape_never_quits() {
    for before in ["", "/bo", "?", "a", "2jt", "p", "%"] {
        let mut app = live(60, 15).after(before);
        for _ in 0..5 {
            assert!(key(&mut app, Code::Esc).is_empty());
        }
    }
}

#[test]
fn percents_have_three_bases() {
    let mut app = live(120, 30).after("%%j");
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
    let mut app = live(120, 30).after("pajj\n");
    gets(&mut app, snapshot(1_400));
    let effects = keys(&mut app, "ds");
    let [Effect::WriteReport(a, options), Effect::KeepSnapshot(b)] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!((a.capture.seq, b.capture.seq), (1_340, 1_340), "the frozen one");
    assert_eq!(options.thread, Some(ThreadId(1)));
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
fn the_rest_of_the_keys() {
    let mut app = live(120, 30);
    assert!(
        matches!(&keys(&mut app, "jjjy")[..], [Effect::Copy(name)] if name == "orderbook_sim::book::insert")
    );
    keys(&mut app, "TTT");
    assert_eq!(app.screen.theme, ThemeKind::Mono);
    assert!(last_line(&app).contains("theme: no colours"));
    let tree = live(120, 30);
    says(&tree, "w window");
    assert!(matches!(key(&mut app, Code::Ctrl('l'))[..], [Effect::Repaint]));
    assert!(matches!(key(&mut app, Code::Ctrl('z'))[..], [Effect::Suspend]));
    let small = live(60, 7).after("jjjjjz");
    assert_eq!(line(&small), 2, "mid-screen");
}

#[test]
fn the_mouse_selects_folds_sorts_and_changes_views() {
    let mut app = live(120, 30);
    let top = app.layout().rows.y;
    assert!(matches!(keys(&mut app, "M")[..], [Effect::Mouse(true)]));
    app.update(Message::Click(70, top + 2));
    selects(&app, "book::apply", 14);
    let buffer = screen(&app);
    let mark = (0..120)
        .find(|&x| buffer[(x, top + 2)].symbol() == "▾")
        .expect("it is open");
    app.update(Message::Click(mark, top + 2));
    selects(&app, "book::apply", 10);
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
    // The selection stays on its row if the row is still visible.
    assert_eq!((small.list().cursor.offset, line(&small)), (1, 2));
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

/// Returns how many times the tables, the trees of the view, and the rows have been derived.
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
    // Neither moving the cursor nor opening the help derives anything.
    assert_eq!(derived(&app), [data, seen, rows]);
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
    gets(&mut app, next);
    // A frozen screen derives nothing from new snapshots.
    assert_eq!(derived(&app), before);
}
