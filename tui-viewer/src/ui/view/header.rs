//! The first line: the program, its state, and how far its numbers can be trusted.

use ratatui::layout::Rect;
use tickscope_format::Snapshot;
use tickscope_format::snapshot::{Mode, Process, Thread, ThreadState};
use tickscope_programs::clock_time::running;
use tickscope_programs::events::Processes;
use tickscope_programs::status::Status;
use tickscope_report::number;

use crate::app::requests::{rate_hz, words_of};
use crate::app::state::App;
use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::tabs;

/// Minimum width at which words are written in full.
const WORDY: u16 = 100;

/// Minimum width at which the cost of measuring is shown as a range.
const RANGES: u16 = 80;

/// Maximum number of cells for the name of the thread that the user has chosen.
const LONGEST_ONLY: usize = 20;

struct Part {
    text: String,
    meaning: Meaning,
    /// Parts with the highest rank are left out first; a part of rank 0 is never left out.
    rank: u8,
    /// Cells before the part.
    gap: usize,
}

fn part(text: impl Into<String>, meaning: Meaning, rank: u8, gap: usize) -> Part {
    Part {
        text: text.into(),
        meaning,
        rank,
        gap,
    }
}

pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
    let wordy = area.width >= WORDY;
    let mut left = Vec::new();
    if wordy || app.shown().is_none() {
        left.push(part("tickscope", Meaning::Quiet, 9, 0));
    }
    let snapshot = app.shown().map(|shown| &**shown);
    who(canvas, app, snapshot.map(|s| &s.process), wordy, &mut left);
    state(canvas, app, wordy, &mut left);
    let mut right = Vec::new();
    if let Some(snapshot) = snapshot {
        if app.layout().tabs.is_none() || area.width < tabs::NAMES_THREAD {
            let only = tabs::only(canvas, app, LONGEST_ONLY);
            left.extend(only.map(|only| part(only, Meaning::Notable, 1, 1)));
        }
        let gap = if wordy { 3 } else { 1 };
        if let Some(mode) = mode(snapshot, area.width) {
            // The usual mode says little, so it is one of the first parts to be left out. Any other mode is one of the
            // last.
            let (meaning, rank) = match snapshot.capture.mode == Mode::USUAL {
                true => (Meaning::Plain, 7),
                false => (Meaning::Notable, 1),
            };
            left.push(part(mode, meaning, rank, gap));
        }
        let off = snapshot.measuring.off_sites.len();
        if off > 0 {
            // Sites that are switched off explain why some counts do not grow.
            let text = match (wordy, snapshot.over_budget().is_empty()) {
                (true, false) => format!("{off} off for --budget"),
                (true, true) => format!("{off} {} off", if off == 1 { "site" } else { "sites" }),
                (false, _) => format!("{off} off"),
            };
            left.push(part(text, Meaning::Notable, 1, gap));
        }
        if app.layout().tabs.is_none() {
            for label in app.time_labels() {
                left.push(part(canvas.safe(&label), Meaning::Notable, 1, 1));
            }
        }
        if app.layout().tabs.is_none() || area.width < tabs::WORDY {
            for words in app.unit_words(false) {
                left.push(part(words, Meaning::Notable, 1, 1));
            }
        }
        let since = running(snapshot.capture.since_reset_ns);
        let since = match (wordy, snapshot.window) {
            (true, true) => format!("window {since}"),
            (true, false) => format!("since reset {since}"),
            (false, _) => since,
        };
        left.push(part(since, Meaning::Plain, 2, if wordy { 3 } else { 2 }));
        facts(canvas, app, snapshot, wordy, &mut right);
    }
    fit(&mut left, &mut right, usize::from(area.width).saturating_sub(2));
    put(canvas, &left, area.x + 1, area.y);
    let begin = area.right().saturating_sub(1 + cells(&right) as u16);
    put(canvas, &right, begin, area.y);
}

fn put(canvas: &mut Canvas<'_>, parts: &[Part], mut x: u16, y: u16) {
    for (index, part) in parts.iter().enumerate() {
        let gap = if index == 0 { 0 } else { part.gap as u16 };
        x = canvas.put(x + gap, y, u16::MAX, &part.text, part.meaning);
    }
}

fn who(canvas: &Canvas<'_>, app: &App, process: Option<&Process>, wordy: bool, left: &mut Vec<Part>) {
    let target = app.program.target.as_ref();
    let target = target.map(|target| (&target.name, target.pid));
    let process_id = process.map(|process| (&process.name, process.pid));
    let Some((name, pid)) = process_id.or(target) else {
        return;
    };
    // The name is shortened so that the word for the state fits.
    let most = match wordy {
        true => 30,
        false => usize::from(app.screen.size.width.saturating_sub(12)).min(20),
    };
    let name = canvas.safe(name);
    let name = canvas.cut_middle(&name, most);
    let lead = if left.is_empty() { 0 } else { 2 };
    left.push(part(name, Meaning::Strong, 0, lead));
    let gap = if wordy { 2 } else { 1 };
    if let Some(processes) = app.program.processes {
        return left.push(part(processes_text(processes, wordy), Meaning::Plain, 1, gap));
    }
    // A file with the sum of several processes has no process id.
    if pid == 0 {
        return;
    }
    let word = if wordy { "pid " } else { "" };
    left.push(part(format!("{word}{pid}"), Meaning::Plain, 4, gap));
    let copies = process.map_or(&[][..], |process| &process.copies);
    if !copies.is_empty() {
        let names = copies.iter().map(|file| file.rsplit('/').next().unwrap_or(file));
        let beside = format!("beside {}", names.collect::<Vec<_>>().join(", "));
        let beside = canvas.safe(&beside);
        left.push(part(canvas.cut_end(&beside, most), Meaning::Notable, 3, gap));
    }
}

/// Formats the number of processes, with words if `wordy`.
fn processes_text(processes: Processes, wordy: bool) -> String {
    let Processes {
        running,
        ended,
        unread,
    } = processes;
    let of = |count: usize, words: &str, short: char| match (count, wordy) {
        (0, _) => String::new(),
        (count, true) => format!(", {count} {words}"),
        (count, false) => format!("{short}{count}"),
    };
    let running = match (running, wordy) {
        (1, true) => "1 process".to_string(),
        (running, true) => format!("{running} processes"),
        (running, false) => running.to_string(),
    };
    running + &of(ended, "ended", '+') + &of(unread, "unreadable", '!')
}

fn state(canvas: &Canvas<'_>, app: &App, wordy: bool, left: &mut Vec<Part>) {
    let (word, mark) = app.face();
    let gap = match (left.is_empty(), wordy) {
        (true, _) => 0,
        (false, true) => 3,
        (false, false) => 1,
    };
    let state = format!("{} {word}", canvas.glyphs.mark(mark));
    left.push(part(state, Meaning::of(mark), 0, gap));
    if let Some(pending) = app.requests.pending {
        let [word, _] = words_of(pending.request);
        let word = format!("{word}{}", canvas.glyphs.cut);
        left.push(part(word, Meaning::Notable, 0, 1));
    } else if let Some(time) = app.face_time() {
        // For a moment in the past, the time of day matters more than how long the program had been counting.
        let rank = if app.playback.is_past() { 1 } else { 5 };
        left.push(part(time, Meaning::Plain, rank, 1));
    } else if let (Status::Live, Some(shown)) = (&app.program.status, app.shown()) {
        left.push(part(format!("{} Hz", rate_hz(shown)), Meaning::Plain, 5, 1));
    }
}

/// Returns the text for the measuring mode; `None` for the usual mode on narrow screens.
fn mode(snapshot: &Snapshot, width: u16) -> Option<String> {
    let mode = snapshot.capture.mode;
    let name = mode.as_str();
    if mode == Mode::USUAL && width < WORDY {
        return None;
    }
    if mode.is_sampling() && width >= 80 {
        let hz = snapshot.measuring.sampling_hz.round() as u64;
        return Some(format!("{name} {hz} Hz"));
    }
    if !mode.traits().is_counting && width >= WORDY {
        return Some("measuring off".into());
    }
    Some(name.into())
}

fn facts(canvas: &Canvas<'_>, app: &App, snapshot: &Snapshot, wordy: bool, right: &mut Vec<Part>) {
    let gap = if wordy { 2 } else { 1 };
    // Threads that have ended are not counted, unless the program has ended too.
    let is_live = |thread: &&Thread| thread.state != ThreadState::Finished;
    let live = snapshot.threads.iter().filter(is_live).count() as u64;
    let ever = snapshot.threads.iter().map(|thread| thread.count.max(1)).sum();
    let chosen = app.data().and_then(|data| data.thread);
    let chosen = chosen.and_then(|id| snapshot.threads.get(id.0 as usize));
    // If the chosen thread has ended, ended threads are counted too, so that the number includes it.
    let threads = match live {
        0 => ever,
        _ if chosen.is_some_and(|thread| !is_live(&thread)) => ever,
        live => live,
    };
    let threads = counted(threads, "thread");
    let threads = match chosen {
        Some(thread) => format!("{} of {threads}", number::count(thread.count.max(1))),
        None => threads,
    };
    right.push(part(threads, Meaning::Quiet, 7, gap));
    let data = app.data();
    if let Some(load) = data.and_then(|data| data.cpu_history.load()) {
        if let Some(cpus) = load.cpus {
            right.push(part(format!("CPU {:.0}%", 100.0 * cpus), Meaning::Plain, 3, gap));
        }
        let calls = number::count(load.calls_per_second.round() as u64);
        right.push(part(format!("{calls} calls/s"), Meaning::Plain, 8, gap));
    }
    let (low, high) = snapshot.cost_share();
    let cost = if snapshot.may_cost_more() {
        // The cost may be even higher than the upper end of the range, so only the lower end is a bound.
        format!("{}{}", canvas.glyphs.at_least, number::percent(low))
    } else if app.screen.size.width >= RANGES {
        cost_text(low, high, canvas.glyphs.to)
    } else {
        // The short form is the upper bound, so that the cost does not look too low.
        format!("{}{}", canvas.glyphs.at_most, number::percent(high))
    };
    if low > 0.05 {
        right.push(part(format!("cost {cost}!"), Meaning::Alarm, 2, gap));
    } else {
        right.push(part(format!("cost {cost}"), Meaning::Plain, 6, gap));
    }
    // Losses of 0 are not shown.
    let losses = snapshot.capture.losses.iter();
    let losses = losses.map(|loss| (if wordy { loss.name } else { loss.short }, loss.value));
    let clock = if wordy { "clock errors" } else { "clock" };
    let others = [
        ("pruned", snapshot.capture.pruned),
        ("lapped", app.program.lapped),
        (clock, snapshot.clock.errors),
    ];
    for (word, count) in losses.chain(others).filter(|&(_, count)| count > 0) {
        let text = format!("{word} {}!", number::count(count));
        right.push(part(text, Meaning::Alarm, 1, gap));
    }
}

/// Formats a range as `0.3–0.9%`, or as one number if both ends have the same text.
fn cost_text(low: f64, high: f64, to: &str) -> String {
    let (low, high) = (number::percent(low), number::percent(high));
    if low == high {
        high
    } else {
        format!("{}{to}{high}", low.trim_end_matches('%'))
    }
}

fn counted(n: u64, word: &str) -> String {
    format!("{} {word}{}", number::count(n), if n == 1 { "" } else { "s" })
}

fn cells(parts: &[Part]) -> usize {
    parts
        .iter()
        .enumerate()
        .map(|(i, part)| width(&part.text) + if i == 0 { 0 } else { part.gap })
        .sum()
}

/// Leaves out parts, those with the highest rank first, until the rest fits. If warnings are left out, a part such as
/// `+2!` shows how many.
fn fit(left: &mut Vec<Part>, right: &mut Vec<Part>, room: usize) {
    let alarms = |parts: &[Part]| parts.iter().filter(|part| part.meaning == Meaning::Alarm).count();
    let all = alarms(right);
    leave_out(left, right, room);
    let left_out = all - alarms(right);
    if left_out > 0 {
        right.push(part(format!("+{left_out}!"), Meaning::Alarm, 0, 1));
        leave_out(left, right, room);
        // To make room for the sign, further warnings may have been left out.
        let hidden = all + 1 - alarms(right);
        if let Some(sign) = right.last_mut() {
            sign.text = format!("+{hidden}!");
        }
    }
}

fn leave_out(left: &mut Vec<Part>, right: &mut Vec<Part>, room: usize) {
    while cells(left) + cells(right) + 2 > room {
        let ranks = left.iter().chain(right.iter()).map(|part| part.rank);
        let highest = ranks.max().unwrap_or(0);
        if highest == 0 {
            return;
        }
        for parts in [&mut *right, &mut *left] {
            if let Some(index) = parts.iter().rposition(|part| part.rank == highest) {
                parts.remove(index);
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tickscope_programs::events::Events;
    use tickscope_testkit::orderbook;

    use super::*;
    use crate::app::message::Message;
    use crate::test_driver;

    #[test]
    fn a_warning_is_not_left_out_without_a_sign() {
        let alarm = |text: &str, rank: u8| part(text, Meaning::Alarm, rank, 1);
        for room in 12..60 {
            let mut left = vec![part("program", Meaning::Strong, 0, 0)];
            let mut right = vec![
                alarm("cost 12%!", 2),
                alarm("drop 3!", 1),
                part("15 nodes", Meaning::Quiet, 8, 1),
                alarm("clock 4!", 1),
            ];
            fit(&mut left, &mut right, room);
            assert!(cells(&left) + cells(&right) + 2 <= room.max(14), "{room}");
            let told: Vec<&str> = right.iter().map(|part| part.text.as_str()).collect();
            let shown = told
                .iter()
                .filter(|text| text.ends_with('!') && !text.starts_with('+'))
                .count();
            match 3 - shown {
                0 => assert!(told.iter().all(|text| !text.starts_with('+')), "{told:?}"),
                hidden => assert_eq!(told.last(), Some(&format!("+{hidden}!").as_str()), "{room}"),
            }
        }
    }

    #[test]
    fn other_copies_of_the_collector_are_named() {
        for (width, wanted) in [
            (200, "pid 41873  beside libplugin.so, app  "),
            (80, " beside libplug"),
        ] {
            let mut app = test_driver::empty(width, 30);
            let mut snapshot = orderbook::snapshot(20);
            snapshot.process.copies = ["/usr/lib/libplugin.so", "/usr/bin/app"].map(String::from).into();
            test_driver::events(&mut app, Status::Live, Some(snapshot));
            let text = test_driver::text(&app);
            let header = text.lines().next().unwrap();
            assert!(header.contains(wanted), "{header}");
        }
    }

    #[test]
    fn processes_that_are_shown_together_are_counted() {
        for (width, wanted) in [(200, "  4 processes, 2 ended, 1 unreadable  "), (80, " 4+2!1 ")] {
            let mut app = test_driver::live(width, 30);
            app.update(Message::Events(Box::new(Events {
                processes: Some(Processes {
                    running: 4,
                    ended: 2,
                    unread: 1,
                }),
                ..Events::quiet(Status::Live)
            })));
            let text = test_driver::text(&app);
            let header = text.lines().next().unwrap();
            assert!(header.contains(wanted) && !header.contains("pid"), "{header}");
        }
    }

    #[test]
    fn reads_that_were_done_again_are_counted() {
        let mut app = test_driver::live(200, 30);
        assert!(!test_driver::text(&app).contains("lapped"));
        app.update(Message::Events(Box::new(Events {
            lapped: 3,
            ..Events::quiet(Status::Live)
        })));
        assert!(
            test_driver::text(&app).contains("lapped 3!"),
            "{}",
            test_driver::text(&app)
        );
    }
}
