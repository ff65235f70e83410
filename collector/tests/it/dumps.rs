//! Dumps from any thread at any depth. A dump either writes a complete file, or leaves no file and returns the reason.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::{self, Says, calls_of, check, path_of, ticks_of};
use tickscope::{Builder, Clock, Format};
use tickscope_format::snapshot::CaptureKind;
use tickscope_report::archive;
use tickscope_report::form::Form;

const ALL: [(Format, &str, &str); 8] = [
    (Format::Text, "txt", "Call tree"),
    (Format::Html, "html", "<!doctype html>"),
    (Format::Json, "json", "\"self_ns\""),
    (Format::Folded, "folded", concat!(module_path!(), "::work;")),
    (Format::Speedscope, "speedscope.json", "speedscope.app"),
    (Format::Pprof, "pb.gz", "\u{1f}"),
    (Format::Callgrind, "callgrind", "# callgrind format"),
    (Format::Tks, "tks", "TICKKEPT"),
];

#[tickscope::profile]
fn work(round: u64) -> u64 {
    tickscope::scope!("step");
    (0..100).fold(round, |sum, n| std::hint::black_box(sum ^ n))
}

fn entries(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn every_format_without_a_session_in_the_middle_of_scopes() {
    let dir = support::shared_place().join("dumps");
    fs::create_dir(&dir).unwrap();
    tickscope::scope!("open");
    for round in 0..50 {
        work(round);
    }
    for (format, ending, says) in ALL {
        let path = dir.join(format!("now.{ending}"));
        let dumped = tickscope::time!("dumping", tickscope::dump(&path, format));
        let needs = matches!(format, Format::Json | Format::Speedscope | Format::Pprof);
        let written = dumped.unwrap();
        if needs && !Form::Json.is_built_in() {
            assert_eq!(written, dir.join(format!("now.{ending}.tks")));
            assert!(!path.exists());
            check(&archive::read(&written).unwrap());
            continue;
        }
        assert_eq!(written, path);
        let bytes = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains(says), "{format:?}: {text:.200}");
    }
    for carries in ["now.html", "now.tks"] {
        let snapshot = archive::read(&dir.join(carries)).unwrap();
        check(&snapshot);
        assert_eq!(calls_of(&snapshot, "work"), 50);
        assert_eq!(snapshot.capture.kind, CaptureKind::Periodic);
        let open: Vec<_> = snapshot.threads[0].open.iter().collect();
        assert_eq!(path_of(&snapshot, open[1].node.index()), ["open", "dumping"]);
        assert!(snapshot.capture.cost.upper_ns > 0.0, "measured here");
    }
    assert!(entries(&dir).iter().all(|name| !name.ends_with(".part")));
    assert_eq!(calls_of(&tickscope::snapshot(), "step"), 50, "nothing was reset");
}

fn threads_dump_at_once_and_deep_inside() {
    let dir = support::shared_place().join("dumps");
    fs::create_dir(&dir).unwrap();
    let _session = Builder::new("dumps").try_start().unwrap();
    fn deep(depth: u32, at: &mut dyn FnMut()) {
        tickscope::scope!("deep");
        if depth == 0 { at() } else { deep(depth - 1, at) }
    }
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let dir = &dir;
            scope.spawn(move || {
                for round in 0..5 {
                    let path = dir.join(format!("{thread}-{round}.tks"));
                    deep(200, &mut || drop(tickscope::dump(&path, Format::Tks).unwrap()));
                    check(&archive::read(&path).unwrap());
                }
            });
        }
    });
    assert_eq!(entries(&dir).len(), 20);
    // All threads dump to the same path. One dump succeeds, and its file is complete.
    let path = dir.join("same.html");
    let written = std::thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(|| tickscope::dump(&path, Format::Html)));
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .filter(Result::is_ok)
            .count()
    });
    assert_eq!(written, 1);
    check(&archive::read(&path).unwrap());
    assert_eq!(entries(&dir).len(), 21);
}

/// Returns the CPU time of the calling thread in ns. Unlike wall time, it does not depend on other programs.
fn cpu_ns() -> u64 {
    support::cpu_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn the_time_of_writing_is_not_charged() {
    let dir = support::shared_place();
    let _session = Builder::new("dumps").clock(Clock::Custom(cpu_ns, 1e9)).start();
    let begin = cpu_ns();
    for round in 0..10 {
        let path = dir.join(format!("{round}.html"));
        tickscope::time!("dumping", tickscope::dump(path, Format::Html)).unwrap();
    }
    let took = cpu_ns() - begin;
    let charged = ticks_of(&tickscope::snapshot(), "dumping");
    // The scope is charged only for capturing the tree, which has one node. Writing a page of 250 kB takes far longer.
    assert!(charged < took / 2, "{charged} of {took}");
}

fn what_cannot_be_written_is_said_and_leaves_nothing() {
    let dir = support::shared_place().join("dumps");
    fs::create_dir(&dir).unwrap();
    work(1);
    let error = |path: &Path| tickscope::dump(path, Format::Text).unwrap_err().to_string();
    let taken = dir.join("taken.txt");
    fs::write(&taken, "mine").unwrap();
    let said = error(&taken);
    said.says([
        "no dump: ",
        "taken.txt",
        "exists",
        "; existing files are not overwritten: give another name",
    ]);
    assert_eq!(fs::read_to_string(&taken).unwrap(), "mine");
    std::os::unix::fs::symlink(dir.join("nowhere"), dir.join("link")).unwrap();
    assert!(error(&dir.join("link")).contains("exists"));
    assert!(error(&dir).contains("exists"));
    let said = error(&dir.join("missing/now.txt"));
    assert!(said.contains("make the directory first"), "{said}");
    let said = error(&taken.join("now.txt"));
    assert!(said.contains("make the directory first"), "{said}");
    assert_eq!(said.lines().count(), 1);
    let closed = dir.join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    // Root may write everywhere except in /proc.
    for (place, may_write) in [(Path::new("/proc"), false), (&closed, am_root())] {
        if !may_write {
            let said = error(&place.join("now.txt"));
            assert!(said.contains("now.txt"), "{said}");
            // In /proc the message has only the system's reason, without any advice.
            let tells = said.contains("; give a place that this program may write to");
            assert!(tells || place == Path::new("/proc"), "{said}");
        }
    }
    assert_eq!(entries(&dir), ["closed", "link", "taken.txt"]);
}

fn am_root() -> bool {
    // SAFETY: `geteuid` takes no arguments and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

fn a_file_that_may_not_grow_leaves_nothing_and_ends_no_program() {
    let dir = support::shared_place().join("dumps");
    fs::create_dir(&dir).unwrap();
    work(1);
    let mask = signals("SigBlk");
    // The limit has the same effect as a full disk, except for the error code.
    let before = support::limit(libc::RLIMIT_FSIZE, 100);
    let dumped = tickscope::dump(dir.join("now.html"), Format::Html);
    support::limit(libc::RLIMIT_FSIZE, before);
    let said = dumped.unwrap_err().to_string();
    assert!(said.contains("write ") && said.contains("now.html"), "{said}");
    assert!(
        said.ends_with("; no partial file is left: free some space, or give another place"),
        "{said}"
    );
    assert_eq!(entries(&dir), [""; 0]);
    assert_eq!(signals("SigPnd"), 0, "the signal is taken back");
    assert_eq!(signals("SigBlk"), mask);
}

/// Returns one of this thread's signal sets, named as in `/proc/thread-self/status`.
fn signals(set: &str) -> u64 {
    u64::from_str_radix(&support::status_line("thread-self", set), 16).unwrap()
}

fn a_thread_that_only_dumps_is_not_among_the_threads() {
    work(1);
    let path = support::shared_place().join("now.tks");
    std::thread::Builder::new()
        .name("watchdog".into())
        .spawn({
            let path = path.clone();
            move || tickscope::dump(path, Format::Tks).unwrap()
        })
        .unwrap()
        .join()
        .unwrap();
    for snapshot in [archive::read(&path).unwrap(), tickscope::snapshot()] {
        assert_eq!(support::threads_named(&snapshot, "watchdog").count(), 0);
    }
}

crate::support::tests![
    as_usual:
    every_format_without_a_session_in_the_middle_of_scopes,
    threads_dump_at_once_and_deep_inside,
    the_time_of_writing_is_not_charged,
    what_cannot_be_written_is_said_and_leaves_nothing,
    a_file_that_may_not_grow_leaves_nothing_and_ends_no_program,
    a_thread_that_only_dumps_is_not_among_the_threads;
];
