//! All features together: windows, moments, differences, focus, inverted and folded trees, and numbers per call, while
//! the program resets, ends and restarts.

use std::rc::Rc;

use proptest::prelude::*;
use ratatui::layout::Size;
use tickscope_format::Snapshot;
use tickscope_format::ids::{NodeId, SiteId};
use tickscope_programs::events::{Events, Outcome, Request, Target};
use tickscope_programs::status::Status;

use crate::app::data::Data;
use crate::app::message::{Effect, Message};
use crate::app::state::{App, Overlay};
use crate::app::view::View;
use crate::cli::args::look::ThemeKind;
use crate::keys::decoder::Code;
use crate::orderbook;
use crate::test_driver::{self, at, empty, key, keys};
use crate::ui::view::invariants::{SIZES, codes, statuses};

/// Keys of the features that must work together. Other keys are pressed less often.
const KEYS: &[u8] = b"wwmm''bbffFFiiccaEEHxx%%,,,..{}LLpp123456jjkklhJKGgtU#I<>\\nrusMz ";

#[derive(Clone, Debug)]
enum Deed {
    Key(Code),
    Letter(u8),
    /// A new snapshot, this many tenths of a second later. The second number is its shape: see [`Program::snapshot`].
    Snapshot(u64, u8),
    Reset,
    /// The program restarts. If true, the feed reports the restart and follows the new run.
    Restart(bool),
    Wait(u64),
    Status(usize),
    Click(u16, u16),
    Drag(u16, u16),
    Wheel(isize),
    Resize(u16, u16),
    /// The program answers all pending requests: with success if true, otherwise with an error.
    Answer(bool),
    Looks,
}

fn deed() -> impl Strategy<Value = Deed> {
    let mut codes = codes();
    codes.extend("bok☃\u{202e}".chars().map(Code::Char));
    codes.extend([Code::Backspace, Code::Delete, Code::Other]);
    prop_oneof![
        12 => proptest::sample::select(KEYS.to_vec()).prop_map(Deed::Letter),
        2 => proptest::sample::select(codes).prop_map(Deed::Key),
        7 => (0u64..40, any::<u8>()).prop_map(|(tenths, shape)| Deed::Snapshot(tenths, shape)),
        1 => Just(Deed::Reset),
        1 => any::<bool>().prop_map(Deed::Restart),
        1 => (0u64..5_000).prop_map(Deed::Wait),
        1 => (0usize..7).prop_map(Deed::Status),
        1 => (0u16..150, 0u16..50).prop_map(|(x, y)| Deed::Click(x, y)),
        1 => (0u16..150, 0u16..50).prop_map(|(x, y)| Deed::Drag(x, y)),
        1 => (-5isize..5).prop_map(Deed::Wheel),
        1 => prop_oneof![
            (0u16..=130, 0u16..=40),
            proptest::sample::select(SIZES.to_vec()),
        ].prop_map(|(w, h)| Deed::Resize(w, h)),
        1 => any::<bool>().prop_map(Deed::Answer),
        1 => Just(Deed::Looks),
    ]
}

/// A simulated program, and the requests that it has not answered yet.
struct Program {
    pid: u32,
    tenths: u64,
    reset_at: u64,
    epoch: u64,
    started: u64,
    asked: Vec<Request>,
    now_ms: u64,
}

impl Program {
    fn snapshot(&self, shape: u8) -> Snapshot {
        let since = self.tenths - self.reset_at;
        let mut s = orderbook::snapshot(since);
        s.process.pid = self.pid;
        s.process.started_unix_ns += self.started * 100_000_000;
        s.process.uptime_ns = (self.tenths - self.started) * 100_000_000;
        s.capture.unix_ns = orderbook::STARTED_UNIX_NS + self.tenths * 100_000_000;
        s.capture.seq = self.tenths - self.started + 1;
        s.capture.reset_epoch = self.epoch;
        // Bits of the shape: 1 adds recursive calls below the last row of `main`, 2 renames a function, 4 ends a
        // thread, 8 changes all thread ids, 16 and 32 together remove threads, 64 switches sites off, and 64 and 128
        // together add another viewer.
        if shape & 1 != 0 {
            let ms = |ms: u64| ms * 1_000_000 * since / 1_340;
            let publish = NodeId(s.nodes.len() as u32 - 1);
            let insert = s.nodes.push(Some(publish), SiteId(3), since, ms(2_000));
            let cancel = s.nodes.push(Some(insert), SiteId(6), since, ms(1_000));
            let again = s.nodes.push(Some(cancel), SiteId(3), since, ms(500));
            let more = s.nodes.push(Some(again), SiteId(3), since, ms(700));
            let _ = s.nodes.push(Some(more), SiteId(6), since * 2, ms(250));
            s.threads.last_mut().unwrap().rows += 5;
        }
        if shape & 2 != 0 {
            s.sites[11].name = "crc32".into();
        }
        if shape & 4 != 0 {
            s.threads[0].tid = 0;
            s.threads[0].open.clear();
        }
        if shape & 8 != 0 {
            for thread in &mut s.threads {
                thread.tid += 7;
            }
        }
        if shape & 48 == 48 {
            // All threads but the first are removed.
            s.threads.truncate(1);
            let rows = s.threads[0].rows as usize;
            s.nodes.parent.truncate(rows);
            s.nodes.site.truncate(rows);
            s.nodes.calls.truncate(rows);
            s.nodes.self_ticks.truncate(rows);
            s.latencies = Default::default();
        }
        s.sites[1].name = "gr\u{f6}\u{df}e\u{2603}\u{1b}[2J".into();
        s.threads[0].name = "f\u{e4}den\u{202e}".into();
        if shape & 64 != 0 {
            s.measuring.off_sites = vec![SiteId(10), SiteId(11)];
        }
        if shape & 192 == 192 {
            s.capture.viewers = 2;
        }
        for thread in &mut s.threads {
            thread.cpu_ns = Some(s.capture.since_reset_ns / 2);
        }
        s
    }

    fn events(&self, shape: u8) -> Events {
        Events {
            target: Some(Target {
                name: "orderbook-sim".into(),
                pid: self.pid,
                path: format!("{}.ring", self.pid).into(),
            }),
            snapshot: Some(Rc::new(self.snapshot(shape))),
            ..Events::quiet(Status::Live)
        }
    }

    fn hear(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Effect::Send(request) = effect {
                self.asked.push(request);
            }
        }
    }

    fn carry_out(&mut self, app: &mut App, deed: &Deed) {
        let effects = match *deed {
            Deed::Key(code) => key(app, code),
            Deed::Letter(letter) => {
                // While a search is being typed, the letter would become part of its text.
                if matches!(app.overlay, Some(Overlay::Search)) {
                    key(app, Code::Esc);
                }
                let effects = key(app, Code::Char(char::from(letter)));
                if app.has_popup() {
                    keys(app, if letter % 2 == 0 { "j" } else { "jj" });
                    key(app, if letter % 3 == 0 { Code::Esc } else { Code::Enter });
                    key(app, Code::Esc);
                }
                effects
            }
            Deed::Snapshot(tenths, shape) => {
                self.tenths += tenths;
                app.update(Message::Events(Box::new(self.events(shape))))
            }
            Deed::Reset => {
                self.epoch += 1;
                self.reset_at = self.tenths;
                self.tenths += 1;
                app.update(Message::Events(Box::new(self.events(0))))
            }
            Deed::Restart(followed) => {
                let old = self.pid;
                self.pid += 1;
                self.tenths += 1;
                self.started = self.tenths;
                self.reset_at = self.tenths;
                self.tenths += 3;
                self.epoch = 1;
                self.asked.clear();
                let mut events = self.events(1);
                events.new_run = followed.then_some((old, self.pid));
                app.update(Message::Events(Box::new(events)))
            }
            Deed::Wait(ms) => {
                self.now_ms += ms;
                at(app, self.now_ms);
                Vec::new()
            }
            Deed::Status(which) => {
                let all = statuses();
                let status = all[which % all.len()].clone();
                app.update(Message::Events(Box::new(Events::quiet(status))))
            }
            Deed::Click(x, y) => app.update(Message::Click(x, y)),
            Deed::Drag(x, y) => app.update(Message::Drag(x, y)),
            Deed::Wheel(rows) => app.update(Message::Wheel(rows, 5, 20)),
            Deed::Resize(width, height) => app.update(Message::Resize(Size::new(width, height))),
            Deed::Answer(good) => {
                let outcomes = std::mem::take(&mut self.asked).into_iter().map(|request| {
                    let result = if good {
                        Ok(self.epoch)
                    } else {
                        Err("for no reason".into())
                    };
                    Outcome::new(request, result)
                });
                let outcomes = outcomes.collect();
                app.update(Message::Events(Box::new(Events {
                    outcomes,
                    ..Events::quiet(Status::Live)
                })))
            }
            Deed::Looks => {
                app.screen.theme = match app.screen.theme {
                    ThemeKind::Mono => ThemeKind::Sixteen,
                    ThemeKind::Sixteen | ThemeKind::Light | ThemeKind::Cvd => ThemeKind::Mono,
                };
                Vec::new()
            }
        };
        self.hear(effects);
    }
}

/// Checks that each row's total is the sum of its self time and its children's totals, at both moments of a comparison,
/// and also for the differences that the rows show.
fn sums_hold(data: &Data) -> Result<(), TestCaseError> {
    for data in [Some(data), data.then.as_deref()].into_iter().flatten() {
        for row in 0..data.tree.rows.len() as u32 {
            let whole = data.figures(View::Tree.row(row));
            let children = data.tree.children(row).iter();
            let below: u64 = children
                .map(|&child| data.figures(View::Tree.row(child)).total_ns)
                .sum();
            prop_assert_eq!(whole.self_ns + below, whole.total_ns, "row {}", row);
        }
        let top: u64 = data
            .tree
            .top()
            .iter()
            .map(|&row| data.tree.rows[row as usize].total_ns)
            .sum();
        prop_assert_eq!(top, data.measured_ns);
    }
    let Some(then) = data.then.as_deref() else {
        return Ok(());
    };
    // Both moments have the same rows.
    prop_assert_eq!(data.tree.rows.len(), then.tree.rows.len());
    let change = |row: u32| {
        let now = data.figures(View::Tree.row(row));
        let then = data
            .counterpart(View::Tree.row(row))
            .map(|(then, there)| then.figures(there))
            .unwrap_or_default();
        (
            i128::from(now.total_ns) - i128::from(then.total_ns),
            i128::from(now.self_ns) - i128::from(then.self_ns),
        )
    };
    for row in 0..data.tree.rows.len() as u32 {
        let below: i128 = data.tree.children(row).iter().map(|&child| change(child).0).sum();
        let (total, own) = change(row);
        prop_assert_eq!(own + below, total, "difference in row {}", row);
    }
    Ok(())
}

/// Checks that a function's total counts the time of nested calls only once, and that no part is larger than its whole.
fn parts_are_parts(app: &App, data: &Data) -> Result<(), TestCaseError> {
    let calls = &data.calls().rows;
    for (at, hot) in data.hot().iter().enumerate() {
        let outermost = (0..calls.len())
            .filter(|&row| calls[row].function == hot.function)
            .filter(|&row| {
                let mut above = calls[row].parent;
                while let Some(up) = above {
                    if calls[up as usize].function == hot.function {
                        return false;
                    }
                    above = calls[up as usize].parent;
                }
                true
            });
        let total: u64 = outermost.map(|row| calls[row].total_ns).sum();
        prop_assert_eq!(hot.total_ns, total, "hot row {}", at);
    }
    if let Some(around) = &data.around {
        let of = |lines: std::ops::Range<u32>| -> u64 {
            lines
                .map(|line| data.figures(View::Function.row(line)).total_ns)
                .sum()
        };
        prop_assert_eq!(of(around.callers()), around.neighbours.figures.total_ns);
        prop_assert_eq!(
            of(around.own()..around.own() + 1) + of(around.callees()),
            around.neighbours.figures.total_ns
        );
    }
    for row in &app.list().rows {
        let figures = data.figures(row.what);
        let whole = data.whole_ns(row.what, app.percent_of());
        // The Threads view lists all threads even if one is chosen, and rows of the Sites view have no time.
        let listed = !matches!(row.what.of, View::Sites | View::Threads) && !row.is_heading();
        prop_assert!(
            !listed || figures.total_ns.max(figures.self_ns) <= whole,
            "{:?}: {:?} of {}",
            row.id,
            figures,
            whole
        );
        let (total, own) = app.shares(data, row.what);
        prop_assert!((0.0..=1.0).contains(&total) && (0.0..=1.0).contains(&own));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_is_put_together_adds_up_and_stays_where_it_is(
        size in proptest::sample::select(vec![(120, 30), (80, 24), (60, 15), (160, 50), (33, 9)]),
        shown in proptest::sample::select(View::ALL.to_vec()),
        (file, ascii) in (0u8..4, any::<bool>()),
        deeds in proptest::collection::vec(deed(), 1..120),
    ) {
        let mut app = empty(size.0, size.1);
        app.screen.ascii = ascii;
        let mut program = Program {
            pid: 41_873, tenths: 1_000, reset_at: 0, epoch: 1, started: 0, asked: Vec::new(), now_ms: 0,
        };
        if file == 0 {
            let mut other = orderbook::snapshot(700);
            other.process.pid = 7;
            other.sites[5].name = "gone".into();
            app.compare_with(Rc::new(other), "before.tks".into());
        }
        app.update(Message::Events(Box::new(program.events(0))));
        test_driver::show(&mut app, shown);
        for (step, deed) in deeds.iter().enumerate() {
            if let Deed::Snapshot(tenths, _) = deed {
                program.now_ms += tenths * 100;
                at(&mut app, program.now_ms);
            }
            let wanted = app.list().selected().map(|row| row.id)
                .filter(|id| app.list().cursor.touched && app.list().cursor.want.last() == Some(id));
            let line = test_driver::line_or_none(&app);
            let per = app.data().and_then(|data| data.per_calls);
            let thread = app.data().and_then(|data| data.thread);
            let (view, popup) = (app.views.current, app.has_popup());
            program.carry_out(&mut app, deed);
            let screen = test_driver::text(&app);
            at(&mut app, program.now_ms);
            let due = app.deadline().map(|due| due.as_millis() as u64);
            prop_assert!(due.is_none_or(|due| due > program.now_ms), "step {}: would spin", step);
            prop_assert!(!app.screen.ascii || screen.is_ascii(), "step {}:\n{}", step, screen);
            prop_assert!(!screen.contains("NaN") && !screen.contains("inf%"), "step {}:\n{}", step, screen);
            let list = app.list();
            let page = usize::from(app.layout().rows.height).max(1);
            prop_assert!(list.rows.is_empty() || list.cursor.index < list.rows.len());
            prop_assert!(list.cursor.offset <= list.cursor.index && list.cursor.index < list.cursor.offset + page);
            if let Some(data) = &app.derived.data {
                sums_hold(data)?;
                parts_are_parts(&app, data)?;
                if matches!(deed, Deed::Snapshot(..) | Deed::Reset)
                    && let Some(id) = wanted
                    && let Some(found) = list.rows.iter().position(|row| row.id == id)
                {
                    prop_assert_eq!(list.selected().map(|row| row.id), Some(id), "step {}: another row", step);
                    let line = line.unwrap_or(0);
                    let first = found.checked_sub(line);
                    let possible = first.is_some_and(|first| first + page <= list.rows.len() || first == 0);
                    if possible && view != View::Flame && line < page {
                        prop_assert_eq!(found - list.cursor.offset, line, "step {}: another line", step);
                    }
                }
                // These keys change how a view shows its rows, but must not change the divisor of numbers per call. The
                // keys for Slow and Timeline are left out, because those views cover all threads.
                if matches!(deed, Deed::Letter(b'f' | b'F' | b'i' | b'c' | b'E' | b'H' | b'%' | b'1'..=b'6'))
                    && !popup && app.query.per_call.is_some() && !app.has_popup() && data.thread == thread
                {
                    prop_assert_eq!(data.per_calls, per, "step {}", step);
                }
                if let Deed::Letter(end @ (b'{' | b'}')) = deed
                    && !popup && !app.has_popup()
                    && let (Some(shown), Some(newest)) = (app.shown(), &app.program.newest)
                    && shown.process.pid == newest.process.pid
                {
                    let oldest = app.playback.past.history.times().next();
                    let wanted = if *end == b'{' { oldest.unwrap_or(newest.capture.unix_ns) } else { newest.capture.unix_ns };
                    prop_assert_eq!(shown.capture.unix_ns, wanted, "step {}", step);
                }
                if matches!(deed, Deed::Letter(b'L')) && !popup && !app.has_popup() && app.shown().is_some() {
                    prop_assert!(!app.playback.stands_still(), "step {}", step);
                    let both = app.shown().zip(app.program.newest.as_ref());
                    prop_assert!(both.is_some_and(|(shown, newest)| Rc::ptr_eq(shown, newest)), "step {}", step);
                }
            }
        }
    }
}
