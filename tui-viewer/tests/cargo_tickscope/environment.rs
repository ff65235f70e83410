//! The user's settings for cargo still take effect: compiler wrappers, runners, flags.

use std::fs;

use crate::support::{Project, TARGET, look};

/// Compiler wrapper that lists the crates that it compiles.
const WRAPPER: &str = "log=$(dirname \"$0\")/log; for word in \"$@\"; do [ \"$last\" = --crate-name ] && echo \"$word\" >> \"$log\"; \
                       last=$word; done; exec \"$@\"";

fn compiled(project: &Project) -> Vec<String> {
    let text = fs::read_to_string(project.dir().join("log")).unwrap_or_default();
    text.lines().map(ToString::to_string).collect()
}

fn a_wrapper_is_called_with_the_compiler_behind_it() {
    let by_variable = Project::fixture();
    let wrapper = by_variable.script("w.sh", WRAPPER);
    let done = by_variable
        .run_with("run -- 0", "RUSTC_WRAPPER", &wrapper)
        .with_code(0);
    // The program sees the user's variables.
    let seen = format!("wrapper Some({:?}) build dir None", wrapper.display().to_string());
    assert!(done.out.contains(&seen), "{done}");
    let by_file = Project::fixture();
    by_file.script("w.sh", WRAPPER);
    by_file.write(".cargo/config.toml", "[build]\nrustc-wrapper = \"./w.sh\"\n");
    by_file.run("run -- 0").with_code(0);
    for project in [&by_variable, &by_file] {
        let crates = compiled(project);
        for name in ["app", "mylib", "macros", "build_script_build"] {
            assert!(crates.iter().any(|known| known == name), "{name}: {crates:?}");
        }
        assert!(look(&project.built("debug/app")).sleds > 4);
    }
    // An empty variable means no wrapper, even if the configuration file names one.
    fs::remove_file(by_file.dir().join("log")).unwrap();
    by_file.write("app/src/main.rs", "fn main() {}");
    by_file.run_with("run", "RUSTC_WRAPPER", "").with_code(0);
    assert_eq!(compiled(&by_file), [""; 0]);
}

/// A caching wrapper such as sccache looks up its entries by the compiler's arguments and cargo's variables.
fn a_wrapper_that_caches_is_asked_the_same_in_each_build() {
    let project = Project::fixture();
    let calls = project.dir().join("calls");
    let wrapper = project.script(
        "w.sh",
        "{ printf '%s\\n' \"$@\"; env | grep '^CARGO_' | grep -v '^CARGO_MAKEFLAGS=' | sort; } > \"$(dirname \"$0\")/calls/$$\"; \
         exec \"$@\"",
    );
    let built = || {
        let _ = fs::remove_dir_all(&calls);
        let _ = fs::remove_dir_all(project.dir().join("target"));
        fs::create_dir(&calls).unwrap();
        project.run_with("build", "RUSTC_WRAPPER", &wrapper).with_code(0);
        let files = fs::read_dir(&calls).unwrap().map(|file| file.unwrap().path());
        let texts = files.map(|file| fs::read_to_string(file).unwrap());
        let mut compiled: Vec<_> = texts.filter(|text| text.contains("--emit")).collect();
        compiled.sort();
        compiled
    };
    let first = built();
    assert!(first.len() > 3, "{first:?}");
    assert_eq!(built(), first);
}

fn a_wrapper_for_the_workspace_is_called_as_well() {
    let project = Project::fixture();
    let wrapper = project.script("w.sh", WRAPPER);
    project
        .run_with("run -- 0", "RUSTC_WORKSPACE_WRAPPER", wrapper)
        .with_code(0);
    assert!(compiled(&project).contains(&"app".to_string()));
    assert!(look(&project.built("debug/app")).sleds > 4);
}

fn a_runner_stands_before_the_program() {
    let project = Project::fixture();
    let runner = project.script("r.sh", "echo \"runner $1\"; shift; exec \"$@\"");
    let variable = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER";
    let line = format!("{} one", runner.display());
    let done = project.run_with("--report run -- 4", variable, line).with_code(4);
    assert!(done.out.contains("runner one\n"), "{done}");
    assert!(done.out.contains("answer 42"), "{done}");
    for table in [TARGET, "'cfg(target_os = \"linux\")'"] {
        for runner in ["[\"./r.sh\", \"two\"]", "\"./r.sh two\""] {
            let config = format!("[target.{table}]\nrunner = {runner}\n");
            project.write(".cargo/config.toml", &config);
            let done = project.run("--report run -- 4").with_code(4);
            assert!(done.out.contains("runner two\n"), "{table} {runner}: {done}");
        }
    }
}

/// The build script starts cargo with its own environment, and without all variables whose names begin with `CARGO`.
const BUILDS: &str = r#"
use std::process::Command;
fn main() {
    let [cargo, place] = ["CARGO", "OUT_DIR"].map(|name| std::env::var(name).unwrap());
    for keeps in [true, false] {
        let mut command = Command::new(&cargo);
        command.args(["build", "--offline", "--manifest-path", "inner/Cargo.toml", "--target-dir"]);
        command.arg(format!("{place}/{keeps}"));
        for (name, _) in std::env::vars().filter(|(name, _)| !keeps && name.starts_with("CARGO") && name != "CARGO_HOME") {
            command.env_remove(name);
        }
        assert!(command.status().unwrap().success());
    }
}
"#;

fn a_build_script_may_start_cargo() {
    let project = Project::package("", "src/main.rs", "fn main() {}");
    project.write("build.rs", BUILDS);
    let manifest = "[package]\nname = \"inner\"\nedition = \"2024\"\n[workspace]\n";
    project.write("inner/Cargo.toml", manifest);
    project.write("inner/src/main.rs", "fn main() {}");
    project.run("build").with_code(0);
}

fn flags_of_the_user_stay() {
    let project = Project::fixture();
    project.write("app/src/main.rs", "fn main() { println!(\"{}\", cfg!(mine)) }");
    let done = project
        .run_with("run -q", "RUSTFLAGS", "--cfg mine -Cstrip=symbols")
        .with_code(0);
    assert_eq!(done.out, "true\n");
    // The command needs symbols and lines, so its settings override the user's settings.
    let app = look(&project.built("debug/app"));
    assert!(app.symbols && app.lines && app.sleds > 1, "{app:?}");
}

tickscope_testkit::tests![
    a_wrapper_is_called_with_the_compiler_behind_it,
    a_wrapper_that_caches_is_asked_the_same_in_each_build,
    a_wrapper_for_the_workspace_is_called_as_well,
    a_runner_stands_before_the_program,
    a_build_script_may_start_cargo,
    flags_of_the_user_stay,
];
