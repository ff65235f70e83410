//! The positions of columns do not depend on the numbers and names.

use std::collections::BTreeMap;
use std::ops::Range;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tickscope_format::Snapshot;
use tickscope_programs::status::Status;
use tickscope_report::text::TextOptions;
use tickscope_testkit::fixture::programs::any_program;

use crate::app::row::Portion;
use crate::app::state::App;
use crate::app::view::View;
use crate::cli::args::look::ThemeKind;
use crate::keys::decoder::Code;
use crate::orderbook;
use crate::test_driver::{self, at, events, key, keys, live, show, text};
use crate::text::cells::{safe, width};
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::Value;
use crate::ui::view::figure;
use crate::ui::view::invariants::{ON_TOP, staged};

/// Returns the cells of each column of numbers. Such a column is recognized by its title, which ends above the last
/// digit of every row and is followed by a blank.
fn columns(app: &App) -> Vec<Range<usize>> {
    let screen = lines(app);
    let layout = app.layout();
    let Some(titles) = screen.get(usize::from(layout.columns.y)) else {
        return Vec::new();
    };
    let rows = rows(app, &screen);
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

/// Returns the lines of the screen as characters, one for each cell.
fn lines(app: &App) -> Vec<Vec<char>> {
    let buffer = test_driver::screen(app);
    let area = buffer.area;
    let first = |x, y| buffer[(x, y)].symbol().chars().next().unwrap_or(' ');
    (0..area.height)
        .map(|y| (0..area.width).map(|x| first(x, y)).collect())
        .collect()
}

/// Returns the lines of the list that contain rows.
fn rows<'a>(app: &App, screen: &'a [Vec<char>]) -> Vec<&'a Vec<char>> {
    let area = app.layout().rows;
    let lines = screen.iter().skip(area.y.into()).take(area.height.into());
    lines.take_while(|line| line.iter().any(|&c| c != ' ')).collect()
}

#[test]
fn columns_stand_still_over_many_snapshots() {
    for (size, snapshots) in [((120, 30), 180), ((80, 24), 45), ((60, 15), 45)] {
        let mut app = live(size.0, size.1);
        let at_first = View::ALL.map(|view| {
            show(&mut app, view);
            (titles(&app, &lines(&app)).to_vec(), columns(&app))
        });
        let tables = at_first.iter().filter(|(_, columns)| columns.len() >= 3);
        assert!(
            tables.count() >= 2,
            "at least the tree and the hotspots at {size:?}"
        );
        let mut random = 1u64;
        for n in 0..snapshots {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            // Uptimes from a tenth of a second to 30 years; each number of digits is equally likely.
            let tenths = (random >> 8) % 10u64.pow(1 + (random >> 40) as u32 % 10);
            at(&mut app, 3_000 * (n + 1));
            events(&mut app, Status::Live, Some(orderbook::snapshot(tenths + 1)));
            // Each round draws only one view, because drawing all of them every time would be slow.
            let view = View::ALL[n as usize % View::ALL.len()];
            let (then, columns) = &at_first[view as usize];
            show(&mut app, view);
            let screen = lines(&app);
            if view != View::Flame {
                // In Flame, the name of the selected frame replaces the titles.
                assert_eq!(titles(&app, &screen), then, "{view:?}");
            }
            for row in rows(&app, &screen) {
                for column in columns {
                    let (last, behind) = (row[column.end - 1], row[column.end]);
                    let line: String = row.iter().collect();
                    assert!(last != ' ' && behind == ' ', "{view:?} at {}\n{line}", column.end);
                }
            }
        }
    }
}

/// Removes the mark of an estimate or a bound. The decimal of 100% is removed too, because a marked 100% has none.
fn unmarked(cell: &str) -> String {
    let cell = cell.strip_suffix("100.0%").map_or(cell, |_| "100%");
    cell.trim_start_matches(['~', '≤', '≥', '<', '>', '='])
        .to_string()
}

#[test]
fn averages_shares_and_percentiles_of_random_programs_are_those_of_the_text_report() {
    const COLUMNS: [(&str, Value); 6] = [
        ("%SELF", Value::Share(Portion::Own)),
        ("%TOT", Value::Share(Portion::Total)),
        ("AVG", Value::Mean),
        ("P50", Value::Quantile(50)),
        ("P99", Value::Quantile(99)),
        ("MAX", Value::Longest),
    ];
    let mut runner = TestRunner::deterministic();
    let mut app = live(200, 60);
    show(&mut app, View::Hot);
    for number in 0..150 {
        let program = any_program().new_tree(&mut runner).unwrap().current();
        let options = TextOptions {
            width: 200,
            ..TextOptions::default()
        };
        let report = tickscope_report::text::report(&program, &options);
        let mut lines_of_text = report.lines().skip_while(|line| !line.ends_with("WHERE"));
        let header: Vec<&str> = lines_of_text.next().expect("a list").split_whitespace().collect();
        let wanted: BTreeMap<String, [String; 6]> = lines_of_text
            .take_while(|line| !line.is_empty())
            .map(|line| {
                let cells: Vec<&str> = line.split_whitespace().collect();
                let of = |title: &str| cells[header.iter().position(|of| *of == title).expect("a column")];
                (
                    of("FUNCTION").to_string(),
                    COLUMNS.map(|(title, _)| unmarked(of(title))),
                )
            })
            .collect();
        at(&mut app, 3_000 * (number + 1));
        events(&mut app, Status::Live, Some(program));
        let data = app.data().expect("there is data");
        let mut buffer = Buffer::empty(Rect::new(0, 0, 1, 1));
        let canvas = Canvas::new(&mut buffer, ThemeKind::Sixteen, false);
        let found: BTreeMap<String, [String; 6]> = (0..data.hot().len() as u32)
            .map(|row| View::Hot.row(row))
            .map(|what| {
                let cells =
                    COLUMNS.map(|(_, value)| unmarked(&figure::plain(&canvas, &app, data, what, value)));
                (data.label(what).to_string(), cells)
            })
            .collect();
        assert_eq!(found, wanted, "program {number}\n{report}\n{}", text(&app));
    }
}

/// Returns the line of titles above the list.
fn titles<'a>(app: &App, screen: &'a [Vec<char>]) -> &'a [char] {
    &screen[usize::from(app.layout().columns.y)]
}

/// Names that would clear the screen or reorder a line, or whose number of cells differs from their number of
/// characters.
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

/// Checks that no cell contains a character that moves the cursor, and that no character extends beyond the screen.
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
            let mut odd = test_driver::showing(size.0, size.1, oddly_named()).after("jjj");
            show(&mut odd, view);
            let columns = columns(&plain);
            let (odd_lines, plain_lines) = (lines(&odd), lines(&plain));
            for (odd, plain) in rows(&odd, &odd_lines).iter().zip(rows(&plain, &plain_lines)) {
                for column in &columns {
                    // Only the end of the column is compared, because a name may precede the number.
                    let number = column.end.saturating_sub(5).max(column.start)..column.end;
                    assert_eq!(odd[number.clone()], plain[number], "{view:?} at {size:?}");
                }
            }
            for typed in ON_TOP {
                keys(&mut odd, typed);
                assert_harmless(&test_driver::screen(&odd));
                key(&mut odd, Code::Esc);
            }
        }
    }
    let odd = test_driver::showing(120, 30, oddly_named());
    let screen = text(&odd);
    assert!(screen.contains(r"a\u{1b}[2Jb"), "{screen}");
    assert!(screen.contains(r"tab\there\nnewline"), "{screen}");
}
