//! `tickscope list`, its JSON, and the files that `--clean` removes.

use serde_json::Value;

use crate::support::{Place, Program, VIEWER, beside, finish, line_with, name, played, sealed, until};

fn entry<'a>(list: &'a Value, program: &Program) -> &'a Value {
    let mut programs = list["programs"].as_array().unwrap().iter();
    programs.find(|entry| entry["pid"] == program.pid()).unwrap()
}

fn the_list_tells_running_stale_exited_and_crashed() {
    let place = Place::new();
    let [running, mut exited, mut crashed, stale] = [(); 4].map(|()| place.start("stuck"));
    exited.end();
    crashed.kill();
    stale.stop();
    let list = until("the stopped one is stale", || {
        let list = place.document(&["list", "--json"]);
        (entry(&list, &stale)["state"] == "stale").then_some(list)
    });
    assert_eq!(list["tickscope"], 1);
    let text = place.told(&["ls"]);
    assert!(text.starts_with("NAME"), "{text}");
    for (program, state, live) in [
        (&running, "running", true),
        (&exited, "exited", false),
        (&crashed, "crashed", false),
        (&stale, "stale", true),
    ] {
        let entry = entry(&list, program);
        assert_eq!(entry["state"], state);
        assert_eq!(entry["live"], live);
        assert_eq!(entry["name"], program.name);
        let path = place.ring_of(program.pid()).unwrap().display().to_string();
        assert_eq!(entry["path"], path);
        let line = line_with(&text, &program.name);
        assert!(line.contains(state) && line.contains(&path), "{line}");
    }
    // Running programs come before ended ones.
    let at = |program: &Program| text.find(&program.name).unwrap();
    assert!(at(&running) < at(&exited) && at(&stale) < at(&crashed), "{text}");
}

fn cleaning_removes_the_dead_and_never_the_living() {
    let place = Place::new();
    // The rings of other users are hidden, because the test must not touch them.
    let held = name("held");
    let mut command = played(sealed(&place), &place.role("stuck", &held));
    let running = Program::spawn(&mut command);
    until("the ring is there", || place.ring_of(running.pid()));
    let [stopped, mut exited, mut crashed] = [(); 3].map(|()| place.start("stuck"));
    exited.end();
    crashed.kill();
    stopped.stop();
    let list = |args: &[&str]| finish(beside(&place, &running, VIEWER.as_ref()).arg("list").args(args)).ok();

    let dead_in = |list: &str| [&exited, &crashed].map(|dead| list.contains(&dead.name));
    let before = list(&[]).quiet().out;
    assert_eq!(dead_in(&before), [true; 2], "{before}");
    let after = list(&["--clean"]).says(&["removed 2"]).out;
    assert!(after.contains(&held) && after.contains(&stopped.name), "{after}");
    assert_eq!(dead_in(&after), [false; 2], "{after}");
    assert!(place.ring_of(exited.pid()).is_none() && place.ring_of(crashed.pid()).is_none());
    assert!(place.ring_of(running.pid()).is_some() && place.ring_of(stopped.pid()).is_some());
    // The rings of running programs are still usable.
    place.told(&["reset", &held]);
    stopped.go_on();
    place.told(&["reset", &stopped.name]);
    list(&["--clean", "--json"]).says(&["removed 0"]).json();
}

fn an_empty_list_says_where_it_looked_and_what_to_do() {
    let place = Place::new();
    let done = finish(sealed(&place).args([VIEWER, "list"])).ok().quiet();
    done.begins("no program with tickscope, running or ended (looked in ");
    let dir = place.rings().display().to_string();
    done.prints(&[&dir, "tickscope demo   shows what it looks like"]);
    assert!(done.out.lines().count() <= 4);
}

/// `--clean` with a chosen directory must not clean other directories too.
fn cleaning_a_chosen_directory_leaves_the_others_alone() {
    let (place, mut ended) = Place::with("stuck");
    ended.end();
    let ring = place.ring_of(ended.pid()).unwrap();
    // `sealed` runs the command as root, so the user's own directory is the directory of user id 0.
    let own = place.work().join("../tmp/tickscope-0");
    let other = place.work().join("other");
    let copies = [&own, &other].map(|dir| {
        std::fs::create_dir(dir).unwrap();
        let copy = dir.join(ring.file_name().unwrap());
        std::fs::copy(&ring, &copy).unwrap();
        copy
    });
    let there = || [&ring, &copies[0], &copies[1]].map(|path| path.exists());

    let done = place.tickscope(&["list", "--clean", "--dir", "other"]).ok();
    done.says(&["removed 1 file of ended programs: 1 from other\n"]);
    assert_eq!(there(), [true, true, false]);
    let rings = place.rings().display().to_string();
    let done = place.tickscope(&["list", "--clean"]).ok();
    done.says(&[&format!(": 1 from {rings}\n")]);
    assert_eq!(there(), [false, true, false]);
    // Without a chosen directory, the user's own directory is cleaned.
    let mut command = sealed(&place);
    command
        .env_remove("TICKSCOPE_DIR")
        .args([VIEWER, "list", "--clean"]);
    let done = finish(&mut command).ok();
    done.says(&["removed 1 file", "0 from /dev/shm/tickscope-", "1 from "]);
    assert_eq!(there(), [false; 3]);
}

tickscope_testkit::tests![
    the_list_tells_running_stale_exited_and_crashed,
    cleaning_removes_the_dead_and_never_the_living,
    an_empty_list_says_where_it_looked_and_what_to_do,
    cleaning_a_chosen_directory_leaves_the_others_alone,
];
