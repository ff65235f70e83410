//! Errors from the operating system: files that exceed a size limit, directories and files of other users, full
//! devices.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tickscope_testkit::suite::skip;

use crate::support::{Done, Place, VIEWER, finish};

/// Runs the viewer with a file size limit of one block (at most 1 KiB).
fn limited(place: &Place, args: &[&str]) -> Done {
    let mut command = place.command("sh");
    command.args(["-c", "ulimit -f 1 && exec \"$@\"", "sh", VIEWER]);
    finish(command.args(args))
}

/// SIGXFSZ must neither kill the viewer without a message, nor leave a half-written file.
fn a_file_that_may_not_grow_is_an_error_that_names_it() {
    let (place, program) = Place::with("stuck");
    // The first record is empty and would fit within the limit, so the program has to publish another one.
    place.json(&program.name);
    for (args, file) in [
        (&["report", "-o"][..], "x.html"),
        (&["report", "-o"], "x.tks"),
        (&["snapshot", "-o"], "y.tks"),
        (&["record", "--duration", "100ms", "-o"], "z.tks"),
    ] {
        let args = [args, &[file, &program.name]].concat();
        // The limit also applies to writes to the ring. So the viewer cannot request a record, and prints a message
        // about that before the message that is checked here.
        let done = limited(&place, &args).with_code(1);
        done.says(&[&format!("write {file}: File too large")]);
        assert_eq!(place.files(), 0, "{args:?}");
    }
}

/// Runs `tickscope ARGS` as a user who does not own the place. If that is impossible, the test is skipped.
fn as_another(place: &Place, args: &[&str]) -> Done {
    // For all users except root, the permissions of the files already deny access.
    if !rustix::process::getuid().is_root() {
        return place.tickscope(args);
    }
    let nobody = ["--reuid", "65534", "--clear-groups", VIEWER];
    let mut probe = place.command("setpriv");
    probe.args(nobody).arg("--version");
    if !probe.output().is_ok_and(|output| output.status.success()) {
        skip("the viewer cannot be run as another user here");
    }
    let mut command = place.command("setpriv");
    command.args(nobody).args(args);
    finish(&mut command)
}

/// Opens the place's directories to all users.
fn open_to_all(place: &Place) {
    let work = place.work();
    fs::set_permissions(work.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
}

/// A directory without any permissions. Its permissions are restored on drop.
struct Closed(PathBuf);

impl Closed {
    fn new(place: &Place) -> Self {
        open_to_all(place);
        let dir = place.work().join("closed");
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("x.ring"), "").unwrap();
        fs::set_permissions(&dir, Permissions::from_mode(0o000)).unwrap();
        Self(dir)
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.0, Permissions::from_mode(0o700));
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The file exists, so the message must not be "no file".
fn a_file_behind_a_closed_door_is_not_called_missing() {
    let place = Place::new();
    let closed = Closed::new(&place);
    let file = closed.0.join("x.ring");
    let denied = format!("cannot open {}: Permission denied", file.display());
    for command in ["report", "attach"] {
        let done = as_another(&place, &[command, text(&file)]);
        done.failed(1, &[&denied, "; look as the user whose file it is"]);
    }
}

/// Commands with arguments, to which the test adds `--dir`.
const WITH_DIRECTORY: [&str; 5] = ["list --clean", "report", "mode exact name", "record name", "name"];

/// If a wrong `--dir` were ignored, the command would show another program.
fn a_directory_that_was_asked_for_and_is_none_is_an_error() {
    let place = Place::new();
    fs::write(place.work().join("file"), "").unwrap();
    let table = "
        2 ARGS --dir missing => --dir missing: does not exist; name the directory that the program has as TICKSCOPE_DIR
        2 ARGS --dir file => --dir file: is not a directory; a file is opened by its name alone, without --dir
    ";
    for args in WITH_DIRECTORY {
        place.refuses(&table.replace("ARGS", args));
    }
}

fn a_directory_that_was_asked_for_and_cannot_be_looked_into_is_an_error() {
    let place = Place::new();
    let closed = Closed::new(&place);
    let denied = format!("--dir {}: cannot be read: Permission denied", closed.0.display());
    for args in WITH_DIRECTORY {
        let args: Vec<&str> = args.split(' ').chain(["--dir", text(&closed.0)]).collect();
        as_another(&place, &args).failed(2, &[&denied, "; look as the user whose program it is"]);
    }
}

fn places_that_may_not_be_read_are_named_where_nothing_is_found() {
    let place = Place::new();
    let closed = Closed::new(&place);
    let run = |args: &[&str]| {
        let mut command = place.command("env");
        command.arg(format!("TICKSCOPE_DIR={}", closed.0.display()));
        if rustix::process::getuid().is_root() {
            command.args(["setpriv", "--reuid", "65534", "--clear-groups"]);
        }
        finish(command.arg(VIEWER).args(args))
    };
    as_another(&place, &["--version"]).ok();
    let denied = format!("{} (Permission denied)", closed.0.display());
    run(&["report", "nobody-called-so"])
        .with_code(2)
        .says(&["no program called ", &format!("\n  not looked into: {denied}")]);
    let listed = run(&["list"]).ok().out;
    // The same user may have programs running elsewhere. Then the list is not empty, and need not name the directory.
    let is_told = listed.contains(&denied) || !listed.starts_with("no program");
    assert!(is_told, "{listed}");
}

fn standard_output_that_is_full_is_named() {
    let (place, program) = Place::with("stuck");
    for args in [
        &[program.name.as_str()][..],
        &["report", "-f", "pprof", &program.name],
        &["list"],
        &["log", "--function", "*", "--every", "100ms", &program.name],
    ] {
        let mut command = place.command("sh");
        command.args(["-c", "exec \"$@\" > /dev/full", "sh", VIEWER]);
        let done = finish(command.args(args)).with_code(1);
        done.says(&["cannot write to standard output: No space left on device"]);
    }
}

fn a_request_through_a_file_that_may_not_be_written_says_so() {
    let (place, program) = Place::with("stuck");
    let path = place.ring_of(program.pid()).unwrap();
    open_to_all(&place);
    fs::set_permissions(place.rings(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    let says = " takes no requests from this viewer (you may not write to its file; ask as the owner)";
    as_another(&place, &["reset", &program.name]).failed(1, &[says]);
}

tickscope_testkit::tests![
    a_file_that_may_not_grow_is_an_error_that_names_it,
    a_file_behind_a_closed_door_is_not_called_missing,
    a_directory_that_was_asked_for_and_is_none_is_an_error,
    a_directory_that_was_asked_for_and_cannot_be_looked_into_is_an_error,
    places_that_may_not_be_read_are_named_where_nothing_is_found,
    standard_output_that_is_full_is_named,
    a_request_through_a_file_that_may_not_be_written_says_so,
];
