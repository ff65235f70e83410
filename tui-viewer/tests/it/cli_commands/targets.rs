//! How a target is chosen, and the messages that are printed if no target is found.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli_commands::roles::LIBRARY;
use crate::support::{
    Place, Program, VIEWER, beside, cut, finish, name, played, sealed, sealed_tickscope, until,
};

/// Asserts that a text has at most four lines, so that it fits on any screen together with the prompt.
fn short(text: &str) {
    assert!((1..=4).contains(&text.lines().count()), "{text}");
}

fn by_name_by_pid_and_by_path_it_is_the_same_program() {
    let (place, program) = Place::with("stuck");
    let pid = program.pid().to_string();
    let path = place.ring_of(program.pid()).unwrap();
    for args in [
        vec![program.name.as_str()],
        vec![&pid],
        vec!["-p", &pid],
        vec!["--pid", &pid],
        vec![path.to_str().unwrap()],
    ] {
        let args = [vec!["report", "-f", "json"], args].concat();
        assert_eq!(place.document(&args)["process"]["pid"], program.pid());
    }
}

fn all_of_a_name_are_one_for_commands_that_read_and_refused_by_others() {
    let (place, first) = Place::with("stuck");
    let second = place.start_named("stuck", &first.name);
    let all = format!("{} --all", first.name);
    let report = place.typed(&format!("report -f json {all}")).ok().quiet().json();
    let name = format!("all of {} (2 processes)", first.name);
    assert_eq!(report["process"]["name"], name);
    assert_eq!(report["process"]["pid"], 0);
    let threads = report["threads"].as_array().unwrap();
    for pid in [first.pid(), second.pid()] {
        let of = format!(" ({pid})");
        let has = |thread: &Value| thread["name"].as_str().unwrap().ends_with(&of);
        assert!(threads.iter().any(has), "{threads:?}");
    }
    let top = place.typed(&format!("top --json {all}")).ok().json();
    let next = top["next"].to_string();
    let pids = [first.pid(), second.pid()].map(|pid| pid.to_string());
    assert!(pids.iter().any(|pid| next.contains(pid)), "{next}");
    for command in ["stacks", "sites", "snapshot"] {
        place.typed(&format!("{command} {all}")).ok();
    }
    let says = "--all: … , one at a time: … report, top, stacks, sites and snapshot take --all";
    for command in [
        "reset",
        "mode exact",
        "record -o x.tks",
        "record --follow -o -",
        "why work",
        "wait-until 'calls(work) > 1'",
        "report --window 10s",
    ] {
        place.refuses(&format!("2 {command} {all} => {says}"));
    }
    for wrong in ["--all", "4711 --all", "x.tks --all"] {
        place.refuses(&format!("2 report {wrong} => tickscope NAME --all"));
    }
}

fn a_name_in_the_working_directory_is_a_path_by_its_ending() {
    let (place, program) = Place::with("stuck");
    let path = place.ring_of(program.pid()).unwrap();
    std::fs::copy(&path, place.work().join("copy.ring")).unwrap();
    assert_eq!(place.json("copy.ring")["process"]["pid"], program.pid());
    for missing in ["none.ring", "none.tks", "./none"] {
        let says = "no file … ; `tickscope list` shows what is there";
        place.refuses(&format!("2 report {missing} => {says}… {missing}"));
    }
}

fn no_such_name_or_pid_says_what_there_is() {
    let (place, program) = Place::with("stuck");
    let pid = program.pid().to_string();
    for command in ["report", "reset", "attach"] {
        for nobody in ["nobody-called-so", "4000000000"] {
            let done = sealed_tickscope(&place, &[command, nobody]).with_code(2);
            let done = done.says(&[nobody, &format!("tickscope {pid}"), &program.name]);
            short(&done.err);
            assert_eq!(done.out, "");
        }
    }
    let done = place.tickscope(&["report", "-p", "4000000000"]).with_code(2);
    short(&done.err);
}

fn the_live_one_of_a_name_before_the_finished_ones() {
    let place = Place::new();
    let shared = name("again");
    let mut first = place.start_named("stuck", &shared);
    assert!(first.end().success());
    let mut second = place.start_named("stuck", &shared);
    assert_eq!(place.json(&shared)["process"]["pid"], second.pid());
    assert!(second.end().success());

    // If several runs have ended, the newest one is reported, with a message.
    let done = place.typed(&format!("report -f json --ended {shared}")).ok();
    let done = done.says(&["no running program called ", "; showing its newest ended run: "]);
    let done = done.says(&[&shared, &second.pid().to_string(), "exited"]);
    assert_eq!(done.json()["process"]["pid"], second.pid());
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    // A run that is chosen by its process id needs no message.
    let first = place.document(&["report", "-f", "json", &first.pid().to_string()]);
    assert_eq!(first["process"]["state"], "exited");
}

/// The environment variable `ENDS` sets the number of runs. `.ci/nightly` sets it to a large number.
fn a_program_is_found_as_soon_as_its_start_has_returned() {
    let place = Place::new();
    let name = name("reported");
    // From the second run on, the command also finds the rings of earlier runs, which have ended.
    let times = std::env::var("ENDS").map_or(2, |ends| ends.parse().unwrap());
    for _ in 0..times {
        let mut role = place.role("reported", &name);
        let running = role.stdout(Stdio::piped()).spawn().unwrap();
        let pid = running.id();
        let done = running.wait_with_output().unwrap();
        assert!(done.status.success(), "{done:?}");
        // The test harness prints text before the report.
        let out = String::from_utf8(done.stdout).unwrap();
        let report: Value = serde_json::from_str(&out[out.find('{').unwrap()..]).unwrap();
        assert_eq!(report["process"]["pid"], pid, "{report}");
    }
}

/// A script must not mistake an older run for the program that it has just started.
fn a_name_gives_a_script_no_numbers_of_a_run_that_has_ended() {
    let (place, mut program) = Place::with("stuck");
    let (name, pid) = (program.name.clone(), program.pid().to_string());
    assert!(program.end().success());
    let numbers: &[&[&str]] = &[
        &["report", "-f", "json"],
        &["report", "-o", "now.pb.gz"],
        &["top", "--json"],
        &["sites", "-f", "json"],
        &["why", "marked", "--json"],
        &["snapshot"],
        &["diff", &pid],
        &["wait-until", "calls(marked) > 0"],
    ];
    let ended = format!("(pid {pid}, exited); give its pid, or give --ended");
    for args in numbers {
        let with = |more: &[&str]| place.tickscope(&[args, more].concat());
        let done = with(&[&name]).failed(2, &["no running program called ", &ended]);
        done.says(&["; its newest run ended ", " s ago: "]);
        assert_eq!(place.files(), 0, "{args:?}");
        // These targets are accepted. Only `why` and `wait-until` fail, because the program never called `marked`.
        let by_pid: &[&str] = if args[0] == "diff" { &[&pid] } else { &["-p", &pid] };
        for target in [&[name.as_str(), "--ended"], by_pid] {
            let asked = with(target);
            assert!(!asked.err.contains("give its pid"), "{args:?}: {}", asked.err);
            let lacks_function = matches!(args[0], "why" | "wait-until");
            assert_eq!(asked.code != Some(0), lacks_function, "{args:?}: {}", asked.err);
            for file in std::fs::read_dir(place.work()).unwrap() {
                std::fs::remove_file(file.unwrap().path()).unwrap();
            }
        }
    }
    // Output for people is still printed, after a message.
    let says = "no running program called … ; showing its newest ended run: ";
    for args in ["report", "report -f html", "top", "sites", "stacks"] {
        place.answers(&format!("0 {args} {name} => {says}… {name}"));
    }
    // The suggested next commands refer to the run that was shown.
    let top = place.tickscope(&["top", "--json", "--ended", &name]).ok().json();
    assert_eq!(top["program"]["pid"], program.pid());
    assert!(top["next"].to_string().contains(&format!(" {pid} ")), "{top}");
}

/// If a directory is given, a ring with the same program name in another directory must not be shown.
fn a_directory_that_is_named_is_the_only_one() {
    let (place, mut program) = Place::with("stuck");
    let (name, pid) = (program.name.clone(), program.pid());
    // This directory is searched if none is given.
    let user = rustix::process::getuid().as_raw();
    let usual = place.work().join(format!("../tmp/tickscope-{user}"));
    let empty = place.work().join("empty");
    for dir in [&usual, &empty] {
        std::fs::create_dir(dir).unwrap();
    }
    let usual = usual.canonicalize().unwrap();
    let ring = place.ring_of(pid).unwrap();
    program.end();
    std::fs::rename(&ring, usual.join(ring.file_name().unwrap())).unwrap();
    let by_option = |args: &[&str]| place.tickscope(&[args, &["--dir", "empty"]].concat());
    let by_variable = |args: &[&str]| finish(place.command(VIEWER).env("TICKSCOPE_DIR", "empty").args(args));
    for look in [&by_option as &dyn Fn(&[&str]) -> _, &by_variable] {
        let list = look(&["list", "--json"]).ok().quiet().json();
        assert_eq!(list["programs"], json!([]));
        assert_eq!(list["looked_in"], json!(["empty"]));
        let said = "looked in empty alone, as --dir or TICKSCOPE_DIR says";
        short(&look(&["report", &name]).with_code(2).says(&[said]).err);
        short(&look(&["reset", &name]).with_code(2).says(&[said]).err);
    }
    let list = finish(place.command(VIEWER).env_remove("TICKSCOPE_DIR").arg("list"))
        .ok()
        .out;
    let looked_in = format!("\nlooked in /dev/shm/tickscope-{user}, {}\n", usual.display());
    assert!(list.contains(&name) && list.ends_with(&looked_in), "{list}");
}

fn several_live_ones_of_a_name_are_a_choice() {
    let place = Place::new();
    let shared = name("twins");
    let programs: Vec<Program> = (0..3).map(|_| place.start_named("stuck", &shared)).collect();
    for command in ["report", "reset"] {
        let done = place.tickscope(&[command, &shared]).with_code(2);
        short(&done.err);
        assert_eq!(done.out, "");
        let done = done.says(&["there are 3 live ones of the program called ", "; choose one:\n"]);
        let done = done.says(&["\n  and 1 more: tickscope list"]);
        let is_offered = |program: &&Program| done.err.contains(&format!("tickscope {} ", program.pid()));
        let offered: Vec<&Program> = programs.iter().filter(is_offered).collect();
        assert_eq!(offered.len(), 2, "{}", done.err);
        // The suggested process id can be used as a target.
        place.told(&["report", &offered[0].pid().to_string()]);
    }
    let last = place.json(&programs[2].pid().to_string());
    assert_eq!(last["reset_epoch"], 0, "no process was reset");
}

fn a_pid_with_two_rings_is_a_choice_between_files() {
    let (place, program) = Place::with("two_rings");
    let rings = until("both are there", || {
        Some(place.ring_files()).filter(|rings| rings.len() == 2)
    });
    let pid = program.pid().to_string();
    for args in [["report", pid.as_str()], ["report", &program.name]] {
        let done = place.tickscope(&args).with_code(2);
        short(&done.err);
        for ring in &rings {
            let named = format!("tickscope {} ", ring.display());
            assert!(done.err.contains(&named), "{}", done.err);
        }
    }
    // Both the list and the choice of rings in the error message show which ring belongs to the library. The list also
    // names the other collector.
    let list = place.tickscope(&["list"]).ok();
    let beside = format!(".ring  of {LIBRARY}  beside /usr/bin/program\n");
    assert_eq!(list.out.matches(&beside).count(), 1, "{}", list.out);
    let choice = place.tickscope(&["report", &pid]).with_code(2).err;
    assert_eq!(choice.matches(", in libplugin.so)").count(), 1, "{choice}");
    let list = place.tickscope(&["list", "--json"]).ok().json();
    let programs = list["programs"].as_array().unwrap();
    let copies_of = |library: Value| {
        let program = programs.iter().find(|program| program["library"] == library);
        program.unwrap()["copies"].clone()
    };
    assert_eq!(copies_of(LIBRARY.into()), json!(["/usr/bin/program"]));
    assert_eq!(copies_of(Value::Null), json!([]));
    for ring in &rings {
        // No collector serves these rings, so requests are not answered. The report says so.
        let done = place.tickscope(&["report", ring.to_str().unwrap()]).ok();
        done.begins("tickscope report: ");
        done.says(&["does not answer"]);
    }
}

fn wait_until_the_program_is_there() {
    let place = Place::new();
    let late = name("late");
    // In the second round, a run with this name has already ended, and the command must still wait for a new one.
    for _ in 0..2 {
        let mut command = place.command(VIEWER);
        command.args(["report", "-f", "json", "--wait", "50s", &late]);
        let waiting = std::thread::spawn(move || finish(&mut command));
        // The command makes its first check before the program starts, so without waiting, it would already have
        // exited.
        std::thread::sleep(Duration::from_millis(100));
        assert!(!waiting.is_finished(), "it waits");
        let mut program = place.start_named("stuck", &late);
        let done = waiting.join().unwrap().ok().quiet();
        assert_eq!(done.json()["process"]["pid"], program.pid());
        program.end();
    }
}

fn a_wait_in_vain_ends_like_no_wait() {
    let place = Place::new();
    let begin = Instant::now();
    for (target, says) in [("nobody-comes", "nobody-comes"), ("./no.ring", "no file")] {
        let done = place.typed(&format!("report --wait 300ms {target}"));
        short(&done.with_code(2).says(&[says]).err);
    }
    assert!(begin.elapsed() >= Duration::from_millis(600));
    // `--wait` must not choose one of several programs.
    let shared = name("both");
    let _programs = [(); 2].map(|()| place.start_named("stuck", &shared));
    place.typed(&format!("report --wait 50s {shared}")).with_code(2);
}

fn without_a_target_it_is_the_only_one_that_runs() {
    let place = Place::new();
    let nobody = finish(sealed(&place).arg(VIEWER).arg("report"))
        .with_code(2)
        .says(&[
            "no program with tickscope runs, and none has ended here lately\n  start one that calls \
         tickscope::start(), or: tickscope run -- CMD\n  to look around: tickscope demo",
        ]);
    short(&nobody.err);

    let only = name("only");
    let mut command = played(sealed(&place), &place.role("stuck", &only));
    let mut program = Program::spawn(&mut command);
    until("the ring is there", || place.ring_of(program.pid()));
    let report = |args: &[&str]| finish(beside(&place, &program, VIEWER.as_ref()).args(args));
    let json = report(&["report", "-f", "json"]).ok().quiet().json();
    assert_eq!(json["process"]["name"], only);
    assert!(report(&[]).ok().quiet().out.contains(&only));
    report(&["reset"]).ok().quiet();

    let _second = place.start("stuck");
    let done = report(&["report"]).with_code(2).says(&[
        "several programs run; choose one:\n",
        &format!("tickscope {} ", program.pid()),
    ]);
    short(&done.err);
    drop(_second);
    drop(place.start("stuck"));
    report(&["report"]).ok().quiet();

    program.kill();
    let done = finish(sealed(&place).arg(VIEWER).arg("report"))
        .with_code(2)
        .says(&["no program with tickscope runs"]);
    short(&done.err);
}

fn a_pid_is_followed_to_a_directory_that_the_command_does_not_know() {
    let (here, there) = (Place::new(), Place::new());
    let program = there.start("stuck");
    here.tickscope(&["report", &program.name]).with_code(2);
    let pid = program.pid().to_string();
    let done = here.tickscope(&["report", "-f", "json", &pid]).ok().quiet();
    assert_eq!(done.json()["process"]["name"], program.name);
    here.tickscope(&["reset", "-p", &pid]).ok().quiet();
    // The directory can also be given with an option.
    let dir = there.rings();
    here.told(&["report", "--dir", dir.to_str().unwrap(), &program.name]);
}

fn a_pid_is_followed_into_a_container_where_it_is_another() {
    let place = Place::new();
    let sealed = sealed(&place);
    let inside = name("contained");
    let mut command = place.command(sealed.get_program());
    command
        .args(["-p", "--fork", "--kill-child"])
        .args(sealed.get_args());
    let mut command = played(command, &place.role("stuck", &inside));
    // The program has its own /dev/shm, which other processes cannot see, and creates its ring there.
    command.env_remove("TICKSCOPE_DIR");
    let unshare = Program::spawn(&mut command);
    let children = format!("/proc/{0}/task/{0}/children", unshare.pid());
    let document = until("it is found", || {
        let outer = std::fs::read_to_string(&children).unwrap();
        let done = place.tickscope(&["report", "-f", "json", outer.trim()]);
        // The command fails until the program has a ring. It must not report an earlier process with the same process
        // id.
        (done.code == Some(0)).then(|| done.json())
    });
    assert_eq!(document["process"]["name"], inside);
    assert_eq!(document["process"]["pid"], 1, "that is what it is inside");
}

/// The program is running and will create another ring, so until then, the message must not be "no program with pid".
fn a_pid_whose_ring_is_broken_is_told_when_the_next_one_comes() {
    tickscope_testkit::ring::wants_kernel_copies();
    let (place, mut program) = Place::with("stuck");
    let pid = program.pid().to_string();
    let first = place.ring_of(program.pid()).unwrap();
    // The program immediately replaces the first ring that it loses, and later ones within a minute.
    std::fs::remove_file(first).unwrap();
    let second = until("there is another one", || place.ring_of(program.pid()));
    let file = second.display();
    let broken = format!("no program with pid {pid} has a ring that can be read; {file}: ");
    for (bytes, then) in [
        (
            100,
            "truncated: 100 bytes, wanted 4096; the process runs on and makes another within a minute: try again then",
        ),
        (
            0,
            "; process {pid} makes another within a minute, if this one is its own: try again then",
        ),
    ] {
        cut(&second, bytes);
        let then = then.replace("{pid}", &pid);
        for command in ["report", "reset", "attach"] {
            place.refuses(&format!("2 {command} {pid} => {broken}… {then}"));
        }
    }
    program.kill();
    let ended = "; its program has ended: try another";
    place.refuses(&format!("2 report {pid} => {broken}… {ended}"));
}

/// The message must not say that a subcommand cannot be used with `[TARGET]`.
fn two_files_are_opened_one_at_a_time() {
    let place = Place::new();
    for args in [
        &["a.ring", "b.ring"][..],
        &["a.ring", "--theme", "light", "b.ring"],
        &["--theme", "light", "a.ring", "b.ring"],
    ] {
        let says = "a.ring and b.ring: only one can be opened; for the differences: tickscope b.ring --compare a.ring";
        let done = place.tickscope(args).with_code(2).says(&[says]);
        assert!(!done.err.contains("subcommand"), "{}", done.err);
    }
}

tickscope_testkit::tests![
    by_name_by_pid_and_by_path_it_is_the_same_program,
    all_of_a_name_are_one_for_commands_that_read_and_refused_by_others,
    a_name_in_the_working_directory_is_a_path_by_its_ending,
    no_such_name_or_pid_says_what_there_is,
    the_live_one_of_a_name_before_the_finished_ones,
    a_program_is_found_as_soon_as_its_start_has_returned,
    a_name_gives_a_script_no_numbers_of_a_run_that_has_ended,
    a_directory_that_is_named_is_the_only_one,
    several_live_ones_of_a_name_are_a_choice,
    a_pid_with_two_rings_is_a_choice_between_files,
    wait_until_the_program_is_there,
    a_wait_in_vain_ends_like_no_wait,
    without_a_target_it_is_the_only_one_that_runs,
    a_pid_is_followed_to_a_directory_that_the_command_does_not_know,
    a_pid_is_followed_into_a_container_where_it_is_another,
    a_pid_whose_ring_is_broken_is_told_when_the_next_one_comes,
    two_files_are_opened_one_at_a_time,
];
