//! The API: sessions, macros, resets, included threads. `programs` tests pauses and excluded threads.

use std::time::Duration;

use crate::support::{
    self, Says, Yield, block_on, by_hand, calls_of, checked, has_exited, limit, newest, open_path, path_of,
    ring_of, rings_in, spend, started, threads_named, tree, wait_until,
};
use tickscope::{Builder, Clock, Status, Threads};
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::snapshot::CaptureKind;

fn a_session_publishes_at_its_path_until_it_is_dropped() {
    let session = tickscope::start("order-book");
    wait_until("publishing", || session.status() == Status::Publishing);
    assert_eq!(session.warnings(), Vec::<String>::new());
    let path = session.path().unwrap();
    assert!(path.starts_with(support::shared_place().join("rings")));
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(
        name.starts_with(&format!("order-book.{}.", std::process::id())),
        "{name}"
    );
    let ring = RingFile::open(&path).unwrap();
    assert_eq!(ring.liveness().unwrap(), Liveness::Running);
    assert_eq!(ring.header().name, "order-book");
    let snapshot = newest(&ring);
    assert_eq!(&*snapshot.process.name, "order-book");
    assert_eq!(snapshot.process.pid, std::process::id());
    assert!(snapshot.threads.is_empty(), "start does not register its caller");
    tickscope::time!("last", ());
    drop(session);
    assert!(has_exited(&ring));
    let snapshot = newest(&ring);
    assert_eq!(snapshot.capture.kind, CaptureKind::Final);
    assert_eq!(calls_of(&snapshot, "last"), 1);
}

fn a_second_start_joins_and_a_start_after_the_last_drop_begins_anew() {
    let first = Builder::new("first").try_start().unwrap();
    let second = Builder::new("second").try_start().unwrap();
    assert_eq!(first.path(), second.path());
    assert!(first.warnings().is_empty());
    let warnings = second.warnings();
    assert!(
        warnings.len() == 1
            && warnings[0]
                .contains("joined the running session \"first\"; its name and settings stay in force"),
        "{warnings:?}"
    );
    let same = Builder::new("first").try_start().unwrap();
    assert!(same.warnings().is_empty(), "the same name is no news");
    drop(same);
    let ring = ring_of(&first);
    drop(first);
    assert_eq!(second.status(), Status::Publishing);
    assert_eq!(ring.liveness().unwrap(), Liveness::Running);
    drop(second);
    assert!(has_exited(&ring));

    tickscope::time!("between", ());
    let third = Builder::new("third").try_start().unwrap();
    assert_eq!(rings_in(&support::shared_place().join("rings")).len(), 2);
    let snapshot = newest(&ring_of(&third));
    assert_eq!(snapshot.process.name, "third");
    assert_eq!(
        calls_of(&snapshot, "between"),
        1,
        "scopes count without a session, too"
    );
}

const NAME: &str = "constant";

mod shapes {
    pub(super) struct Square<T>(pub(super) T);

    pub(super) trait Shape {
        fn area(&self) -> u8;
        fn default_method(&self) {
            tickscope::scope!();
        }
    }

    impl<T> Shape for Square<T> {
        fn area(&self) -> u8 {
            tickscope::scope!();
            1
        }
    }

    impl<T> Square<T> {
        pub(super) fn method(&self) {
            tickscope::scope!();
        }
    }
}

fn function() {
    tickscope::scope!();
}

fn generic<T>(_: T) {
    tickscope::scope!();
}

fn with_closure() {
    let closure = || {
        tickscope::scope!();
    };
    closure();
}

async fn asynchronous() {
    tickscope::scope!(group = "io");
}

fn scopes_are_named_after_constants_and_functions() {
    use shapes::Shape;
    {
        tickscope::scope!(NAME);
        tickscope::scope!(concat!("lit", "eral"));
        tickscope::scope!(group = "g", "grouped",);
    }
    drop(tickscope::scope_guard!(group = "io", "guarded"));
    assert_eq!(tickscope::time!(group = "io", "timed", 3,), 3);
    function();
    generic(1u8);
    generic("text");
    with_closure();
    shapes::Square(1u8).method();
    shapes::Square("text").method();
    shapes::Square(1u8).area();
    shapes::Square(1u8).default_method();
    block_on(asynchronous());
    let snapshot = checked(tickscope::snapshot());
    let calls: Vec<(&str, u64)> = support::calls(&snapshot).into_iter().collect();
    assert_eq!(
        calls,
        [
            ("Shape::default_method", 1),
            ("Square::area", 1),
            ("Square::method", 2),
            ("asynchronous", 1),
            ("constant", 1),
            ("function", 1),
            ("generic", 2),
            ("grouped", 1),
            ("guarded", 1),
            ("literal", 1),
            ("timed", 1),
            ("with_closure", 1),
        ]
    );
    assert_eq!(snapshot.nodes.len(), 12, "instances of a generic share a row");
    let site = |name: &str| snapshot.sites.iter().find(|site| site.name == name).unwrap();
    let group = |name: &str| site(name).group.as_str();
    for (name, of) in [
        ("grouped", "g"),
        ("asynchronous", "io"),
        ("guarded", "io"),
        ("timed", "io"),
        ("constant", ""),
    ] {
        assert_eq!(group(name), of, "{name}");
    }
    assert_eq!(site("Square::method").module, concat!(module_path!(), "::shapes"));
    assert!(site("function").file.ends_with("api.rs") && site("function").line + 4 == site("generic").line);
}

#[tickscope::profile]
mod module {
    pub(super) fn a() {
        b();
    }

    fn b() {}
}

/// The other kinds of items are covered by the tests of the macro crate.
fn a_function_in_a_marked_module_has_its_own_line() {
    module::a();
    let snapshot = checked(tickscope::snapshot());
    let a = &snapshot.sites[0];
    let b = snapshot.sites.iter().find(|site| site.name == "b").unwrap();
    assert_eq!((&*a.name, b.line - a.line), ("a", 4));
    assert_eq!(path_of(&snapshot, 1), ["a", "b"]);
}

/// Futures that do not come from an `async fn`: blocks, and values that `.await` turns into futures.
fn blocks_and_futures_of_others_are_profiled_by_name() {
    struct Request(u64);
    impl IntoFuture for Request {
        type Output = u64;
        type IntoFuture = std::pin::Pin<Box<dyn Future<Output = u64> + Send>>;
        fn into_future(self) -> Self::IntoFuture {
            Box::pin(async move {
                spend(self.0);
                Yield::default().await;
                self.0
            })
        }
    }
    fn sendable<T: Send + 'static>(value: T) -> T {
        value
    }
    let _session = Builder::new("blocks").clock(by_hand()).start();
    drop(tickscope::future!("never polled", async {}));
    let block = sendable(tickscope::future!(group = "net", "block", async move {
        let first = tickscope::future!("request", Request(3)).await;
        spend(20);
        tickscope::time!("inside", spend(100));
        first + 1
    }));
    assert_eq!(block_on(block), 4);
    let snapshot = tickscope::snapshot();
    assert_eq!(
        tree(&snapshot, "main"),
        "block 1 20 123\n  request 1 3 3\n  inside 1 100 100\n"
    );
    let block = snapshot.sites.iter().find(|site| site.name == "block");
    assert_eq!(block.unwrap().group, "net");
}

fn guards_and_expressions_end_where_they_should() {
    fn early(return_early: bool) -> Option<u8> {
        tickscope::scope!("early");
        spend(1);
        let value = tickscope::time!("maybe", if return_early { None } else { Some(1) }?);
        spend(10);
        Some(value)
    }
    let _session = Builder::new("guards").clock(by_hand()).start();
    let guard = tickscope::scope_guard!("guarded");
    spend(3);
    drop(guard);
    spend(100);
    let value = tickscope::time!("expression", {
        spend(4);
        "value"
    });
    assert_eq!(value, "value");
    assert_eq!((early(true), early(false)), (None, Some(1)));
    let snapshot = tickscope::snapshot();
    assert_eq!(
        tree(&snapshot, "main"),
        "guarded 1 3 3\nexpression 1 4 4\nearly 2 12 12\n  maybe 2 0 0\n"
    );
    assert_eq!(snapshot.threads[0].outside_ticks, 100);
    assert_eq!(snapshot.capture.losses.unbalanced, 0);
}

fn resets_close_an_epoch_and_go_on() {
    let session = Builder::new("resets").try_start().unwrap();
    let ring = ring_of(&session);
    let guard = tickscope::scope_guard!("open");
    tickscope::time!("first", ());
    let closing = tickscope::reset();
    assert_eq!(closing.capture.kind, CaptureKind::Closing);
    assert_eq!(closing.capture.reset_epoch, 0);
    assert_eq!((calls_of(&closing, "open"), calls_of(&closing, "first")), (1, 1));
    tickscope::time!("second", ());
    let now = tickscope::snapshot();
    assert_eq!(now.capture.kind, CaptureKind::Periodic);
    assert_eq!(now.capture.reset_epoch, 1);
    assert_eq!(calls_of(&now, "second"), 1);
    assert_eq!(calls_of(&now, "open"), 0, "it began before");
    assert!(!tree(&now, "main").contains("first"), "{}", tree(&now, "main"));
    assert_eq!(
        open_path(&now, threads_named(&now, "main").next().unwrap()),
        ["open"]
    );
    assert_eq!(now.lifetime.calls, 3);
    wait_until("the closing record", || {
        let records = support::records(&ring);
        records.iter().any(|(record, snapshot)| {
            record.stamp.kind == CaptureKind::Closing && calls_of(snapshot, "first") == 1
        })
    });
    drop(guard);
    tickscope::request_reset();
    wait_until("the epoch of the request", || {
        newest(&ring).capture.reset_epoch == 2
    });
    let closings: Vec<u64> = support::records(&ring)
        .iter()
        .filter(|(record, _)| record.stamp.kind == CaptureKind::Closing)
        .map(|(_, snapshot)| snapshot.capture.reset_epoch)
        .collect();
    assert_eq!(closings, [0, 1]);
    assert_eq!(tickscope::snapshot().calls(), 0);
    drop(session);
    tickscope::request_reset();
    assert_eq!(
        tickscope::snapshot().capture.reset_epoch,
        3,
        "done at once where nobody publishes"
    );
}

fn a_reset_asked_for_just_before_the_end_of_the_session_is_done_in_it() {
    for round in 1..=20 {
        // Each round has a new directory, because the last round's publisher may still be cleaning up. In the same
        // directory, it would empty this round's ring.
        let place = tempfile::tempdir().unwrap();
        let session = Builder::new("resets").dir(place.path()).try_start().unwrap();
        let path = session.path().unwrap();
        tickscope::time!("work", ());
        tickscope::request_reset();
        drop(session);
        assert_eq!(tickscope::snapshot().capture.reset_epoch, round);
        let records = support::records(&RingFile::open(&path).unwrap());
        let closings = records
            .iter()
            .filter(|(record, _)| record.stamp.kind == CaptureKind::Closing);
        assert_eq!(closings.count(), 1);
    }
}

fn opt_in_counts_only_threads_that_are_included() {
    let _session = Builder::new("opt-in").threads(Threads::OptIn).start();
    tickscope::time!("main", ());
    std::thread::spawn(|| {
        tickscope::time!("not yet", ());
        tickscope::thread::include();
        tickscope::time!("worker", ());
        tickscope::thread::include();
        tickscope::time!("worker", ());
    })
    .join()
    .unwrap();
    let snapshot = tickscope::snapshot();
    assert_eq!(
        support::calls(&snapshot).into_iter().collect::<Vec<_>>(),
        [("worker", 2)]
    );
}

fn an_unusable_directory_is_an_error_that_says_what_next() {
    // No directory can hold a ring, because files are limited to less than the size of a ring.
    let before = limit(libc::RLIMIT_FSIZE, 64 << 10);
    let error = Builder::new("nowhere").try_start().unwrap_err().to_string();
    assert!(
        error.contains("fallocate")
            && error.ends_with("scopes are counted, but nothing is published; set TICKSCOPE_DIR"),
        "{error}"
    );
    error.says([support::shared_place().to_str().unwrap()]);

    let session = tickscope::start("nowhere");
    wait_until("the outcome", || session.status() == Status::Counting);
    assert_eq!(session.path(), None);
    assert!(
        session
            .warnings()
            .join("\n")
            .contains("scopes are counted, but nothing is published")
    );
    tickscope::time!("counted", ());
    assert_eq!(calls_of(&tickscope::reset(), "counted"), 1);
    tickscope::request_reset();
    assert_eq!(tickscope::snapshot().capture.reset_epoch, 2);
    drop(session);

    limit(libc::RLIMIT_FSIZE, before);
    let session = Builder::new("somewhere").try_start().unwrap();
    assert_eq!(session.status(), Status::Publishing, "{:?}", session.warnings());
}

fn settings_that_come_too_late_are_refused() {
    let session = started(Builder::new("settings").allow_remote_control(false));
    let ring = ring_of(&session);
    assert!(ring.take_slot().unwrap().is_none(), "this one was in time");
    let late = Builder::new("settings")
        .clock(Clock::Monotonic)
        .threads(Threads::OptIn)
        .max_depth(7)
        .max_nodes(8)
        .max_process_nodes(9)
        .max_gap(Duration::from_secs(60))
        .waits(false)
        .start();
    let in_force_and_late = [
        "clock is tsc since the first scope; monotonic comes",
        "threads is All since the first scope; OptIn comes",
        "max_depth is 512 since the first scope; 7 comes",
        "max_nodes is 65536 since the first scope; 8 comes",
        "max_process_nodes is 1048576 since the first scope; 9 comes",
        "max_gap is 0ns since the first scope; 60s comes",
        "waits is true since the first scope; false comes",
    ];
    let told =
        in_force_and_late.map(|told| format!("{told} too late: start the session before the first scope"));
    let warnings = late.warnings();
    assert!(told.iter().all(|told| warnings.contains(told)), "{warnings:#?}");
}

crate::support::tests![
    as_usual:
    a_session_publishes_at_its_path_until_it_is_dropped,
    a_second_start_joins_and_a_start_after_the_last_drop_begins_anew,
    scopes_are_named_after_constants_and_functions,
    a_function_in_a_marked_module_has_its_own_line,
    blocks_and_futures_of_others_are_profiled_by_name,
    guards_and_expressions_end_where_they_should,
    resets_close_an_epoch_and_go_on,
    a_reset_asked_for_just_before_the_end_of_the_session_is_done_in_it,
    opt_in_counts_only_threads_that_are_included,
    an_unusable_directory_is_an_error_that_says_what_next,
    settings_that_come_too_late_are_refused;
];
