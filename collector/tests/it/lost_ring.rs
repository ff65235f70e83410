//! Ring files that are truncated, removed or run out of space while the program runs. The program must keep running,
//! report the damage, and publish a new ring.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{
    self, Isolated, Says, calls_of, newest, on_small_file_system, started, test_name, wait_for, wait_until,
};
use tickscope::{Builder, Session, Status};
use tickscope_format::file::open::RingFile;
use tickscope_format::os::punch_hole;
use tickscope_testkit::ring::wants_kernel_copies;
use tickscope_testkit::suite::skip;

/// Starts a session and counts one call; returns the session and the path of its ring.
fn begin(name: &str) -> (Session, PathBuf) {
    let builder = Builder::new(name).interval(Duration::from_millis(10));
    let session = started(builder.ring_bytes(1 << 20));
    let path = session.path().unwrap();
    tickscope::time!("before", ());
    (session, path)
}

fn open_to_write(path: &Path) -> File {
    OpenOptions::new().write(true).open(path).unwrap()
}

/// Fills the file system that contains `ring` with a file beside it.
fn fill_file_system(ring: &Path) {
    let mut filler = File::create(ring.with_extension("filler")).unwrap();
    for bytes in [1 << 20, 1 << 12] {
        while std::io::Write::write_all(&mut filler, &vec![1; bytes]).is_ok() {}
    }
}

const EMPTIED: &str =
    "was emptied or overwritten by another program, wanted the bytes that this program wrote";
const REMOVED: &str = "was removed or moved by another program";

/// Checks that the session publishes a new ring, which still has all earlier counts, and gives the reason in a warning.
fn replaced(session: &Session, lost: &Path, why: &str) {
    let path = wait_for("another ring", || session.path().filter(|path| path != lost));
    wait_until("publishing", || session.status() == Status::Publishing);
    let ring = RingFile::open(&path).unwrap();
    let before = calls_of(&newest(&ring), "before");
    tickscope::time!("before", ());
    wait_until("the next call", || {
        calls_of(&newest(&ring), "before") == before + 1
    });
    let shown = newest(&ring).process.warnings.join("\n");
    for said in [session.warnings().join("\n"), shown] {
        said.says([why, lost.to_str().unwrap(), "a new ring was made"]);
        assert_eq!(said.matches("ring files lost: 1;").count(), 1, "{said}");
    }
}

/// After the file is truncated, the next store into the mapping would raise SIGBUS.
fn a_ring_cut_at_any_place_is_replaced() {
    for length in [
        0,
        7,
        100,
        4095,
        4096,
        5000,
        8192,
        3 * 4096,
        100_000,
        (1 << 20) + 12_287,
    ] {
        let (session, path) = begin("cut");
        let file = open_to_write(&path);
        file.set_len(length).unwrap();
        let cut = format!("cut by another program to {length} bytes, wanted 1060864");
        replaced(&session, &path, &cut);
        // A second after its start, the program may have removed the file.
        let now = file.metadata().unwrap().len();
        assert_eq!(now, length, "nothing is written behind the cut");
    }
}

/// The file keeps its full length but contains only zeros, so new viewers cannot open it.
fn a_ring_emptied_and_long_again_is_replaced() {
    let (session, path) = begin("emptied");
    let file = open_to_write(&path);
    let length = file.metadata().unwrap().len();
    punch_hole(&file, 0, length).unwrap();
    replaced(&session, &path, EMPTIED);
    drop(session);
    // This time the ring has a history, and only the page with the ring's control words is emptied.
    let (session, path) = begin("emptied");
    drop(tickscope::reset());
    let ring = RingFile::open(&path).unwrap();
    wait_until("history", || ring.coarse_newest().unwrap().is_some());
    punch_hole(&open_to_write(&path), 4096, 4096).unwrap();
    replaced(&session, &path, EMPTIED);
}

/// Replaces a file with another one of the same name.
fn put_in_place_of(path: &Path) {
    let other = path.with_extension("other");
    fs::write(&other, "something else").unwrap();
    fs::rename(&other, path).unwrap();
}

/// The program must not keep writing to a ring that new viewers cannot find.
fn a_ring_that_cannot_be_found_any_more_is_replaced() {
    let removals: [fn(&Path); 6] = [
        |path| fs::remove_file(path).unwrap(),
        |path| {
            // The folder is renamed before it is removed, because the program creates the next ring in a new folder of
            // the same name.
            let dir = path.parent().unwrap();
            let gone = dir.with_extension("gone");
            fs::rename(dir, &gone).unwrap();
            fs::remove_dir_all(gone).unwrap();
        },
        put_in_place_of,
        |path| {
            fs::hard_link(path, path.with_extension("kept")).unwrap();
            put_in_place_of(path);
        },
        |path| fs::rename(path, path.with_extension("moved")).unwrap(),
        |path| {
            let dir = path.parent().unwrap();
            fs::rename(dir, dir.with_extension("moved")).unwrap();
        },
    ];
    for remove in removals {
        let (session, path) = begin("removed");
        let seen = RingFile::open(&path).unwrap();
        remove(&path);
        replaced(&session, &path, REMOVED);
        seen.newest_snapshot().unwrap();
        if path.exists() {
            assert_eq!(fs::read(&path).unwrap(), b"something else", "it is not ours");
        }
    }
}

/// Once two rings are lost, the session waits for a minute before it makes another one, so that repeated removals cost
/// little.
fn a_second_lost_ring_waits_for_its_minute() {
    let (session, first) = begin("again");
    open_to_write(&first).set_len(0).unwrap();
    let second = wait_for("another ring", || session.path().filter(|path| *path != first));
    // The session keeps writing to a removed ring until there is a new one.
    let ring = RingFile::open(&second).unwrap();
    fs::remove_file(&second).unwrap();
    wait_until("it is said", || {
        session.warnings().join("\n").contains("lost: 2; the last: ")
    });
    let last = ring.newest().unwrap().sequence;
    wait_until("the next record", || ring.newest().unwrap().sequence > last);
    assert_eq!(session.status(), Status::Publishing);
    assert_eq!(session.path(), Some(second));
    // The session does not write to a ring that was truncated.
    let fd = format!("/proc/self/fd/{}", own_descriptor());
    open_to_write(Path::new(&fd)).set_len(0).unwrap();
    wait_until("it stops", || session.status() == Status::Counting);
    let warnings = session.warnings().join("\n");
    warnings.says([
        "lost: 2; the last: ",
        "cut by another program",
        "new viewers find nothing",
        "a minute",
        "restart the session",
    ]);
    assert_eq!(session.path(), None);
    tickscope::time!("after", ());
    assert_eq!(calls_of(&tickscope::snapshot(), "after"), 1);
    drop(tickscope::reset());
    tickscope::request_reset();
    // The publisher keeps running without a ring, and performs the reset.
    wait_until("the reset", || tickscope::snapshot().capture.reset_epoch == 2);
    if std::env::var_os("LOST_AGAIN").is_some() {
        let path = wait_for("the minute", || session.path());
        assert_eq!(newest(&RingFile::open(&path).unwrap()).capture.reset_epoch, 2);
    }
    // The warning advises the user to restart the session. Doing so works.
    drop(session);
    drop(Builder::new("anew").try_start().unwrap());
}

/// Returns the descriptor that the collector has open for its ring.
fn own_descriptor() -> String {
    let entries = fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap());
    let mut rings = entries.filter(|entry| {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        let target = target.to_string_lossy();
        target.contains(".ring") && {
            let flags = fs::read_to_string(format!("/proc/self/fdinfo/{}", entry.file_name().display()));
            // The descriptors that the test itself has open for a ring are read-only.
            flags.is_ok_and(|text| {
                text.lines()
                    .any(|line| line.starts_with("flags:") && line.ends_with('2'))
            })
        }
    });
    rings.next().unwrap().file_name().into_string().unwrap()
}

/// A store into the hole would raise SIGBUS, because the file system has no space left for the page.
fn a_hole_in_the_ring_of_a_full_file_system_is_no_signal() {
    wants_kernel_copies();
    on_small_file_system(test_name!(), 8 << 10, || {
        let (session, path) = begin("full");
        let file = open_to_write(&path);
        punch_hole(&file, 3 * 4096, 1 << 20).unwrap();
        fill_file_system(&path);
        // What fails is either writing a record to the hole, or getting space for the coarse ring's first record.
        replaced(&session, &path, "os error");
        // The new ring is in the next directory, because this file system is full.
        let other = session.path().unwrap();
        drop(session);
        fs::remove_file(other).unwrap();
    });
}

/// A write beyond `RLIMIT_FSIZE` raises SIGXFSZ, which ends a program by default.
fn a_limit_on_the_length_of_files_is_no_signal() {
    let (session, path) = begin("limited");
    support::limit(libc::RLIMIT_FSIZE, fs::metadata(&path).unwrap().len());
    drop(tickscope::reset());
    let ring = RingFile::open(&path).unwrap();
    wait_until("a record that says so", || {
        let warnings = newest(&ring).process.warnings.join("\n");
        warnings.contains("no history beyond the ring: fallocate") && warnings.contains("os error 27")
    });
    assert_eq!(ring.coarse_newest().unwrap(), None);
    assert_eq!(session.status(), Status::Publishing);
    assert_eq!(session.path(), Some(path));
}

/// After the main thread has ended, `/proc/PID` no longer shows the memory and descriptors of the process. Even so, no
/// count may be lost, and a lost ring must be replaced.
fn a_program_whose_main_thread_has_ended_goes_on_publishing() {
    let (session, path) = begin("leaderless");
    let main_ended = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", std::process::id()));
        stat.unwrap().contains(") Z ")
    };
    std::thread::spawn(move || {
        let goes_on = move || {
            wait_until("the end of the main thread", main_ended);
            let ring = RingFile::open(&path).unwrap();
            let last = ring.newest().unwrap().sequence;
            tickscope::time!("after", ());
            wait_until("the call and some records", || {
                let warnings = session.warnings();
                assert_eq!((session.status(), warnings), (Status::Publishing, Vec::new()));
                ring.newest().unwrap().sequence > last + 3 && calls_of(&newest(&ring), "after") == 1
            });
            // The history can still grow.
            drop(tickscope::reset());
            wait_until("history", || ring.coarse_newest().unwrap().is_some());
            fs::remove_file(&path).unwrap();
            replaced(&session, &path, REMOVED);
        };
        // A panic outside the main thread would end only this thread, so it is turned into an exit code.
        let fate = std::panic::catch_unwind(std::panic::AssertUnwindSafe(goes_on));
        std::process::exit(i32::from(fate.is_err()));
    });
    // SAFETY: the call ends only this thread, and no other thread uses data on its stack. `pthread_exit` would unwind
    // through Rust frames.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
}

/// Runs the child under strace, which injects errors into a system call. Skips the test if strace is missing.
fn with_fault(name: &'static str, inject: &str, body: fn()) {
    if support::is_child() {
        support::tell("begun", "");
        body();
        std::process::exit(0);
    }
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-o", "/dev/null", "-e"])
        .arg(format!("inject={inject}"));
    let (call, _) = inject.split_once(':').unwrap();
    strace.arg("-e").arg(format!("trace={call}"));
    let probe = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        skip("no strace for us");
    }
    strace.arg(std::env::current_exe().unwrap());
    Isolated::through(name, strace).run(|| ()).succeeded();
}

fn a_fault_of_the_kernel_names_call_error_and_path() {
    // The first 39 calls write the ring and a first record. The new ring fails in the same way, so none is left.
    with_fault(test_name!(), "process_vm_writev:error=EIO:when=40+", || {
        let (session, path) = begin("faulty");
        wait_until("it stops", || session.status() == Status::Counting);
        let warnings = session.warnings().join("\n");
        warnings.says(["lost: 1; the last: process_vm_writev ", "(os error 5)"]);
        warnings.says([path.to_str().unwrap(), "could not be made", "TICKSCOPE_DIR"]);
        tickscope::time!("after", ());
        assert_eq!(calls_of(&tickscope::snapshot(), "after"), 1);
    });
}

/// Some containers forbid the system calls by which the publisher has the kernel copy records into the ring.
fn where_the_kernel_refuses_to_copy_the_ring_is_written_all_the_same() {
    with_fault(
        test_name!(),
        "process_vm_writev,process_vm_readv:error=ENOSYS",
        || {
            let (session, path) = begin("refused");
            let ring = RingFile::open(&path).unwrap();
            wait_until("the call", || calls_of(&newest(&ring), "before") == 1);
            let mut slot = ring.take_slot().unwrap().unwrap();
            support::ask(&mut slot, tickscope_format::slots::Op::Reset);
            wait_until("history", || ring.coarse_newest().unwrap().is_some());
            assert_eq!(session.warnings(), [""; 0]);
            // The publisher checks the file before it writes, so a truncation that it notices in time raises no signal.
            open_to_write(&path).set_len(5000).unwrap();
            replaced(&session, &path, "cut by another program to 5000 bytes");
        },
    );
}

/// A program may install a seccomp filter at any time while it runs.
fn where_the_kernel_refuses_from_some_time_on_nothing_is_lost() {
    with_fault(test_name!(), "process_vm_writev:error=EPERM:when=20+", || {
        let (session, path) = begin("refused-later");
        let ring = RingFile::open(&path).unwrap();
        wait_until("records", || ring.newest().unwrap().sequence > 20);
        let records = support::records(&ring);
        assert!(
            records
                .windows(2)
                .all(|two| two[0].0.sequence + 1 == two[1].0.sequence)
        );
        assert_eq!((session.warnings(), session.path()), (Vec::new(), Some(path)));
    });
}

fn a_quota_is_said_and_the_next_place_taken_or_none() {
    with_fault(test_name!(), "fallocate:error=EDQUOT", || {
        let error = Builder::new("quota").try_start().unwrap_err().to_string();
        error.says([
            "fallocate",
            "(os error 122)",
            support::shared_place().to_str().unwrap(),
        ]);
    });
}

/// Most of the ring is allocated only after a second, if there is plenty of space. Others may have taken it by then.
fn a_file_system_that_is_full_after_a_second_ends_nothing() {
    on_small_file_system(test_name!(), 100 << 10, || {
        // Few records, so that they need no more space than there is.
        let builder = Builder::new("later").interval(Duration::from_secs(1));
        let session = started(builder.ring_bytes(1 << 20));
        let (path, began) = (session.path().unwrap(), Instant::now());
        fill_file_system(&path);
        wait_until("the rest was asked for", || {
            began.elapsed() > Duration::from_millis(1_500)
        });
        tickscope::time!("before", ());
        let ring = RingFile::open(&path).unwrap();
        wait_until("a call", || calls_of(&newest(&ring), "before") == 1);
        assert_eq!(session.path(), Some(path));
    });
}

fn the_whole_ring_is_allocated_in_the_end() {
    let session = started(Builder::new("whole").ring_bytes(4 << 20));
    let file = File::open(session.path().unwrap()).unwrap();
    wait_until("the blocks", || file.metadata().unwrap().blocks() * 512 > 4 << 20);
}

/// The end of the program does not wait for a lost ring.
fn a_program_whose_ring_is_lost_ends_as_soon_as_any() {
    let place = Isolated::as_usual(test_name!()).run(|| {
        let (session, path) = begin("ends");
        open_to_write(&path).set_len(0).unwrap();
        wait_until("another ring", || session.path().is_some_and(|now| now != path));
        open_to_write(&session.path().unwrap()).set_len(0).unwrap();
        wait_until("it stops", || session.status() == Status::Counting);
        let begin = Instant::now();
        drop(session);
        println!("the end took {:?}", begin.elapsed());
        std::process::exit(7);
    });
    assert_eq!(place.status.code(), Some(7), "{}", place.stderr);
}

crate::support::tests![
    own:
    a_hole_in_the_ring_of_a_full_file_system_is_no_signal,
    a_fault_of_the_kernel_names_call_error_and_path,
    where_the_kernel_refuses_to_copy_the_ring_is_written_all_the_same,
    where_the_kernel_refuses_from_some_time_on_nothing_is_lost,
    a_quota_is_said_and_the_next_place_taken_or_none,
    a_file_system_that_is_full_after_a_second_ends_nothing,
    a_program_whose_ring_is_lost_ends_as_soon_as_any;
    as_usual:
    the_whole_ring_is_allocated_in_the_end,
    a_ring_cut_at_any_place_is_replaced,
    a_ring_emptied_and_long_again_is_replaced,
    a_ring_that_cannot_be_found_any_more_is_replaced,
    a_second_lost_ring_waits_for_its_minute,
    a_limit_on_the_length_of_files_is_no_signal,
    a_program_whose_main_thread_has_ended_goes_on_publishing;
];
