//! Whatever is pressed, clicked and heard, in whatever order: there is a screen, and the selection is on it.

use proptest::prelude::*;
use ratatui::layout::Size;
use tickscope_format::Snapshot;

use crate::app::message::Message;
use crate::app::state::App;
use crate::app::view::View;
use crate::keys::decoder::Code;
use crate::orderbook;
use crate::source::status::Status;
use crate::test_driver;
use crate::test_driver::{at, events, key, keys, live, show};
use crate::ui::view::invariants::{SIZES, codes, statuses};

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
        1 => (0u16..150, 0u16..50).prop_map(|(x, y)| Deed::Drag(x, y)),
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
    Drag(u16, u16),
    Wheel(isize),
}

fn carry_out(app: &mut App, deed: &Deed, now_ms: &mut u64) {
    match *deed {
        Deed::Key(code) => {
            key(app, code);
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
            events(app, Status::Live, Some(snapshot));
        }
        Deed::Resize(width, height) => {
            app.update(Message::Resize(Size::new(width, height)));
        }
        Deed::Click(x, y) => {
            app.update(Message::Click(x, y));
        }
        Deed::Drag(x, y) => {
            app.update(Message::Drag(x, y));
        }
        Deed::Wheel(rows) => {
            app.update(Message::Wheel(rows, 5, 20));
        }
        Deed::Wait(ms) => {
            *now_ms += ms;
            at(app, *now_ms);
        }
        Deed::Status(index) => {
            let all = statuses();
            events(app, all[index % all.len()].clone(), None);
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
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_size_any_view_and_any_keys(
        size in size(),
        view in proptest::sample::select(View::ALL.to_vec()),
        deeds in proptest::collection::vec(anything(), 0..100),
    ) {
        let mut app = live(size.0, size.1);
        show(&mut app, view);
        let mut now_ms = 0;
        for deed in &deeds {
            carry_out(&mut app, deed, &mut now_ms);
            test_driver::screen(&app);
            at(&mut app, now_ms);
            let due = app.deadline().map(|due| due.as_millis() as u64);
            prop_assert!(due.is_none_or(|due| due > now_ms), "would spin");
            let list = app.list();
            let page = usize::from(app.layout().rows.height).max(1);
            let cursor = &list.cursor;
            prop_assert!(list.rows.is_empty() || cursor.index < list.rows.len());
            prop_assert!(cursor.offset <= cursor.index && cursor.index < cursor.offset + page);
        }
    }
}

/// The made-up program with other times in each row.
fn shuffled(random: &mut u64, tenths: u64) -> Snapshot {
    let mut shuffled = orderbook::snapshot(tenths);
    for ticks in &mut shuffled.nodes.self_ticks {
        *random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        *ticks = (*random >> 20) % 60_000_000_000;
    }
    shuffled
}

#[test]
fn the_selected_row_keeps_its_line_and_never_changes() {
    for view in View::ALL {
        let mut app = live(80, 24);
        at(&mut app, 5_000);
        show(&mut app, view);
        keys(&mut app, "jjj");
        let Some(selected) = app.list().selected().map(|row| row.id) else {
            continue;
        };
        let line = test_driver::line(&app);
        let mut random = 3;
        for n in 1..100 {
            at(&mut app, 5_000 + 100 * n);
            events(&mut app, Status::Live, Some(shuffled(&mut random, 1_340 + n)));
            let now = app.list().selected().map(|row| row.id);
            assert_eq!(now, Some(selected), "{view:?} after {n} tenths");
            // A frame of the graph stands where its parents are wide.
            if n < 20 && view != View::Flame {
                assert_eq!(test_driver::line(&app), line, "{view:?} after {n} tenths");
            }
        }
    }
}
