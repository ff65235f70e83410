//! Other kinds of files in the place of a ring or its directory. Commands do not follow them, wait for them or remove
//! them.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use tickscope_format::file::clean::clean;
use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::file::open::RingFile;
use tickscope_format::os;
use tickscope_testkit::suite::skip;

use crate::processes::roles::{first_record, header};
use crate::support::{Place, VIEWER, line_with};

/// Makes a ring that contains its first record but is not linked to a path yet. Also returns the path that it will get.
fn made(dir: &Path, name: &str) -> (OwnRing, PathBuf) {
    let header = Header {
        nonce: 0xabcd,
        ..header(name)
    };
    let path = dir.join(format!("{name}.{}.000000000000abcd.ring", header.pid));
    (first_record(dir, header), path)
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Makes a character device. Returns false if this is not permitted.
fn device(path: &Path) -> bool {
    let made = Command::new("mknod").arg(path).args(["c", "1", "5"]).output();
    made.is_ok_and(|made| made.status.success())
}

/// Creates one file of each kind. Returns the path of each, with the message by which commands must refuse it.
fn plant(dir: &Path, victim: &Path, path_of: impl Fn(&str) -> PathBuf) -> Vec<(PathBuf, &'static str)> {
    let mut planted = Vec::new();
    let mut plant = |kind: &str, says, make: &dyn Fn(&Path)| {
        let path = path_of(kind);
        make(&path);
        planted.push((path, says));
    };
    plant("link", "is a symbolic link", &|path| {
        symlink(victim, path).unwrap()
    });
    plant("dangling", "is a symbolic link", &|path| {
        symlink(dir.join("nowhere"), path).unwrap()
    });
    plant("fifo", "is a FIFO", &fifo);
    plant("socket", "is a device or socket", &|path| {
        drop(UnixListener::bind(path).unwrap())
    });
    plant("dir", "is a directory", &|path| {
        fs::create_dir(path).unwrap();
        fs::write(path.join("mine"), "mine").unwrap();
    });
    plant(
        "hard",
        "has 2 names (hard links), wanted one name; copy the file instead of linking it",
        &|path| fs::hard_link(victim, path).unwrap(),
    );
    if device(&path_of("device")) {
        planted.push((path_of("device"), "is a device or socket"));
    }
    planted
}

/// Returns the kind, size, blocks and content of every file in a directory.
fn state(dir: &Path) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut all: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let facts = path.symlink_metadata().unwrap();
            let content = facts.is_file().then(|| fs::read(&path).unwrap());
            (path, facts.mode(), facts.len(), facts.blocks(), content)
        })
        .collect();
    all.sort();
    all
}

fn what_is_planted_where_rings_are_is_refused_by_viewers_and_untouched_by_cleaning() {
    let place = Place::new();
    let elsewhere = tempfile::tempdir().unwrap();
    // All links point to this ring of an ended program.
    let (mut ring, victim) = made(elsewhere.path(), "victim");
    ring.link().unwrap();
    drop(ring);
    let planted = plant(&place.rings(), &victim, |kind| {
        place.rings().join(format!("{kind}.ring"))
    });
    // This link is named like a ring whose creation was never finished.
    let old = place.rings().join("old.making");
    symlink(&victim, &old).unwrap();
    let before = (state(&place.rings()), state(elsewhere.path()));
    let list = place.tickscope(&["list"]).ok().out;
    for (path, says) in &planted {
        let error = RingFile::open(path).unwrap_err().to_string();
        assert!(error.contains(says), "{}: {error}", path.display());
        let line = line_with(&list, path.to_str().unwrap());
        assert!(line.contains("broken") && line.contains(says), "{line}");
        place.refuses(&format!("1 report {} => {says}", path.display()));
    }
    assert_eq!(clean(&place.rings(), 0, None), Vec::<PathBuf>::new());
    place.tickscope(&["list", "--clean"]).says(&["removed 0 files"]);
    assert_eq!((state(&place.rings()), state(elsewhere.path())), before);
}

fn a_program_puts_its_ring_over_nothing_that_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    fs::write(&victim, "mine").unwrap();
    let planted = plant(dir.path(), &victim, |kind| {
        dir.path()
            .join(format!("{kind}.{}.000000000000abcd.ring", std::process::id()))
    });
    let before = state(dir.path());
    for (path, _) in planted {
        let file = path.file_name().unwrap().to_str().unwrap();
        let kind = file.split('.').next().unwrap();
        let (mut ring, wanted) = made(dir.path(), kind);
        assert_eq!(wanted, path);
        let error = ring.link().unwrap_err().to_string();
        assert!(error.contains("link "), "{error}");
        assert!(error.contains("File exists"), "{error}");
        drop(ring);
        assert_eq!(state(dir.path()), before, "{kind}");
    }
}

/// Gives a file to another user. If this is not permitted, the test is skipped.
fn give_away(path: &Path) {
    if chown(path, Some(12_345), None).is_err() {
        skip("only root can give a file away");
    }
}

/// All users can write to `/tmp`, so another user may create the directory that viewers search for this user's rings.
fn a_directory_planted_by_another_user_is_listed_as_such_and_not_looked_into() {
    let place = Place::new();
    let tmp = tempfile::tempdir().unwrap();
    let planted = tmp.path().join(format!("tickscope-{}", os::user_id()));
    fs::create_dir(&planted).unwrap();
    let (mut ring, path) = made(&planted, "lure");
    ring.link().unwrap();
    let list = || {
        let mut command = place.command(VIEWER);
        command
            .arg("list")
            .env_remove("TICKSCOPE_DIR")
            .env("TMPDIR", tmp.path());
        let done = command.output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    assert!(list().contains("lure"), "as long as it is ours");
    give_away(&planted);
    give_away(&path);
    let list = list();
    assert!(!list.contains("lure"), "{list}");
    let line = line_with(&list, planted.to_str().unwrap());
    assert!(line.contains("belongs to user 12345, wanted your own"), "{line}");
}

tickscope_testkit::tests![
    what_is_planted_where_rings_are_is_refused_by_viewers_and_untouched_by_cleaning,
    a_program_puts_its_ring_over_nothing_that_is_there,
    a_directory_planted_by_another_user_is_listed_as_such_and_not_looked_into,
];
