//! Reports at exit: a program that runs its exit handlers leaves a report, and its exit code is unchanged. A program
//! that ends without running its exit handlers leaves only the ring.

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::mpsc;

use crate::support::{
    self, Done, Isolated, Says, calls_of, check, checked, each, has_exited, isolated_as_usual, newest,
    ring_of, rings_in, started, tell, test_name, wait_until,
};
use tickscope::{Builder, Destination, Format, Session, Snapshot};
use tickscope_format::file::open::Liveness;
use tickscope_report::archive;
use tickscope_report::form::Form;

/// Environment variable that is set in the child that returns from `main`.
const RETURNS: &str = "RETURNS_FROM_MAIN";

#[tickscope::profile]
fn work() {
    tickscope::scope!("step");
}

/// Starts, in the child, a session that writes an HTML report at exit. The report contains the snapshot.
fn reporting() -> Session {
    let report = Destination::File(support::shared_place().join("report.html"));
    started(Builder::new("reports").report_at_exit(report))
}

/// Returns the snapshot of the child's report at exit.
fn reported(done: &Done) -> Snapshot {
    let snapshot = archive::read(&done.place().join("report.html")).unwrap();
    check(&snapshot);
    snapshot
}

/// Returns the names of the reports in a directory, sorted.
fn reports(place: &Path) -> Vec<String> {
    let names = fs::read_dir(place)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.contains("report")).collect();
    names.sort();
    names
}

/// Returns whether this process is the child of `main_returns_with_its_session_dropped_...`.
pub(crate) fn returns_from_main() -> bool {
    std::env::var_os(RETURNS).is_some()
}

/// The child's part of the test of returning from `main`. It is called by `main` itself.
pub(crate) fn returning() -> ExitCode {
    tell("begun", "");
    let busy = mpsc::channel();
    std::thread::spawn(move || {
        tickscope::scope!("still inside");
        busy.0.send(()).unwrap();
        loop {
            std::thread::park();
        }
    });
    busy.1.recv().unwrap();
    drop(reporting());
    work();
    ExitCode::from(5)
}

fn main_returns_with_its_session_dropped_and_a_thread_inside_a_scope() {
    let done = Isolated::as_usual(test_name!()).env(RETURNS, "1").run(|| ());
    assert_eq!(done.status.code(), Some(5));
    let snapshot = reported(&done);
    assert_eq!((calls_of(&snapshot, "work"), calls_of(&snapshot, "step")), (1, 1));
    assert_eq!(calls_of(&snapshot, "still inside"), 1);
    assert_eq!((&*done.stdout, &*done.stderr), ("", ""));
}

fn exit_inside_of_scopes_and_on_any_thread() {
    for thread in ["main", "other"] {
        let done = Isolated::as_usual(test_name!()).env("THREAD", thread).run(|| {
            let _session = reporting();
            let end = || {
                tickscope::scope!("ends");
                work();
                std::process::exit(7)
            };
            if std::env::var("THREAD").unwrap() == "main" {
                end()
            }
            let _ = std::thread::spawn(end).join();
        });
        assert_eq!(done.status.code(), Some(7), "{done:?}");
        let snapshot = reported(&done);
        assert_eq!((calls_of(&snapshot, "ends"), calls_of(&snapshot, "work")), (1, 1));
        let ended = snapshot.threads.iter().filter(|thread| thread.tid == 0);
        assert_eq!(ended.count(), 1, "whoever calls `exit` has ended");
    }
}

fn exit_while_all_threads_dump() {
    for round in 0..5 {
        let done = Isolated::as_usual(test_name!()).run(|| {
            let _session = reporting();
            for thread in 0..4 {
                std::thread::spawn(move || {
                    for dump in 0.. {
                        work();
                        let path = format!("dump-{thread}-{dump}.tks");
                        tickscope::dump(support::shared_place().join(path), Format::Tks).unwrap();
                    }
                });
            }
            let place = support::shared_place();
            wait_until("a dump of each", || {
                (0..4).all(|thread| place.join(format!("dump-{thread}-0.tks")).exists())
            });
            std::process::exit(7);
        });
        assert_eq!(done.status.code(), Some(7), "{round}: {done:?}");
        assert!(calls_of(&reported(&done), "work") >= 4);
    }
}

fn a_panic_out_of_main_and_one_of_a_thread() {
    let done = Isolated::as_usual(test_name!()).run(|| {
        let _session = reporting();
        let died = std::thread::spawn(|| {
            work();
            panic!("a thread, on purpose")
        });
        assert!(died.join().is_err());
        tickscope::scope!("fatal");
        panic!("main, on purpose");
    });
    assert_eq!(done.status.code(), Some(101));
    let snapshot = reported(&done);
    assert_eq!(calls_of(&snapshot, "fatal"), 1);
    assert_eq!(calls_of(&snapshot, "work"), 1);
    assert!(done.stderr.contains("main, on purpose"), "{}", done.stderr);
    let ring = done.ring();
    assert!(has_exited(&ring));
    assert_eq!(calls_of(&newest(&ring), "fatal"), 1);
}

fn the_environment_alone_is_enough() {
    for (wish, thread) in [(None, false), (Some("report"), true), (Some("live"), false)] {
        let test = Isolated::as_usual(test_name!()).report("%n-%p-100%%-report.html");
        let test = match wish {
            Some(wish) => test.env("TICKSCOPE", wish),
            None => test,
        };
        let test = test.env("THREAD", if thread { "1" } else { "" });
        let done = test.succeeds(|| {
            tell("pid", std::process::id().to_string());
            if std::env::var("THREAD").unwrap().is_empty() {
                work();
            } else {
                std::thread::spawn(work).join().unwrap();
            }
        });
        let pid = fs::read_to_string(done.place().join("pid")).unwrap();
        let reports = reports(done.place());
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert!(reports[0].starts_with("it-"), "{reports:?}");
        assert!(
            reports[0].ends_with(&format!("-{pid}-100%-report.html")),
            "{reports:?}"
        );
        let snapshot = archive::read(&done.place().join(&reports[0])).unwrap();
        assert_eq!(calls_of(&snapshot, "work"), 1);
        assert_eq!((&*done.stdout, &*done.stderr), ("", ""));
    }
}

fn a_program_that_has_met_no_scope_says_nothing_whatever_the_environment_asks_for() {
    for wish in ["live", "log", "report"] {
        let test = Isolated::as_usual(test_name!()).env("TICKSCOPE", wish);
        let done = test.report("report.html").run(|| ()).succeeded();
        assert_eq!(reports(done.place()), [""; 0], "{wish}");
        assert_eq!((&*done.stdout, &*done.stderr), ("", ""), "{wish}");
        assert!(rings_in(&done.place().join("rings")).is_empty(), "{wish}");
    }
}

fn a_files_name_says_the_form() {
    let needs_export = ("report.json", "\"self_ns\"", "report.json.tks");
    for (name, begins, without) in [("callgrind.out.report", "# callgrind format", ""), needs_export] {
        let test = Isolated::as_usual(test_name!());
        let done = test.report(name).run(work).succeeded();
        let is_kept_instead = !without.is_empty() && !Form::Json.is_built_in();
        let (file, begins) = if is_kept_instead {
            (without, "TICKKEPT")
        } else {
            (name, begins)
        };
        assert_eq!(reports(done.place()), [file]);
        let bytes = fs::read(done.place().join(file)).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains(begins), "{file}: {text:.200}");
        if is_kept_instead {
            done.stderr.says([
                " needs the feature `export`; kept instead: tickscope report /",
                name,
                file,
            ]);
            assert_eq!(done.stderr.lines().count(), 1);
        } else {
            assert_eq!(done.stderr, "");
        }
    }
}

fn a_form_that_is_not_there_is_said_at_the_start() {
    let test = Isolated::as_usual(test_name!()).env("TICKSCOPE_REPORT", "report.json");
    test.succeeds(|| {
        std::env::set_current_dir(support::shared_place()).unwrap();
        let session = tickscope::start("starts");
        let warnings = session.warnings().join("\n");
        let warns = warnings.contains("report.json needs the feature `export`; it will be ");
        assert_eq!(warns, !Form::Json.is_built_in(), "{warnings}");
    });
}

fn an_ending_that_says_no_form_is_text_and_told() {
    for (name, is_told) in [("report.svg", true), ("report.2026", false), ("report", false)] {
        let test = Isolated::as_usual(test_name!());
        let done = test.report(name).run(work).succeeded();
        assert_eq!(reports(done.place()), [name]);
        assert!(
            fs::read_to_string(done.place().join(name))
                .unwrap()
                .contains("Call tree")
        );
        let told = "report.svg is text: its ending names no form; endings with a form: .txt .html .json ";
        assert_eq!(done.stderr.contains(told), is_told, "{}", done.stderr);
        assert_eq!(
            done.stderr.lines().count(),
            usize::from(is_told),
            "{}",
            done.stderr
        );
    }
    let test = Isolated::as_usual(test_name!()).report("report.svg");
    test.succeeds(|| {
        let warnings = tickscope::start("starts").warnings().join("\n");
        warnings.says([
            "the report at exit /",
            "report.svg is text: its ending names no form",
        ]);
    });
}

fn a_name_that_is_taken_gets_a_number() {
    let test = Isolated::as_usual(test_name!());
    for taken in ["report.html", "report.2.html"] {
        fs::write(test.place().join(taken), "mine").unwrap();
    }
    let done = test.succeeds(|| {
        let _session = reporting();
        work();
    });
    assert_eq!(
        reports(done.place()),
        ["report.2.html", "report.3.html", "report.html"]
    );
    for taken in ["report.html", "report.2.html"] {
        assert_eq!(fs::read_to_string(done.place().join(taken)).unwrap(), "mine");
    }
    let snapshot = archive::read(&done.place().join("report.3.html")).unwrap();
    assert_eq!(calls_of(&snapshot, "work"), 1);
    assert!(
        done.stderr.contains(
            "report.3.html, because the first name is taken (%p in a name stands for the process id)"
        ) && done.stderr.lines().count() == 1,
        "{}",
        done.stderr
    );
}

fn where_all_names_are_taken_it_is_said() {
    let test = Isolated::as_usual(test_name!());
    fs::write(test.place().join("report.html"), "mine").unwrap();
    for number in 2..=999 {
        fs::write(test.place().join(format!("report.{number}.html")), "mine").unwrap();
    }
    let done = test.report("report.html").run(work).succeeded();
    assert!(
        done.stderr
            .ends_with("report.html and its numbered names up to 999 exist: remove some of these files\n"),
        "{}",
        done.stderr
    );
}

fn several_processes_do_not_take_each_others_reports() {
    let place = tempfile::tempdir().unwrap();
    let running: Vec<_> = (0..4)
        .map(|_| {
            Isolated::as_usual(test_name!())
                .env("TICKSCOPE_REPORT", place.path().join("report.tks"))
                .start(work)
        })
        .collect();
    for child in running {
        child.wait().succeeded();
    }
    let reports = reports(place.path());
    assert_eq!(
        reports,
        ["report.2.tks", "report.3.tks", "report.4.tks", "report.tks"]
    );
    let pids: std::collections::BTreeSet<_> = reports
        .iter()
        .map(|report| archive::read(&place.path().join(report)).unwrap().process.pid)
        .collect();
    assert_eq!(pids.len(), 4);
}

fn a_relative_name_begins_where_the_program_started() {
    let done = isolated_as_usual!(|| {
        let first = support::shared_place();
        std::env::set_current_dir(&first).unwrap();
        fs::create_dir("elsewhere").unwrap();
        let _session = Builder::new("moves")
            .report_at_exit(Destination::File("report.html".into()))
            .start();
        work();
        std::env::set_current_dir("elsewhere").unwrap();
    });
    assert_eq!(reports(done.place()), ["report.html"]);
}

fn where_it_cannot_be_written_one_line_says_so_and_the_code_stays() {
    for (place, says) in [
        ("/proc/report.html", "report.html"),
        ("missing/report.html", "; make the directory first"),
    ] {
        let done = Isolated::as_usual(test_name!()).report(place).run(|| {
            work();
            std::process::exit(3);
        });
        assert_eq!(done.status.code(), Some(3));
        assert_eq!(reports(done.place()), [""; 0]);
        assert!(
            done.stderr.starts_with("tickscope: no report at exit: ") && done.stderr.contains(says),
            "{}",
            done.stderr
        );
        assert_eq!(done.stderr.lines().count(), 1);
    }
}

fn a_limit_on_the_length_of_files_changes_no_code() {
    // With the first limit the report cannot be written; with the second, neither can the message about it.
    let cases = [(100, "tickscope: no report at exit: "), (0, "")];
    let make = |_| Isolated::as_usual(test_name!());
    for ((_, says), done) in each(cases, make, |(length, _)| {
        let session = reporting();
        work();
        std::mem::forget(session);
        support::limit(libc::RLIMIT_FSIZE, length);
        std::process::exit(3);
    }) {
        assert_eq!(done.status.code(), Some(3), "{done:?}");
        assert!(done.stderr.starts_with(says), "{}", done.stderr);
        assert_eq!(reports(done.place()), [""; 0]);
    }
}

fn a_name_that_is_no_regular_file_gets_no_report_beside_it() {
    for kind in ["directory", "directory/", "device"] {
        let test = Isolated::as_usual(test_name!());
        let inside = test.place().join("reports");
        let path = match kind {
            "device" => "/dev/null".into(),
            "directory/" => inside.join(""),
            _ => inside.clone(),
        };
        fs::create_dir_all(&inside).unwrap();
        let done = test.env("TICKSCOPE_REPORT", &path).run(work).succeeded();
        let said = format!(
            "tickscope: no report at exit: {} is not a regular file: give the name of a new file, or `stderr` or `stdout`\n",
            path.display()
        );
        assert_eq!(done.stderr, said);
        assert_eq!(reports(done.place()), ["reports"]);
        assert_eq!(fs::read_dir(done.place().join("reports")).unwrap().count(), 0);
    }
}

/// A program whose report goes into a closed pipe must end with its own exit code rather than be killed by SIGPIPE.
fn a_closed_or_full_output_changes_no_code() {
    for end in ["| true; exit ${PIPESTATUS[0]}", "> /dev/full"] {
        let mut shell = Command::new("bash");
        // In the script, `$0` is the argument that follows: the path of this program.
        shell.args(["-c", &format!("\"$0\" {end}")]);
        shell.arg(std::env::current_exe().unwrap());
        let test = Isolated::through(test_name!(), shell).env("TICKSCOPE_REPORT", "stdout");
        let done = test.env("END", end).run(|| {
            // This is the default in C programs. Rust programs may restore it, so that they end when a pipe is closed.
            // SAFETY: the default disposition runs no code of this program.
            unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
            work();
            if std::env::var("END").unwrap().starts_with('|') {
                wait_until("the pipe's end", || {
                    let mut pipe = libc::pollfd {
                        fd: libc::STDOUT_FILENO,
                        events: 0,
                        revents: 0,
                    };
                    // SAFETY: `pipe` is valid for reads and writes of one entry.
                    unsafe { libc::poll(&mut pipe, 1, 0) };
                    pipe.revents & libc::POLLERR != 0
                });
            }
            std::process::exit(3);
        });
        assert_eq!(done.status.code(), Some(3), "{end}: {done:?}");
        assert!(done.stderr.lines().count() <= 1, "{}", done.stderr);
    }
}

/// A program that ends without running its exit handlers leaves no report, only the ring with its newest record. See
/// also `exits`.
fn other_ends_leave_the_ring() {
    for (end, signal) in [
        ("panic with panic=abort", Some(libc::SIGABRT)),
        ("_exit", None),
        ("exec", None),
    ] {
        let done = Isolated::as_usual(test_name!()).env("END", end).run(|| {
            let session = reporting();
            let ring = ring_of(&session);
            tickscope::scope!("open");
            work();
            let _slot = ring.take_slot().unwrap();
            wait_until("the record", || calls_of(&newest(&ring), "work") == 1);
            match &*std::env::var("END").unwrap() {
                "panic with panic=abort" => {
                    // This simulates `panic = "abort"`, where the standard library aborts after the hook.
                    std::panic::set_hook(Box::new(|_| std::process::abort()));
                    panic!("on purpose");
                }
                // SAFETY: `_exit` takes no pointers.
                "_exit" => unsafe { libc::_exit(0) },
                _ => drop(Command::new("true").exec()),
            }
        });
        assert_eq!(done.status.signal(), signal, "{end}");
        assert_eq!(reports(done.place()), [""; 0], "{end}");
        let ring = done.ring();
        assert!(
            matches!(ring.liveness().unwrap(), Liveness::Crashed { .. }),
            "{end}"
        );
        let last = checked(newest(&ring));
        assert_eq!(calls_of(&last, "work"), 1, "{end}");
        assert_eq!(last.threads[0].open.len(), 1, "{end}: it shows where it was");
    }
}

/// A program with `panic = "abort"` can dump a report in its panic hook.
fn a_dump_in_the_panic_hook_comes_before_an_abort() {
    let done = Isolated::as_usual(test_name!()).run(|| {
        std::panic::set_hook(Box::new(|_| {
            let path = support::shared_place().join("report.html");
            tickscope::dump(path, Format::Html).unwrap();
            std::process::abort();
        }));
        tickscope::scope!("fatal");
        work();
        panic!("on purpose");
    });
    assert_eq!(done.status.signal(), Some(libc::SIGABRT));
    let snapshot = reported(&done);
    assert_eq!(calls_of(&snapshot, "work"), 1);
    assert_eq!(calls_of(&snapshot, "fatal"), 1);
    assert_eq!(snapshot.threads[0].open.len(), 1);
}

/// The report at exit must not wait for std's lock on standard error, which another thread holds forever.
fn a_report_at_exit_does_not_wait_for_the_lock_of_standard_error() {
    let test = Isolated::as_usual(test_name!()).env("TICKSCOPE", "report");
    let done = test.succeeds(|| {
        tickscope::time!("work", ());
        let (locked, wait) = mpsc::channel();
        let holder = std::thread::spawn(move || {
            let _held = std::io::stderr().lock();
            locked.send(()).unwrap();
            loop {
                std::thread::park();
            }
        });
        wait.recv().unwrap();
        assert!(!holder.is_finished());
        std::process::exit(0);
    });
    assert!(done.stderr.contains("work"), "{}", done.stderr);
}

tickscope_testkit::tests![
    a_report_at_exit_does_not_wait_for_the_lock_of_standard_error,
    main_returns_with_its_session_dropped_and_a_thread_inside_a_scope,
    exit_inside_of_scopes_and_on_any_thread,
    exit_while_all_threads_dump,
    a_panic_out_of_main_and_one_of_a_thread,
    the_environment_alone_is_enough,
    a_program_that_has_met_no_scope_says_nothing_whatever_the_environment_asks_for,
    a_files_name_says_the_form,
    a_form_that_is_not_there_is_said_at_the_start,
    an_ending_that_says_no_form_is_text_and_told,
    a_name_that_is_taken_gets_a_number,
    where_all_names_are_taken_it_is_said,
    several_processes_do_not_take_each_others_reports,
    a_relative_name_begins_where_the_program_started,
    where_it_cannot_be_written_one_line_says_so_and_the_code_stays,
    a_limit_on_the_length_of_files_changes_no_code,
    a_name_that_is_no_regular_file_gets_no_report_beside_it,
    a_closed_or_full_output_changes_no_code,
    other_ends_leave_the_ring,
    a_dump_in_the_panic_hook_comes_before_an_abort,
];
