//! Unedited programs from the registry. This test runs only in `.ci/nightly`, because downloads and builds take a long
//! time. `UNEDITED=ripgrep,fat` restricts it to a program, a profile, or both.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::functions::Counted;
use crate::support::{Done, Project, copy, finish};

/// Profiles to build, and the options of `build` for each.
const PROFILES: [(&str, &str); 5] = [
    ("debug", ""),
    ("release", "--release"),
    ("thin", "--release --config profile.release.lto=\"thin\""),
    ("fat", "--release --config profile.release.lto=\"fat\""),
    ("abort", "--release --config profile.release.panic=\"abort\""),
];

/// A program and some work for it. `work` is given a function that creates the command for the program, and an empty
/// directory.
struct Unedited {
    name: &'static str,
    version: &'static str,
    program: &'static str,
    work: fn(&dyn Fn() -> Command, &Path) -> Done,
    /// Whether threads are still running when the program ends. Their counts are then read at slightly different
    /// moments, and need not match exactly.
    ends_in_motion: bool,
}

const PROGRAMS: [Unedited; 4] = [
    Unedited {
        name: "ripgrep",
        version: "15.2.0",
        program: "rg",
        ends_in_motion: false,
        work: |start, folder| {
            finish(
                start()
                    .args(["-c", "--sort", "path", "fn \\w+"])
                    .arg(folder.join("../crates")),
            )
        },
    },
    Unedited {
        name: "oxipng",
        version: "9.1.5",
        program: "oxipng",
        ends_in_motion: false,
        work: |start, folder| {
            let picture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reports/html.png");
            let smaller = folder.join("smaller.png");
            let mut done = finish(start().args(["-o", "2", "--out"]).arg(&smaller).arg(picture));
            done.out += &format!("{:?}", fs::read(smaller));
            done
        },
    },
    Unedited {
        name: "tokei",
        version: "15.0.0",
        program: "tokei",
        ends_in_motion: true,
        work: |start, folder| finish(start().args(["--sort", "code"]).arg(folder.join("../src"))),
    },
    Unedited {
        name: "mini-redis",
        version: "0.4.1",
        program: "mini-redis-server",
        work: |start, _| serve(start),
        ends_in_motion: false,
    },
];

/// Runs a server. Returns the output of its clients, and the exit code of the server after SIGINT.
fn serve(start: &dyn Fn() -> Command) -> Done {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    drop(listener);
    let mut server = start();
    let client = Path::new(server.get_program()).with_file_name("mini-redis-cli");
    let mut server = server.args(["--port", &port]).spawn().unwrap();
    let ask = |words: &[&str]| {
        let mut command = Command::new(&client);
        command.args(["--port", &port]).args(words);
        finish(&mut command)
    };
    // Waits until the server listens.
    while ask(&["get", "none"]).code != Some(0) {
        assert!(server.try_wait().unwrap().is_none(), "the server has ended");
    }
    let mut out = String::new();
    for number in 0..50 {
        let key = format!("key{}", number % 7);
        out += &ask(&["set", &key, &number.to_string()]).with_code(0).out;
        out += &ask(&["get", &key]).with_code(0).out;
    }
    let pid = server.id().to_string();
    finish(Command::new("kill").args(["-INT", &pid])).with_code(0);
    Done {
        out,
        err: String::new(),
        code: server.wait().unwrap().code(),
    }
}

/// Copies the sources of a program and of its dependencies.
fn from_the_registry(name: &str, version: &str) -> Project {
    let dummy = Project::package(
        &format!("[dependencies]\n{name} = \"={version}\"\n"),
        "src/lib.rs",
        "",
    );
    let fetch = |project: &Project, words: &[&str]| {
        let mut command = project.command("cargo");
        finish(command.arg("fetch").args(words).env_remove("CARGO_NET_OFFLINE")).with_code(0)
    };
    fetch(&dummy, &[]);
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.unwrap_or_else(|| Path::new(&std::env::var_os("HOME").unwrap()).join(".cargo"));
    let registries = fs::read_dir(home.join("registry/src")).unwrap();
    let folder = registries
        .map(|registry| registry.unwrap().path().join(format!("{name}-{version}")))
        .find(|folder| folder.exists())
        .expect("cargo has fetched it");
    let project = Project::empty();
    copy(&folder, &project.dir(), |_| true);
    fetch(&project, &["--locked"]);
    project
}

fn unedited_programs_do_the_same_and_each_call_ends_once() {
    let chosen = std::env::var("UNEDITED").unwrap_or_default();
    let is_chosen = |name: &str, all: &[&str]| {
        let asked: Vec<&str> = chosen.split(',').filter(|word| all.contains(word)).collect();
        asked.is_empty() || asked.contains(&name)
    };
    let names = PROGRAMS.map(|program| program.name);
    let profiles = PROFILES.map(|(profile, _)| profile);
    for unedited in PROGRAMS.iter().filter(|program| is_chosen(program.name, &names)) {
        let project = from_the_registry(unedited.name, unedited.version);
        let folder = project.dir().join("work");
        fs::create_dir(&folder).unwrap();
        // Cargo builds the program without tickscope, for comparison.
        let mut plain = project.command("cargo");
        finish(plain.args(["build", "--release", "--locked", "--target-dir", "target"])).with_code(0);
        let start = |program: &Path, more: &[(&str, &str)]| {
            let mut command = project.command(program);
            command.envs(more.iter().copied());
            command
        };
        let program = project.dir().join("target/release").join(unedited.program);
        let expected = (unedited.work)(&|| start(&program, &[]), &folder).with_code(0);
        for (profile, words) in PROFILES
            .iter()
            .filter(|(profile, _)| is_chosen(profile, &profiles))
        {
            project.run(&format!("build --locked {words}")).with_code(0);
            let folder_of = if *profile == "debug" { "debug" } else { "release" };
            let program = project.built(folder_of).join(unedited.program);
            for (functions, budget) in [("off", "off"), ("every", "off"), ("on", "5%")] {
                let report = folder.join("report.txt");
                let kept = report.with_extension("txt.tks");
                let _ = fs::remove_file(&kept);
                let environment = [
                    ("TICKSCOPE_FUNCTIONS", functions),
                    ("TICKSCOPE_BUDGET", budget),
                    ("TICKSCOPE_REPORT", report.to_str().unwrap()),
                ];
                let done = (unedited.work)(&|| start(&program, &environment), &folder);
                let what = format!("{} {profile} {functions}", unedited.name);
                assert_eq!((done.code, &done.out), (Some(0), &expected.out), "{what}");
                if functions == "off" {
                    assert!(!kept.exists(), "{what}: nothing is measured");
                    continue;
                }
                let counted = Counted::read(&project, &kept);
                if unedited.ends_in_motion {
                    let (calls, ended) = (counted.begun(), counted.ended());
                    assert!(
                        calls.abs_diff(ended) <= calls / 1000,
                        "{what}: {calls} calls, {ended} ended"
                    );
                } else {
                    counted.assert_balanced();
                }
                println!(
                    "G13: {what}: {} calls of {} of {} functions, {} unwound, {} on other stacks, {} off for the budget",
                    counted.calls(None),
                    counted.of_functions("on"),
                    counted.of_functions("known"),
                    counted.of_functions("unwound"),
                    counted.of_functions("elsewhere"),
                    counted.report["functions"]["over_budget"]
                        .as_array()
                        .unwrap()
                        .len(),
                );
            }
        }
    }
}

tickscope_testkit::tests![
    ;
    ignored:
    // This test downloads programs, and building them takes half an hour.
    unedited_programs_do_the_same_and_each_call_ends_once,
];
