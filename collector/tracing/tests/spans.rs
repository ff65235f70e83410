//! Tests of spans in real programs. Each test starts this binary again as a child, which runs the body of the test.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what is shared prints figures"
)]

#[path = "../../tests/support/mod.rs"]
mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use support::{
    Random, Yield, block_on, by_hand, calls_of, check_with_polls, measured, spend, ticks_of, tree,
};
use tickscope::{Builder, Session};
use tickscope_format::snapshot::{Losses, Quantity, Snapshot};
use tickscope_tracing::{LevelFilter, layer, subscriber};
use tracing::{Instrument, Level, info_span, instrument};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::SubscriberExt;

/// Starts a session with the manual clock.
fn started() -> Session {
    Builder::new("spans").clock(by_hand()).start()
}

/// Starts a session like [`started`], with the bare subscriber.
fn begun() -> Session {
    subscriber().init().unwrap();
    started()
}

fn with_layer() -> Session {
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer())).unwrap();
    started()
}

/// Takes a snapshot, and checks that nothing was lost.
fn whole() -> Snapshot {
    let snapshot = tickscope::snapshot();
    check_with_polls(&snapshot);
    assert_eq!(snapshot.capture.losses, Losses::NONE);
    snapshot
}

/// Returns the rows of the main thread as text, with name, calls, self ticks and total ticks.
fn rows() -> String {
    let snapshot = whole();
    let main = snapshot.threads[0].name.clone();
    tree(&snapshot, &main)
}

/// Returns how many calls with this name are in flight, how many have ended, and how many polls there were.
fn future(snapshot: &Snapshot, name: &str) -> [u64; 3] {
    let in_flight =
        measured(snapshot, name, Quantity::InFlight) - measured(snapshot, name, Quantity::EndedElsewhere);
    [
        in_flight,
        measured(snapshot, name, Quantity::FutureEnds),
        measured(snapshot, name, Quantity::Polls),
    ]
}

fn poll<F: Future + ?Sized>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

#[instrument]
fn outer(times: u32) {
    spend(10);
    (0..times).for_each(|_| inner());
}

#[instrument(name = "within")]
fn inner() {
    spend(1);
    let _scope = info_span!("block").entered();
    spend(100);
}

const OUTER: &str = "outer 1 10 313\n  within 3 3 303\n    block 3 300 300\n";

fn spans_are_rows() {
    let _session = begun();
    outer(3);
    let snapshot = whole();
    assert_eq!(rows(), OUTER);
    let site = &snapshot.sites[0];
    assert_eq!((site.module.as_str(), site.line > 0), ("spans", true));
    assert!(site.file.ends_with("tests/spans.rs"), "{}", site.file);
    assert_eq!(
        measured(&snapshot, "outer", Quantity::Polls),
        0,
        "they are no futures"
    );
}

fn a_layer_makes_rows_of_what_filters_let_through() {
    let filter = tracing_subscriber::EnvFilter::new("debug,spans::noisy=off");
    let registry = tracing_subscriber::registry().with(filter);
    tracing::subscriber::set_global_default(registry.with(layer().with_max_level(LevelFilter::INFO)))
        .unwrap();
    let _session = started();
    let _info = info_span!("info").entered();
    let _debug = tracing::debug_span!("debug").entered();
    let _trace = tracing::trace_span!("trace").entered();
    let _noisy = info_span!(target: "spans::noisy", "noisy").entered();
    let _last = info_span!("last").entered();
    assert_eq!(rows(), "info 1 0 0\n  last 1 0 0\n");
}

fn a_filter_of_the_layer_alone_leaves_spans_to_other_layers() {
    #[derive(Default)]
    struct Seen(std::sync::Arc<AtomicU64>);

    impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Seen {
        fn on_enter(&self, _: &tracing::Id, _: tracing_subscriber::layer::Context<'_, S>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    let seen = Seen::default();
    let entered = std::sync::Arc::clone(&seen.0);
    let rows_of_info = layer().with_filter(LevelFilter::INFO);
    let registry = tracing_subscriber::registry().with(seen).with(rows_of_info);
    tracing::subscriber::set_global_default(registry).unwrap();
    let _session = started();
    for _ in 0..3 {
        let _info = info_span!("info").entered();
        let _debug = tracing::debug_span!("debug").entered();
    }
    assert_eq!(rows(), "info 3 0 0\n");
    assert_eq!(entered.load(Ordering::Relaxed), 6);
}

fn more_spans_of_a_layer_than_places_are_told_apart() {
    let _session = with_layer();
    let spans: Vec<_> = (0..10_000).map(|_| info_span!("many")).collect();
    spans.iter().for_each(|span| span.in_scope(|| spend(1)));
    drop(spans);
    assert_eq!(rows(), "many 10000 10000 10000\n");
}

/// Checks that each call is counted once, no matter how often it is polled, and that the number of calls in flight is right.
fn async_bodies() {
    #[instrument]
    async fn handle() {
        spend(10);
        query().await;
        spend(20);
    }

    #[instrument]
    async fn query() {
        spend(1);
        Yield::default().await;
        spend(2);
    }

    let mut calls: Vec<_> = (0..3).map(|_| Box::pin(handle())).collect();
    assert_eq!(
        calls_of(&tickscope::snapshot(), "handle"),
        0,
        "futures that were not polled"
    );
    calls.iter_mut().for_each(|call| assert!(poll(call).is_pending()));
    spend(1_000);
    // Here, spans of these call sites are entered again for the first time. From then on, the call sites are known to
    // belong to futures.
    calls.iter_mut().for_each(|call| assert!(poll(call).is_ready()));
    drop(calls);
    let known = whole();
    assert_eq!(future(&known, "handle")[..2], [0, 3]);
    assert_eq!(future(&known, "query")[..2], [0, 3]);
    let walls = |name| measured(&whole(), name, Quantity::FutureTime);
    assert!((3_000..3_300).contains(&walls("query")), "{}", walls("query"));

    let mut calls: Vec<_> = (0..5).map(|_| Box::pin(handle())).collect();
    calls.iter_mut().for_each(|call| assert!(poll(call).is_pending()));
    let during = whole();
    assert_eq!(future(&during, "handle")[..2], [5, 3]);
    assert_eq!(future(&during, "query")[..2], [5, 3]);
    let paths = &during.tasks.paths;
    let name = |at: usize| during.sites[paths[at].site.index()].name.as_str();
    assert_eq!(paths.len(), 2);
    assert_eq!((name(paths[1].parent as usize), name(1)), ("handle", "query"));
    assert_eq!((paths[1].in_flight, paths[0].innermost), (5, 0));
    // Two calls are dropped while they wait.
    calls.truncate(3);
    calls.iter_mut().for_each(|call| assert!(poll(call).is_ready()));
    drop(calls);
    let after = whole();
    assert_eq!(future(&after, "handle")[..2], [0, 8]);
    assert_eq!(future(&after, "query")[..2], [0, 8]);
    assert_eq!((calls_of(&after, "handle"), calls_of(&after, "query")), (8, 8));
    assert!(after.tasks.paths.is_empty());
}

fn async_functions_are_calls_in_flight() {
    let _session = begun();
    async_bodies();
}

fn async_functions_of_a_layer_are_calls_in_flight() {
    let _session = with_layer();
    async_bodies();
}

fn async_functions_with_the_fast_clock() {
    subscriber().init().unwrap();
    let _session = tickscope::start("spans");
    for _ in 0..1_000 {
        outer(3);
    }
    block_on(
        async {
            for _ in 0..1_000 {
                Yield::default().instrument(info_span!("yield")).await;
            }
        }
        .instrument(info_span!("all")),
    );
    let snapshot = whole();
    assert_eq!(calls_of(&snapshot, "block"), 3_000);
    assert_eq!(calls_of(&snapshot, "yield"), 1_000);
    assert_eq!(future(&snapshot, "yield"), [0, 1_000, 3_000]);
    assert_eq!(future(&snapshot, "all")[..2], [0, 1]);
}

/// A future is dropped at its `.await`, while the span around it goes on, as at a timeout or after a client has disconnected.
fn a_future_that_is_dropped_has_ended_where_it_was() {
    let _session = begun();
    #[instrument]
    async fn waits() {
        spend(1);
        Yield::default().await;
        spend(2);
        std::future::pending::<()>().await;
    }
    #[instrument]
    async fn gives_up() {
        spend(10);
        let mut waits = Box::pin(waits());
        assert!(poll(&mut waits).is_pending());
        Yield::default().await;
        assert!(poll(&mut waits).is_pending());
        assert_eq!(future(&whole(), "waits")[..2], [1, 0]);
        drop(waits);
        assert_eq!(future(&whole(), "waits")[..2], [0, 1]);
        spend(20);
    }
    let mut first = Box::pin(gives_up());
    assert!(poll(&mut first).is_pending());
    assert!(poll(&mut first).is_ready());
    drop(first);
    // This future is dropped together with the future that it awaits.
    let mut second = Box::pin(gives_up());
    assert!(poll(&mut second).is_pending());
    drop(second);
    let after = whole();
    for name in ["gives_up", "waits"] {
        assert_eq!(future(&after, name)[..2], [0, 2], "{name}");
    }
    assert_eq!(rows(), "gives_up 2 40 44\n  waits 2 4 4\n");
    assert!(after.tasks.paths.is_empty());
}

/// Calls that ended before their call site was known to belong to a future must never count as calls in flight.
fn what_was_counted_before_is_not_in_flight() {
    let _session = begun();
    let span = || info_span!("mixed");
    (0..7).for_each(|_| span().in_scope(|| spend(1)));
    // This span is waiting, but it is not known to be a future until it is entered again.
    let early = span();
    early.in_scope(|| spend(1));
    assert_eq!(future(&whole(), "mixed"), [0, 0, 0]);
    let twice = span();
    twice.in_scope(|| spend(1));
    twice.in_scope(|| spend(1));
    assert_eq!(future(&whole(), "mixed"), [1, 0, 2]);
    early.in_scope(|| spend(1));
    assert_eq!(future(&whole(), "mixed"), [2, 0, 4]);
    tickscope::reset();
    assert_eq!(future(&whole(), "mixed")[..2], [2, 0]);
    drop((early, twice));
    assert_eq!(future(&whole(), "mixed")[..2], [0, 2]);
    // On a second thread, the collector knows from the first poll that the site belongs to futures, so it sees a waiting call.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let waits = span();
            waits.in_scope(|| spend(1));
            assert_eq!(future(&whole(), "mixed")[..2], [1, 2]);
            drop(waits);
        });
    });
    assert_eq!(future(&whole(), "mixed")[..2], [0, 3]);
}

fn spans_may_be_exited_in_any_order() {
    let _session = begun();
    let (one, two, three) = (info_span!("one"), info_span!("two"), info_span!("three"));
    let first = one.enter();
    let second = two.enter();
    spend(1);
    let third = three.enter();
    spend(10);
    drop(first);
    spend(100);
    drop(second);
    spend(1_000);
    drop(third);
    spend(10_000);
    // When an outer span ends, the next inner span takes its place in the tree.
    let expected = "one 1 0 11\n  two 1 1 11\n    three 1 10 10\n\
                    two 0 0 100\n  three 0 100 100\nthree 0 1000 1000\n";
    assert_eq!(rows(), expected);
    assert_eq!(future(&whole(), "three"), [0, 0, 0]);
}

/// Whatever the order of entries and exits, time must belong to the open span that was entered last.
fn random_orders_charge_the_innermost_span() {
    let _session = begun();
    let mut random = Random(7);
    let mut charged = [0_u64; 4];
    for _ in 0..300 {
        let spans = [info_span!("0"), info_span!("1"), info_span!("2"), info_span!("3")];
        let mut open: Vec<(usize, tracing::span::Entered<'_>)> = Vec::new();
        for _ in 0..random.below(30) {
            if random.below(2) == 0 {
                let which = random.below(4) as usize;
                open.push((which, spans[which].enter()));
            } else if !open.is_empty() {
                let at = random.below(open.len() as u64) as usize;
                // If a span has been entered twice, an exit ends its inner entry.
                let which = open[at].0;
                let inner = open.iter().rposition(|(span, _)| *span == which).unwrap();
                drop(open.remove(inner));
            }
            let ticks = random.below(100);
            spend(ticks);
            if let Some((innermost, _)) = open.last() {
                charged[*innermost] += ticks;
            }
        }
        // The remaining entries are ended in random order.
        while !open.is_empty() {
            let last = open[random.below(open.len() as u64) as usize].0;
            let inner = open.iter().rposition(|(span, _)| *span == last).unwrap();
            drop(open.remove(inner));
        }
    }
    let snapshot = whole();
    let found = ["0", "1", "2", "3"].map(|name| ticks_of(&snapshot, name));
    assert_eq!(found, charged);
    assert!(snapshot.tasks.paths.is_empty());
    let in_flight = ["0", "1", "2", "3"].map(|name| future(&snapshot, name)[0]);
    assert_eq!(in_flight, [0; 4]);
}

fn a_scope_between_spans_is_not_unbalanced() {
    let _session = begun();
    let _outer = info_span!("outer span").entered();
    {
        tickscope::scope!("scope");
        let _inner = info_span!("inner span").entered();
        spend(5);
    }
    assert_eq!(rows(), "outer span 1 0 5\n  scope 1 0 5\n    inner span 1 5 5\n");
}

fn a_span_that_is_entered_in_itself_is_one_call() {
    let _session = begun();
    let span = info_span!("twice");
    span.in_scope(|| span.in_scope(|| spend(3)));
    assert_eq!(rows(), "twice 1 0 3\n  twice 0 3 3\n");
    drop(span);
    assert_eq!(
        future(&whole(), "twice"),
        [0, 0, 0],
        "it was open, so that was no second poll"
    );
}

fn a_span_on_many_threads_is_one_call() {
    let _session = begun();
    let span = info_span!("shared");
    let work = || (0..100).for_each(|_| span.in_scope(|| info_span!("part").in_scope(|| spend(1))));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
    drop(span);
    let snapshot = whole();
    assert_eq!(calls_of(&snapshot, "shared"), 1);
    assert_eq!(calls_of(&snapshot, "part"), 400);
    assert_eq!(future(&snapshot, "shared")[..2], [0, 1]);
}

fn futures_that_move_between_threads_are_one_call() {
    let _session = begun();
    for _ in 0..20 {
        let mut future = Box::pin(
            async {
                for _ in 0..10 {
                    Yield::default().await;
                }
            }
            .instrument(info_span!("moves")),
        );
        while std::thread::scope(|scope| scope.spawn(|| poll(&mut future)).join().unwrap()).is_pending() {}
    }
    let snapshot = whole();
    assert_eq!(calls_of(&snapshot, "moves"), 20);
    assert_eq!(future(&snapshot, "moves")[..2], [0, 20]);
    assert!(snapshot.tasks.paths.is_empty());
}

fn a_panic_exits_spans() {
    let _session = begun();
    let work = || {
        let _span = info_span!("panics").entered();
        spend(1);
        let _inner = info_span!("unwound").entered();
        std::panic::resume_unwind(Box::new(()));
    };
    (0..3).for_each(|_| assert!(catch_unwind(AssertUnwindSafe(work)).is_err()));
    outer(3);
    assert_eq!(rows(), format!("panics 3 3 3\n  unwound 3 0 0\n{OUTER}"));
}

fn levels_and_targets_decide() {
    let subscriber = subscriber()
        .with_max_level(LevelFilter::INFO)
        .with_target("spans::quiet", LevelFilter::OFF)
        .with_target("spans::loud", LevelFilter::TRACE);
    subscriber.init().unwrap();
    let _session = started();
    let _info = info_span!("info").entered();
    let debug = tracing::debug_span!("debug");
    assert!(debug.is_disabled());
    let _debug = debug.entered();
    let _quiet = info_span!(target: "spans::quiet", "quiet").entered();
    let _loud = tracing::trace_span!(target: "spans::loud", "loud").entered();
    assert_eq!(rows(), "info 1 0 0\n  loud 1 0 0\n");
    assert!(!tracing::enabled!(Level::WARN), "events are disabled");
}

fn emit() {
    let _span = info_span!("request").entered();
    for _ in 0..3 {
        tracing::warn!(bytes = 7, "too long");
    }
    tracing::event!(name: "full", Level::ERROR, "no place");
    tracing::debug!("noise");
}

fn events_are_counters() {
    subscriber()
        .with_max_level(LevelFilter::INFO)
        .count_events()
        .init()
        .unwrap();
    let _session = started();
    emit();
    let rows = rows();
    let mut lines = rows.lines();
    assert_eq!(lines.next(), Some("request 1 0 0"));
    let warned = lines.next().unwrap_or_default();
    assert!(warned.starts_with("  [warn] "), "{warned}");
    assert!(warned.ends_with(" 3 0 0"), "{warned}");
    assert!(warned.contains("tests/spans.rs:"), "{warned}");
    assert_eq!(lines.next(), Some("  [error] full 1 0 0"));
    assert_eq!(lines.next(), None);
    assert_eq!(whole().counts.len(), 2);
}

fn events_of_a_layer_are_counters_if_asked() {
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer().count_events()))
        .unwrap();
    let _session = started();
    emit();
    assert_eq!(whole().counts.len(), 3);
}

fn events_do_not_count_unless_asked() {
    let _session = begun();
    emit();
    assert_eq!(rows(), "request 1 0 0\n");
}

fn the_current_span_goes_with_what_is_spawned() {
    let _session = begun();
    assert!(tracing::Span::current().is_none());
    let parent = info_span!("parent");
    let spawned = parent.in_scope(|| {
        assert_eq!(tracing::Span::current().metadata().unwrap().name(), "parent");
        async { spend(9) }.in_current_span()
    });
    drop(parent);
    block_on(spawned);
    let snapshot = whole();
    assert_eq!(calls_of(&snapshot, "parent"), 1);
    assert_eq!(
        future(&snapshot, "parent")[..2],
        [0, 1],
        "it lasted until the future was dropped"
    );
}

fn an_excluded_thread_has_no_spans() {
    let _session = begun();
    let open = info_span!("open").entered();
    spend(1);
    tickscope::thread::exclude();
    let _unseen = info_span!("unseen").entered();
    drop(open);
    tickscope::thread::include();
    info_span!("seen").in_scope(|| spend(2));
    assert_eq!(rows(), "open 1 1 1\nseen 1 2 2\n");
}

fn disabled_rows_and_other_modes_lose_nothing() {
    let _session = begun();
    outer(1);
    tickscope::disable_sites("within").unwrap();
    outer(1);
    tickscope::enable_sites("within").unwrap();
    assert_eq!(calls_of(&whole(), "within"), 1);
    for mode in [
        tickscope::Mode::Adaptive,
        tickscope::Mode::Sampled,
        tickscope::Mode::Off,
        tickscope::Mode::Exact,
    ] {
        let across = info_span!("across").entered();
        tickscope::set_mode(mode);
        outer(3);
        drop(across);
        block_on(async { Yield::default().await }.instrument(info_span!("waits")));
    }
    let snapshot = whole();
    // Each switch begins an epoch.
    assert_eq!(calls_of(&snapshot, "outer"), 1);
    assert_eq!(calls_of(&snapshot, "within"), 3);
    assert_eq!(future(&snapshot, "waits")[0], 0);
}

fn slow_calls_of_spans_are_told_apart() {
    let _session = begun();
    tickscope::watch(
        "waits",
        tickscope::Over::Duration(std::time::Duration::from_nanos(500)),
    )
    .ok();
    for round in 0..300 {
        block_on(
            async {
                Yield::default().await;
                spend(if round % 10 == 0 { 1_000 } else { 1 });
            }
            .instrument(info_span!("waits")),
        );
    }
    let snapshot = whole();
    assert_eq!(calls_of(&snapshot, "waits"), 300);
    assert_eq!(future(&snapshot, "waits")[..2], [0, 300]);
}

support::tests![
    isolated:
    spans_are_rows,
    a_layer_makes_rows_of_what_filters_let_through,
    a_filter_of_the_layer_alone_leaves_spans_to_other_layers,
    more_spans_of_a_layer_than_places_are_told_apart,
    async_functions_are_calls_in_flight,
    async_functions_of_a_layer_are_calls_in_flight,
    async_functions_with_the_fast_clock,
    a_future_that_is_dropped_has_ended_where_it_was,
    what_was_counted_before_is_not_in_flight,
    spans_may_be_exited_in_any_order,
    random_orders_charge_the_innermost_span,
    a_scope_between_spans_is_not_unbalanced,
    a_span_that_is_entered_in_itself_is_one_call,
    a_span_on_many_threads_is_one_call,
    futures_that_move_between_threads_are_one_call,
    a_panic_exits_spans,
    levels_and_targets_decide,
    events_are_counters,
    events_of_a_layer_are_counters_if_asked,
    events_do_not_count_unless_asked,
    the_current_span_goes_with_what_is_spawned,
    an_excluded_thread_has_no_spans,
    disabled_rows_and_other_modes_lose_nothing,
    slow_calls_of_spans_are_told_apart;
];

fn main() -> std::process::ExitCode {
    support::main(&[TESTS])
}
