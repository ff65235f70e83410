//! Watched functions: typical and slow calls, the causes of slow calls, and the events inside them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{self, ask, by_hand, ring_of, spend, tick};
use crate::waits::cpu;
use tickscope::{Builder, Mode, Over, Session, Snapshot};
use tickscope_format::pattern::Pattern;
use tickscope_format::slots::{Op, Outcome};
use tickscope_format::snapshot::{self, CauseKind, Exemplar, Then, Watch, WatchState};

/// Starts a session with the manual clock.
pub(crate) fn session(builder: Builder) -> Session {
    builder.clock(by_hand()).try_start().unwrap()
}

fn lookup() {
    tickscope::scope!("lookup");
    spend(10);
}

/// Runs a frame that takes 160 ns. One frame in a hundred takes longer to parse, and another one makes more lookups.
fn frame(number: u64) {
    tickscope::scope!("frame");
    tickscope::note!("number", number);
    spend(5);
    let parse = tickscope::scope_guard!("parse");
    spend(if number % 100 == 33 { 5_000 } else { 100 });
    drop(parse);
    for _ in 0..if number % 100 == 66 { 600 } else { 5 } {
        lookup();
    }
    spend(5);
}

/// Returns the only watch. Taking the snapshot for it also makes the threads pick up the current threshold.
pub(crate) fn watched() -> Watch {
    let mut snapshot = tickscope::snapshot();
    assert_eq!(snapshot.watches.len(), 1);
    snapshot.watches.remove(0)
}

fn watch_frames() {
    tickscope::watch("frame", Over::Duration(Duration::from_nanos(1_000))).unwrap();
    assert_eq!(watched().calls(), (0, 0));
}

/// Returns the path with this name: its index, its calls and ticks in typical calls, and its calls and ticks in slow calls.
fn path(snapshot: &Snapshot, watch: &Watch, name: &str) -> (u32, [u64; 4]) {
    let at = watch
        .paths
        .iter()
        .position(|path| snapshot.sites[path.site.index()].name == name);
    let at = at.unwrap_or_else(|| panic!("{name} in {watch:?}"));
    let path = watch.paths[at];
    let counts = [
        path.typical.calls,
        path.typical.ticks,
        path.slow.calls,
        path.slow.ticks,
    ];
    (at as u32, counts)
}

fn causes(watch: &Watch) -> Vec<(u32, CauseKind, u64, u64)> {
    let causes = watch.causes.iter();
    causes
        .map(|cause| (cause.path, cause.kind, cause.calls, cause.path_calls))
        .collect()
}

/// Checks that ten of a thousand frames are slow because of `parse`, and ten because of `lookup`.
#[track_caller]
fn assert_ten_of_each_cause(watch: &Watch, parse: u32, lookup: u32) {
    assert_eq!(
        causes(watch),
        [
            (parse, CauseKind::SelfTime, 10, 10),
            (lookup, CauseKind::Calls, 10, 6_000),
        ]
    );
    assert_eq!(watch.causes[0].excess_ticks, 10 * 4_900);
    assert_eq!(watch.causes[1].excess_ticks, 10 * 5_950);
}

/// Returns the total time of all steps of a trace, in ticks.
pub(crate) fn replayed(exemplar: &Exemplar) -> u64 {
    let trace = exemplar.trace.as_ref().unwrap();
    trace.ticks.iter().sum()
}

/// In a server that starts a thread for each request, a thread that makes a slow call has made no typical call. Its
/// slow call is compared with the typical calls of other threads.
fn slow_calls_of_threads_without_a_typical_one_are_compared_with_those_of_others() {
    let _session = session(Builder::new("requests"));
    watch_frames();
    let request = |number| std::thread::spawn(move || frame(number)).join().unwrap();
    (1..=33).for_each(request);
    let watch = watched();
    assert_eq!((watch.calls(), watch.causes.len()), ((32, 1), 0), "asked for");
    (34..=1_000).for_each(request);
    // This thread has made a typical call, but not on the path of its slow call.
    frame(1);
    {
        tickscope::scope!("elsewhere");
        frame(33);
    }
    let snapshot = tickscope::snapshot();
    let watch = &snapshot.watches[0];
    assert_eq!(watch.calls(), (981, 21));
    let (parse, lookup) = (
        path(&snapshot, watch, "parse").0,
        path(&snapshot, watch, "lookup").0,
    );
    assert_ten_of_each_cause(watch, parse, lookup);
}

fn slow_calls_are_told_with_their_causes_and_kept() {
    let _session = session(Builder::new("frames"));
    watch_frames();
    for number in 1..=1_000 {
        frame(number);
    }
    let snapshot = tickscope::snapshot();
    let watch = &snapshot.watches[0];
    assert_eq!(watch.state, WatchState::Watching);
    assert_eq!(watch.threshold_ticks, 1_000);
    assert_eq!(watch.calls(), (980, 20));
    let (root, counts) = path(&snapshot, watch, "frame");
    assert_eq!(counts, [980, 9_800, 20, 200]);
    let (parse, counts) = path(&snapshot, watch, "parse");
    assert_eq!(counts, [980, 98_000, 20, 10 * 5_000 + 10 * 100]);
    let (lookup, counts) = path(&snapshot, watch, "lookup");
    assert_eq!(counts, [980 * 5, 980 * 50, 10 * 605, 10 * 6_050]);
    assert_ten_of_each_cause(watch, parse, lookup);
    // The longest calls are the frames with 600 lookups. Which of the other calls are kept is random.
    let longest: Vec<u64> = watch
        .exemplars
        .iter()
        .filter(|exemplar| exemplar.is_longest)
        .map(|exemplar| exemplar.ticks)
        .collect();
    assert_eq!(longest, [6_110; 8]);
    assert!(watch.exemplars.len() > 8);
    for exemplar in &watch.exemplars {
        assert_eq!(replayed(exemplar), exemplar.ticks);
        let trace = exemplar.trace.as_ref().unwrap();
        let number: u64 = trace.notes[0].value.parse().unwrap();
        assert_eq!(trace.keys, ["number"]);
        let cause = match number % 100 {
            33 => (parse, CauseKind::SelfTime),
            66 => (lookup, CauseKind::Calls),
            _ => panic!("{number} is not slow"),
        };
        assert_eq!(exemplar.cause, Some(cause));
        assert_eq!(exemplar.thread, "main");
        let first: Vec<_> = trace.steps().take(3).collect();
        let parse_ticks = if cause.0 == parse { 5_000 } else { 100 };
        assert_eq!(
            first,
            [
                (root, 5, Then::Enter),
                (parse, parse_ticks, Then::Exit),
                (root, 0, Then::Enter)
            ]
        );
    }
    // Without the watch the functions are still counted.
    tickscope::unwatch("frame").unwrap();
    frame(33);
    let snapshot = tickscope::snapshot();
    assert!(snapshot.watches.is_empty());
    assert_eq!(support::calls_of(&snapshot, "frame"), 1_001);
}

/// Whatever interrupts a watched call must be reported, and must not affect the calls before and after it.
fn whatever_happens_inside_is_told() {
    let _session = session(Builder::new("inside"));
    watch_frames();
    let discarded = || watched().lost.discarded;
    frame(1);
    let outer = tickscope::scope_guard!("outer");
    // A panic ends the call just as a return does.
    let panics = || {
        tickscope::scope!("frame");
        spend(7);
        panic!("as planned");
    };
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    drop(outer);
    frame(2);
    // A guard that is leaked inside the call is closed at the end of the call.
    let leaks = |number| {
        tickscope::scope!("frame");
        std::mem::forget(tickscope::scope_guard!("leaked"));
        frame(number);
    };
    leaks(3);
    frame(4);
    // The scope in `leaks` is a site of its own, which is also called "frame". Its first call has made the site known.
    let known = watched().calls().0;
    leaks(5);
    frame(6);
    assert_eq!(watched().calls(), (known + 2, 0));
    assert_eq!(discarded(), 0);
    // The guard of the watched call itself is leaked, so that the call is closed only by the guard of an outer call.
    {
        tickscope::scope!("outer");
        let frame = tickscope::scope_guard!("frame");
        spend(3);
        std::mem::forget(frame);
    }
    watched();
    {
        tickscope::scope!("outer");
        std::mem::forget(tickscope::scope_guard!("frame"));
    }
    frame(7);
    assert_eq!((watched().calls(), discarded()), ((known + 3, 0), 2));
    // A reset, a mode switch, and a change of watches happen inside the call.
    let inside = |between: &dyn Fn()| {
        tickscope::scope!("frame");
        spend(4);
        between();
        spend(4);
    };
    inside(&|| {});
    watched();
    inside(&|| {});
    let before = discarded();
    inside(&|| drop(tickscope::reset()));
    assert_eq!(discarded(), 1, "counted anew: {before}");
    inside(&|| {});
    assert_eq!(watched().calls(), (1, 0));
    inside(&|| tickscope::set_mode(Mode::Adaptive));
    inside(&|| {});
    inside(&|| tickscope::set_mode(Mode::Exact));
    inside(&|| {});
    assert_eq!(watched().calls(), (1, 0), "each switch is a reset as well");
    inside(&|| tickscope::unwatch("frame").unwrap());
    inside(&|| tickscope::watch("frame", Over::Duration(Duration::from_nanos(4))).unwrap());
    watched();
    inside(&|| {});
    assert_eq!(watched().calls(), (0, 1));
    // A pause does not count towards the duration of the call.
    inside(&|| {
        let _pause = tickscope::pause();
        spend(1_000);
    });
    let watch = watched();
    assert_eq!(watch.calls(), (0, 2));
    assert!(watch.exemplars.iter().all(|exemplar| exemplar.ticks == 8));
    // A thread ends inside a watched call, and is excluded inside another one.
    let ends = move || {
        std::mem::forget(tickscope::scope_guard!("frame"));
        inside(&|| tickscope::thread::exclude());
    };
    std::thread::spawn(ends).join().unwrap();
    assert_eq!(watched().calls(), (0, 2));
    // The counts of a thread are kept after it has ended.
    std::thread::spawn(move || inside(&|| {})).join().unwrap();
    assert_eq!(watched().calls(), (0, 3));
}

/// If a call has a million events, its trace keeps only the beginning and the end, but the sums include all events.
fn a_long_call_is_counted_whole_and_kept_in_part() {
    let _session = session(Builder::new("long"));
    watch_frames();
    long();
    let snapshot = tickscope::snapshot();
    let watch = &snapshot.watches[0];
    assert_eq!(watch.calls(), (0, 1));
    let longest = &watch.exemplars[0];
    assert_eq!(longest.ticks, 5_000_000);
    let trace = longest.trace.as_ref().unwrap();
    let gap = trace.gap.unwrap();
    assert_eq!(replayed(longest) + gap.ticks, longest.ticks);
    assert_eq!(trace.len() as u64 + gap.steps, 1_000_001);
    assert_eq!(gap.step, 32_768);
}

#[inline(never)]
fn long() {
    tickscope::scope!("frame");
    for _ in 0..500_000 {
        lookup();
    }
}

fn thresholds_follow_the_calls_and_a_viewer_watches() {
    // The interval is so long that only the test takes snapshots until a viewer connects.
    let session = session(Builder::new("asked").interval(Duration::from_secs(3_600)));
    tickscope::watch("frame", Over::Tail).unwrap();
    assert_eq!(watched().state, WatchState::NoFunction);
    for number in 0..199 {
        frame(number);
    }
    let watch = watched();
    assert_eq!(watch.state, WatchState::Learning(199));
    assert_eq!(watch.threshold_ticks, 0);
    for number in 199..2_000 {
        frame(number);
    }
    let watch = watched();
    assert_eq!(watch.state, WatchState::Watching);
    assert!((1_000..=5_000).contains(&watch.threshold_ticks), "{watch:?}");
    for number in 0..1_000 {
        frame(number);
    }
    let (typical, slow) = watched().calls();
    assert!(slow >= 20 && typical + slow <= 2_801 && typical + slow >= 1_000);
    let ring = ring_of(&session);
    let pattern = |text: &str| Pattern::new(text).unwrap();
    let mut slot = ring.take_slot().unwrap().unwrap();
    for name in ["a", "b", "c"] {
        let reply = ask(&mut slot, Op::Watch(pattern(name), snapshot::Over::P99));
        assert_eq!(reply.outcome, Outcome::Done);
    }
    let reply = ask(&mut slot, Op::Watch(pattern("d"), snapshot::Over::P99));
    assert_eq!(reply.outcome, Outcome::Refused, "four are watched");
    let error = tickscope::watch("d", Over::P99).unwrap_err().to_string();
    assert!(error.contains("4 functions are watched"), "{error}");
    ask(&mut slot, Op::Unwatch(pattern("*")));
    assert!(tickscope::snapshot().watches.is_empty());
}

fn a_function_that_is_off_is_switched_on_and_a_site_may_ask_to_be_watched() {
    let _session = session(Builder::new("off").watch("parse", Over::Duration(Duration::from_nanos(50))));
    frame(1);
    assert_eq!(tickscope::snapshot().watches[0].function, "parse");
    tickscope::disable_sites("parse").unwrap();
    frame(2);
    assert_eq!(tickscope::snapshot().watches[0].calls(), (0, 1));
    tickscope::unwatch("parse").unwrap();
    tickscope::watch("parse", Over::Duration(Duration::from_nanos(50))).unwrap();
    tickscope::snapshot();
    frame(3);
    assert_eq!(tickscope::snapshot().watches[0].calls(), (0, 1));
    let asks = || {
        tickscope::scope!(watch, "asks");
        spend(1);
    };
    asks();
    let snapshot = tickscope::snapshot();
    assert_eq!(snapshot.watches.len(), 2);
    assert!(snapshot.watches[1].function.ends_with("::asks"));
    assert_eq!(snapshot.watches[1].state, WatchState::Learning(1));
    tickscope::watch("waits", Over::Tail).unwrap();
    let mut waits = std::pin::pin!(tickscope::future!("waits", async {}));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(waits.as_mut().poll(&mut context).is_ready());
    assert_eq!(tickscope::snapshot().watches[2].state, WatchState::Learning(1));
}

/// Adaptive mode times even short watched calls. Each tick still belongs to a scope, or to the time outside of all scopes.
fn in_adaptive_mode_each_watched_call_is_timed() {
    let _session = session(Builder::new("adaptive").mode(Mode::Adaptive));
    watch_frames();
    drop(tickscope::reset());
    let began = tick();
    for number in 1..=20_000 {
        frame(number);
    }
    let ticks = tick() - began;
    let snapshot = tickscope::snapshot();
    let outside: u64 = snapshot.threads.iter().map(|thread| thread.outside_ticks).sum();
    let measured = snapshot.measured_ticks() + outside;
    assert!(
        measured.abs_diff(ticks) <= snapshot.nodes.len() as u64,
        "{measured} of {ticks}"
    );
    assert_eq!(support::calls_of(&snapshot, "frame"), 20_000);
    assert_eq!(support::calls_of(&snapshot, "parse"), 20_000);
    let watch = &snapshot.watches[0];
    let (typical, slow) = watch.calls();
    // At most 5 % of the calls may be missing from the sums.
    assert!((19_000..=20_000).contains(&(typical + slow)), "{typical} {slow}");
    assert!(slow > 10, "{typical} {slow}");
    let (_, parse) = path(&snapshot, watch, "parse");
    let (_, lookup) = path(&snapshot, watch, "lookup");
    assert_eq!((parse[0], parse[2]), (typical, slow));
    assert_eq!((parse[1], lookup[1]), (100 * typical, 50 * typical));
    let told: u64 = watch.causes.iter().map(|cause| cause.calls).sum();
    assert!(told > 10, "{:?}", watch.causes);
    for exemplar in &watch.exemplars {
        assert_eq!(replayed(exemplar), exemplar.ticks);
    }
}

/// If every call is slow, all are counted, and the longest are kept, but there is no typical call for a comparison.
fn a_flood_of_slow_calls_is_counted() {
    let _session = session(Builder::new("flood"));
    watch_frames();
    tickscope::watch("frame", Over::Duration(Duration::from_nanos(1))).unwrap();
    for number in 1..=20_000 {
        frame(number);
    }
    let snapshot = tickscope::snapshot();
    let watch = &snapshot.watches[0];
    assert_eq!(watch.calls(), (0, 20_000));
    let (_, parse) = path(&snapshot, watch, "parse");
    assert_eq!(parse, [0, 0, 20_000, 19_800 * 100 + 200 * 5_000]);
    assert!(watch.causes.is_empty());
    assert_eq!(watch.exemplars.len(), 12);
    assert!(
        watch
            .exemplars
            .iter()
            .all(|exemplar| replayed(exemplar) == exemplar.ticks)
    );
    // A new threshold resets the watch's counts.
    tickscope::watch("frame", Over::Duration(Duration::from_nanos(1_000))).unwrap();
    frame(1);
    frame(33);
    assert_eq!(watched().calls(), (1, 1));
}

/// Returns the cause that makes the frame with this number slow, if there is one.
fn planted(number: u64) -> Option<(&'static str, CauseKind)> {
    match number % 600 {
        199 => Some(("parse", CauseKind::SelfTime)),
        399 => Some(("lookup", CauseKind::Calls)),
        599 => Some(("flush", CauseKind::Waiting)),
        _ => None,
    }
}

/// Keeps the CPU busy until this thread has used `us` microseconds of CPU time.
fn work(us: u64) {
    let begin = cpu();
    while cpu() - begin < Duration::from_micros(us) {
        std::hint::spin_loop();
    }
}

fn real_frame(number: u64) {
    tickscope::scope!("real_frame");
    tickscope::note!("number", number);
    let reason = planted(number).map(|(name, _)| name);
    tickscope::time!("parse", work(if reason == Some("parse") { 4_000 } else { 20 }));
    for _ in 0..if reason == Some("lookup") { 900 } else { 20 } {
        tickscope::time!("lookup", work(2));
    }
    tickscope::time!("flush", {
        work(20);
        if reason == Some("flush") {
            std::thread::sleep(Duration::from_millis(8));
        }
    });
}

/// Three causes: a slow branch in a function, a function that is called 900 times instead of 20, and a sleep. Each must
/// be found, even though threads lose their CPUs at unpredictable moments.
fn three_reasons_are_told_apart_on_a_busy_machine() {
    let _session = Builder::new("reasons").try_start().unwrap();
    for number in 0..200 {
        real_frame(number);
    }
    tickscope::watch("real_frame", Over::Duration(Duration::from_micros(1_500))).unwrap();
    drop(tickscope::reset());
    // Three other threads compete for the CPUs.
    let stop = AtomicBool::new(false);
    let snapshot = std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        tickscope::snapshot();
        for number in 0..6_000 {
            real_frame(number);
        }
        stop.store(true, Ordering::Relaxed);
        tickscope::snapshot()
    });
    let watch = &snapshot.watches[0];
    let (typical, slow) = watch.calls();
    assert_eq!(typical + slow, 6_000);
    let name = |path: u32| {
        let site = watch.paths[path as usize].site;
        snapshot.sites[site.index()].name.clone()
    };
    let mut told = std::collections::BTreeMap::new();
    for cause in &watch.causes {
        *told.entry((name(cause.path), cause.kind.as_str())).or_insert(0) += cause.calls;
    }
    println!("{typical} typical, {slow} slow: {told:?}");
    for number in [199, 399, 599] {
        let (name, kind) = planted(number).unwrap();
        let calls = told.get(&(name.to_string(), kind.as_str())).copied().unwrap_or(0);
        // If a frame is without a CPU for much longer than its planted cause takes, the wait is its cause. Time
        // that the machine's host takes looks like work, so more calls may show work.
        assert!(calls >= 4, "{name}: {calls} of 10 in {told:?}");
    }
    // Some of the ten may have another cause: if a frame waits for a CPU much longer than its planted cause takes, the
    // wait is its cause. There may also be more than ten, because time that the host steals from a virtual machine
    // looks like work.
    let mut wrong = Vec::new();
    for exemplar in &watch.exemplars {
        let trace = exemplar.trace.as_ref().unwrap();
        let number = trace.notes[0].value.parse().unwrap();
        // The first slow frames may come before there is a typical frame to compare them with.
        let Some((path, kind)) = exemplar.cause else {
            continue;
        };
        let is_right = |planted| kind == CauseKind::Ready || (name(path).as_str(), kind) == planted;
        if !planted(number).is_none_or(is_right) {
            wrong.push((number, kind, name(path)));
        }
        assert_eq!(replayed(exemplar), exemplar.ticks);
    }
    assert!(wrong.len() <= watch.exemplars.len() / 3, "{wrong:?}");
}

crate::support::tests![
    isolated:
    a_flood_of_slow_calls_is_counted,
    slow_calls_are_told_with_their_causes_and_kept,
    slow_calls_of_threads_without_a_typical_one_are_compared_with_those_of_others,
    whatever_happens_inside_is_told,
    a_long_call_is_counted_whole_and_kept_in_part,
    thresholds_follow_the_calls_and_a_viewer_watches,
    a_function_that_is_off_is_switched_on_and_a_site_may_ask_to_be_watched;
    as_usual: in_adaptive_mode_each_watched_call_is_timed;
    ignored_isolated:
    // Run only on request, because the number of correct causes depends on how busy the CPUs are otherwise.
    three_reasons_are_told_apart_on_a_busy_machine;
];
