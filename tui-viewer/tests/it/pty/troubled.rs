//! What the screen says while its program stands still, or its file is taken away.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use portable_pty::CommandBuilder;
use rustix::process::{Pid, Signal, kill_process};
use tickscope_testkit::suite::skip;

use crate::pty::program::{ring_in, start, until};
use crate::pty::session::Session;

fn signal(program: &Child, signal: Signal) {
    kill_process(Pid::from_raw(program.id() as i32).unwrap(), signal).unwrap();
}

/// A directory with the place of rings, a program, and its ring.
fn started() -> (tempfile::TempDir, Child, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let rings = dir.path().join("rings");
    fs::DirBuilder::new().mode(0o700).create(&rings).unwrap();
    let program = start(&rings);
    let path = until("there is a ring", || ring_in(&rings));
    (dir, program, path)
}

/// A program, the viewer that looks at it, and the place of its ring.
fn watched() -> (tempfile::TempDir, Child, Session) {
    let (dir, program, path) = started();
    let viewer = Session::viewer(&[path.to_str().unwrap()], (140, 30));
    viewer.wait_for_text("● LIVE");
    viewer.wait_for_text("program::counted");
    (dir, program, viewer)
}

/// What is done to a ring so that it is lost.
type Harm = fn(&Path);
const HARMS: [(&str, Harm); 6] = [
    ("cut", |rings| {
        opened(rings).set_len(5_000).unwrap();
    }),
    ("emptied", |rings| {
        let file = opened(rings);
        let length = file.metadata().unwrap().len();
        file.set_len(0).unwrap();
        file.set_len(length).unwrap();
    }),
    ("removed", |rings| {
        fs::remove_file(ring_in(rings).unwrap()).unwrap()
    }),
    ("removed with its directory", |rings| {
        // At once: the program makes the next ring in the folder of this name.
        let gone = rings.with_extension("gone");
        fs::rename(rings, &gone).unwrap();
        fs::remove_dir_all(gone).unwrap()
    }),
    ("renamed", |rings| {
        fs::rename(ring_in(rings).unwrap(), rings.join("other")).unwrap()
    }),
    ("moved with its directory", |rings| {
        fs::rename(rings, rings.with_extension("moved")).unwrap()
    }),
];

fn opened(rings: &Path) -> fs::File {
    let path = ring_in(rings).unwrap();
    fs::File::options().write(true).open(path).unwrap()
}

/// The counted calls of the row on the screen.
fn row(contents: &str) -> Option<String> {
    let line = contents
        .lines()
        .find(|line| line.contains("counted") && line.contains('%'))?;
    Some(line.to_string())
}

fn quit(mut viewer: Session, program: Child) {
    viewer.send("q");
    assert_eq!(viewer.end().exit_code(), 0);
    viewer.assert_as_before();
    end(program);
}

fn end(mut program: Child) {
    drop(program.stdin.take());
    assert!(program.wait().unwrap().success(), "the program is unharmed");
}

fn a_program_that_is_stopped_is_said_to_be_and_goes_on_by_itself() {
    let (_dir, program, viewer) = watched();
    signal(&program, Signal::STOP);
    viewer.wait_for_text("STALE since ");
    viewer.wait_for_text("No sign of life: stopped");
    let stood = row(&viewer.contents());
    signal(&program, Signal::CONT);
    viewer.wait_for_text("● LIVE");
    viewer.wait_for("new numbers", |screen| row(&screen.contents()) != stood);
    quit(viewer, program);
}

fn a_program_in_a_debugger_is_said_to_stand_and_goes_on_by_itself() {
    let (dir, program, viewer) = watched();
    let seen = dir.path().join("seen");
    // Where it may not attach it ends at once.
    let held = format!("grep -q 'TracerPid:.[1-9]' /proc/{}/status", program.id());
    let wait = format!(
        "shell while {held} && [ ! -e {} ]; do sleep 0.1; done",
        seen.display()
    );
    let mut debugger = Command::new("gdb");
    debugger
        .args(["-q", "-batch", "-nx", "-readnever", "-p"])
        .arg(program.id().to_string())
        .args(["-ex", &wait, "-ex", "detach"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let Ok(mut debugger) = debugger.spawn() else {
        quit(viewer, program);
        skip("no gdb here");
    };
    let stands = until("the debugger holds it, or has ended", || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", program.id())).unwrap();
        let stands = stat.rsplit_once(") ").unwrap().1.starts_with('t');
        (stands || debugger.try_wait().unwrap().is_some()).then_some(stands)
    });
    if stands {
        viewer.wait_for_text("STALE since ");
    }
    fs::write(seen, "").unwrap();
    debugger.wait().unwrap();
    viewer.wait_for_text("● LIVE");
    quit(viewer, program);
    if !stands {
        skip("no program is held here by a debugger");
    }
}

/// The viewer of a program, attached in one of the ways.
fn attached(way: &str, program: &Child, rings: &Path) -> Session {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tickscope"));
    match way {
        // Whoever names a path need not name the directory.
        "path" => command.arg(ring_in(rings).unwrap()),
        "pid" => command.arg(program.id().to_string()),
        _ => command.arg("counted"),
    }
    if way != "path" {
        command.env("TICKSCOPE_DIR", rings);
    }
    let viewer = Session::spawn(command, (140, 30));
    viewer.wait_for_text("● LIVE");
    viewer.wait_for_text("program::counted");
    viewer
}

fn a_viewer_goes_on_with_the_next_ring_however_the_first_was_lost() {
    for (what, harm) in HARMS {
        let (dir, program, _) = started();
        let rings = dir.path().join("rings");
        let mut viewers = ["path", "pid", "name"].map(|way| (way, attached(way, &program, &rings)));
        for (_, viewer) in &mut viewers {
            // What was known before is compared with what comes.
            viewer.send("m");
            viewer.wait_for_text("is marked");
        }
        harm(&rings);
        // It stands there for some seconds.
        for (_, viewer) in &viewers {
            viewer.wait_for_text(&format!(
                "the ring file of pid {} was lost; its next one is followed",
                program.id()
            ));
        }
        for (way, viewer) in viewers {
            viewer.wait_for_text("● LIVE");
            let before = row(&viewer.contents());
            viewer.wait_for(&format!("new numbers, {what}, by {way}"), |screen| {
                let now = row(&screen.contents());
                now.is_some() && now != before
            });
            let mut viewer = viewer;
            viewer.send("'");
            viewer.wait_for_text("vs ");
            // Asked through the new one.
            viewer.send("'r");
            viewer.wait_for("an answer, or the question about the others", |screen| {
                let contents = screen.contents();
                contents.contains("counting from zero") || contents.contains("Count from zero?")
            });
            if viewer.contents().contains("Count from zero?") {
                viewer.send("y");
                viewer.wait_for_text("counting from zero");
            }
            viewer.send("q");
            assert_eq!(viewer.end().exit_code(), 0, "{what}, by {way}");
            viewer.assert_as_before();
        }
        end(program);
    }
}

/// `tickscope ARGS` about the programs in a directory: its code and what it said.
fn tickscope(rings: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tickscope"));
    let done = command.args(args).env("TICKSCOPE_DIR", rings).output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    (done.status.code(), String::from_utf8(said).unwrap())
}

fn commands_go_on_with_the_next_ring_as_well() {
    for (what, harm) in HARMS {
        let (dir, program, first) = started();
        let rings = dir.path().join("rings");
        let (kept, said) = (dir.path().join("run.tks"), dir.path().join("said"));
        let mut recording = Command::new(env!("CARGO_BIN_EXE_tickscope"))
            .args(["record", "--rate", "100", "-o"])
            .args([&kept, &first])
            .stderr(fs::File::create(&said).unwrap())
            .spawn()
            .unwrap();
        until("it records", || {
            (fs::metadata(&kept).ok()?.len() > 5_000).then_some(())
        });
        harm(&rings);
        let heard = || fs::read_to_string(&said).unwrap();
        until("it goes on", || {
            assert!(recording.try_wait().unwrap().is_none(), "{what}: {}", heard());
            heard()
                .contains("was lost; its next one is recorded")
                .then_some(())
        });
        let before = fs::metadata(&kept).unwrap().len();
        until("it records on", || {
            (fs::metadata(&kept).unwrap().len() > before + 5_000).then_some(())
        });
        signal(&recording, Signal::INT);
        assert!(recording.wait().unwrap().success(), "{what}: {}", heard());
        assert!(!heard().contains("crashed"), "{what}: {}", heard());
        let (code, report) = tickscope(&rings, &["report", kept.to_str().unwrap()]);
        assert!(code == Some(0) && report.contains("counted"), "{what}: {report}");

        let pid = program.id().to_string();
        let (code, list) = tickscope(&rings, &["list"]);
        let runs = |line: &&str| line.contains(&pid) && line.contains("running");
        assert_eq!(
            (code, list.lines().filter(runs).count()),
            (Some(0), 1),
            "{what}: {list}"
        );
        let (code, report) = tickscope(&rings, &["report", &pid]);
        assert!(
            code == Some(0) && report.lines().next().unwrap().contains("running"),
            "{what}: {report}"
        );
        end(program);
    }
}

fn a_second_ring_that_is_cut_leaves_the_last_data_and_the_reason() {
    let (dir, program, viewer) = watched();
    let rings = dir.path().join("rings");
    // The first one is replaced at once, the next ones a minute later.
    let first = ring_in(&rings).unwrap();
    opened(&rings).set_len(5_000).unwrap();
    fs::remove_file(first).unwrap();
    viewer.wait_for_text("its next one is followed");
    viewer.wait_for_text("● LIVE");
    opened(&rings).set_len(5_000).unwrap();
    viewer.wait_for_text("BROKEN");
    viewer.wait_for_text("truncated: 5000 bytes");
    let next = format!(
        "Ring lost, process {} runs on: another within a minute.",
        program.id()
    );
    viewer.wait_for_text(&next);
    assert!(row(&viewer.contents()).is_some(), "{}", viewer.contents());
    quit(viewer, program);
}

fn from_another_environment_a_program_is_found_by_its_pid() {
    // A service has neither the shell's TMPDIR nor its TICKSCOPE_DIR.
    let (_dir, program, mut here) = watched();
    here.send("q");
    here.end();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tickscope"));
    command.arg(program.id().to_string());
    command.env("TICKSCOPE_DIR", elsewhere.path().join("nothing"));
    command.env("TMPDIR", elsewhere.path());
    command.env_remove("XDG_RUNTIME_DIR");
    let viewer = Session::spawn(command, (140, 30));
    viewer.wait_for_text("● LIVE");
    quit(viewer, program);
}

tickscope_testkit::tests![
    a_program_that_is_stopped_is_said_to_be_and_goes_on_by_itself,
    a_program_in_a_debugger_is_said_to_stand_and_goes_on_by_itself,
    a_viewer_goes_on_with_the_next_ring_however_the_first_was_lost,
    commands_go_on_with_the_next_ring_as_well,
    a_second_ring_that_is_cut_leaves_the_last_data_and_the_reason,
    from_another_environment_a_program_is_found_by_its_pid,
];
