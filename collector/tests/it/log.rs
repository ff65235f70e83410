//! The log: lines about the calls of each group, which the program itself writes to standard error.

use std::io::Read;
use std::sync::Barrier;
use std::time::Duration;

use crate::support::{
    self, Isolated, ask, has_exited, isolated, newest, ring_of, rings_in, started, test_name, wait_until,
};
use tickscope::Builder;
use tickscope_format::file::open::RingFile;
use tickscope_format::slots::{Op, Outcome};

/// The fields of a log line that the tests check.
#[derive(Debug)]
struct Line {
    thread: String,
    inside_ms: f64,
    interval_ms: f64,
    calls: u64,
    name: String,
}

/// Returns all lines after the header.
fn lines(text: &str) -> Vec<Line> {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    assert!(header.starts_with("TIME "), "{text}");
    assert!(header.ends_with("  NAME"), "{text}");
    lines
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [time, _tid, thread, inside, "/", interval, share, calls, name @ ..] = &words[..] else {
                panic!("{line}")
            };
            assert!(time.ends_with('Z') && share.ends_with('%'), "{line}");
            Line {
                thread: (*thread).into(),
                inside_ms: inside.parse().unwrap(),
                interval_ms: interval.parse().unwrap(),
                calls: calls.parse().unwrap(),
                name: name.join(" "),
            }
        })
        .collect()
}

fn sum(lines: &[Line], of: impl Fn(&Line) -> f64) -> f64 {
    lines.iter().map(of).sum()
}

/// Waits until the publisher has written `times` more records. With each record, the publisher checks whether log lines
/// are due.
fn looked(times: u64) {
    let rings = || rings_in(&support::shared_place().join("rings"));
    wait_until("a ring", || !rings().is_empty());
    let ring = RingFile::open(&rings()[0]).unwrap();
    let first = ring.newest().unwrap().sequence;
    wait_until("records", || ring.newest().unwrap().sequence >= first + times);
}

fn the_environment_alone_makes_a_log_of_a_call_that_waits() {
    let test = Isolated::new(test_name!())
        .env("TICKSCOPE", "log")
        .env("TICKSCOPE_LOG_EVERY_MS", "20");
    let done = test.succeeds(|| {
        tickscope::scope!(group = "pipe", "waits");
        looked(5);
        // A reset does not affect the log.
        drop(tickscope::reset());
        looked(5);
    });
    assert_eq!(done.stdout, "");
    // The first intervals may lie before the first scope. Their lines have a remark in parentheses instead of a name.
    let lines = lines(&done.stderr).into_iter();
    let lines: Vec<_> = lines.skip_while(|line| line.name.starts_with('(')).collect();
    assert!(lines.len() >= 4, "{}", done.stderr);
    assert_eq!(
        lines.iter().map(|line| line.calls).sum::<u64>(),
        1,
        "{}",
        done.stderr
    );
    // If a thread loses its CPU in the middle of an event, the time since its previous event is logged only once the
    // event is over. Until then, lines say `(nothing)`.
    let of_main = |line: &Line| line.thread == "main" && line.name == "[pipe]";
    assert!(
        lines.iter().all(|line| of_main(line) || line.name == "(nothing)"),
        "{}",
        done.stderr
    );
    let (inside, passed) = (
        sum(&lines, |line| line.inside_ms),
        sum(&lines, |line| line.interval_ms),
    );
    // The first of these intervals includes some time before the first scope.
    assert!(inside <= passed * 1.05, "{}", done.stderr);
    assert!(inside > passed * 0.5, "{}", done.stderr);
    let ring = done.ring();
    assert_eq!(
        newest(&ring).capture.kind,
        tickscope_format::snapshot::CaptureKind::Final
    );
}

fn the_calls_of_all_lines_are_all_calls_of_a_session() {
    let done = isolated!(|| {
        let session = started(Builder::new("logs").log_every(Duration::from_millis(10)));
        let spend = || std::thread::sleep(Duration::from_micros(100));
        for round in 0..50 {
            tickscope::scope!(group = "outer", "round");
            tickscope::time!(group = "inner", "step", spend());
            tickscope::time!(group = "inner", "step", spend());
            if round % 10 == 0 {
                drop(tickscope::reset());
                tickscope::request_reset();
            }
        }
        std::thread::Builder::new()
            .name("helper".into())
            .spawn(|| tickscope::time!(group = "inner", "step", ()))
            .unwrap()
            .join()
            .unwrap();
        drop(session);
    });
    let lines = lines(&done.stderr);
    let calls = |name: &str| {
        let of = lines.iter().filter(|line| line.name == name);
        of.map(|line| line.calls).sum::<u64>()
    };
    assert_eq!((calls("[outer]"), calls("[inner]")), (50, 101), "{}", done.stderr);
    assert!(
        lines.iter().any(|line| line.thread == "helper"),
        "{}",
        done.stderr
    );
}

fn without_groups_it_says_so_and_nothing_without_being_asked() {
    let test = Isolated::new(test_name!()).env("TICKSCOPE", "log");
    let done = test.succeeds(|| tickscope::time!("plain", ()));
    let told = lines(&done.stderr);
    assert_eq!(told[0].name, "(no group or function to follow was met yet)");
    let test = Isolated::new("the_calls_of_all_lines_are_all_calls_of_a_session");
    let done = test.env("TICKSCOPE_LOG_EVERY_MS", "0").succeeds(|| ());
    assert_eq!(done.stderr, "", "the environment wins");
}

fn a_pipe_that_is_not_read_holds_up_no_record_and_no_answer() {
    let mut reader = support::full_standard_error();
    let logs = || started(Builder::new("logs").log_every(Duration::from_millis(10)));
    let session = logs();
    let (over, threads) = (Barrier::new(51), Barrier::new(51));
    std::thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| {
                tickscope::scope!(group = "waits", "waits");
                threads.wait();
                over.wait();
            });
        }
        threads.wait();
        let ring = ring_of(&session);
        let mut slot = ring.take_slot().unwrap().unwrap();
        let first = ring.newest().unwrap().sequence;
        wait_until("records", || ring.newest().unwrap().sequence > first + 60);
        assert_eq!(ask(&mut slot, Op::Reset).outcome, Outcome::Done);
        over.wait();
        drop(session);
        wait_until("the goodbye", || has_exited(&ring));
    });
    // The next session writes its log to the same pipe.
    let session = logs();
    let mut text = String::new();
    while !text.contains(" lines were left out: standard error did not accept them)\n") {
        let mut bytes = [0; 4096];
        let read = reader.read(&mut bytes).unwrap();
        text.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
    drop(session);
    let text = text.trim_start_matches('x');
    let (log, _) = text.split_once("\n(").unwrap();
    assert!(lines(log).len() > 500, "{log}");
    // If the pipe has no reader any more, the log must not delay the exit.
    drop(reader);
}

crate::support::tests![
    own:
    the_environment_alone_makes_a_log_of_a_call_that_waits,
    the_calls_of_all_lines_are_all_calls_of_a_session,
    without_groups_it_says_so_and_nothing_without_being_asked;
    isolated: a_pipe_that_is_not_read_holds_up_no_record_and_no_answer;
];
