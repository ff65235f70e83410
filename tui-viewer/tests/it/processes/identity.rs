//! Which process owns a ring: reused process ids, earlier boots, containers that share a directory, a small `/dev/shm`.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tickscope_format::file::header::Header;
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::layout::{WORD, state};
use tickscope_format::os;
use tickscope_testkit::suite::skip;

use crate::processes::roles::{first_record, header};
use crate::support::{Place, Program, VIEWER, played, rings_in, until, until_true};

/// Makes the ring of a program that has died without closing it. Its last heartbeat was at `beat`.
fn left_behind(place: &Place, header: Header, beat: u64) -> RingFile {
    let mut ring = first_record(&place.rings(), header);
    ring.beat(beat, 1_000_000_000);
    ring.link().unwrap();
    let path = ring.path().to_path_buf();
    drop(ring);
    // A child process that another test has just forked shares all file descriptors, and thus also the lock, until it
    // calls exec.
    until_true("no child has the lock", || {
        fs::File::open(&path).unwrap().try_lock_shared().is_ok()
    });
    RingFile::open(&path).unwrap()
}

fn a_process_id_that_is_taken_again_makes_nothing_alive() {
    let place = Place::new();
    let sleeper = Program::spawn(Command::new("sleep").arg("600"));
    let taken = Header {
        pid: sleeper.pid(),
        ..header("forerunner")
    };
    let dead = left_behind(&place, taken, os::monotonic_ns());
    assert!(matches!(dead.liveness().unwrap(), Liveness::Crashed { .. }));
    let entry = place.listed(dead.path());
    assert_eq!(entry["state"], "crashed");
    assert_eq!(entry["live"], false);
    let pid = sleeper.pid().to_string();
    let said =
        format!("process {pid} has no ring; showing the ring of an earlier process {pid}: forerunner ");
    let done = place.tickscope(&["report", &pid]).ok().says(&[&said]);
    assert!(
        done.out.lines().next().unwrap().contains("crashed"),
        "{}",
        done.out
    );
    // The new process may be about to start a session.
    let refused = format!("process {pid} has no ring; an earlier process {pid} left a ring ");
    let done = place.tickscope(&["report", "-f", "json", &pid]).with_code(2);
    done.says(&[&refused, "give --ended"]);
    place.tickscope(&["report", "-f", "json", "--ended", &pid]).ok();
    place.answers(&format!("1 reset {pid} => has ended"));
}

/// Returns the header of a ring that was created before the current boot.
fn of_an_earlier_boot() -> Header {
    Header {
        boot_id: [7, 7],
        ..header("of-another-boot")
    }
}

/// The monotonic clock restarts at each boot, so a heartbeat from an earlier boot may appear to be in the future.
/// Another process may hold the lock.
fn a_file_of_an_earlier_boot_is_not_alive_whoever_holds_its_lock() {
    for beat in [os::monotonic_ns() + 3_600_000_000_000, 1] {
        let place = Place::new();
        let dead = left_behind(&place, of_an_earlier_boot(), beat);
        assert!(matches!(dead.liveness().unwrap(), Liveness::Crashed { .. }));
        let lock = fs::File::open(dead.path()).unwrap();
        lock.lock().unwrap();
        let state = dead.liveness().unwrap();
        assert!(matches!(state, Liveness::Crashed { .. }), "beat {beat}");
        let entry = place.listed(dead.path());
        assert_eq!(entry["state"], "crashed");
        assert_eq!(entry["live"], false);
    }
}

fn a_farewell_from_an_earlier_boot_stays_one() {
    let place = Place::new();
    let dead = left_behind(&place, of_an_earlier_boot(), u64::MAX);
    let file = fs::File::options().write(true).open(dead.path()).unwrap();
    file.write_all_at(&99u64.to_le_bytes(), (state::EXIT_UNIX_NS * WORD) as u64)
        .unwrap();
    file.lock().unwrap();
    assert_eq!(dead.liveness().unwrap(), Liveness::Exited { unix_ns: 99 });
}

/// Skips the test if a command does not exist or is not permitted.
fn wants(command: &str, arguments: &[&str]) {
    let done = Command::new(command).args(arguments).arg("true").output();
    if !done.is_ok_and(|done| done.status.success()) {
        skip(format_args!("{command} {arguments:?} is not to be had here"));
    }
}

/// Returns `command` with arguments that make it run this test binary in a role.
fn behind(place: &Place, command: &str, arguments: &[&str], role: &str) -> Command {
    let mut outer = place.command(command);
    outer.args(arguments);
    played(outer, &place.role(role, ""))
}

fn two_containers_that_share_a_directory_have_two_rings() {
    let contained = ["-p", "--fork", "--kill-child"];
    wants("unshare", &contained);
    let place = Place::new();
    let start = || Program::spawn(&mut behind(&place, "unshare", &contained, "asked"));
    let (mut one, _other) = (start(), start());
    let rings = until("both have a ring", || {
        let rings = place.ring_files();
        let runs = |path: &PathBuf| {
            RingFile::open(path)
                .is_ok_and(|ring| ring.liveness().is_ok_and(|state| state == Liveness::Running))
        };
        (rings.len() == 2 && rings.iter().all(runs)).then_some(rings)
    });
    for path in &rings {
        let entry = place.listed(path);
        assert_eq!((&entry["state"], &entry["pid"]), (&"running".into(), &1.into()));
    }
    one.kill();
    let states = || {
        let mut states: Vec<String> = rings
            .iter()
            .map(|path| place.listed(path)["state"].to_string())
            .collect();
        states.sort();
        states
    };
    // The init process of the container is killed shortly after its creator.
    until_true("one of them has crashed", || {
        states() == ["\"crashed\"", "\"running\""]
    });
    // The ring records pid 1, which belongs to a different process in this namespace.
    place.tickscope(&["reset", "asked"]).ok();
}

fn programs_that_share_a_small_dev_shm_leave_room_for_others_and_take_the_next_place() {
    wants("unshare", &["-m"]);
    if !Path::new("/dev/shm").is_dir() {
        skip("no /dev/shm here");
    }
    let place = Place::new();
    let script = "mount -t tmpfs -o size=64m tmpfs /dev/shm && touch mounted && exec sleep 600";
    let mount = Program::spawn(place.command("unshare").args(["-m", "sh", "-c", script]));
    until_true("the mount is there", || place.work().join("mounted").exists());
    let inside = mount.pid().to_string();
    let (user, tmp) = (os::user_id(), place.work());
    let shm = format!("/proc/{inside}/root/dev/shm/tickscope-{user}");
    let next = tmp.join(format!("tickscope-{user}"));
    let mut programs = Vec::new();
    let mut rings = 0;
    while rings_in(&next).is_empty() {
        let mut command = behind(&place, "nsenter", &["-t", &inside, "-m"], "usual");
        command.env_remove("TICKSCOPE_DIR").env("TMPDIR", &tmp);
        programs.push(Program::spawn(&mut command));
        until_true("each program has a ring", || {
            rings_in(shm.as_ref()).len() + rings_in(&next).len() > rings
        });
        rings += 1;
        assert!(rings < 20, "somewhere it is full");
    }
    let mib = |path: &PathBuf| (RingFile::open(path).unwrap().header().ring_words * 8) >> 20;
    let mut sizes: Vec<u64> = rings_in(shm.as_ref()).iter().map(mib).collect();
    sizes.sort_unstable();
    println!("rings in a /dev/shm of 64 MiB, in MiB: {sizes:?}, and one in the next place");
    assert!(sizes.contains(&16), "{sizes:?}");
    assert!(sizes.iter().any(|size| *size < 16), "{sizes:?}");
    let free = os::free_bytes(&fs::File::open(&shm).unwrap()).unwrap();
    assert!(free >= 2 << 20, "{free} bytes are left for others");
    let last = RingFile::open(&rings_in(&next)[0]).unwrap();
    let said = until("it says where it is not", || {
        let (_, snapshot) = last.newest_snapshot().ok()?;
        let mut warnings = snapshot.process.warnings.into_iter();
        warnings.find(|warning| warning.contains("of which a ring may take a quarter"))
    });
    assert!(said.contains("/dev/shm"), "{said}");
    assert!(said.contains("trying the next place"), "{said}");
    // A command in the mount namespace of the programs lists all rings.
    let mut list = place.command("nsenter");
    list.args(["-t", &inside, "-m", VIEWER, "list", "--json"])
        .env_remove("TICKSCOPE_DIR")
        .env("TMPDIR", &tmp);
    let out = String::from_utf8(list.output().unwrap().stdout).unwrap();
    assert_eq!(out.matches("\"name\": \"usual\"").count(), rings, "{out}");
}

tickscope_testkit::tests![
    a_process_id_that_is_taken_again_makes_nothing_alive,
    a_file_of_an_earlier_boot_is_not_alive_whoever_holds_its_lock,
    a_farewell_from_an_earlier_boot_stays_one,
    two_containers_that_share_a_directory_have_two_rings,
    programs_that_share_a_small_dev_shm_leave_room_for_others_and_take_the_next_place,
];
