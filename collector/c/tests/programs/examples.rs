//! The examples and the makefile.

use std::path::Path;
use std::process::Command;

use crate::support::{self, Language, done};

fn make(folder: &Path, words: &[String]) {
    // Nothing of a make that runs these tests.
    let mut command = Command::new("make");
    command.env_remove("MAKEFLAGS").env_remove("MFLAGS");
    done(command.arg("-C").arg(folder).args(words));
}

#[test]
fn the_examples_do_what_they_say() {
    if Language::C.compiler().is_none() || !support::has("make") {
        eprintln!("skipped: no make or no compiler here");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let library = support::libraries().join("libtickscope.a");
    let words = [
        format!("LIBRARY={}", library.display()),
        format!("OUT={}", dir.path().display()),
        "CFLAGS=-O2 -Werror".to_string(),
        "CC=cc".to_string(),
    ];
    make(&support::package().join("examples"), &words);
    let run = |name: &str, settings: &[(&str, &str)]| {
        let mut command = support::program(&dir.path().join(name), dir.path());
        let output = done(command.envs(settings.iter().copied()));
        let (out, error) = (output.stdout, output.stderr);
        String::from_utf8(out).unwrap() + &String::from_utf8(error).unwrap()
    };
    // Siblings stand in the order of their time, so the branches before their names are not compared.
    let has = |text: &str, wanted: &[&str]| {
        let lines: Vec<&str> = text.lines().collect();
        for words in wanted {
            let is_it = |line: &&&str| {
                words
                    .split(' ')
                    .all(|word| line.split_whitespace().any(|part| part == word))
            };
            assert!(
                lines.iter().any(|line| is_it(&line)),
                "no line with {words}:\n{text}"
            );
        }
    };
    has(
        &run("scope_profiler", &[]),
        &["300 scope_profiler::draw", "900 scope_profiler::layer"],
    );
    let call_tree = run("call_tree", &[]);
    has(
        &call_tree,
        &[
            "---- after it",
            "3 call_tree::worker •",
            "0 call_tree::worker •",
            "600 call_tree::handle",
        ],
    );
    let functions = run("functions", &[("TICKSCOPE", "report")]);
    has(
        &functions,
        &[
            "610 45",
            "10 functions::sorted",
            "10 functions::give_up",
            "1.97k functions::fib",
        ],
    );
    has(&run("sampled", &[]), &["mode sampled:"]);
    let log = run(
        "api_log",
        &[("TICKSCOPE", "log"), ("TICKSCOPE_LOG_EVERY_MS", "100")],
    );
    has(&log, &["bytes read", "main [api]", "main [upkeep]"]);
}

#[test]
fn what_is_installed_is_found() {
    let Some(compiler) = Language::C.compiler().filter(|_| support::has("make")) else {
        eprintln!("skipped: no make or no compiler here");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("prefix");
    let words = |goal: &str| {
        vec![
            goal.to_string(),
            format!("PREFIX={}", prefix.display()),
            format!("BUILT={}", support::libraries().display()),
        ]
    };
    make(support::package(), &words("install"));
    let described = std::fs::read_to_string(prefix.join("lib/pkgconfig/tickscope.pc")).unwrap();
    let version = format!("\nVersion: {}\n", env!("CARGO_PKG_VERSION"));
    assert!(described.contains(&version), "{described}");
    let source = support::source("pair.c");
    let main = dir.path().join("main.c");
    std::fs::write(
        &main,
        "int scoped(const int *, int);\nint main(void) { int n[] = {1, 2}; return scoped(n, 2) != 9; }\n",
    )
    .unwrap();
    let run = |program: &Path| {
        let mut command = support::program(program, dir.path());
        done(command.env("LD_LIBRARY_PATH", prefix.join("lib")));
    };
    if support::has("pkg-config") {
        let mut command = Command::new("pkg-config");
        command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
        let flags = done(command.args(["--cflags", "--libs", "tickscope"])).stdout;
        let flags = String::from_utf8(flags).unwrap();
        let program = dir.path().join("by-pkg-config");
        let mut command = Command::new(compiler);
        command.arg(&source).arg(&main).args(flags.split_whitespace());
        done(command.arg("-o").arg(&program));
        run(&program);
    } else {
        eprintln!("skipped: no pkg-config here");
    }
    if support::has("cmake") {
        let text = format!(
            "cmake_minimum_required(VERSION 3.13)\nproject(app C)\nfind_package(tickscope CONFIG REQUIRED)\n\
             foreach(kind tickscope shared)\nadd_executable(by-${{kind}} {} {})\n\
             target_link_libraries(by-${{kind}} PRIVATE tickscope::${{kind}})\nendforeach()\n",
            source.display(),
            main.display()
        );
        std::fs::write(dir.path().join("CMakeLists.txt"), text).unwrap();
        let build = dir.path().join("build");
        let mut command = Command::new("cmake");
        command.arg("-S").arg(dir.path()).arg("-B").arg(&build);
        done(command.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
        done(Command::new("cmake").arg("--build").arg(&build));
        run(&build.join("by-tickscope"));
        run(&build.join("by-shared"));
    } else {
        eprintln!("skipped: no cmake here");
    }
    make(support::package(), &words("uninstall"));
    assert!(!prefix.join("include/tickscope.h").exists());
}
