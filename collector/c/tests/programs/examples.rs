//! Tests of the examples and of the makefile.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{self, Language, done};

fn make(folder: &Path, words: &[String]) {
    // If `make` runs these tests, its variables must not affect the `make` that the tests run.
    let mut command = Command::new("make");
    command.env_remove("MAKEFLAGS").env_remove("MFLAGS");
    done(command.arg("-C").arg(folder).args(words));
}

fn the_examples_do_what_they_say() {
    support::wants("make");
    support::wants("cc");
    let dir = tempfile::tempdir().unwrap();
    let library = support::libraries().join("libtickscope.a");
    let words = [
        format!("LIBRARY={}", library.display()),
        format!("OUT={}", dir.path().display()),
        "CFLAGS=-O2 -Werror".to_string(),
        "CC=cc".to_string(),
        "-j".to_string(),
        format!("LDFLAGS={}", support::QUICKLY),
    ];
    make(&support::package().join("examples"), &words);
    let run = |name: &str, settings: &[(&str, &str)]| {
        let mut command = support::program(&dir.path().join(name), dir.path());
        let output = done(command.envs(settings.iter().copied()));
        let (out, error) = (output.stdout, output.stderr);
        String::from_utf8(out).unwrap() + &String::from_utf8(error).unwrap()
    };
    // Siblings are sorted by time, so the tree lines drawn in front of their names vary between runs and are not
    // compared.
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

/// The files that `make install` puts below a prefix.
struct Installed {
    dir: tempfile::TempDir,
    prefix: PathBuf,
    source: PathBuf,
    main: PathBuf,
}

impl Installed {
    fn new() -> Self {
        support::wants("make");
        let dir = tempfile::tempdir().unwrap();
        let main = dir.path().join("main.c");
        std::fs::write(
            &main,
            "int scoped(const int *, int);\nint main(void) { int n[] = {1, 2}; return scoped(n, 2) != 9; }\n",
        )
        .unwrap();
        let installed = Self {
            prefix: dir.path().join("prefix"),
            source: support::source("pair.c"),
            main,
            dir,
        };
        installed.make("install");
        installed
    }

    fn make(&self, goal: &str) {
        let words = [
            goal.to_string(),
            format!("PREFIX={}", self.prefix.display()),
            format!("BUILT={}", support::libraries().display()),
        ];
        make(support::package(), &words);
    }

    /// Runs a program that needs the installed shared library.
    fn run(&self, program: &Path) {
        let mut command = support::program(program, self.dir.path());
        done(command.env("LD_LIBRARY_PATH", self.prefix.join("lib")));
    }
}

fn what_is_installed_is_described_and_removed_again() {
    let installed = Installed::new();
    let described = std::fs::read_to_string(installed.prefix.join("lib/pkgconfig/tickscope.pc")).unwrap();
    let version = format!("\nVersion: {}\n", env!("CARGO_PKG_VERSION"));
    assert!(described.contains(&version), "{described}");
    let header = installed.prefix.join("include/tickscope.h");
    assert!(header.exists());
    installed.make("uninstall");
    assert!(!header.exists());
}

fn what_is_installed_is_found_by_pkg_config() {
    support::wants("pkg-config");
    let compiler = Language::C.compiler();
    let installed = Installed::new();
    let mut command = Command::new("pkg-config");
    command.env("PKG_CONFIG_PATH", installed.prefix.join("lib/pkgconfig"));
    let flags = done(command.args(["--cflags", "--libs", "tickscope"])).stdout;
    let flags = String::from_utf8(flags).unwrap();
    let program = installed.dir.path().join("by-pkg-config");
    let mut command = Command::new(compiler);
    command.args([&installed.source, &installed.main]);
    done(command.args(flags.split_whitespace()).arg("-o").arg(&program));
    installed.run(&program);
}

fn what_is_installed_is_found_by_cmake() {
    support::wants("cmake");
    Language::C.compiler();
    let installed = Installed::new();
    let dir = installed.dir.path();
    let text = format!(
        "cmake_minimum_required(VERSION 3.13)\nproject(app C)\nfind_package(tickscope CONFIG REQUIRED)\n\
         foreach(kind tickscope shared)\nadd_executable(by-${{kind}} {} {})\n\
         target_link_libraries(by-${{kind}} PRIVATE tickscope::${{kind}})\nendforeach()\n",
        installed.source.display(),
        installed.main.display()
    );
    std::fs::write(dir.join("CMakeLists.txt"), text).unwrap();
    let build = dir.join("build");
    let mut command = Command::new("cmake");
    command.arg("-S").arg(dir).arg("-B").arg(&build);
    done(command.arg(format!("-DCMAKE_PREFIX_PATH={}", installed.prefix.display())));
    done(Command::new("cmake").arg("--build").arg(&build));
    installed.run(&build.join("by-tickscope"));
    installed.run(&build.join("by-shared"));
}

tickscope_testkit::tests![
    the_examples_do_what_they_say,
    what_is_installed_is_described_and_removed_again,
    what_is_installed_is_found_by_pkg_config,
    what_is_installed_is_found_by_cmake,
];
