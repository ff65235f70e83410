//! Programs that die at any moment without closing their ring. The ring still contains their newest snapshot in full,
//! and they are reported as crashed at the time of that snapshot.
//!
//! `KILLS=10000 cargo test -p tickscope-cli --test it killed_while_it_publishes` runs the long version.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tickscope_format::file::list;
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::ring::Record;
use tickscope_format::{Snapshot, codec};
use tickscope_testkit::suite::skip;

use crate::processes::roles::numbered;
use crate::support::{Chance, Place, Program, number, played, send, until};

/// One in this many kills hits a complete program with a collector, which takes longer to start.
const WHOLE_EVERY: u64 = 10;

/// One in this many kills happens at a random time after the program was started, possibly before there is a ring.
const EARLY_EVERY: u64 = 5;

/// Sequence numbers of the newest records in the fine and the coarse ring, as seen while the program ran.
#[derive(Clone, Copy, Default)]
struct Seen {
    fine: u64,
    coarse: u64,
}

impl Seen {
    fn look(&mut self, ring: &RingFile) {
        // A reader that was lapped on every attempt has not seen a record.
        if let Ok(record) = ring.newest() {
            self.fine = record.sequence;
        }
        if let Ok(Some(record)) = ring.coarse_newest() {
            self.coarse = record.sequence;
        }
    }
}

fn decoded(record: &Record) -> Snapshot {
    let snapshot = codec::decode(&record.payload).unwrap();
    assert_eq!(snapshot.capture.tick, record.stamp.tick);
    // The totals that a snapshot reports must equal the sums over its rows.
    assert_eq!(snapshot.calls(), snapshot.nodes.calls.iter().sum::<u64>());
    let totals = snapshot.nodes.totals(&snapshot.nodes.self_ticks);
    let roots = (0..snapshot.nodes.len()).filter(|&row| snapshot.nodes.parent_of(row_id(row)).is_none());
    let measured: u64 = roots.map(|row| totals[row]).sum();
    assert_eq!(measured, snapshot.measured_ticks());
    snapshot
}

fn row_id(row: usize) -> tickscope_format::ids::NodeId {
    tickscope_format::ids::NodeId(row as u32)
}

/// Asserts that a record has exactly the content that [`numbered`] generates for its number.
fn is_of_its_number(record: &Record) {
    let mut wanted = numbered(record.stamp.tick);
    let found = decoded(record);
    wanted.capture.unix_ns = found.capture.unix_ns;
    assert_eq!(found, wanted);
}

/// Asserts that a killed program has left a correct ring. Returns how many records the program has published.
fn check(path: &Path, seen: Seen, whole: bool) -> u64 {
    let ring = RingFile::open(path).unwrap();
    let newest = ring.newest().unwrap();
    assert!(
        newest.sequence >= seen.fine,
        "{} behind {}",
        newest.sequence,
        seen.fine
    );
    let crashed = Liveness::Crashed {
        unix_ns: newest.stamp.unix_ns,
    };
    // A process that reads the memory of the dead program, such as `ps`, keeps the program's files open for a moment.
    let state = until("the lock of the dead program is free", || {
        let state = ring.liveness().unwrap();
        (state != Liveness::Running).then_some(state)
    });
    assert_eq!(state, crashed);
    let coarse = ring.coarse_newest().unwrap();
    let coarse_sequence = coarse.as_ref().map_or(0, |record| record.sequence);
    assert!(
        coarse_sequence >= seen.coarse,
        "{coarse_sequence} behind {}",
        seen.coarse
    );
    let before = ring.before(&newest).unwrap();
    for record in [Some(newest.clone()), coarse, before].iter().flatten() {
        if whole {
            decoded(record);
        } else {
            is_of_its_number(record);
        }
    }
    newest.sequence
}

/// Starts a program, kills it at a random moment, and checks the files that it leaves. Returns how many records it has
/// published; `None` if there was no ring yet.
fn kill_one(kill: u64, chance: &mut Chance) -> Option<u64> {
    let place = Place::new();
    let whole = kill.is_multiple_of(WHOLE_EVERY);
    let mut program = Program::spawn(&mut place.role(if whole { "resetting" } else { "writer" }, ""));
    let mut seen = Seen::default();
    if kill % EARLY_EVERY == 1 {
        std::thread::sleep(Duration::from_micros(chance.below(12_000)));
    } else {
        let path = until("there is a ring", || place.ring_files().pop());
        let ring = RingFile::open(&path).unwrap();
        let begin = Instant::now();
        let time = Duration::from_micros(chance.below(8_000));
        while begin.elapsed() < time {
            seen.look(&ring);
        }
    }
    program.kill();
    let Some(path) = place.ring_files().pop() else {
        assert_eq!(fs::read_dir(place.rings()).unwrap().count(), 0, "half a ring");
        return None;
    };
    let records = check(&path, seen, whole);
    let listed = list::list(&[place.rings()]);
    let [only] = &listed[..] else { panic!("{listed:?}") };
    assert!(matches!(only.ring, Ok((_, Liveness::Crashed { .. }))), "{only:?}");
    if kill.is_multiple_of(100) {
        let entry = place.listed(&path);
        assert_eq!(entry["state"], "crashed");
        assert_eq!(entry["live"], false);
        let newest = RingFile::open(&path).unwrap().newest().unwrap();
        assert_eq!(entry["since_unix_ns"], newest.stamp.unix_ns);
    }
    Some(records)
}

fn whenever_a_program_is_killed_while_it_publishes_its_newest_snapshot_is_there() {
    let kills = number("KILLS", 100);
    let next = AtomicU64::new(0);
    let (rings, records) = (AtomicU64::new(0), AtomicU64::new(0));
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for seed in 0..2 {
            let (next, rings, records) = (&next, &rings, &records);
            scope.spawn(move || {
                let mut chance = Chance(seed);
                loop {
                    let kill = next.fetch_add(1, Ordering::Relaxed);
                    if kill >= kills {
                        return;
                    }
                    if let Some(published) = kill_one(kill, &mut chance) {
                        rings.fetch_add(1, Ordering::Relaxed);
                        records.fetch_add(published, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    println!(
        "G1: {kills} kills in {:.1} s ({} of whole programs; {} before there was a ring; {} records published), 0 without \
         an intact newest snapshot",
        begin.elapsed().as_secs_f64(),
        kills.div_ceil(WHOLE_EVERY),
        kills - rings.load(Ordering::Relaxed),
        records.load(Ordering::Relaxed),
    );
}

fn an_abort_and_a_fault_are_crashes_as_well() {
    let mut chance = Chance(3);
    for _ in 0..10 {
        let place = Place::new();
        let mut program = Program::spawn(&mut place.role("writer", chance.below(10_000).to_string()));
        // `Child::wait` would close the program's input first, which would end the program.
        let status = until("it has died", || program.child.try_wait().unwrap());
        assert_eq!(status.signal(), Some(Signal::ABORT.as_raw()));
        check(&place.ring_files()[0], Seen::default(), false);

        let place = Place::new();
        let mut program = Program::spawn(&mut place.role("writer", ""));
        until("there is a ring", || place.ring_files().pop());
        std::thread::sleep(Duration::from_micros(chance.below(5_000)));
        // The standard library's handler consumes the first signal, and restores the default action.
        let status = until("it has died", || {
            send(&program.child, Signal::SEGV);
            program.child.try_wait().unwrap()
        });
        assert_eq!(status.signal(), Some(Signal::SEGV.as_raw()));
        check(&place.ring_files()[0], Seen::default(), false);
    }
}

fn a_program_that_the_kernel_kills_for_its_memory_is_a_crash_as_well() {
    let place = Place::new();
    let group = format!("tickscope-test-{}", std::process::id());
    // The script works with both versions of control groups. It exits with 77 if neither is available.
    let script = "for try in /sys/fs/cgroup/memory/$GROUP:memory.limit_in_bytes /sys/fs/cgroup/$GROUP:memory.max; do
        dir=${try%:*}; mkdir $dir 2>/dev/null && echo 67108864 > $dir/${try#*:} && echo $$ > $dir/cgroup.procs && exec \"$@\"
        done 2>/dev/null; exit 77";
    let role = place.role("hungry", "");
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]);
    let mut command = played(command, &role);
    let mut program = Program::spawn(command.env("GROUP", &group));
    let status = until("the kernel has killed it", || program.child.try_wait().unwrap());
    for parent in ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"] {
        let _ = fs::remove_dir(Path::new(parent).join(&group));
    }
    if status.code() == Some(77) {
        skip("no memory control group to be had here");
    }
    assert_eq!(status.signal(), Some(Signal::KILL.as_raw()));
    let path = place.ring_files().pop().unwrap();
    assert!(check(&path, Seen::default(), true) > 1);
    assert_eq!(place.listed(&path)["state"], "crashed");
}

tickscope_testkit::tests![
    whenever_a_program_is_killed_while_it_publishes_its_newest_snapshot_is_there,
    an_abort_and_a_fault_are_crashes_as_well,
    a_program_that_the_kernel_kills_for_its_memory_is_a_crash_as_well,
];
