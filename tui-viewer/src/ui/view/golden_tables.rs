//! Golden screens of the views that are neither a tree nor a list of functions: Threads, Flame, Sites.

use insta::assert_snapshot;
use proptest::prelude::*;
use tickscope_format::Snapshot;
use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::{Rule, Thread, ThreadState, WatchState};
use tickscope_testkit::fixture;

use crate::app::row::RowId;
use crate::app::state::App;
use crate::cli::args::look::ThemeKind;
use crate::keys::decoder::Code;
use crate::keys::view::View;
use crate::orderbook;
use crate::source::status::Status;
use crate::test_driver::{
    empty, events, find_code, key, keys, live, looks, screen, showing, tell_functions, text, with_functions,
};

/// A large screen, a small one, and one with room for the list alone; the invariants hold at every size.
const SIZES: [(u16, u16); 3] = [(120, 30), (60, 15), (20, 5)];

/// Returns the made-up program with CPU times: one thread waits in a scope, another is outside all scopes, and many ended.
fn with_cpu(tenths: u64) -> Snapshot {
    let mut s = orderbook::snapshot(tenths);
    for (thread, percent) in s.threads.iter_mut().zip([99, 81, 46, 0]) {
        // The share differs each time.
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

fn watched(width: u16, height: u16) -> App {
    let mut app = empty(width, height);
    for tenths in 1_320..=1_340 {
        events(&mut app, Status::Live, Some(with_cpu(tenths)));
    }
    app
}

#[test]
fn the_threads() {
    for (width, height) in SIZES {
        let mut app = watched(width, height);
        keys(&mut app, "4");
        assert_snapshot!(format!("threads_{width}x{height}"), looks(&app));
    }
}

#[test]
fn every_view_by_bytes() {
    let mut app = showing(120, 30, orderbook::allocating(1_340));
    keys(&mut app, "vv");
    let screens = ["1", "2", "3", "4", "5"].map(|view| {
        keys(&mut app, view);
        text(&app)
    });
    assert_snapshot!(screens.join("\n"));
}

#[test]
fn live_bytes_are_estimates_and_say_how_far() {
    let mut app = showing(120, 30, orderbook::allocating(1_340));
    keys(&mut app, "vvv");
    let screens = ["1jj", "2", "3"].map(|view| {
        keys(&mut app, view);
        text(&app)
    });
    assert_snapshot!(screens.join("\n"));
}

#[test]
fn tasks_in_flight_and_what_they_wait_for() {
    for (width, height) in SIZES {
        let mut app = showing(width, height, fixture::serving());
        keys(&mut app, "7jj");
        assert_snapshot!(format!("tasks_{width}x{height}"), looks(&app));
    }
    let mut app = live(80, 24);
    keys(&mut app, "7");
    assert_snapshot!("tasks_of_a_program_without_futures", text(&app));
}

/// Returns a program that watches a function in this state; its earlier calls are unchanged.
fn slow_frames(state: WatchState) -> Snapshot {
    let mut s = fixture::slow_frames();
    s.watches[0].state = state;
    s
}

#[test]
fn why_slow_calls_are_slow() {
    for (width, height) in [(160, 42), (120, 30), (60, 15)] {
        let mut app = showing(width, height, slow_frames(WatchState::Watching));
        keys(&mut app, "8j");
        assert_snapshot!(format!("slow_{width}x{height}"), looks(&app));
    }
    let mut app = showing(120, 30, slow_frames(WatchState::Watching));
    keys(&mut app, "8J++l");
    assert_snapshot!("slow_zoomed_120x30", looks(&app));
}

#[test]
fn the_source_of_a_function() {
    for (width, height) in [(120, 40), (80, 24)] {
        let mut app = empty(width, height);
        let effects = events(&mut app, Status::Live, Some(fixture::sampled()));
        find_code(&mut app, effects);
        keys(&mut app, "1");
        let effects = key(&mut app, Code::Char('S'));
        find_code(&mut app, effects);
        assert_snapshot!(format!("source_{width}x{height}"), looks(&app));
    }
}

#[test]
fn what_is_said_where_slow_calls_cannot_be_told() {
    let mut app = live(80, 24);
    keys(&mut app, "8");
    let mut screens = vec![text(&app)];
    for state in [WatchState::Learning(57), WatchState::NoTail] {
        let mut app = empty(80, 24);
        let mut snapshot = slow_frames(state);
        if state != WatchState::NoTail {
            snapshot.watches[0].exemplars.clear();
            snapshot.watches[0].causes.clear();
            snapshot.watches[0].paths.clear();
            snapshot.watches[0].threshold_ticks = 0;
        }
        events(&mut app, Status::Live, Some(snapshot));
        keys(&mut app, "8");
        screens.push(text(&app));
    }
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
        let mut app = showing(120, 30, orderbook::waiting(1_340));
        keys(&mut app, view);
        assert_snapshot!(format!("waiting_{view}_120x30"), text(&app));
    }
}

#[test]
fn working_and_waiting_have_two_tones_in_every_theme() {
    let mut app = showing(80, 24, orderbook::waiting(1_340));
    // Two cells of the bar of `match::step`, and two of its frame.
    for (view, y, working, waiting) in [("1", 4, 10, 11), ("5", 6, 50, 70)] {
        keys(&mut app, view);
        for (theme, ascii) in ThemeKind::ALL
            .into_iter()
            .flat_map(|kind| [(kind, false), (kind, true)])
        {
            (app.screen.theme, app.screen.ascii) = (theme, ascii);
            let screen = screen(&app);
            // Without colours, characters in the graph take their place.
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

#[test]
fn the_flame() {
    for (width, height) in SIZES {
        let mut app = live(width, height);
        keys(&mut app, "5jj");
        assert_snapshot!(format!("flame_{width}x{height}"), looks(&app));
    }
    let mut app = live(80, 24);
    keys(&mut app, "5jj\n");
    assert_snapshot!("flame_zoomed_80x24", looks(&app));
}

#[test]
fn the_sites() {
    for (width, height) in SIZES {
        let mut app = empty(width, height);
        let mut s = orderbook::snapshot(1_340);
        s.measuring.rules = [("orderbook_sim::book", true), ("book::apply", false)]
            .map(|(pattern, off)| Rule {
                pattern: pattern.into(),
                off,
            })
            .to_vec();
        s.measuring.off_sites = [3, 4, 6].map(SiteId).to_vec();
        let published = (0..s.nodes.len()).filter(|&row| s.nodes.site[row] == 14);
        for row in published.collect::<Vec<_>>() {
            s.nodes.calls[row] = 0;
        }
        events(&mut app, Status::Live, Some(s));
        keys(&mut app, "6jjjj");
        assert_snapshot!(format!("sites_{width}x{height}"), looks(&app));
    }
}

#[test]
fn functions_by_module() {
    for (width, height) in SIZES {
        let mut app = empty(width, height);
        let (mut s, known) = with_functions(1_340);
        s.measuring.rules = vec![Rule {
            pattern: "orderbook_sim::risk::*".into(),
            off: true,
        }];
        let risk = s
            .sites
            .iter()
            .zip(0..)
            .filter(|(site, _)| site.module.ends_with("risk"));
        let risk: Vec<SiteId> = risk.map(|(_, site)| SiteId(site)).collect();
        s.measuring.off_sites.extend(risk);
        tell_functions(&mut app, s, &known);
        keys(&mut app, "6E");
        // Selects a site over the budget.
        while app
            .list()
            .selected()
            .is_some_and(|row| row.id != over_budget(&app))
        {
            keys(&mut app, "j");
        }
        assert_snapshot!(format!("functions_{width}x{height}"), looks(&app));
    }
    let mut app = empty(80, 24);
    let (s, known) = with_functions(1_340);
    tell_functions(&mut app, s, &known);
    keys(&mut app, "6/pad\n");
    keys(&mut app, "\\");
    app.screen.ascii = true;
    app.screen.theme = ThemeKind::Mono;
    assert!(text(&app).is_ascii(), "{}", text(&app));
    assert_snapshot!("functions_search_80x24", looks(&app));
}

fn over_budget(app: &App) -> RowId {
    let data = app.derived.data.as_ref().expect("there is data");
    let row = data.sites().iter().position(|row| row.over_budget.is_some());
    data.id(View::Sites.row(row.expect("one is over the budget") as u32))
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
            // The sums must still be numbers.
            s.nodes.calls[at] = number / 100;
            s.nodes.self_ticks[rows - 1 - at] = number / 8;
        }
        s.latencies = Default::default();
        let mut app = showing(width, 24, s);
        keys(&mut app, ["4", "6"][view]);
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
