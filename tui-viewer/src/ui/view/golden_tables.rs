//! Golden screens of what several views share: other measures, futures, waits, and columns with arbitrary content.

use insta::assert_snapshot;
use proptest::prelude::*;
use tickscope_format::Snapshot;
use tickscope_format::snapshot::{Thread, ThreadState};
use tickscope_testkit::fixture;

use crate::cli::args::look::ThemeKind;
use crate::orderbook;
use crate::test_driver::{keys, looks, screen, showing, text};

/// Returns the test program with CPU times. One thread waits in a scope, another is outside all scopes, and many have
/// ended.
pub(crate) fn with_cpu(tenths: u64) -> Snapshot {
    let mut s = orderbook::snapshot(tenths);
    for (thread, percent) in s.threads.iter_mut().zip([99, 81, 46, 0]) {
        // The share of CPU time varies from snapshot to snapshot.
        let share = percent * (90 + (tenths % 4) * 3) / 100;
        thread.cpu_ns = Some(tenths * 100_000_000 * percent / 100 + share * 1_000_000);
    }
    s.threads[1].open.clear();
    s.threads[1].state = ThreadState::Idle;
    s.threads.push(Thread {
        name: "job".into(),
        state: ThreadState::Finished,
        count: 111,
        cpu_ns: Some(7_000_000_000),
        first_row: s.nodes.len() as u32,
        ..Thread::default()
    });
    s
}

#[test]
fn every_view_by_bytes() {
    let mut app = showing(120, 30, orderbook::allocating(1_340)).after("vv");
    let screens = ["1", "2", "3", "4", "5"].map(|view| {
        keys(&mut app, view);
        text(&app)
    });
    assert_snapshot!(screens.join("\n"));
}

#[test]
fn live_bytes_are_estimates_and_say_how_far() {
    let mut app = showing(120, 30, orderbook::allocating(1_340)).after("vvv");
    let screens = ["1jj", "2", "3"].map(|view| {
        keys(&mut app, view);
        text(&app)
    });
    assert_snapshot!(screens.join("\n"));
}

#[test]
fn means_of_futures_are_of_calls_also_in_function_and_in_ticks() {
    let mut app = showing(120, 30, fixture::serving());
    let screens = ["1", "3", "7U"].map(|view| {
        keys(&mut app, view);
        text(&app)
    });
    assert_snapshot!(screens.join("\n"));
}

#[test]
fn who_waits_and_for_what() {
    for view in ["1", "2", "3", "4", "5"] {
        let app = showing(120, 30, orderbook::waiting(1_340)).after(view);
        assert_snapshot!(format!("waiting_{view}_120x30"), text(&app));
    }
}

#[test]
fn working_and_waiting_have_two_tones_in_every_theme() {
    let mut app = showing(80, 24, orderbook::waiting(1_340));
    // The positions of a cell that shows work and of one that shows waiting: in the bar of `match::step` in the Tree
    // view, and in its frame in the Flame view.
    for (view, y, working, waiting) in [("1", 4, 10, 11), ("5", 6, 50, 70)] {
        keys(&mut app, view);
        for (theme, ascii) in ThemeKind::ALL
            .into_iter()
            .flat_map(|kind| [(kind, false), (kind, true)])
        {
            (app.screen.theme, app.screen.ascii) = (theme, ascii);
            let screen = screen(&app);
            // Without colours, characters mark the waiting part of the frame.
            let look = |x| {
                let cell = &screen[(x, y)];
                let symbol = (!theme.fills()).then(|| cell.symbol().to_string());
                (cell.fg, cell.bg, symbol)
            };
            assert_ne!(look(working), look(waiting), "{theme:?}");
        }
        for (theme, name) in [
            (ThemeKind::Sixteen, "sixteen_unicode"),
            (ThemeKind::Mono, "mono_ascii"),
        ] {
            (app.screen.theme, app.screen.ascii) = (theme, theme == ThemeKind::Mono);
            assert_snapshot!(format!("tones_{view}_{name}"), looks(&app));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn columns_stay_apart_whatever_stands_in_them(
        tenths in 1u64..100_000_000,
        numbers in proptest::collection::vec(any::<u64>(), 4),
        name in "\\PC{0,40}",
        view in 0usize..2,
        width in 20u16..200,
    ) {
        let mut s = with_cpu(tenths);
        let rows = s.nodes.len();
        for (at, &number) in numbers.iter().enumerate() {
            let thread = &mut s.threads[at];
            (thread.cpu_ns, thread.outside_ticks) = (Some(number), number / 8);
            (thread.tid, thread.count) = (number as u32 | 1, 1);
            thread.name.clone_from(&name);
            s.sites[at].name.clone_from(&name);
            s.sites[at].module.clone_from(&name);
            // Divided so that the sums do not overflow.
            s.nodes.calls[at] = number / 100;
            s.nodes.self_ticks[rows - 1 - at] = number / 8;
        }
        s.latencies = Default::default();
        let app = showing(width, 24, s).after(["4", "6"][view]);
        let screen = screen(&app);
        let places = app.views.current.kind().columns(width);
        let list = app.layout().rows;
        let last = list.top() + app.list().rows.len().min(usize::from(list.height)) as u16;
        for y in list.top()..last {
            for pair in places.windows(2) {
                for x in pair[0].x + pair[0].width..pair[1].x {
                    prop_assert_eq!(screen[(x, y)].symbol(), " ", "{:?}\n{}", pair, text(&app));
                }
            }
        }
    }
}
