//! Many viewers at a time, stopped viewers, and viewers that die in the middle of a request do not disturb the program.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tickscope_format::file::open::RingFile;
use tickscope_format::layout::{slot, state};
use tickscope_format::slots::Op;
use tickscope_programs::events::{Feed, Request};
use tickscope_programs::feed::RingFeed;
use tickscope_testkit::suite::skip;

use crate::processes::roles::{ask, feed};
use crate::support::{Chance, Place, Program, VIEWER, number, until, until_true, word};

/// Returns how many records per second a program publishes during `time`. Viewers must not lower this rate.
fn records(ring: &RingFile, time: Duration) -> f64 {
    let sequence = || until("a record can be read", || ring.newest().ok()).sequence;
    let (begin, first) = (Instant::now(), sequence());
    std::thread::sleep(time);
    (sequence() - first) as f64 / begin.elapsed().as_secs_f64()
}

/// Waits until the program counts this number of viewers.
fn watched_by(ring: &RingFile, viewers: u32) {
    until("the program has seen its viewers", || {
        let (_, snapshot) = ring.newest_snapshot().ok()?;
        (snapshot.capture.viewers == viewers).then_some(())
    });
}

/// Waits until the program has checked its slots this many times.
fn looked_at(ring: &RingFile, times: u32) {
    let beat = || word(ring.path(), state::HEARTBEAT);
    for _ in 0..times {
        let before = beat();
        until_true("the program has looked", || beat() != before);
    }
}

fn wait_for_answer(feed: &mut RingFeed) -> Result<u64, String> {
    until("there is an answer", || feed.poll().outcomes.pop()).result
}

fn sixty_four_viewers_look_and_the_first_sixteen_may_ask() {
    let viewers = number("VIEWERS", 64) as usize;
    let place = Place::new();
    let (mut program, ring) = place.run("asked");
    let mut one = feed(ring.path());
    one.poll();
    watched_by(&ring, 1);
    let alone = records(&ring, Duration::from_secs(1));
    let told = place.work().join("told");
    let argument = format!("{}\n{}", ring.path().display(), told.display());
    let mut watchers: Vec<Program> = (1..viewers)
        .map(|_| Program::spawn(&mut place.role("watcher", &argument)))
        .collect();
    for watcher in &watchers {
        let told = format!("{}.{}", told.display(), watcher.pid());
        until_true("each of them sees new records", || Path::new(&told).exists());
    }
    watched_by(&ring, slot::COUNT.min(viewers) as u32);
    let together = records(&ring, Duration::from_secs(1));
    println!("{alone:.1} records a second with one viewer, {together:.1} with {viewers}");
    // A busy machine may change the rates, but not by a factor of three.
    assert!(together > alone / 3.0, "{together} of {alone} records a second");

    // A viewer that has a slot gets a reply. One without a slot gets an error with the reason.
    one.send(Request::Reset).unwrap();
    assert_eq!(wait_for_answer(&mut one), Ok(1));
    let mut last = feed(ring.path());
    let seen = until("it sees data", || last.poll().snapshot);
    assert_eq!(seen.process.name, "asked");
    let why = last.send(Request::Reset).unwrap_err();
    assert!(why.contains("16 viewers are there already"), "{why}");
    let path = ring.path().to_str().unwrap().to_string();
    let done = place.tickscope(&["reset", &path]).with_code(1);
    done.says(&["16 viewers are there already"]);
    place.tickscope(&["report", &path]).ok().prints(&["asked"]);

    // All viewers are killed at once. Their slots become free, and a viewer that was waiting for one gets it.
    for watcher in &mut watchers {
        watcher.child.kill().unwrap();
    }
    for watcher in &mut watchers {
        watcher.child.wait().unwrap();
    }
    last.send(Request::Reset).unwrap();
    assert_eq!(wait_for_answer(&mut last), Ok(2));
    watched_by(&ring, 2);
    assert!(program.runs());
}

fn a_viewer_that_stands_still_holds_nothing_up() {
    let place = Place::new();
    let (mut program, ring) = place.run("asked");
    let (mut asker, _) = ask(&place, &ring, 5);
    watched_by(&ring, 1);
    let before = records(&ring, Duration::from_secs(1));
    // The viewer is stopped in the middle of a request.
    asker.stop();
    let stopped = records(&ring, Duration::from_secs(2));
    println!("{before:.1} records a second with a viewer that asks, {stopped:.1} with one that stands still");
    // The program keeps publishing at the rate for viewers, because the stopped viewer may continue.
    assert!(stopped > 3.0, "{stopped}");
    let mut other = feed(ring.path());
    other.poll();
    other.send(Request::Reset).unwrap();
    assert!(wait_for_answer(&mut other).is_ok());
    watched_by(&ring, 2);
    asker.kill();
    watched_by(&ring, 1);
    assert!(program.runs());
}

/// strace kills a viewer at its n-th system call, for increasing n until a viewer gets its reply. This also covers the
/// moments between system calls, because nothing that happens there affects other processes.
fn a_viewer_killed_at_any_of_its_calls_leaves_its_slot() {
    let Ok(found) = Command::new("strace").arg("-V").output() else {
        skip("no strace here");
    };
    assert!(found.status.success());
    let place = Place::new();
    let (mut program, ring) = place.run("asked");
    let path = ring.path().to_str().unwrap().to_string();
    let calls =
        "pwrite64,pread64,fcntl,flock,openat,fstat,statx,newfstatat,close,write,clock_nanosleep,nanosleep";
    let reset = |inject: &str| {
        let mut command = place.command("strace");
        let trace = format!("trace={calls}");
        command.args(["-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", inject]);
        command.args([VIEWER, "reset", &path]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().unwrap()
    };
    if !reset("signal=none").success() {
        skip("strace may not trace here");
    }
    let every = number("EVERY", 5);
    let (mut at, mut killed) = (1, 0);
    let mut epoch = ring.newest_snapshot().unwrap().1.capture.reset_epoch;
    let (mut done, mut not_done) = (0, 0);
    // The signal is injected when any one system call in `calls` is made for the n-th time.
    loop {
        let status = reset(&format!("inject={calls}:signal=KILL:when={at}"));
        if status.success() {
            break;
        }
        killed += 1;
        at += every;
        // A request that was written is carried out once, however often the program checks the slot. A request that was
        // not written is never carried out.
        looked_at(&ring, 3);
        let mut slot = until("its slot is free", || ring.take_slot().unwrap());
        let sent = slot.send(Op::PublishNow).unwrap();
        let reply = until("the program answers", || slot.reply(&sent).unwrap());
        assert!(reply.reset_epoch - epoch <= 1, "done twice at call {at}");
        done += reply.reset_epoch - epoch;
        not_done += 1 - (reply.reset_epoch - epoch);
        epoch = reply.reset_epoch;
        drop(slot);
    }
    println!("killed at {killed} of its calls: {done} resets done once, {not_done} not at all");
    assert!(killed > 3 && not_done > 0, "{killed} {not_done}");
    assert!(program.runs());
}

/// Viewers are killed at random moments, some of them inside system calls.
fn viewers_killed_while_they_begin_leave_their_slots() {
    let place = Place::new();
    let (mut program, ring) = place.run("asked");
    let mut chance = Chance(4);
    for life in 0..number("KILLS", 40) {
        let (mut asker, log) = ask(&place, &ring, life);
        std::thread::sleep(Duration::from_micros(chance.below(15_000)));
        asker.kill();
        let _ = fs::remove_file(log);
    }
    watched_by(&ring, 0);
    // No slot was lost: all sixteen can be taken.
    let slots = [(); slot::COUNT].map(|()| ring.take_slot().unwrap().unwrap());
    assert!(ring.take_slot().unwrap().is_none());
    drop(slots);
    assert!(program.runs());
}

tickscope_testkit::tests![
    sixty_four_viewers_look_and_the_first_sixteen_may_ask,
    a_viewer_that_stands_still_holds_nothing_up,
    a_viewer_killed_at_any_of_its_calls_leaves_its_slot,
    viewers_killed_while_they_begin_leave_their_slots,
];
