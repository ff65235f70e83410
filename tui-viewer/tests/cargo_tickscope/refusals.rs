//! A failure is reported once, together with what to do next, and before anything is built if possible.

use tickscope_testkit::suite::skip;

use crate::support::{Project, cache, copy, finish, look};

fn not_a_project() {
    let project = Project::empty();
    project.run("run").failed(
        2,
        &["no cargo project: could not find `Cargo.toml`", "--manifest-path"],
    );
    project.write("Cargo.toml", "nonsense");
    project.run("run").failed(1, &["cargo cannot read the project"]);
}

fn command_lines_that_make_no_sense() {
    let project = Project::fixture();
    let table = "
        run --only x => put it before run, as in cargo tickscope --only run
        --report build => build runs nothing
        --record x.json run => ending .tks
        run -Zbuild-std => -Zbuild-std: the collector needs the standard library that came with the compiler
        build --target aarch64-unknown-linux-gnu => the target is aarch64-unknown-linux-gnu
        build --target wasm32-unknown-unknown => x86_64 Linux
    ";
    for line in table.trim().lines() {
        let (line, words) = line.split_once(" => ").unwrap();
        project.run(line).failed(2, &[words]);
    }
    assert!(!project.dir().join("target").exists());
    project
        .run("check")
        .with_code(2)
        .says(&["unrecognized subcommand 'check'"]);
    let help = project.run("run --help").with_code(0);
    assert!(
        help.out
            .contains("Usage: cargo tickscope [OPTIONS] run [CARGO ARGS] [-- ARGS]"),
        "{help}"
    );
    let help = project.run("--help").with_code(0);
    assert!(help.out.contains("Examples:\n  cargo tickscope run"), "{help}");
}

fn a_target_that_the_project_has_set() {
    let project = Project::fixture();
    project.write(
        ".cargo/config.toml",
        "[build]\ntarget = \"thumbv7em-none-eabi\"\n",
    );
    project
        .run("run")
        .failed(2, &["the target is thumbv7em-none-eabi"]);
}

fn an_old_compiler() {
    let project = Project::fixture();
    let old = project.script("rustc", "rustc \"$@\" | sed 's/^release: .*/release: 1.70.0/'");
    project
        .run_with("run", "RUSTC", old)
        .failed(1, &["rustc 1.70.0", "1.89 or newer", "cargo +stable"]);
}

fn a_compiler_whose_flag_has_another_name() {
    let project = Project::fixture();
    let other = project.script(
        "rustc",
        "for word in \"$@\"; do case $word in -Zhelp) echo ' -Z other=val'; exit;; -vV) rustc -vV; echo changed; exit;; esac; done; \
         exec rustc \"$@\"",
    );
    project.run_with("run", "RUSTC", other).failed(
        1,
        &[
            "puts no sleds into functions",
            "neither -Zinstrument-xray nor -Zinstrument-function",
        ],
    );
}

fn places_that_cannot_be_written() {
    let project = Project::fixture();
    // A regular file is in the place of the directory, so not even root can create the directory.
    let file = project.write("file", "");
    project
        .run_with("run", "CARGO_TARGET_DIR", &file)
        .failed(1, &["cannot write ", "--target-dir DIR, or CARGO_TARGET_DIR"]);
    project
        .run_with("run", "XDG_CACHE_HOME", &file)
        .failed(1, &["cannot write ", "set XDG_CACHE_HOME"]);
    finish(
        project
            .tickscope("run")
            .env_remove("XDG_CACHE_HOME")
            .env_remove("HOME"),
    )
    .failed(1, &["neither HOME nor XDG_CACHE_HOME is set"]);
}

fn a_program_without_std() {
    let source = "#![no_std]\n#![no_main]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! { loop {} }\n\
                  #[no_mangle]\npub extern \"C\" fn main() -> i32 { 0 }\n";
    let manifest = "[profile.dev]\npanic = \"abort\"\n";
    let project = Project::package(manifest, "src/main.rs", source);
    project
        .run("run")
        .failed(101, &["small is built without the standard library (no_std)"]);
}

fn a_static_library_is_built_and_said() {
    let manifest = "[lib]\ncrate-type = [\"staticlib\", \"cdylib\"]\n";
    let project = Project::package(
        manifest,
        "src/lib.rs",
        "#[no_mangle]\npub extern \"C\" fn f() {}\n",
    );
    project
        .run("build")
        .with_code(0)
        .says(&["libsmall.a: a static library gets no collector"])
        .has_messages(1);
    assert!(look(&project.built("debug/libsmall.so")).sleds > 0);
}

fn a_linker_that_drops_names_is_named() {
    let project = Project::fixture();
    project
        .run_with("run -p app -- 0", "RUSTFLAGS", "-Clink-arg=-Wl,-s")
        .with_code(0)
        .says(&["app: functions have no names", "(-Wl,-s)"]);
}

fn a_linker_that_drops_sleds_is_named() {
    let gold = std::process::Command::new("ld.gold").arg("--version").output();
    if gold.is_err() {
        skip("no ld.gold here");
    }
    let project = Project::fixture();
    project
        .run_with(
            "run -p app -- 0",
            "RUSTFLAGS",
            "-Clink-arg=-fuse-ld=gold -Clinker-features=-lld",
        )
        .with_code(0)
        .says(&["app: no function can be switched on: the linker gold (-fuse-ld=gold)"]);
}

fn a_cache_that_was_cut_is_named() {
    let project = Project::fixture();
    project.run("build -p app").with_code(0);
    let cut = project.dir().join("cut");
    copy(&cache().join("tickscope"), &cut.join("tickscope"), |path| {
        path.extension().is_none_or(|ending| ending != "rlib")
    });
    project
        .run_with("build -p app", "XDG_CACHE_HOME", &cut)
        .failed(1, &["is not complete; remove it, and try again"]);
}

tickscope_testkit::tests![
    not_a_project,
    command_lines_that_make_no_sense,
    a_target_that_the_project_has_set,
    an_old_compiler,
    a_compiler_whose_flag_has_another_name,
    places_that_cannot_be_written,
    a_program_without_std,
    a_static_library_is_built_and_said,
    a_linker_that_drops_names_is_named,
    a_linker_that_drops_sleds_is_named,
    a_cache_that_was_cut_is_named,
];
