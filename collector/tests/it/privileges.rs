//! A program with more privileges than its caller (here, set-group-ID) ignores the caller's choice of directories.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{as_child, is_child, status_line, test_name};
use tickscope::{Builder, Status};
use tickscope_testkit::suite::skip;

/// Ids of the user who starts the program and of the group whose privileges the set-group-ID program gains.
const USER: u32 = 65_534;
const GROUP: u32 = 54_321;

#[tickscope::profile]
fn work() {}

/// Starts a session and prints the path of its ring.
fn publish() {
    work();
    let session = Builder::new("more-rights").try_start().unwrap();
    assert_eq!(session.status(), Status::Publishing);
    println!("ring {}", session.path().unwrap().display());
}

/// Runs the child as another user, with environment variables that choose its directories.
fn run(name: &str, program: &Path, chosen: &Path) -> Output {
    as_child(name, Command::new(program))
        .env("TICKSCOPE", "live")
        .env("TICKSCOPE_DIR", chosen)
        .env("TMPDIR", chosen)
        .env("TICKSCOPE_REPORT", chosen.join("report.txt"))
        .current_dir("/")
        .uid(USER)
        .gid(USER)
        .output()
        .unwrap()
}

fn with_more_rights_the_environment_names_no_place_for_files() {
    if is_child() {
        publish();
        std::process::exit(0);
    }
    if tickscope_format::os::user_id() != 0 {
        skip("only root can give a program another group's rights");
    }
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    let chosen = dir.path().join("chosen");
    fs::create_dir(&chosen).unwrap();
    chown(&chosen, Some(USER), Some(USER)).unwrap();
    let program = dir.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let ring_of = |done: &Output| {
        let told = String::from_utf8_lossy(&done.stdout).into_owned();
        let path = told
            .lines()
            .find_map(|line| line.split_once("ring ").map(|(_, path)| path.to_owned()));
        path.unwrap_or_else(|| panic!("{done:?}"))
    };
    let written = || fs::read_dir(&chosen).unwrap().count();

    // A program without additional privileges uses the directory that the user chose.
    let ring = ring_of(&run(test_name!(), &program, &chosen));
    assert!(Path::new(&ring).starts_with(&chosen), "{ring}");
    assert!(chosen.join("report.txt").exists());
    fs::remove_file(chosen.join("report.txt")).unwrap();
    fs::remove_file(&ring).unwrap();
    assert_eq!(written(), 0);

    chown(&program, None, Some(GROUP)).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o2755)).unwrap();
    let ring = ring_of(&run(test_name!(), &program, &chosen));
    // On some systems set-group-ID has no effect. The program then runs with the user's own privileges again.
    if Path::new(&ring).starts_with(&chosen) && (is_nosuid(dir.path()) || has_no_new_privileges()) {
        skip("programs get no rights here");
    }
    assert!(!Path::new(&ring).starts_with(&chosen), "{ring}");
    assert_eq!(
        written(),
        0,
        "{:?}",
        fs::read_dir(&chosen).unwrap().collect::<Vec<_>>()
    );
    fs::remove_file(&ring).unwrap();
}

fn has_no_new_privileges() -> bool {
    status_line("self", "NoNewPrivs") == "1"
}

/// Returns whether the file system of this path is mounted with `nosuid`, so that set-group-ID has no effect.
fn is_nosuid(path: &Path) -> bool {
    let path = path.canonicalize().unwrap();
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let longest = mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ').skip(1);
            Some((fields.next()?, fields.nth(1)?))
        })
        .filter(|(place, _)| path.starts_with(place))
        .max_by_key(|(place, _)| place.len());
    longest.is_some_and(|(_, options)| options.split(',').any(|option| option == "nosuid"))
}

tickscope_testkit::tests![with_more_rights_the_environment_names_no_place_for_files];
