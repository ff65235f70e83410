//! Promises that hold in every view, at every size, in every theme, whatever the program is called.

use std::ops::Range;

use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Size;
use ratatui::style::{Color, Modifier};
use tickscope_format::Snapshot;
use tickscope_format::snapshot::ThreadState;

use crate::action::KEYS;
use crate::cells::{safe, width};
use crate::keyboard::Code;
use crate::model::Model;
use crate::model::message::Message;
use crate::model::view::View;
use crate::orderbook;
use crate::stage::{self, at, key, keys, live, news, show, text};
use crate::status::Status;
use crate::theme::ThemeKind;
use crate::view::golden::waiting;
use crate::view::pen::PUTS;

const UNIX_NS: u64 = orderbook::STARTED_UNIX_NS + 131_000_000_000;

/// Sizes at which people work, and some at which a layout ends.
const SIZES: [(u16, u16); 9] = [
    (60, 15),
    (80, 24),
    (120, 30),
    (300, 100),
    (1, 1),
    (20, 100),
    (300, 5),
    (59, 19),
    (100, 20),
];

/// What is typed to put something on top of a view, or to set it in another way.
const ON_TOP: [&str; 10] = ["", "?", "a", "/book", "%", "p", "x", ":", "i", "r"];

/// Every status there is.
fn statuses() -> [Status; 7] {
    let why = "for no reason".to_string();
    [
        Status::Live,
        Status::Waiting { why: why.clone() },
        Status::Stale {
            since_unix_ns: UNIX_NS,
        },
        Status::Exited { unix_ns: UNIX_NS },
        Status::Crashed { unix_ns: None },
        Status::Kept,
        Status::Broken { why },
    ]
}

/// All keys that mean something somewhere, each once.
fn codes() -> Vec<Code> {
    let mut codes: Vec<Code> = Vec::new();
    for &(code, _) in KEYS.iter().flat_map(|line| line.keys) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes
}

/// A view with something on top, as people get there.
fn staged(view: View, typed: &str, (width, height): (u16, u16)) -> Model {
    let mut model = live(width, height);
    let mut watched = orderbook::snapshot(1_341);
    watched.capture.viewers = 3;
    news(&mut model, Status::Live, Some(watched));
    keys(&mut model, "jjj");
    show(&mut model, view);
    keys(&mut model, typed);
    model
}

fn resize(model: &mut Model, (width, height): (u16, u16)) {
    model.update(Message::Resize(Size::new(width, height)));
}

#[test]
fn every_size_draws_every_view_with_whatever_is_on_top() {
    let small = (0..=40).flat_map(|width| (0..=12).map(move |height| (width, height)));
    let sizes: Vec<_> = small.chain(SIZES).collect();
    for view in View::ALL {
        for typed in ON_TOP {
            let mut model = staged(view, typed, (80, 24));
            for &size in &sizes {
                resize(&mut model, size);
                stage::screen(&model);
            }
        }
    }
    for live in [true, false] {
        for &(width, height) in &sizes {
            stage::screen(&waiting(width, height, live));
        }
    }
}

#[test]
fn every_key_in_every_view_leaves_a_screen() {
    for view in View::ALL {
        for size in [(120, 30), (60, 15), (39, 9), (20, 5)] {
            for code in codes() {
                let mut model = staged(view, "", size);
                key(&mut model, code);
                stage::screen(&model);
                key(&mut model, Code::Esc);
                stage::screen(&model);
            }
        }
    }
}

/// Where the numbers of a table end: titles that end above the last digit of every row, with nothing behind it.
fn columns(model: &Model) -> Vec<Range<usize>> {
    let screen = lines(model);
    let layout = model.layout();
    let Some(titles) = screen.get(usize::from(layout.columns.y)) else {
        return Vec::new();
    };
    let rows = rows(model, &screen);
    let mut columns = Vec::new();
    let mut begin = 0;
    for end in 1..titles.len() {
        let is_end = titles[end - 1] != ' ' && titles[end] == ' ';
        let number = |row: &&Vec<char>| row[end - 1] != ' ' && row[end] == ' ';
        if is_end && !rows.is_empty() && rows.iter().all(number) {
            columns.push(begin..end);
        }
        if is_end {
            begin = end + 1;
        }
    }
    columns
}

/// The screen as lines of cells, each as long as the screen is wide.
fn lines(model: &Model) -> Vec<Vec<char>> {
    let buffer = stage::screen(model);
    let area = buffer.area;
    let first = |x, y| buffer[(x, y)].symbol().chars().next().unwrap_or(' ');
    (0..area.height)
        .map(|y| (0..area.width).map(|x| first(x, y)).collect())
        .collect()
}

/// The lines of the list that are in use.
fn rows<'a>(model: &Model, screen: &'a [Vec<char>]) -> Vec<&'a Vec<char>> {
    let area = model.layout().rows;
    let lines = screen.iter().skip(area.y.into()).take(area.height.into());
    lines.take_while(|line| line.iter().any(|&c| c != ' ')).collect()
}

#[test]
fn columns_stand_still_over_a_thousand_snapshots() {
    for view in View::ALL {
        for (size, snapshots) in [((120, 30), 1_000), ((80, 24), 200), ((60, 15), 200)] {
            let mut model = live(size.0, size.1);
            show(&mut model, view);
            let titles = lines(&model).swap_remove(model.layout().columns.y.into());
            let columns = columns(&model);
            if matches!(view, View::Tree | View::Hot) {
                assert!(columns.len() >= 3, "{view:?} at {size:?}");
            }
            let mut random = 1u64;
            for n in 0..snapshots {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                // From a tenth of a second to a century, as likely short as long.
                let tenths = (random >> 8) % 10u64.pow(1 + (random >> 40) as u32 % 10);
                at(&mut model, 3_000 * (n + 1));
                news(&mut model, Status::Live, Some(orderbook::snapshot(tenths + 1)));
                let screen = lines(&model);
                assert_eq!(screen[usize::from(model.layout().columns.y)], titles, "{view:?}");
                for row in rows(&model, &screen) {
                    for column in &columns {
                        let line: String = row.iter().collect();
                        let (last, behind) = (row[column.end - 1], row[column.end]);
                        assert!(last != ' ' && behind == ' ', "{view:?} at {}\n{line}", column.end);
                    }
                }
            }
        }
    }
}

/// Names that would clear the screen, turn a line round, or take more or fewer cells than they have letters.
const ODD: [&str; 10] = [
    "a\u{1b}[2Jb",
    "x\u{202e}y",
    "漢字の関数",
    "z\u{200b}\u{301}w",
    "ש\u{5dc}ום",
    "tab\there\nnewline",
    "👩\u{200d}👩\u{200d}👧 👍🏽 🇩🇪",
    "ｆｕｌｌ",
    "\u{feff}\u{ad}\u{0}\u{7f}\u{9b}31m",
    "क्षि เก้า 각",
];

fn oddly_named() -> Snapshot {
    let mut odd = orderbook::snapshot(1_341);
    for (index, site) in odd.sites.iter_mut().enumerate() {
        let name = |at: usize| ODD[(index + at) % ODD.len()].to_string();
        (site.name, site.module, site.file, site.group) =
            (name(0), name(1 + index / ODD.len()), name(2), name(3));
    }
    for (index, thread) in odd.threads.iter_mut().enumerate() {
        thread.name = ODD[index % ODD.len()].into();
    }
    odd.process.name = ODD[0].into();
    odd
}

/// No cell holds anything that moves the cursor, and the next one is left free by what is two cells wide.
fn assert_harmless(buffer: &Buffer) {
    for y in 0..buffer.area.height {
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            assert_eq!(safe(symbol, false), symbol, "at {x}, {y}");
            let cells = width(symbol) as u16;
            assert!((1..=2).contains(&cells), "{symbol:?} at {x}, {y}");
            assert!(x + cells <= buffer.area.width, "{symbol:?} at the right border");
        }
    }
}

#[test]
fn odd_names_keep_the_columns_in_line_in_every_view() {
    for view in View::ALL {
        for size in [(120, 30), (80, 24), (60, 15), (37, 11)] {
            let plain = staged(view, "", size);
            let mut odd = stage::empty(size.0, size.1);
            news(&mut odd, Status::Live, Some(oddly_named()));
            keys(&mut odd, "jjj");
            show(&mut odd, view);
            let columns = columns(&plain);
            let (odd_lines, plain_lines) = (lines(&odd), lines(&plain));
            for (odd, plain) in rows(&odd, &odd_lines).iter().zip(rows(&plain, &plain_lines)) {
                for column in &columns {
                    assert_eq!(odd[column.clone()], plain[column.clone()], "{view:?} at {size:?}");
                }
            }
            for typed in ON_TOP {
                keys(&mut odd, typed);
                assert_harmless(&stage::screen(&odd));
                key(&mut odd, Code::Esc);
            }
        }
    }
    let mut odd = stage::empty(120, 30);
    news(&mut odd, Status::Live, Some(oddly_named()));
    let screen = text(&odd);
    assert!(
        screen.contains(r"a\u{1b}[2Jb") && screen.contains(r"tab\there\nnewline"),
        "{screen}"
    );
}

#[test]
fn every_state_has_its_word_and_its_mark_in_every_theme() {
    let words = ["LIVE", "WAITING", "STALE", "EXITED", "CRASHED", "KEPT", "BROKEN"];
    let mut marks = Vec::new();
    for (status, word) in statuses().into_iter().zip(words) {
        for view in View::ALL {
            for kind in ThemeKind::ALL {
                let mut model = staged(view, "", (80, 24));
                model.theme = kind;
                news(&mut model, status.clone(), None);
                let screen = text(&model);
                let header = screen.lines().next().expect("a header").to_string();
                assert!(header.contains(word), "{word} in {header}");
                let before = header.split(word).next().expect("something before it");
                marks.push((word, before.trim_end().chars().last().expect("a mark")));
            }
        }
    }
    marks.sort_unstable();
    marks.dedup();
    assert_eq!(marks.len(), words.len(), "one mark for each state: {marks:?}");
}

#[test]
fn the_text_is_the_same_in_every_theme() {
    for view in View::ALL {
        for typed in ON_TOP {
            let mut model = staged(view, typed, (80, 24));
            let mut texts = ThemeKind::ALL.map(|kind| {
                model.theme = kind;
                // Themes without their own colours mark the selected row.
                text(&model).replace('>', " ")
            });
            texts.sort();
            assert_eq!(texts[0], texts[ThemeKind::ALL.len() - 1], "{view:?} {typed:?}");
        }
    }
}

#[test]
fn the_selected_row_is_turned_round_in_every_theme() {
    for view in [View::Tree, View::Hot] {
        for kind in ThemeKind::ALL {
            let mut model = staged(view, "", (80, 24));
            model.theme = kind;
            let buffer = stage::screen(&model);
            let area = model.layout().rows;
            let y = area.y + stage::line(&model) as u16;
            let turned = |y| {
                let last = &buffer[(area.right() - 1, y)];
                last.modifier.contains(Modifier::REVERSED)
            };
            for other in area.top()..area.bottom() {
                assert_eq!(turned(other), other == y, "{view:?} {kind:?}");
            }
        }
    }
}

#[test]
fn mono_names_no_colour() {
    for view in View::ALL {
        for typed in ON_TOP {
            let mut model = staged(view, typed, (120, 30));
            model.theme = ThemeKind::Mono;
            for cell in stage::screen(&model).content() {
                assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset));
            }
        }
    }
}

#[test]
fn ascii_is_ascii_everywhere() {
    for view in View::ALL {
        for size in SIZES {
            for typed in ON_TOP {
                let mut model = Model::new(Size::new(size.0, size.1), ThemeKind::Sixteen, true, Some(0));
                news(&mut model, Status::Live, Some(orderbook::snapshot(1_340)));
                keys(&mut model, "jj");
                show(&mut model, view);
                keys(&mut model, typed);
                assert!(text(&model).is_ascii(), "{view:?}\n{}", text(&model));
            }
        }
    }
}

/// The made-up program with many more rows below its last one, side by side or one inside the other.
fn grown(rows: u32, deep: bool) -> Snapshot {
    let mut grown = orderbook::snapshot(1_340);
    let parent = tickscope_format::ids::NodeId(grown.nodes.len() as u32 - 1);
    for n in 0..rows {
        let mut site = grown.sites[14].clone();
        site.name = format!("{}_{}", site.name, n);
        grown.sites.push(site);
        let parent = if deep { parent.0 + n } else { parent.0 };
        let site = tickscope_format::ids::SiteId(grown.sites.len() as u32 - 1);
        grown.nodes.push(
            Some(tickscope_format::ids::NodeId(parent)),
            site,
            1,
            1_000_000_000 - u64::from(n),
        );
    }
    if let Some(thread) = grown.threads.last_mut() {
        thread.rows += rows;
        thread.state = ThreadState::Running;
    }
    grown
}

#[test]
fn only_what_is_on_the_screen_is_written() {
    for deep in [false, true] {
        for view in View::ALL {
            let mut model = stage::empty(60, 15);
            news(&mut model, Status::Live, Some(grown(2_000, deep)));
            // What grew is what costs most now.
            keys(&mut model, "gE");
            if view == View::Tree {
                key(&mut model, Code::End);
                assert!(model.list().rows.len() > 2_000, "{}", text(&model));
                assert!(
                    text(&model).contains("publish_"),
                    "a name keeps its room\n{}",
                    text(&model)
                );
            }
            show(&mut model, view);
            let before = PUTS.get();
            stage::screen(&model);
            let puts = PUTS.get() - before;
            assert!(puts <= 60 * 15, "{view:?} writes {puts} times on 900 cells");
        }
    }
}

/// A key of the table, a letter, or something that happens.
fn anything() -> impl Strategy<Value = Deed> {
    let mut codes = codes();
    codes.extend("bok☃\u{202e}".chars().map(Code::Char));
    codes.extend([Code::Backspace, Code::Delete, Code::Other]);
    prop_oneof![
        8 => proptest::sample::select(codes).prop_map(Deed::Key),
        2 => (1u64..3_000).prop_map(Deed::Snapshot),
        1 => (0u16..=300, 0u16..=100).prop_map(|(w, h)| Deed::Resize(w, h)),
        1 => (0u64..5_000).prop_map(Deed::Wait),
        1 => (0usize..7).prop_map(Deed::Status),
        1 => (0u16..150, 0u16..50).prop_map(|(x, y)| Deed::Click(x, y)),
        1 => (-5isize..5).prop_map(Deed::Wheel),
    ]
}

#[derive(Clone, Debug)]
enum Deed {
    Key(Code),
    Snapshot(u64),
    Resize(u16, u16),
    Wait(u64),
    Status(usize),
    Click(u16, u16),
    Wheel(isize),
}

fn carry_out(model: &mut Model, deed: &Deed, now_ms: &mut u64) {
    match *deed {
        Deed::Key(code) => {
            key(model, code);
        }
        Deed::Snapshot(tenths) => {
            let mut snapshot = orderbook::snapshot(tenths);
            if tenths % 5 == 0 {
                // A reset: nothing is left but a thread that has just begun.
                snapshot.threads.truncate((tenths % 4) as usize);
                let rows = snapshot
                    .threads
                    .last()
                    .map_or(0, |t| (t.first_row + t.rows) as usize);
                snapshot.nodes.parent.truncate(rows);
                snapshot.nodes.site.truncate(rows);
                snapshot.nodes.calls.truncate(rows);
                snapshot.latencies = Default::default();
                snapshot.nodes.self_ticks.truncate(rows);
            }
            news(model, Status::Live, Some(snapshot));
        }
        Deed::Resize(width, height) => {
            model.update(Message::Resize(Size::new(width, height)));
        }
        Deed::Click(x, y) => {
            model.update(Message::Click(x, y));
        }
        Deed::Wheel(rows) => {
            model.update(Message::Wheel(rows));
        }
        Deed::Wait(ms) => {
            *now_ms += ms;
            at(model, *now_ms);
        }
        Deed::Status(index) => {
            let all = statuses();
            news(model, all[index % all.len()].clone(), None);
        }
    }
}

/// Small, where every line counts, or as people have it.
fn size() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![
        3 => (0u16..=40, 0u16..=12),
        1 => proptest::sample::select(SIZES.to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_size_any_view_and_any_keys(
        size in size(),
        view in proptest::sample::select(View::ALL.to_vec()),
        deeds in proptest::collection::vec(anything(), 0..200),
    ) {
        let mut model = live(size.0, size.1);
        show(&mut model, view);
        let mut now_ms = 0;
        for deed in &deeds {
            carry_out(&mut model, deed, &mut now_ms);
            stage::screen(&model);
            at(&mut model, now_ms);
            let due = model.deadline().map(|due| due.as_millis() as u64);
            prop_assert!(due.is_none_or(|due| due > now_ms), "would spin");
            let list = model.list();
            let page = usize::from(model.layout().rows.height).max(1);
            let cursor = &list.cursor;
            prop_assert!(list.rows.is_empty() || cursor.index < list.rows.len());
            prop_assert!(cursor.offset <= cursor.index && cursor.index < cursor.offset + page);
        }
    }
}

#[test]
fn wall_time_has_a_row_for_what_is_outside() {
    let mut model = live(120, 30);
    keys(&mut model, "%");
    let screen = text(&model);
    assert!(
        screen.contains("(outside)") && screen.contains("% of wall time"),
        "{screen}"
    );
    // Four threads with a fifth of 134 s each outside of scopes, and 268 s within.
    assert!(screen.contains("28.6%"), "{screen}");
}
