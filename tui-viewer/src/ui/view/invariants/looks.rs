//! Colours only repeat what the text shows too.

use ratatui::layout::Size;
use ratatui::style::Color;
use tickscope_programs::status::Status;

use crate::app::state::App;
use crate::app::view::View;
use crate::cli::args::look::ThemeKind;
use crate::orderbook;
use crate::test_driver::{self, events, show, text};
use crate::ui::view::invariants::{ON_TOP, SIZES, resize, staged, statuses};

#[test]
fn every_state_has_its_word_and_its_mark_in_every_theme() {
    let words = ["LIVE", "WAITING", "STALE", "EXITED", "CRASHED", "KEPT", "BROKEN"];
    let mut marks = Vec::new();
    for (status, word) in statuses().into_iter().zip(words) {
        for view in View::ALL {
            let mut app = staged(view, "", (80, 24));
            events(&mut app, status.clone(), None);
            for kind in ThemeKind::ALL {
                app.screen.theme = kind;
                let screen = text(&app);
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
fn the_text_is_the_same_in_every_theme_and_mono_names_no_colour() {
    for view in View::ALL {
        for typed in ON_TOP {
            let mut app = staged(view, typed, (80, 24));
            app.screen.theme = ThemeKind::Mono;
            for cell in test_driver::screen(&app).content() {
                assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset));
            }
            // Without colours, the frames of the flame graph are filled with characters, so its text differs. The next
            // test covers this.
            let kinds = ThemeKind::ALL.into_iter();
            let kinds = kinds.filter(|kind| view != View::Flame || kind.fills());
            let mut texts: Vec<String> = kinds
                .map(|kind| {
                    app.screen.theme = kind;
                    // Some themes mark the selected row.
                    text(&app).replace('>', " ")
                })
                .collect();
            texts.sort();
            assert_eq!(texts.first(), texts.last(), "{view:?} {typed:?}");
        }
    }
}

/// The frames of the flame graph are told apart by their colours. Without colours, they have an edge and a fill pattern
/// instead, in Unicode and in ASCII.
#[test]
fn frames_have_an_edge_where_they_have_no_colour() {
    for ascii in [false, true] {
        let mut app = App::new(Size::new(80, 24), ThemeKind::Mono, ascii, Some(0));
        events(&mut app, Status::Live, Some(orderbook::snapshot(1_340)));
        show(&mut app, View::Flame);
        let [edge, fill] = if ascii { ["|", ":"] } else { ["▏", "▒"] };
        let screen = text(&app);
        for wanted in ["match::step", "book::apply", "74 %", edge, fill, ">match::run"] {
            assert!(screen.contains(wanted), "{wanted} in\n{screen}");
        }
        app.screen.theme = ThemeKind::Sixteen;
        let screen = text(&app);
        for wanted in ["match::step", "book::apply", "74 %"] {
            assert!(screen.contains(wanted), "{wanted} in\n{screen}");
        }
        let buffer = test_driver::screen(&app);
        let area = app.layout().rows;
        let grounds = |y| {
            (0..80)
                .map(|x| buffer[(x, y)].bg)
                .collect::<std::collections::HashSet<_>>()
        };
        assert!(grounds(area.y + 2).len() > 2, "{screen}");
    }
}

#[test]
fn ascii_is_ascii_everywhere() {
    for view in View::ALL {
        for typed in ON_TOP {
            let mut app = staged(view, typed, (80, 24));
            app.screen.ascii = true;
            for size in SIZES {
                resize(&mut app, size);
                let screen = test_driver::screen(&app);
                let is_ascii = screen.content().iter().all(|cell| cell.symbol().is_ascii());
                assert!(is_ascii, "{view:?}\n{}", text(&app));
            }
        }
    }
}
