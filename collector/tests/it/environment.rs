//! Settings in environment variables, and systems on which a program cannot publish.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{
    self, Done, Isolated, Says, calls_of, checked, each_passes, has_exited, isolated_as_usual, limit, mapped,
    newest, on_small_file_system, publisher_of, quick, ring_of, rings_in, started, status_line, tell,
    test_name, wait_until,
};
use tickscope::{Builder, Format, Session, Status, Threads};
use tickscope_format::file::open::RingFile;
use tickscope_format::snapshot::{CaptureKind, ClockSource, Mode};
use tickscope_testkit::suite::skip;

#[tickscope::profile]
fn marked() -> u8 {
    1
}

/// Before the first scope, the publisher has no records to write, so it must not wake up 10 000 times a second.
fn live_rests_before_the_first_scope() {
    let done = Isolated::as_usual(test_name!())
        .env("TICKSCOPE", "live")
        .env("TICKSCOPE_INTERVAL_MS", "10")
        .run(|| {
            let publisher = format!("self/task/{}", publisher_of(std::process::id()));
            let switches = || status_line(&publisher, "voluntary_ctxt_switches");
            let looks = || switches().parse::<u64>().unwrap();
            wait_until("some looks", || looks() > 10);
            // The publisher's pauses get longer: each lasts as long as all earlier pauses together, up to 0.1 s.
            let began = Instant::now();
            let before = looks();
            wait_until("three looks", || looks() >= before + 3);
            assert!(began.elapsed() >= Duration::from_millis(100));
        });
    done.succeeded();
}

/// `TICKSCOPE=live` begins a session, but if the program starts its own before the first scope, that one replaces it.
/// There must be no ring before the first scope or start, because viewers could attach to a ring that soon vanishes.
fn live_shows_no_ring_before_the_first_scope_or_start() {
    let live = |_| Isolated::as_usual(test_name!()).env("TICKSCOPE", "live");
    for (name, done) in each_passes(["", "inner"], live, |name| {
        let place = support::shared_place().join("rings");
        let _publisher = publisher_of(std::process::id());
        assert_eq!(rings_in(&place).len(), 0);
        if name.is_empty() {
            marked();
            wait_until("the ring", || rings_in(&place).len() == 1);
        } else {
            let session = Builder::new(name).try_start().unwrap();
            assert_eq!(rings_in(&place).len(), 1);
            drop(session);
        }
    }) {
        let ring = done.ring();
        assert!(
            ring.header()
                .name
                .starts_with(if name.is_empty() { "it-" } else { name })
        );
    }
}

fn live_outlives_the_sessions_of_the_program() {
    let live = |_| Isolated::as_usual(test_name!()).env("TICKSCOPE", "live");
    for (scope_first, done) in each_passes([true, false], live, |scope_first| {
        if scope_first {
            marked();
        }
        drop(Builder::new("inner").try_start().unwrap());
        let session = Builder::new("inner").try_start().unwrap();
        assert_eq!(session.status(), Status::Publishing);
        drop(session);
        marked();
    }) {
        let last = newest(&done.ring());
        assert_eq!(last.capture.kind, CaptureKind::Final);
        assert_eq!(calls_of(&last, "marked"), 1 + u64::from(scope_first));
        assert_eq!((&*done.stdout, &*done.stderr), ("", ""));
    }
}

fn live_begins_also_where_threads_include_themselves() {
    let test = Isolated::as_usual(test_name!())
        .env("TICKSCOPE", "live")
        .env("TICKSCOPE_THREADS", "opt-in");
    let done = test.succeeds(|| {
        tickscope::thread::include();
        marked();
    });
    assert_eq!(calls_of(&newest(&done.ring()), "marked"), 1);
}

/// Checks that `body` leaves `errno` unchanged.
fn keeps_errno(what: &str, body: impl FnOnce()) {
    // SAFETY: -1 is never a valid descriptor, so the call only returns an error.
    unsafe { libc::close(-1) };
    body();
    let error = std::io::Error::last_os_error().raw_os_error();
    assert_eq!(error, Some(libc::EBADF), "{what}");
}

fn scopes_and_counters_leave_errno_as_it_was() {
    support::refuse(libc::SYS_openat, libc::O_RDONLY | libc::O_CLOEXEC, libc::EPERM);
    keeps_errno("the first scope of the program", || _ = marked());
    // The kernel refuses memory. This thread runs first, because later it could reuse the tree of an ended thread.
    std::thread::spawn(|| {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        support::refuse(libc::SYS_mmap, protection, libc::EPERM);
        keeps_errno("a thread without a tree", || tickscope::count!("counter"));
    })
    .join()
    .unwrap();
    // Sandboxes and kernels before 5.14 do not support MADV_POPULATE_WRITE.
    std::thread::spawn(|| {
        support::refuse(libc::SYS_madvise, libc::MADV_POPULATE_WRITE, libc::EINVAL);
        keeps_errno("a thread's first counter", || tickscope::count!("counter"));
        // At least one of these calls allocates a histogram, because there is no bucket yet for its duration.
        for _ in 0..100 {
            keeps_errno("a scope's end", || tickscope::time!("call", ()));
        }
        keeps_errno("new nodes", support::call_many_paths);
    })
    .join()
    .unwrap();
    let snapshot = tickscope::snapshot();
    assert_eq!(calls_of(&snapshot, "call"), 100);
    assert_eq!(calls_of(&snapshot, "digit 7"), 4 * 8u64.pow(3));
}

fn nodes_without_memory_do_not_count_against_the_limit() {
    // Free address space in KiB: with 0 there is no room for a larger table; with 12 there is, but not for the nodes.
    let make = |_| Isolated::as_usual(test_name!());
    each_passes([0, 12], make, |room| {
        let session = Builder::new("limited").max_process_nodes(1000).try_start();
        // The session is ended first, because a publisher would also need memory.
        drop(session.unwrap());
        marked();
        let before = limit(libc::RLIMIT_AS, mapped() + room * 1024);
        support::call_many_paths();
        limit(libc::RLIMIT_AS, before);
        let missed = tickscope::snapshot().capture.losses.dropped;
        assert!(missed > 1000, "{missed} found no memory");
        tickscope::time!("later", ());
        assert_eq!(calls_of(&tickscope::snapshot(), "later"), 1);
    });
}

fn a_start_without_a_thread_says_so_and_the_last_record_is_written() {
    let done = isolated_as_usual!(|| {
        marked();
        // 1 MiB is enough for a small ring, and too little for a thread's stack.
        let before = limit(libc::RLIMIT_AS, mapped() + (1 << 20));
        let session = Builder::new("threadless").ring_bytes(64 << 10).start();
        limit(libc::RLIMIT_AS, before);
        assert_eq!(session.status(), Status::Counting);
        let warnings = session.warnings().join("\n");
        assert!(
            warnings.starts_with("no thread for the publisher: "),
            "{warnings}"
        );
        marked();
    });
    let ring = done.ring();
    assert!(has_exited(&ring));
    assert_eq!(calls_of(&newest(&ring), "marked"), 2);
}

fn a_log_without_a_place_says_so() {
    let test = Isolated::as_usual(test_name!()).env("TICKSCOPE", "log");
    let done = test.succeeds(|| {
        limit(libc::RLIMIT_FSIZE, 64 << 10);
        let session = tickscope::start("nowhere");
        assert_eq!(session.status(), Status::Counting);
    });
    // The session from the environment may write other lines before this one.
    assert!(
        done.stderr
            .ends_with("tickscope: no log: there is no place for a ring; set TICKSCOPE_DIR\n"),
        "{}",
        done.stderr
    );
}

fn report_prints_the_tree_on_standard_error_at_exit() {
    let run = |mode: &str, report: &str, lines: &str| {
        Isolated::new(test_name!())
            .env("TICKSCOPE_MODE", mode)
            .env("TICKSCOPE_LINES", lines)
            .env("TICKSCOPE", "report")
            .env("TICKSCOPE_REPORT", report)
            .run(|| {
                for _ in 0..17 {
                    marked();
                }
            })
            .succeeded()
    };
    let done = run("exact", "", "off");
    let mut lines = done.stderr.lines();
    assert!(
        lines.any(|line| line.contains("environment::marked") && line.contains("17")),
        "{}",
        done.stderr
    );
    assert_eq!(done.stdout, "");
    assert_eq!(
        rings_in(&done.place().join("rings")).len(),
        0,
        "publishing was not requested"
    );
    for (mode, lines) in [("adaptive", "off"), ("exact", "on")] {
        let done = run(mode, "stdout", lines);
        assert!(done.stdout.contains("marked") && done.stderr.is_empty());
        let rings = rings_in(&done.place().join("rings")).len();
        assert_eq!(rings, 1, "its samples are the publisher's");
    }
}

fn the_mode_is_adaptive_unless_one_is_chosen() {
    assert_eq!(
        tickscope::mode(),
        tickscope::Mode::Adaptive,
        "before the first scope"
    );
    marked();
    assert_eq!(tickscope::mode(), tickscope::Mode::default());
    let session = quick("usual");
    let snapshot = tickscope::snapshot();
    assert_eq!(snapshot.capture.mode, Mode::USUAL);
    drop(session);
    let _session = tickscope::Builder::new("chosen")
        .mode(tickscope::Mode::Exact)
        .start();
    assert_eq!(tickscope::mode(), tickscope::Mode::Exact);
}

fn off_counts_nothing_and_wins_over_a_place_for_the_report() {
    let test = Isolated::as_usual(test_name!());
    let place = test.place().join("report.html");
    let test = test.env("TICKSCOPE", "off").env("TICKSCOPE_REPORT", &place);
    let done = test.succeeds(|| {
        marked();
        let session = tickscope::start("nothing");
        assert_eq!((session.status(), session.path()), (Status::Off, None));
        tickscope::thread::include();
        std::thread::spawn(marked).join().unwrap();
        let _pause = tickscope::pause();
        marked();
        let snapshot = tickscope::snapshot();
        assert_eq!(snapshot.nodes.len(), 0);
        assert_eq!(snapshot.threads.len(), 0);
        assert_eq!(snapshot.capture.losses.dropped, 0);
        assert_eq!(tickscope::reset().lifetime.calls, 0);
        tickscope::request_reset();
        let error = Builder::new("nothing").try_start().unwrap_err().to_string();
        error.says(["TICKSCOPE=off", "unset it"]);
        let path = support::shared_place().join("now.txt");
        let said = tickscope::dump(&path, Format::Text).unwrap_err().to_string();
        assert!(
            said.contains("no dump: TICKSCOPE=off: nothing is measured; unset it"),
            "{said}"
        );
        assert!(!path.exists());
    });
    assert_eq!(rings_in(&done.place().join("rings")).len(), 0);
    assert!(!place.exists());
    assert_eq!((&*done.stdout, &*done.stderr), ("", ""));
}

const BAD: [(&str, &str, &str); 15] = [
    ("TICKSCOPE", "on", "live, log, report, off"),
    ("TICKSCOPE_INTERVAL_MS", "9", "10 to 3600000"),
    ("TICKSCOPE_INTERVAL_MS", "1s", "10 to 3600000"),
    ("TICKSCOPE_RING_BYTES", "16MB", "65536 to 4294967296"),
    ("TICKSCOPE_MODE", "fast", "exact, adaptive, sampled, off"),
    ("TICKSCOPE_HISTOGRAM", "yes", "on, off"),
    ("TICKSCOPE_CLOCK", "rdtsc", "tsc, tsc-ordered, monotonic"),
    ("TICKSCOPE_THREADS", "some", "all, opt-in"),
    ("TICKSCOPE_MAX_DEPTH", "0", "1 to 4096"),
    ("TICKSCOPE_MAX_NODES", "-1", "1 to 1048575"),
    ("TICKSCOPE_MAX_PROCESS_NODES", "0", "1 to 100000000"),
    ("TICKSCOPE_MAX_GAP_MS", "86400001", "0 (no limit) to 86400000"),
    ("TICKSCOPE_LOG_EVERY_MS", "9", "0 (no log) or 10 to 3600000"),
    ("TICKSCOPE_ALLOW_REMOTE_CONTROL", "yes", "on, off"),
    ("TICKSCOPE_RING_BYTES", "", "65536 to 4294967296"),
];

fn bad_values_are_named_with_what_is_allowed() {
    let make = |(name, value, _)| Isolated::as_usual(test_name!()).env(name, value);
    each_passes(BAD, make, |(name, value, allowed)| {
        let session = Builder::new("bad").try_start().unwrap();
        let warnings = session.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        warnings[0].says([
            &format!("{name}={value} "),
            allowed,
            " is not understood; allowed: ",
            "; the variable is ignored",
        ]);
        marked();
        assert_eq!(calls_of(&tickscope::snapshot(), "marked"), 1);
    });
}

fn a_bad_value_is_told_where_there_is_no_session_to_tell_it() {
    let test = Isolated::as_usual(test_name!()).env("TICKSCOPE", "lvie\n");
    let done = test.succeeds(|| {
        marked();
        std::thread::spawn(marked).join().unwrap();
    });
    assert_eq!(
        done.stderr,
        "tickscope: TICKSCOPE=lvie\\n is not understood, so it starts nothing; allowed: live, log, report, off\n"
    );
    assert_eq!(rings_in(&done.place().join("rings")).len(), 0);
    let long = "x".repeat(1000);
    let test = Isolated::as_usual(test_name!()).env("TICKSCOPE", &long);
    let done = test.succeeds(|| {
        marked();
    });
    assert!(
        done.stderr.ends_with("allowed: live, log, report, off\n"),
        "{}",
        done.stderr
    );
}

fn good_values_win_over_the_program() {
    let mut test = Isolated::as_usual(test_name!());
    for (name, value) in [
        ("TICKSCOPE_INTERVAL_MS", "20"),
        ("TICKSCOPE_RING_BYTES", "256K"),
        ("TICKSCOPE_MODE", "exact"),
        ("TICKSCOPE_CLOCK", "monotonic"),
        ("TICKSCOPE_THREADS", "all"),
        ("TICKSCOPE_MAX_DEPTH", "2"),
        ("TICKSCOPE_MAX_NODES", "3"),
        ("TICKSCOPE_ALLOW_REMOTE_CONTROL", "off"),
    ] {
        test = test.env(name, value);
    }
    test.succeeds(|| {
        let builder = Builder::new("good").threads(Threads::OptIn).ring_bytes(1 << 20);
        let session = started(builder.max_depth(100));
        assert!(session.warnings().is_empty(), "{:?}", session.warnings());
        {
            tickscope::scope!("1");
            tickscope::scope!("2");
            tickscope::scope!("3");
        }
        tickscope::scope!("4");
        tickscope::scope!("5");
        let ring = ring_of(&session);
        assert_eq!(ring.header().ring_words * 8, 256 << 10);
        assert!(!ring.header().control);
        wait_until("a later record", || calls_of(&newest(&ring), "4") == 1);
        let snapshot = checked(newest(&ring));
        assert_eq!(snapshot.capture.interval_ns, 20_000_000);
        assert_eq!(snapshot.clock.source, ClockSource::Monotonic);
        assert_eq!((snapshot.nodes.len(), snapshot.capture.losses.dropped), (4, 2));
    });
}

/// Opens a scope and reports the session's state. If the ring is outside the test's directory, removes it.
fn work_anyhow() {
    let session: Session = tickscope::start("anyhow");
    marked();
    let path = session.path();
    tell("status", format!("{:?}", session.status()));
    tell(
        "path",
        path.as_deref()
            .map_or("none".into(), |path| path.display().to_string()),
    );
    tell("warnings", session.warnings().join("\n"));
    assert_eq!(calls_of(&tickscope::snapshot(), "marked"), 1);
    drop(session);
    if let Some(path) = path.filter(|path| !path.starts_with(support::shared_place())) {
        std::fs::remove_file(path).unwrap();
    }
}

fn told(done: &Done, name: &str) -> String {
    std::fs::read_to_string(done.place().join(name)).unwrap()
}

/// Checks that a warning names the unusable directory and the reason, and that the session uses another directory.
fn passed_over(done: &Done, bad: &Path, reason: &str) {
    let warnings = told(done, "warnings");
    warnings.says([bad.to_str().unwrap(), reason, "trying the next place"]);
    assert_eq!(told(done, "status"), "Publishing");
    assert!(
        !Path::new(&told(done, "path")).starts_with(bad),
        "{}",
        told(done, "path")
    );
    assert_eq!((&*done.stdout, &*done.stderr), ("", ""));
}

fn a_directory_that_may_not_be_written_is_passed_over() {
    let test = Isolated::as_usual(test_name!()).env("TICKSCOPE_DIR", "/proc/self");
    let done = test.succeeds(work_anyhow);
    passed_over(&done, Path::new("/proc/self"), "/proc/self");
}

fn a_directory_of_another_user_is_passed_over() {
    // SAFETY: `geteuid` takes no arguments and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        skip("only root can give a directory away");
    }
    let test = Isolated::as_usual(test_name!());
    let bad = test.place().join("theirs");
    std::fs::create_dir(&bad).unwrap();
    std::os::unix::fs::chown(&bad, Some(12_345), None).unwrap();
    let done = test.env("TICKSCOPE_DIR", &bad).run(work_anyhow).succeeded();
    passed_over(
        &done,
        &bad,
        "belongs to user 12345, wanted your own (0); choose another with TICKSCOPE_DIR",
    );
}

fn a_ring_is_halved_until_it_is_a_quarter_of_what_is_free() {
    on_small_file_system(test_name!(), 20 << 10, || {
        let rings = support::shared_place().join("rings");
        let session = tickscope::start("short");
        wait_until("the outcome", || session.status() == Status::Publishing);
        let path = session.path().unwrap();
        assert!(path.starts_with(&rings));
        assert_eq!(RingFile::open(&path).unwrap().header().ring_words * 8, 4 << 20);
        let warnings = session.warnings().join("\n");
        warnings.says([
            "space is short in ",
            "4194304 instead of 16777216",
            "or choose another place with TICKSCOPE_DIR",
        ]);
        let ring = RingFile::open(&path).unwrap();
        wait_until("a record that says so", || {
            newest(&ring).process.warnings == session.warnings()
        });
        // In the file, the history follows the ring. It starts with a length of 1 MiB and may grow to 4 MiB.
        drop(tickscope::reset());
        wait_until("history", || ring.coarse_newest().unwrap().is_some());
        let length = std::fs::metadata(&path).unwrap().len();
        assert_eq!(length - ring.header().file_bytes(), 1 << 20);
        assert_eq!(ring.header().coarse_words * 8, 4 << 20);
        assert_eq!(session.warnings().join("\n"), warnings);
    });
}

fn without_space_for_history_the_ring_does_alone_and_says_so() {
    // About 3 MB are free. A history may use a quarter of the free space, but only if that is at least 1 MiB.
    on_small_file_system(test_name!(), (4 << 10) + 44, || {
        let session = tickscope::start("short");
        wait_until("the outcome", || session.status() == Status::Publishing);
        let ring = ring_of(&session);
        for _ in 0..3 {
            drop(tickscope::reset());
        }
        wait_until("a record that says so", || {
            let warnings = newest(&ring).process.warnings;
            let said = warnings
                .iter()
                .filter(|warning| warning.contains("no history beyond the ring"));
            said.count() == 1
        });
        assert!(ring.coarse_newest().unwrap().is_none());
        let length = std::fs::metadata(ring.path()).unwrap().len();
        assert_eq!(length, ring.header().file_bytes());
        let last = ring.newest().unwrap().sequence;
        wait_until("the next record", || ring.newest().unwrap().sequence > last);
    });
}

fn a_file_system_with_little_space_is_passed_over() {
    let done = on_small_file_system(test_name!(), 3 << 10, work_anyhow);
    passed_over(
        &done,
        &done.place().join("rings"),
        "bytes free, of which a ring may take a quarter, wanted 4194304; free some",
    );
}

crate::support::tests![
    own:
    nodes_without_memory_do_not_count_against_the_limit,
    live_rests_before_the_first_scope,
    live_shows_no_ring_before_the_first_scope_or_start,
    live_outlives_the_sessions_of_the_program,
    live_begins_also_where_threads_include_themselves,
    a_start_without_a_thread_says_so_and_the_last_record_is_written,
    a_log_without_a_place_says_so,
    report_prints_the_tree_on_standard_error_at_exit,
    off_counts_nothing_and_wins_over_a_place_for_the_report,
    bad_values_are_named_with_what_is_allowed,
    a_bad_value_is_told_where_there_is_no_session_to_tell_it,
    good_values_win_over_the_program,
    a_directory_that_may_not_be_written_is_passed_over,
    a_directory_of_another_user_is_passed_over,
    a_ring_is_halved_until_it_is_a_quarter_of_what_is_free,
    without_space_for_history_the_ring_does_alone_and_says_so,
    a_file_system_with_little_space_is_passed_over;
    as_usual: scopes_and_counters_leave_errno_as_it_was, the_mode_is_adaptive_unless_one_is_chosen;
];
