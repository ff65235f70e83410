//! `tickscope record`, and what recordings can be used for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rustix::process::Signal;
use tickscope_format::Snapshot;
use tickscope_format::recording::Recording;
use tickscope_format::snapshot::CaptureKind;
use tickscope_testkit::orderbook;
use tickscope_testkit::suite::skip;

use crate::cli_commands::live::shown_calls;
use crate::support::{Done, Place, Program, VIEWER, ended, finish, send, until, until_true};

/// Runs `tickscope record ARGS -- PROGRAM`, where PROGRAM is this test binary, playing a role.
fn record_role(place: &Place, args: &[&str], role: &str, argument: &str) -> Done {
    let args = [&["record"], args, &["--"]].concat();
    finish(&mut place.around(&args, &place.role(role, argument)))
}

fn recorder(place: &Place, args: &[&str]) -> Child {
    let mut command = place.command(VIEWER);
    command.arg("record").args(args);
    command.stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until a file has at least this number of records.
fn holds(path: &Path, records: usize) {
    until("enough is recorded", || {
        let series = Recording::open(path).ok()?;
        (series.moments().len() >= records).then_some(())
    });
}

pub(super) fn snapshots(path: &Path) -> Vec<Snapshot> {
    let series = Recording::open(path).unwrap();
    assert_eq!(series.torn_bytes(), 0);
    let moments = series.moments().iter();
    moments.map(|moment| series.snapshot(moment).unwrap()).collect()
}

fn path_in(place: &Place, name: &str) -> PathBuf {
    place.work().join(name)
}

fn a_running_program_is_recorded_for_a_while() {
    let (place, program) = Place::with("busy");
    let line = format!("record {} -d 400ms --rate 50 -o run.tks", program.name);
    let done = place.typed(&line).ok();
    let done = done.says(&["run.tks: ", " records of 0.", " kB"]);
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    assert_eq!(done.out, "");
    let all = snapshots(&path_in(&place, "run.tks"));
    assert!(!all.is_empty());
    assert!(all.is_sorted_by(|a, b| a.capture.seq < b.capture.seq));
    assert!(all.iter().all(|snapshot| snapshot.process.pid == program.pid()));

    let says = "run.tks: exists already, wanted a new file; --force overwrites it";
    place.typed(&line).failed(1, &[says]);
    assert_eq!(snapshots(&path_in(&place, "run.tks")).len(), all.len());
    place.typed(&format!("{line} --force")).ok();
    assert_ne!(snapshots(&path_in(&place, "run.tks"))[0], all[0]);

    // Without `-o`, the command chooses an unused file name each time.
    fs::remove_file(path_in(&place, "run.tks")).unwrap();
    for count in 1..=2 {
        let done = place.tickscope(&["record", &program.name, "-d", "0"]).ok();
        done.says(&[&program.name]);
        assert_eq!(place.files(), count);
    }
}

fn a_command_is_recorded_from_its_start_to_its_end() {
    let place = Place::new();
    let done = record_role(&place, &["-o", "run.tks"], "attribute", "7").with_code(7);
    done.prints(&["the program's output\n"]);
    let done = done.says(&["the program's complaint", "run.tks: ", "the program has ended"]);
    assert!(!done.err.contains("tickscope report"), "{}", done.err);
    let all = snapshots(&path_in(&place, "run.tks"));
    let last = all.last().unwrap();
    assert_eq!((last.capture.kind, last.calls()), (CaptureKind::Final, 1));
    let report = place.tickscope(&["report", "run.tks"]).ok();
    report.prints(&["roles::marked"]);
    // If a signal ends the program, the exit code is the same as in a shell: 128 plus the number of the signal. All
    // records of the program are kept.
    record_role(&place, &["-o", "killed.tks"], "killed", "")
        .with_code(128 + 15)
        .says(&["crashed or was killed"]);
    let killed = snapshots(&path_in(&place, "killed.tks"));
    assert_eq!(killed.last().unwrap().calls(), 1);
}

fn a_command_runs_on_after_its_recording() {
    let place = Place::new();
    let role = place.role("attribute", "0");
    let exe = role.get_program().to_str().unwrap();
    let script = format!("'{exe}'; touch done; exit 9");
    let args = ["record", "-d", "0", "-o", "run.tks"];
    let done = finish(&mut place.script(&args, &role, &script)).with_code(9);
    done.says(&["run.tks: "]);
    assert!(path_in(&place, "done").exists());
    assert!(!snapshots(&path_in(&place, "run.tks")).is_empty());
}

fn what_gives_no_recording_leaves_no_file() {
    let place = Place::new();
    let done = record_role(&place, &["-o", "run.tks"], "scopeless", "").with_code(1);
    let hint = "does it depend on tickscope with the feature `enable`, and does it mark a function with";
    done.says(&[
        "nothing was recorded: ",
        " opened no scope, or was killed at once",
        hint,
    ]);
    place.answers("3 record -- sh -c 'exit 3' => nothing was recorded");
    record_role(&place, &["--after", "50s"], "attribute", "4")
        .with_code(4)
        .says(&["nothing was recorded: ", " ended before the time of --after"]);
    place.answers("2 record nobody-is-called-so => no program called");
    let table = "
        127 record -- no-such-program-anywhere => cannot start
        2 record ./nowhere.ring => no file
        1 record -o /nowhere/run.tks -- true => /nowhere/run.tks… make the directory first
        2 record -o - -- true => the started program uses standard output; give -o FILE
    ";
    place.refuses(table);
    assert_eq!(place.files(), 0);
    let mut program = place.start("stuck");
    place
        .typed(&format!("record {} -o run.tks -d 0", program.name))
        .ok();
    place.refuses("2 record ./run.tks => run.tks is a file; a program is recorded while it runs");
    program.end();
    place.refuses(&format!("2 record {} => has ended", program.name));
    assert_eq!(place.files(), 1);
    place.answers("2 record x -- true => cannot be used with");
}

fn a_program_that_takes_no_wishes_is_recorded_as_it_is() {
    let place = Place::new();
    for (role, says) in [
        ("older", "does not know this request"),
        ("deaf", "the program takes no requests from this viewer"),
    ] {
        let program = place.start(role);
        let file = format!("{role}.tks");
        let line = format!("record {} -d 0 --rate 50 -o {file}", program.name);
        let rate = "recording at the program's rate";
        place.answers(&format!("0 {line} => {says}… {rate}… {file}"));
        assert!(!snapshots(&path_in(&place, &file)).is_empty());
    }
}

fn whenever_the_recorder_is_killed_all_finished_records_are_there() {
    let (place, program) = Place::with("busy");
    for round in 1..=2 {
        let path = path_in(&place, "run.tks");
        let args = [&*program.name, "--rate", "100", "--force", "-o", "run.tks"];
        let mut child = recorder(&place, &args);
        let _ = fs::remove_file(&path);
        let before = round * 3;
        holds(&path, before);
        child.kill().unwrap();
        child.wait().unwrap();
        let series = Recording::open(&path).unwrap();
        assert!(series.moments().len() >= before);
        for moment in series.moments() {
            assert!(series.snapshot(moment).unwrap().calls() > 0);
        }
        place.told(&["report", "run.tks"]);
    }
}

fn a_killed_program_leaves_all_and_its_recorder_ends() {
    let (place, mut program) = Place::with("busy");
    let child = recorder(&place, &[&program.name, "-o", "run.tks"]);
    let path = path_in(&place, "run.tks");
    holds(&path, 3);
    program.kill();
    ended(child).ok().says(&["run.tks: ", "crashed or was killed"]);
    assert!(snapshots(&path).len() >= 3);
    let mut program = place.start("busy");
    let child = recorder(&place, &[&program.name, "-o", "ended.tks"]);
    let path = path_in(&place, "ended.tks");
    holds(&path, 1);
    program.end();
    ended(child).ok().says(&["the program has ended"]);
    assert_eq!(snapshots(&path).last().unwrap().capture.kind, CaptureKind::Final);
}

fn an_interrupt_ends_the_recording_and_not_the_program() {
    let (place, program) = Place::with("busy");
    for (name, end) in [
        ("int.tks", Signal::INT),
        ("term.tks", Signal::TERM),
        ("hup.tks", Signal::HUP),
    ] {
        let child = recorder(&place, &[&program.name, "-o", name]);
        let path = path_in(&place, name);
        holds(&path, 2);
        send(&child, end);
        let done = ended(child).ok().says(&[name, " records of "]);
        assert_eq!(done.err.lines().count(), 1, "{}", done.err);
        assert!(snapshots(&path).len() >= 2);
    }
    place.json(&program.name);
}

fn a_termination_reaches_the_recorded_command() {
    let place = Place::new();
    let script = "trap 'exit 11' TERM; echo ready >ready; while :; do sleep 0.02; done";
    let child = recorder(&place, &["--", "sh", "-c", script]);
    until_true("it is ready", || path_in(&place, "ready").exists());
    send(&child, Signal::TERM);
    ended(child).with_code(11).says(&["nothing was recorded: "]);
}

fn records_that_a_stopped_recorder_has_missed_are_told() {
    let place = Place::new();
    let (program, ring) = place.run("wordy");
    let child = recorder(&place, &[&program.name, "--rate", "50", "-o", "run.tks"]);
    let path = path_in(&place, "run.tks");
    holds(&path, 2);
    send(&child, Signal::STOP);
    let sequence = || ring.newest().ok().map(|record| record.sequence);
    let first = until("there is a record", sequence);
    // A record of this program takes 16 KiB of the ring's 64 KiB, so eight more records overwrite unread ones.
    until("the ring is written over", || {
        sequence().filter(|&sequence| sequence > first + 8)
    });
    send(&child, Signal::CONT);
    let series = Recording::open(&path).unwrap();
    holds(&path, series.moments().len() + 2);
    send(&child, Signal::TERM);
    let done = ended(child).ok();
    done.says(&[" more were overwritten before they could be read)"]);
}

/// Records a program that is reset several times. The last record before a reset has all counts that the reset removes.
fn recorded_with_resets(place: &Place, program: &Program) -> PathBuf {
    let child = recorder(place, &[&program.name, "-o", "run.tks"]);
    let path = path_in(place, "run.tks");
    for round in 1..=3 {
        holds(&path, round * 3);
        place.tickscope(&["reset", &program.name]).ok();
    }
    holds(&path, 12);
    send(&child, Signal::TERM);
    ended(child).ok();
    path
}

fn nothing_is_lost_between_two_moments_whatever_is_reset() {
    let (place, program) = Place::with("busy");
    let all = snapshots(&recorded_with_resets(&place, &program));
    let is_closing = |snapshot: &&Snapshot| snapshot.capture.kind == CaptureKind::Closing;
    assert_eq!(all.iter().filter(is_closing).count(), 3);
    let calls = |option: &str, time: &str| {
        shown_calls(&place.document(&["report", "run.tks", "-f", "json", option, time]))
    };
    let whole = calls("--from", "0");
    let (first, last) = (&all[0], all.last().unwrap());
    assert_eq!(whole, last.lifetime.calls - first.lifetime.calls);
    assert_eq!(calls("--at", "0"), first.calls());
    assert_eq!(calls("--window", "1h"), whole);
}

fn what_is_not_recorded_is_said() {
    let place = Place::new();
    let of = |second: u64| orderbook::snapshot(second * 10);
    place.record("run.tks", &[100, 101, 102, 110].map(of));
    place.keep("one.tks", &of(100));
    let report = |args: &[&str]| place.tickscope(&[&["report"], args].concat());
    let table = "
        2 report run.tks --at 1h => there is no record from then; run.tks holds 10.0 s, from
        2 report run.tks --at -1h => --at -3600s: there is no record from then
        2 report run.tks --from 99s => --from 99s: there is no record from then; run.tks holds 10.
        2 report run.tks --to -99s => --to -99s: there is no record from then; run.tks holds 10.
        2 report run.tks --from -0s --to 0s => there is no time between these two moments;
        1 report one.tks --window 1s => one.tks holds one moment, without a past; `tickscope record` keeps a series
    ";
    place.refuses(table);
    place.answers("2 report run.tks --at 1s --window 1s => cannot be used");
    let shows = |args: &[&str], words: &str| {
        let text = report(args).ok().quiet().out;
        assert!(text.contains(words), "{words} in {text}");
    };
    // As with `--window`, a range that exceeds the recording is clamped to it.
    let all = "\n  window       in 10.0 s, from 0.0 s to 10.0 s after the beginning";
    shows(&["run.tks", "--from", "-99s", "--to", "1h"], all);
    let after = "after the beginning of what is recorded";
    shows(&["run.tks", "--at", "-8s"], after);
    for (file, has_timeline) in [("run.tks", true), ("one.tks", false)] {
        report(&[file, "-o", "page.html", "--force"]).ok();
        let page = fs::read_to_string(path_in(&place, "page.html")).unwrap();
        assert_eq!(page.contains("\n\"timeline\":"), has_timeline, "{file}");
    }
    place.refuses("1 report page.html --window 1s => page.html holds one moment");
    // Windows also work on a ring file, while its program runs and after its end.
    let program = place.start("busy");
    shows(&[&program.name, "--window", "10s"], "\n  window       in ");
    let ring = place.ring_of(program.pid()).unwrap();
    drop(program);
    let ring = ring.to_str().unwrap();
    shows(&[ring, "--window", "200ms"], "\n  window       in ");
}

fn a_full_disk_keeps_what_fitted() {
    let place = Place::new();
    let small = path_in(&place, "small");
    fs::create_dir(&small).unwrap();
    let program = place.start("busy");
    let script = "mount -t tmpfs -o size=64k none small || exit 99; \"$1\" record \"$2\" --rate 100 -o small/run.tks; \
                  echo \"code $?\"; \"$1\" report small/run.tks --from 0 | head -3; ls small";
    let mut command = place.command("unshare");
    command.arg("-m");
    if !rustix::process::getuid().is_root() {
        command.arg("-r");
    }
    let done = finish(command.args(["sh", "-c", script, "sh", VIEWER, &program.name]));
    if done.code != Some(0) || done.err.contains("mount") {
        skip("no mount namespace to be had here");
    }
    assert!(done.out.contains("code 1\n"), "{} {}", done.out, done.err);
    assert!(done.out.ends_with("\nrun.tks\n"), "{}", done.out);
    done.prints(&["\n  window       in "]);
    let done = done.says(&["small/run.tks: ", " could be kept"]);
    let done = done.says(&["cannot write", "No space left"]);
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
}

fn a_program_that_does_not_run_gets_the_command_that_starts_it() {
    let place = Place::new();
    fs::copy("/bin/true", path_in(&place, "not-measured")).unwrap();
    let script = path_in(&place, "script");
    fs::write(&script, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("not-measured", path_in(&place, "link")).unwrap();
    for (command, target) in [
        ("attach", "./not-measured"),
        ("report", "not-measured"),
        ("record", "./script"),
        ("report", "./link"),
    ] {
        let start = format!("./{}", target.trim_start_matches("./"));
        place.tickscope(&[command, target]).with_code(2).says(&[
            " is a program, but no process with tickscope runs from it",
            "; to start it and watch it, or record it:\n",
            &format!("tickscope run -- {start}"),
            &format!("tickscope record -- {start}"),
        ]);
    }
    fs::set_permissions(&script, fs::Permissions::from_mode(0o644)).unwrap();
    place.refuses("1 report ./script => not a tickscope file");
}

tickscope_testkit::tests![
    a_running_program_is_recorded_for_a_while,
    a_command_is_recorded_from_its_start_to_its_end,
    a_command_runs_on_after_its_recording,
    what_gives_no_recording_leaves_no_file,
    a_program_that_takes_no_wishes_is_recorded_as_it_is,
    whenever_the_recorder_is_killed_all_finished_records_are_there,
    a_killed_program_leaves_all_and_its_recorder_ends,
    an_interrupt_ends_the_recording_and_not_the_program,
    a_termination_reaches_the_recorded_command,
    records_that_a_stopped_recorder_has_missed_are_told,
    nothing_is_lost_between_two_moments_whatever_is_reset,
    what_is_not_recorded_is_said,
    a_full_disk_keeps_what_fitted,
    a_program_that_does_not_run_gets_the_command_that_starts_it,
];
