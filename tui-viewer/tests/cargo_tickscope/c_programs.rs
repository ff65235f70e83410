//! C and C++, alone and in programs of Rust. They need clang; without it these tests are skipped.

use std::fs;
use std::process::Command;

use tickscope_testkit::suite::skip;

use crate::functions::{Counted, run_measured};
use crate::support::{Done, Project, finish, look};

/// Skips the test where a program is missing.
fn wants(program: &str) {
    let found = Command::new(program).arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        skip(format_args!("no {program} here"));
    }
}

/// What a command of ours prints for a command line, as words.
fn words(project: &Project, line: &str) -> Vec<String> {
    let done = project.run(line).with_code(0);
    done.out.split_whitespace().map(ToString::to_string).collect()
}

/// Compiles and links the zoo without us, and with all that the commands say.
fn build_zoo(project: &Project, compile: &[&str], link: &[&str]) {
    let clang = |words: &[&str], more: &[String]| {
        finish(
            project
                .command("clang++")
                .args(["-std=c++17", "-g"])
                .args(words)
                .args(more),
        )
        .with_code(0);
    };
    clang(&[compile, &["-c", "zoo.cpp", "-o", "plain.o"]].concat(), &[]);
    clang(&[compile, link, &["plain.o", "-o", "plain"]].concat(), &[]);
    let cflags = words(project, "lib --cflags");
    clang(&[compile, &["-c", "zoo.cpp", "-o", "zoo.o"]].concat(), &cflags);
    let libs = words(project, "lib --libs");
    clang(&[compile, link, &["zoo.o", "-o", "zoo"]].concat(), &libs);
    let done = project.run("table zoo").with_code(0);
    assert!(done.out.contains(" own"), "{done}");
}

/// Runs an act of the zoo without us and with every function on, and compares.
fn same(project: &Project, act: &[&str]) -> (Done, Option<Counted>) {
    let program = |name: &str| {
        let mut command = project.command(project.dir().join(name).to_str().unwrap());
        command.args(act);
        command
    };
    let plain = finish(&mut program("plain"));
    let name = act.first().unwrap_or(&"all").to_string();
    let (done, kept) = run_measured(project, &mut program("zoo"), &name);
    assert_eq!(
        (done.code, &done.out),
        (plain.code, &plain.out),
        "{act:?}: {done}"
    );
    let counted = kept.exists().then(|| Counted::read(project, &kept));
    (done, counted)
}

/// All acts of the zoo, and what is known of their calls.
fn check_zoo(project: &Project) {
    let (_, counted) = same(project, &[]);
    let counted = counted.unwrap();
    counted.assert_balanced();
    let fib = |n: u32| {
        let (mut a, mut b) = (0, 1);
        (0..=n).for_each(|_| (a, b) = (b, a + b));
        2 * a - 1
    };
    // By the act itself, before and after main, in threads that return, and in those that do not.
    let in_threads: u64 = (0..10).map(|n| 2 * fib(n)).sum();
    let around_main = fib(6) + fib(7) + fib(8);
    let calls = |name: &str| counted.calls(Some(name));
    assert_eq!(calls("fib"), fib(15) + around_main + in_threads + 20 * fib(5));
    assert_eq!(calls("throws"), 20 * 4 + 10 * (2 + 3));
    assert_eq!((calls("jumps"), calls("~Counts")), (25 * 4, 40));
    assert_eq!(calls("even") + calls("odd"), 1001 + 8);
    assert_eq!((calls("speak"), calls("twice"), calls("held")), (100, 100, 200));
    assert_eq!((calls("wide"), calls("large"), calls("ends")), (4, 1, 20));
    assert_eq!(calls("templates::{lambda}"), 100);
    // The other ten ran on a stack of their own, with what they call; that of vfork's child is counted.
    assert_eq!((calls("handler"), calls("in_handler")), (10, 11));
    assert_eq!(counted.of_functions("elsewhere"), 20);
    assert!(counted.of_functions("unwound") >= calls("throws") + calls("jumps"));
    for (act, code) in [("diverges", Some(7)), ("quits", Some(5)), ("aborts", None)] {
        let (done, counted) = same(project, &[act]);
        assert_eq!(done.code, code, "{act}");
        if let Some(counted) = counted {
            counted.assert_balanced();
        }
    }
}

fn a_cpp_program_alone_does_the_same_and_each_call_ends_once() {
    wants("clang++");
    let project = Project::copy_of("zoo_cpp");
    for optimisation in ["-O0", "-O2"] {
        build_zoo(&project, &[optimisation], &[]);
        check_zoo(&project);
    }
    if cfg!(target_env = "gnu") {
        // By itself clang makes such code from version 14 on.
        build_zoo(&project, &["-O2", "-fPIE"], &["-static-pie"]);
        check_zoo(&project);
    }
}

fn link_time_optimisation_keeps_sleds() {
    wants("clang++");
    wants("ld.lld");
    let project = Project::copy_of("zoo_cpp");
    for lto in ["-flto=thin", "-flto"] {
        build_zoo(&project, &["-O3", lto], &["-fuse-ld=lld", "-Wl,--gc-sections"]);
        check_zoo(&project);
    }
}

/// A makefile gives the linker the compiler's options as well: clang's own runtime stays out, and a whole library does no harm.
fn options_may_come_to_the_wrong_command() {
    wants("clang++");
    let project = Project::copy_of("zoo_cpp");
    let libs = words(&project, "lib --libs --out here");
    let library = project.dir().join("here/libtickscope.a");
    assert!(libs.contains(&library.display().to_string()), "{libs:?}");
    finish(
        project
            .command("clang++")
            .args(words(&project, "lib --cflags"))
            .args(["-g", "zoo.cpp", "-o", "zoo", "-Wl,--whole-archive"])
            .arg(&library)
            .args(["-Wl,--no-whole-archive", "-lpthread", "-ldl", "-lm"]),
    )
    .with_code(0);
    let whole = fs::read(project.dir().join("zoo")).unwrap();
    assert!(
        !whole.windows(11).any(|part| part == b"__xray_init"),
        "clang's own runtime is there"
    );
    project.run("table zoo").with_code(0);
    let (done, kept) = run_measured(
        &project,
        project
            .command(project.dir().join("zoo").to_str().unwrap())
            .arg("fib"),
        "fib",
    );
    assert!(done.with_code(0).out.contains("fib 610"));
    Counted::read(&project, &kept).assert_balanced();
}

fn what_is_missing_is_said_with_the_next_step() {
    let project = Project::copy_of("zoo_cpp");
    project
        .run("table zoo.cpp nothing")
        .with_code(1)
        .says(&["zoo.cpp: a file that begins with", "read nothing: "])
        .has_messages(2);
    project
        .run("--report lib")
        .with_code(2)
        .says(&["--report is for run, build, test and bench"])
        .has_messages(1);
    let gcc = project.script("gcc", "[ \"$1\" = --version ] && echo 'gcc 12.2.0'");
    finish(project.tickscope("lib --cflags").env("CC", &gcc))
        .with_code(1)
        .says(&["is gcc 12.2.0, which puts no sleds", "CC=clang"])
        .has_messages(1);
    finish(project.tickscope("lib --cflags").env("CC", "/no/such"))
        .with_code(1)
        .says(&["cannot start /no/such", "install clang"])
        .has_messages(1);
}

fn what_is_missing_in_a_program_is_said_with_the_next_step() {
    wants("clang++");
    let project = Project::copy_of("zoo_cpp");
    let clang = |words: &[String]| {
        let mut command = project.command("clang++");
        finish(command.args(["-o", "zoo", "zoo.cpp"]).args(words)).with_code(0)
    };
    clang(&[]);
    project
        .run("table zoo")
        .with_code(1)
        .says(&["no section xray_instr_map", "cargo tickscope lib --cflags"])
        .has_messages(1);
    // Sleds without a collector, then without lines, then without a table.
    let cflags = words(&project, "lib --cflags");
    clang(&cflags);
    let done = project.run("table zoo").with_code(0);
    done.says(&[
        "there is no collector in it",
        "cargo tickscope lib --libs",
        "without file and line",
    ]);
    clang(&[cflags, words(&project, "lib --libs")].concat());
    let (done, _) = run_measured(
        &project,
        project
            .command(project.dir().join("zoo").to_str().unwrap())
            .arg("fib"),
        "fib",
    );
    assert!(done.out.contains("fib 610"), "{done}");
    let zoo = project.dir().join("zoo").canonicalize().unwrap();
    done.with_code(0)
        .says(&[
            "functions do not count",
            &format!("cargo tickscope table {}", zoo.display()),
        ])
        .has_messages(1);
}

/// Builds the program of Rust, C and C++ by clang, with `cargo tickscope` or without, and with an option of the user's.
fn by_clang(command: &mut Command) -> Done {
    let command = command.env("CC", "clang").env("CXX", "clang++");
    finish(command.env("CFLAGS", "-DMARK=7"))
}

fn c_in_a_rust_program_stands_below_its_callers() {
    wants("clang++");
    let project = Project::copy_of("zoo_c");
    by_clang(project.command(env!("CARGO")).args(["build", "--release"])).with_code(0);
    let plain = project.dir().join("target/release/zoo_c");
    let plain = finish(&mut project.command(plain.to_str().unwrap())).with_code(0);
    by_clang(&mut project.tickscope("build --release"))
        .with_code(0)
        .says_nothing_of(&["C code"]);
    let program = project.built("release/zoo_c");
    let (done, kept) = run_measured(&project, &mut project.command(program.to_str().unwrap()), "c");
    assert_eq!(done.with_code(0).out, plain.out);
    assert!(plain.out.contains(" 5 7\nErr(NotPresent)\n"), "{plain}");
    let counted = Counted::read(&project, &kept);
    counted.assert_balanced();
    // A hundred times from Rust, and three times in each of five calls that a panic leaves.
    assert_eq!(counted.calls(Some("back")), 100);
    assert_eq!(counted.calls(Some("falls")), 5 * 3);
    assert_eq!(counted.calls(Some("square")), 100 + 5 * 3);
    assert_eq!(
        (counted.calls(Some("cpp_area")), counted.calls(Some("area"))),
        (10, 10)
    );
    for path in [
        ["rust_calls", "c_sum", "square"],
        ["rust_calls", "c_sum", "back"],
        ["rust_calls", "cpp_area", "area"],
    ] {
        assert!(counted.has_path(&path), "{path:?}");
    }
    // The library's lines are known although the profile wants none.
    assert_eq!(counted.file_of("square"), "c/sum.c");
    // What is run sees none of our variables.
    let run = by_clang(&mut project.tickscope("--report run --release")).with_code(0);
    assert_eq!(run.out, plain.out);
}

fn a_compiler_without_sleds_is_said_once() {
    wants("gcc");
    wants("g++");
    let project = Project::copy_of("zoo_c");
    let build = |project: &Project| {
        let mut command = project.tickscope("run --release");
        finish(command.env("CC", "gcc").env("CXX", "g++"))
    };
    let done = build(&project).with_code(0).says(&[
        "zoo_c: its C code was compiled by GCC",
        "CC=clang CXX=clang++ cargo tickscope",
    ]);
    let lines = done.err.lines().filter(|line| line.contains("C code"));
    assert_eq!(lines.count(), 1, "{done}");
    // Those of Rust are there.
    assert!(look(&project.built("release/zoo_c")).sleds > 4);
}

tickscope_testkit::tests![
    a_cpp_program_alone_does_the_same_and_each_call_ends_once,
    link_time_optimisation_keeps_sleds,
    options_may_come_to_the_wrong_command,
    what_is_missing_is_said_with_the_next_step,
    what_is_missing_in_a_program_is_said_with_the_next_step,
    c_in_a_rust_program_stands_below_its_callers,
    a_compiler_without_sleds_is_said_once,
];
