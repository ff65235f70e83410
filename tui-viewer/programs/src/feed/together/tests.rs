use std::path::Path;

use tickscope_format::codec;
use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::slots::{Op, Outcome as Answer};
use tickscope_testkit::test_program::TestProgram;

use super::*;
use crate::events::{Outcome, Past};
use crate::target::wanted::NoTarget;

/// A process that counts calls.
struct Program {
    run: TestProgram,
    calls: u64,
    before_reset: u64,
}

impl Program {
    /// Starts a process whose start time is far in the future, so that the feed considers it new.
    fn start(dir: &Path, name: &str, pid: u32) -> Self {
        let header = Header {
            pid,
            started_unix_ns: u64::MAX / 2 + u64::from(pid),
            nonce: u64::from(pid),
            ..tickscope_testkit::ring::header(name)
        };
        let mut program = Self {
            run: TestProgram::start(dir, header),
            calls: 0,
            before_reset: 0,
        };
        program.shows(CaptureKind::Periodic);
        program
    }

    fn shows(&mut self, kind: CaptureKind) {
        self.run.shows(self.calls, kind);
    }

    fn calls(&mut self, calls: u64) {
        self.calls += calls;
        self.shows(CaptureKind::Periodic);
    }

    fn reset(&mut self) {
        self.run.reset(self.calls);
        self.before_reset = std::mem::take(&mut self.calls);
        self.shows(CaptureKind::Periodic);
    }

    /// Answers requests as a program would, and returns how many there were.
    fn answers(&mut self) -> usize {
        let requests = self.run.ring.requests();
        for request in &requests {
            match request.op {
                Some(Op::Reset) => self.reset(),
                Some(Op::UndoReset) => {
                    self.shows(CaptureKind::Closing);
                    self.calls += self.before_reset;
                    self.run.withdraws = Some(self.run.epoch - 1);
                    self.run.epoch += 1;
                    self.shows(CaptureKind::Periodic);
                }
                _ => {}
            }
            self.run
                .ring
                .answer(request, Answer::Done, self.run.seq, self.run.epoch);
        }
        requests.len()
    }

    fn ends(mut self) {
        self.shows(CaptureKind::Final);
        self.run.ring.exit(1);
    }
}

/// The screen, with the last snapshot that the feed has sent to it.
struct Screen {
    feed: TogetherFeed,
    shown: Option<Rc<Snapshot>>,
    past: Vec<Past>,
    notices: Vec<String>,
    lifetime: u64,
}

impl Screen {
    fn new(dir: &Path, name: &str) -> Self {
        Self {
            feed: TogetherFeed::new(name, Some(dir.to_path_buf())),
            shown: None,
            past: Vec::new(),
            notices: Vec::new(),
            lifetime: 0,
        }
    }

    fn look(&mut self) -> Events {
        // Makes all checks due.
        self.feed.look_around_at = Instant::now();
        self.feed.look_at = Instant::now();
        let mut events = self.feed.poll();
        if let Some(snapshot) = events.snapshot.clone() {
            assert!(snapshot.lifetime.calls >= self.lifetime, "no total falls");
            self.lifetime = snapshot.lifetime.calls;
            if let Some(before) = self.shown.replace(Rc::clone(&snapshot)) {
                assert!(snapshot.capture.unix_ns > before.capture.unix_ns);
                let is_more = snapshot.calls() >= before.calls();
                assert!(is_more || snapshot.capture.reset_epoch > before.capture.reset_epoch);
            }
        }
        self.past.append(&mut events.past);
        self.notices.extend(events.notice.take());
        events
    }

    /// Polls, and returns the number of calls of `work` on the screen.
    fn work(&mut self) -> u64 {
        self.look();
        let shown = self.shown.as_ref().unwrap();
        let rows = (0..).zip(&shown.nodes.site);
        let work = rows.filter(|(_, site)| shown.sites[**site as usize].name == "work");
        work.map(|(row, _): (usize, _)| shown.nodes.calls[row]).sum()
    }

    fn processes(&mut self) -> (usize, usize, usize) {
        let processes = self.look().processes.unwrap();
        (processes.running, processes.ended, processes.unread)
    }

    fn ask(&mut self, request: Request, programs: &mut [&mut Program]) -> Outcome {
        self.feed.send(request).unwrap();
        loop {
            programs.iter_mut().for_each(|program| _ = program.answers());
            if let Some(outcome) = self.look().outcomes.pop() {
                return outcome;
            }
            // If a process does not answer, the outcome comes after more than a second.
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn processes_come_and_end_and_no_sum_falls() {
    let dir = tempfile::tempdir().unwrap();
    Program::start(dir.path(), "other", 9).calls(1000);
    let mut screen = Screen::new(dir.path(), "web");
    let waiting = screen.look();
    let Status::Waiting { why } = waiting.status else {
        panic!("{:?}", waiting.status)
    };
    assert!(why.starts_with("no program called \"web\" runs."), "{why}");
    let mut one = Program::start(dir.path(), "web", 1);
    one.calls(10);
    assert_eq!(screen.work(), 10);
    let mut two = Program::start(dir.path(), "web", 2);
    two.calls(5);
    assert_eq!(screen.work(), 15);
    let shown = screen.shown.clone().unwrap();
    assert_eq!(shown.process.name.as_str(), "all of web");
    assert_eq!(shown.process.pid, 0);
    let names: Vec<&str> = shown.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert!(names.contains(&"main (1)"), "{names:?}");
    assert!(names.contains(&"main (2)"), "{names:?}");
    // A reset that one process makes by itself does not change the sum.
    for _ in 0..10 {
        one.reset();
        one.calls(1);
    }
    assert_eq!(screen.work(), 25);
    one.ends();
    assert_eq!(screen.work(), 25);
    assert_eq!(screen.processes(), (1, 1, 0));
    let names: Vec<String> = screen
        .shown
        .iter()
        .flat_map(|shown| &shown.threads)
        .map(|thread| thread.name.clone())
        .collect();
    assert!(names.contains(&"main (ended)".to_string()), "{names:?}");
    // This process starts and ends between two polls.
    let mut short = Program::start(dir.path(), "web", 3);
    short.calls(100);
    short.ends();
    two.calls(1);
    assert_eq!(screen.work(), 126);
    two.ends();
    assert_eq!(screen.work(), 126);
    assert!(matches!(screen.look().status, Status::Exited { .. }));
    let mut three = Program::start(dir.path(), "web", 4);
    three.calls(4);
    assert_eq!(screen.work(), 130);
    let events = screen.look();
    assert_eq!((events.status, screen.processes()), (Status::Live, (1, 3, 0)));
    assert_eq!(screen.notices, [""; 0]);
}

#[test]
fn a_reset_reaches_all_and_is_taken_back_by_all() {
    let dir = tempfile::tempdir().unwrap();
    let mut screen = Screen::new(dir.path(), "web");
    let mut programs = [1, 2, 3].map(|pid| Program::start(dir.path(), "web", pid));
    programs.iter_mut().for_each(|program| program.calls(10));
    assert_eq!(screen.work(), 30);
    let [one, two, three] = programs;
    let (mut one, mut two) = (one, two);
    three.ends();
    assert_eq!(screen.work(), 30);
    assert_eq!(
        screen.feed.send(Request::Undo),
        Err("there is no reset to undo".into())
    );
    let done = screen.ask(Request::Reset, &mut [&mut one, &mut two]);
    assert_eq!(done.words.as_deref(), Some("sent to 2 programs"));
    assert_eq!(done.result, Ok(1));
    assert_eq!(screen.work(), 0);
    let end = codec::decode(&screen.past.pop().unwrap().payload).unwrap();
    assert_eq!(end.capture.kind, CaptureKind::Closing);
    assert_eq!(end.capture.reset_epoch, 0);
    assert_eq!(end.calls(), 33, "with main of each");
    one.calls(2);
    two.calls(1);
    two.ends();
    assert_eq!(screen.work(), 3);
    let undone = screen.ask(Request::Undo, &mut [&mut one]);
    assert_eq!(undone.result, Ok(2));
    assert_eq!(screen.work(), 33, "also of the one that has ended since");
    let capture = &screen.shown.as_ref().unwrap().capture;
    assert_eq!((capture.reset_epoch, capture.withdraws), (2, Some(0)));
    one.calls(1);
    assert_eq!(screen.work(), 34);
}

#[test]
fn who_does_not_answer_is_named_and_counts_anew_here_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let mut screen = Screen::new(dir.path(), "w*");
    let mut one = Program::start(dir.path(), "web", 1);
    let mut deaf = Program::start(dir.path(), "worker", 2);
    one.calls(10);
    deaf.calls(20);
    assert_eq!(screen.work(), 30);
    let done = screen.ask(Request::Reset, &mut [&mut one]);
    let words = done.words.unwrap();
    assert!(
        words.starts_with("1 of 2 programs did it (pid 2 does not answer"),
        "{words}"
    );
    assert_eq!(screen.work(), 0);
    deaf.calls(3);
    assert_eq!(screen.work(), 3);
    // The process answers the reset request late.
    assert_eq!(deaf.answers(), 1);
    deaf.calls(4);
    assert_eq!(screen.work(), 7);
    let warnings = &screen.shown.as_ref().unwrap().process.warnings;
    assert!(
        warnings.iter().any(|warning| warning.contains("2 programs")),
        "{warnings:?}"
    );
    for request in [
        Request::Lines(1000),
        Request::Unwatch(tickscope_format::pattern::Pattern::all()),
    ] {
        let why = screen.feed.send(request).unwrap_err();
        assert!(why.contains("tickscope 1"), "{why}");
    }
}

#[test]
fn a_ring_that_is_damaged_is_told_and_the_others_are_shown() {
    let dir = tempfile::tempdir().unwrap();
    let mut screen = Screen::new(dir.path(), "web");
    let mut one = Program::start(dir.path(), "web", 1);
    // The process counts as running, because its header has the id and the start time of the test process.
    let header = Header {
        start_time: os::start_time(std::process::id()).unwrap(),
        boot_id: os::boot_id(),
        nonce: 77,
        ..tickscope_testkit::ring::header("web")
    };
    let mut lost = Program::start(dir.path(), "web", 5);
    lost.run.ring = OwnRing::create(dir.path(), header).unwrap();
    lost.calls(5);
    lost.run.ring.link().unwrap();
    one.calls(10);
    screen.work();
    let before = screen.work();
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(lost.run.ring.path())
        .unwrap();
    file.set_len(20_000).unwrap();
    one.calls(1);
    assert_eq!(screen.work(), before + 1, "what it had counted stays");
    screen.look();
    assert_eq!(screen.processes().2, 1);
    let pid = std::process::id();
    assert!(
        screen
            .notices
            .iter()
            .any(|notice| notice.contains(&pid.to_string())),
        "{:?}",
        screen.notices
    );
}

#[test]
fn a_name_is_needed_and_who_runs_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let find = |name: &str| crate::target::find(&Wanted::All(name.into()), Some(dir.path()));
    for wrong in ["", "4711", "run.tks", "-"] {
        let why = find(wrong).unwrap_err().to_string();
        assert!(why.contains("tickscope NAME --all"), "{why}");
    }
    let _one = Program::start(dir.path(), "web", 1);
    let error = find("wep").unwrap_err();
    assert!(error.downcast_ref::<NoTarget>().is_some(), "{error}");
    assert!(error.to_string().contains("did you mean web?"), "{error}");
}
