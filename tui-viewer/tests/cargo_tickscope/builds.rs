//! Tests of which files a build writes, and which it does not touch.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::support::{Project, TARGET, finish, look, sleds_in_library};

fn the_target_has_sleds_and_the_build_itself_has_none() {
    let project = Project::fixture();
    let done = project.run("build --workspace --release").with_code(0);
    // The profile strips symbols and omits debug information. `cargo tickscope` overrides both settings.
    let app = look(&project.built("release/app"));
    assert!(app.sleds > 4 && app.symbols && app.lines, "{app:?}");
    let plugin = look(&project.built("release/libplugin.so"));
    assert!(plugin.sleds > 1 && plugin.symbols && plugin.lines, "{plugin:?}");
    let deps = format!("{TARGET}/release/deps");
    for start in ["libmylib-", "libplugin.rlib"] {
        let files = project.files(&deps, start);
        assert_eq!(files.len(), 1, "{files:?}");
        assert!(sleds_in_library(&files[0]) > 0, "{files:?}");
    }
    // These files are for the host: `mylib` as used by the build script, and the macros.
    let host = project.files("release/deps", "lib");
    assert!(host.len() > 1, "{host:?}");
    for file in &host {
        let sleds = match file.extension().unwrap().to_str().unwrap() {
            "so" => look(file).sleds,
            _ => sleds_in_library(file),
        };
        assert_eq!(sleds, 0, "{file:?}");
    }
    let scripts = project.files("release/build", "app-");
    let script = scripts
        .iter()
        .map(|dir| dir.join("build-script-build"))
        .find(|path| path.exists());
    assert_eq!(look(&script.unwrap()).sleds, 0);
    done.says(&[
        "tickscope: built target/tickscope/x86_64-unknown-linux-gnu/release/app",
        "tickscope run -- target/tickscope/x86_64-unknown-linux-gnu/release/app",
    ]);
}

/// Collects all files below a directory, with their modification times.
fn times(folder: &Path, found: &mut Vec<(String, SystemTime)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            times(&entry.path(), found);
        } else {
            found.push((
                entry.path().display().to_string(),
                entry.metadata().unwrap().modified().unwrap(),
            ));
        }
    }
    found.sort();
}

fn ordinary_builds_are_not_touched() {
    let project = Project::fixture();
    let plain =
        |project: &Project| finish(project.command(env!("CARGO")).args(["build", "-p", "app"])).with_code(0);
    plain(&project);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    times(&project.dir().join("target/debug"), &mut before);
    project.run("run").with_code(0);
    times(&project.dir().join("target/debug"), &mut after);
    assert_eq!(before, after);
    plain(&project).says_nothing_of(&["Compiling"]);
    // `cargo tickscope` does not rebuild anything the second time either, and it removes its temporary files.
    project
        .run("--report run")
        .with_code(0)
        .says_nothing_of(&["Compiling"]);
    let left = fs::read_dir(project.dir().join("target/tickscope")).unwrap();
    let names: Vec<_> = left
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        names.iter().all(|name| !name.starts_with(".command")),
        "{names:?}"
    );
}

fn the_target_directory_may_be_named_in_every_way_of_cargo() {
    let project = Project::fixture();
    let app = format!("tickscope/{TARGET}/debug/app");
    project.run("build -p app --target-dir a").with_code(0);
    project
        .run_with("build -p app", "CARGO_TARGET_DIR", "b")
        .with_code(0);
    project
        .run("build -p app --config build.target-dir=\"c\"")
        .with_code(0);
    for dir in ["a", "b", "c"] {
        assert!(project.dir().join(dir).join(&app).exists(), "{dir}");
    }
    assert!(!project.dir().join("target").exists());
    // A `build-dir` in the configuration has no effect, because all files are in the target directory.
    project.write(".cargo/config.toml", "[build]\nbuild-dir = \"between\"\n");
    project.run("build -p app").with_code(0);
    assert!(project.built("debug/app").exists() && !project.dir().join("between").exists());
}

fn check_with_bitcode(lto: &str) {
    let project = Project::fixture();
    let config = format!(
        "run --release --config profile.release.lto=\"{lto}\" --config profile.release.panic=\"abort\" -- 5"
    );
    let done = project.run(&config).with_code(5);
    assert!(done.out.contains("built 42 answer 42"), "{done}");
    assert!(look(&project.built("release/app")).sleds > 4);
}

fn bitcode_serves_programs_with_link_time_optimisation() {
    check_with_bitcode("thin");
}

fn bitcode_serves_programs_with_fat_link_time_optimisation() {
    check_with_bitcode("fat");
}

fn a_program_may_have_the_collectors_dependencies_in_the_same_versions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let format = root.join("shared-format").canonicalize().unwrap();
    let project = Project::package(
        &format!("[dependencies]\nlibc = \"0.2\"\ntickscope-format = {{ path = {format:?} }}\n"),
        "src/main.rs",
        "fn main() { println!(\"{}\", unsafe { libc::getpid() } > 0 && tickscope_format::os::random() != 1) }",
    );
    fs::copy(root.join("Cargo.lock"), project.dir().join("Cargo.lock")).unwrap();
    let done = project.run("--report run").with_code(0);
    assert_eq!(done.out, "true\n", "{done}");
}

tickscope_testkit::tests![
    the_target_has_sleds_and_the_build_itself_has_none,
    ordinary_builds_are_not_touched,
    the_target_directory_may_be_named_in_every_way_of_cargo,
    bitcode_serves_programs_with_link_time_optimisation,
    a_program_may_have_the_collectors_dependencies_in_the_same_versions;
    ignored:
    // This test takes longer than the one with thin LTO, and fat LTO is also covered by a test of async functions.
    bitcode_serves_programs_with_fat_link_time_optimisation,
];
