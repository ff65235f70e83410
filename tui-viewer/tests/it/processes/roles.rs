//! Roles that the test binary plays: a program, or a viewer without a screen.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::file::open::RingFile;
use tickscope_format::ids::{NO_PARENT, NodeId, SiteId};
use tickscope_format::latency::Histogram;
use tickscope_format::layout::RING_WORDS_RANGE;
use tickscope_format::os;
use tickscope_format::pattern::Pattern;
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::{
    Extremes, Level, Mode, Now, Quantity, Site, Snapshot, Tally, TaskPath, Thread, ThreadState, WaitsIn,
};
use tickscope_programs::events::{Feed, Request};
use tickscope_programs::feed::RingFeed;
use tickscope_programs::target::wanted::Wanted;
use tickscope_testkit::test_program::payload;

use crate::support::{Chance, Place, Program, own_rings, rings_in};

/// Plays a role. Returns false if there is no such role.
pub(crate) fn play(role: &str, argument: &str) -> bool {
    match role {
        "writer" => writer(argument),
        "resetting" => resetting(),
        "usual" => usual(),
        "hungry" => hungry(),
        "asked" => asked(),
        "asker" => asker(argument),
        "watcher" => watcher(argument),
        "holder" => holder(argument),
        _ => return false,
    }
    true
}

/// Ends this process when its parent closes its standard input or has ended.
fn end_with_input() {
    thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
}

/// Returns the header for a ring of this process. The ring has the minimum size, and its coarse ring grows to 4 MiB.
pub(crate) fn header(name: &str) -> Header {
    Header {
        nonce: os::random(),
        started_unix_ns: unix_ns(),
        ring_words: *RING_WORDS_RANGE.start(),
        coarse_words: (4 << 20) / 8,
        ..tickscope_testkit::ring::header(name)
    }
}

pub(crate) fn unix_ns() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap().as_nanos() as u64
}

/// Returns a snapshot whose content is determined by `number`: 3 to 60 rows, each with `number` calls, and data in
/// every section of a record.
pub(crate) fn numbered(number: u64) -> Snapshot {
    let mut snapshot = Snapshot::default();
    snapshot.process.name = "writer".into();
    snapshot.capture.seq = number;
    snapshot.capture.tick = number;
    snapshot.capture.unix_ns = unix_ns();
    let rows = 3 + number.wrapping_mul(2_654_435_761) % 58;
    for index in 0..3 {
        snapshot.sites.push(Site {
            name: format!("site_{index}"),
            module: "writer".into(),
            file: "src/main.rs".into(),
            line: index,
            group: String::new(),
        });
    }
    for row in 0..rows as u32 {
        let parent = row.checked_sub(1).map(|before| NodeId(before / 2));
        snapshot.nodes.push(parent, SiteId(row % 3), number, number);
    }
    snapshot.threads.push(Thread {
        name: "main".into(),
        tid: 1,
        state: ThreadState::Running,
        count: 1,
        cpu_ns: None,
        outside_ticks: 0,
        first_row: 0,
        rows: rows as u32,
        open: Vec::new(),
    });
    let histogram = Histogram {
        buckets: vec![(40, number), (60, 1)],
        max_ticks: number,
    };
    for (quantity, value) in Quantity::ALL.into_iter().zip(number..) {
        snapshot.measures.push_row(quantity, 0, value);
        snapshot
            .measures
            .push_row(quantity, 1, number % (value - number + 1));
        snapshot.measures.push_outside(quantity, 0, value);
    }
    snapshot.waits = true;
    snapshot.waits_in = WaitsIn::new([(0, "futex", number), (1, "read", 7)], [(0, Now::In("futex"))]);
    snapshot.latencies.push(0, &histogram);
    snapshot.async_latencies.push(0, &histogram);
    snapshot.tasks.paths.push(TaskPath {
        parent: NO_PARENT,
        site: SiteId(0),
        names_await: false,
        in_flight: number,
        polled: 1,
        innermost: number - 1,
        oldest_ns: number,
        innermost_oldest_ns: number,
    });
    snapshot.tasks.ages.push(0, &histogram);
    snapshot.tasks.beyond = number % 3;
    // The last two rows have no children, so they can be a value and a gauge.
    let [value, gauge] = [2, 1].map(|back| NodeId((rows - back) as u32));
    let range = Extremes {
        min: 0,
        max: number,
        min_exact: true,
        max_exact: true,
    };
    let level = Level {
        last: number.cast_signed(),
        set_tick: number,
        range: Extremes::of(number.cast_signed()),
    };
    for (row, tally) in [
        (
            value,
            Tally::Value {
                sum: number,
                range: Some(range),
            },
        ),
        (gauge, Tally::Gauge { level: Some(level) }),
    ] {
        snapshot.nodes.self_ticks[row.index()] = 0;
        snapshot.push_tally(row, tally);
    }
    snapshot
}

/// Makes a ring with its first record. The ring is not linked yet.
pub(crate) fn first_record(dir: &Path, header: Header) -> OwnRing {
    let mut ring = OwnRing::create(dir, header).unwrap();
    let snapshot = numbered(1);
    ring.publish(Stamp::from(&snapshot.capture), &payload(&snapshot))
        .unwrap();
    ring
}

/// Allocator that counts the allocations of the programs.
#[global_allocator]
static ALLOCATOR: tickscope::Alloc = tickscope::Alloc::system();

/// Writes records into both rings without pauses and without a collector. If the argument is a number, the process
/// aborts that many microseconds after linking the ring to its path.
fn writer(argument: &str) {
    end_with_input();
    let mut ring = OwnRing::create(&own_rings(), header("writer")).unwrap();
    for number in 1.. {
        let snapshot = numbered(number);
        let (stamp, payload) = (Stamp::from(&snapshot.capture), payload(&snapshot));
        ring.publish(stamp, &payload).unwrap();
        ring.beat(os::monotonic_ns(), 1_000_000);
        if number == 1 {
            ring.link().unwrap();
            if let Ok(after) = argument.parse() {
                thread::spawn(move || {
                    thread::sleep(Duration::from_micros(after));
                    std::process::abort();
                });
            }
        }
        if ring.coarse_space(payload.len() as u64).unwrap() > 0 {
            ring.publish_coarse(stamp, &payload).unwrap();
        }
    }
}

#[tickscope::profile]
fn work() {
    tickscope::scope!("inside");
    let bytes = std::hint::black_box(vec![0u8; 100]);
    tickscope::value!("bytes", bytes.len());
    tickscope::gauge!("level", bytes.len());
    let mut call = std::pin::pin!(tickscope::future!("call", async {
        tickscope::wait!("never", std::future::pending::<()>()).await;
    }));
    let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
}

/// Runs a complete program, which resets its counters again and again. Each reset leaves a closing record, so the
/// publisher writes into the fine ring without pauses. The first closing records also go into the coarse ring.
fn resetting() {
    end_with_input();
    let _session = tickscope::Builder::new("resetting").ring_bytes(64 << 10).start();
    loop {
        work();
        drop(tickscope::reset());
    }
}

/// Runs a whole program that allocates memory until none is left.
fn hungry() {
    let _session = tickscope::Builder::new("hungry")
        .interval(Duration::from_millis(5))
        .start();
    let mut eaten: Vec<Vec<u8>> = Vec::new();
    loop {
        work();
        if rings_in(&own_rings()).is_empty() {
            continue;
        }
        eaten.push(vec![1; 256 << 10]);
        thread::sleep(Duration::from_micros(500));
    }
}

/// Runs a complete program that does a little work every half millisecond.
fn asked() {
    end_with_input();
    // Viewers in these tests never request any other mode, so their mode requests have no effect.
    let _session = tickscope::Builder::new("asked")
        .mode(tickscope::Mode::Exact)
        .start();
    loop {
        for _ in 0..10 {
            work();
        }
        thread::sleep(Duration::from_micros(500));
    }
}

/// Runs a complete program that creates its ring in the first default directory that works.
fn usual() {
    let _session = tickscope::start("usual");
    work();
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}

/// Returns the request with this number, for a viewer without a screen.
pub(crate) fn request(number: u64) -> Request {
    match number {
        0..40 => Request::Reset,
        40..60 => Request::Undo,
        60..70 => Request::Interval {
            ns: 100_000_000 + number,
        },
        70..80 => Request::Mode(Mode::Exact),
        80..90 => Request::SitesOff(Pattern::new("nobody::is_here").unwrap()),
        _ => Request::SitesOn(Pattern::new("*").unwrap()),
    }
}

/// Starts a viewer without a screen that sends random requests. Also returns the path of its log.
pub(crate) fn ask(place: &Place, ring: &RingFile, seed: u64) -> (Program, PathBuf) {
    let log = place.work().join(format!("log.{seed}"));
    let argument = format!("{}\n{}\n{seed}", ring.path().display(), log.display());
    (Program::spawn(&mut place.role("asker", argument)), log)
}

/// Returns the feed of a viewer that runs in this process, without a screen.
pub(crate) fn feed(ring: &Path) -> RingFeed {
    RingFeed::new(Wanted::File(ring.into()), None, None)
}

/// Runs a viewer without a screen that sends one request after another. It logs each request before sending it, and
/// later the result. The lines of the argument are the path of the ring, the path of the log, and the seed.
fn asker(argument: &str) {
    end_with_input();
    let mut lines = argument.lines();
    let mut next = || lines.next().unwrap().to_string();
    let (ring, log, seed) = (next(), next(), next());
    let mut log = File::options().append(true).create(true).open(log).unwrap();
    let mut chance = Chance(seed.parse().unwrap());
    let mut feed = feed(ring.as_ref());
    feed.poll();
    loop {
        let number = chance.below(100);
        // Each line is written with a single call, so even if the process is killed, the log contains the whole line or
        // none of it.
        log.write_all(format!("ask {number}\n").as_bytes()).unwrap();
        if let Err(why) = feed.send(request(number)) {
            log.write_all(format!("not sent {why}\n").as_bytes()).unwrap();
            continue;
        }
        let outcome = loop {
            if let Some(outcome) = feed.poll().outcomes.pop() {
                break outcome;
            }
            thread::sleep(Duration::from_millis(1));
        };
        let fate = match outcome.result {
            Ok(_) => "done".to_string(),
            Err(why) => format!("refused {why}"),
        };
        log.write_all(format!("{fate}\n").as_bytes()).unwrap();
    }
}

/// Runs a viewer without a screen that polls at its usual rate. It writes a file when it has seen data.
fn watcher(argument: &str) {
    end_with_input();
    let (ring, told) = argument.split_once('\n').unwrap();
    let mut feed = feed(ring.as_ref());
    let mut seen = 0;
    loop {
        seen += u32::from(feed.poll().snapshot.is_some());
        if seen == 2 {
            std::fs::write(format!("{told}.{}", std::process::id()), "").unwrap();
            seen += 1;
        }
        thread::sleep(feed.next_look().max(Duration::from_millis(1)));
    }
}

/// Holds a kind of lock that no viewer would hold. The argument contains the kind of lock and the path of the file to
/// lock.
fn holder(argument: &str) {
    end_with_input();
    let (what, path) = argument.split_once('\n').unwrap();
    let file = File::options().read(true).write(true).open(path).unwrap();
    match what {
        "flock" => file.lock().unwrap(),
        "slots" => assert!(os::lock_range(&file, 8_192, 4_096).unwrap()),
        "all bytes" => assert!(os::lock_range(&file, 0, 0).unwrap()),
        "one slot" => {
            let ring = RingFile::open(Path::new(path)).unwrap();
            std::mem::forget(ring.take_slot().unwrap().unwrap());
        }
        other => panic!("no lock {other}"),
    }
    // The name of this thread tells the test that the lock is held.
    let _ready = thread::Builder::new().name("holding".into()).spawn(|| {
        loop {
            thread::park();
        }
    });
    loop {
        thread::park();
    }
}
