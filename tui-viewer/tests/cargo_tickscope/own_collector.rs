//! Programs that themselves depend on tickscope.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::functions::STORM;
use crate::support::Project;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .unwrap()
}

const PROGRAM: &str = "
#[tickscope::profile]
fn marked(n: u64) -> u64 { (0..n).map(std::hint::black_box).sum() }

fn main() { println!(\"{}\", marked(1000)); }

#[cfg(test)]
mod tests {
    #[test]
    #[tickscope::profile]
    fn quick() { super::marked(10); }

    #[test]
    #[tickscope::profile]
    fn slow() { std::thread::sleep(std::time::Duration::from_millis(30)) }

    #[test]
    #[ignore]
    fn never() {}
}
";

fn project(features: &str) -> Project {
    depending_on_tickscope(features, PROGRAM)
}

/// Creates a program that depends on the tickscope in this repository, with these features.
pub(crate) fn depending_on_tickscope(features: &str, program: &str) -> Project {
    depends_on_tickscope(Project::empty(), features, "", program)
}

fn depends_on_tickscope(project: Project, features: &str, manifest: &str, program: &str) -> Project {
    let collector = root().join("collector");
    let project = project.with_package(
        &format!(
            "{manifest}[dependencies]\ntickscope = {{ path = {collector:?}, features = [{features}] }}\n"
        ),
        "src/main.rs",
        program,
    );
    fs::copy(root().join("Cargo.lock"), project.dir().join("Cargo.lock")).unwrap();
    project
}

/// Returns a package for release builds with the feature `enable`. It contains two programs (`small`, which has scopes,
/// and `storm`), so that the tests of both need only one build of the collector.
pub(crate) fn shared_with_tickscope() -> &'static Project {
    static SHARED: OnceLock<Project> = OnceLock::new();
    SHARED.get_or_init(|| {
        let programs = "[[bin]]\nname = \"small\"\npath = \"src/main.rs\"\n\
                        [[bin]]\nname = \"storm\"\npath = \"storm/main.rs\"\ntest = false\n";
        let project =
            depends_on_tickscope(Project::shared("with-tickscope"), "\"enable\"", programs, PROGRAM);
        project.write("storm/main.rs", STORM);
        project.write("storm/vectors.rs", include_str!("zoo/src/vectors.rs"));
        project
    })
}

fn check_scopes(project: &Project, build: &str) {
    let run = |line: &str| project.run(&format!("{line} {build}"));
    let done = run("--report run").with_code(0);
    assert_eq!(done.out, "499500\n");
    let done = done.says(&["tickscope report: small, pid ", "small::marked"]);
    // The scopes and the sleds use the same collector, so nothing is reported as missing.
    done.says_nothing_of(&["no report", "are not counted"]);
    run("--record r.tks run")
        .with_code(0)
        .says(&["tickscope: r.tks: "]);
    run("--record r.tks run")
        .with_code(2)
        .says(&["r.tks exists already"]);
    let shown = project.viewer(&["report", "r.tks"]).with_code(0);
    assert!(shown.out.contains("small::marked"), "{shown}");
    let done = run("test").with_code(0);
    assert!(done.out.contains("test tests::slow ... ok"), "{done}");
    let done = done.says(&["tickscope: tests of small-", "1 of 3 tests were not seen"]);
    let table: Vec<&str> = done
        .err
        .lines()
        .skip_while(|line| !line.ends_with("waiting  test"))
        .collect();
    // The test that took longest comes first. It sleeps, which counts as waiting.
    let cells = |line: &str| {
        line.split_whitespace()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    let (slow, quick) = (cells(table[1]), cells(table[2]));
    assert_eq!([&*slow[0], &*slow[4]], ["1", "tests::slow"], "{done}");
    assert_eq!([&*quick[0], &*quick[4]], ["1", "tests::quick"], "{done}");
    let milliseconds = |text: &str| match text.strip_suffix("ms") {
        Some(number) => number.parse::<f64>().unwrap(),
        None => text.strip_suffix('s').unwrap().parse::<f64>().unwrap() * 1000.0,
    };
    assert!(milliseconds(&slow[1]) >= 30.0, "{slow:?}");
    assert!(milliseconds(&slow[3]) > 20.0, "{slow:?}");
    let done = run("--record t.tks test").with_code(0);
    let recordings = fs::read_dir(project.dir()).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("t-small-")
    });
    assert_eq!(recordings.count(), 1, "{done}");
}

fn its_scopes_are_in_reports_recordings_and_tables_of_tests() {
    check_scopes(shared_with_tickscope(), "--release --bin small");
}

fn scopes_of_a_debug_build_are_in_reports_recordings_and_tables_of_tests() {
    check_scopes(&project("\"enable\""), "");
}

fn one_that_does_not_measure_is_left_alone_and_said() {
    let project = project("");
    project
        .run("--report run")
        .with_code(0)
        .says(&["the program's own tickscope is built without the feature `enable`"]);
}

fn one_of_another_version_is_refused_with_both_named() {
    let project = project("\"enable\"");
    // The other package has the same name but another version.
    project.write(
        "other/Cargo.toml",
        "[package]\nname = \"tickscope\"\nversion = \"0.77.1\"\nedition = \"2021\"\n[features]\nenable = []\n",
    );
    project.write("other/src/lib.rs", "pub fn nothing() {}");
    let manifest = fs::read_to_string(project.dir().join("Cargo.toml")).unwrap();
    let (start, _) = manifest.split_once("[dependencies]").unwrap();
    let with =
        format!("{start}[dependencies]\ntickscope = {{ path = \"other\", features = [\"enable\"] }}\n");
    project.write("Cargo.toml", &with);
    project.write("src/main.rs", "fn main() { tickscope::nothing() }");
    project.run("run").failed(
        101,
        &[
            "depends on tickscope 0.77.1",
            &format!("cargo tickscope {}", env!("CARGO_PKG_VERSION")),
        ],
    );
}

tickscope_testkit::tests![
    its_scopes_are_in_reports_recordings_and_tables_of_tests,
    one_that_does_not_measure_is_left_alone_and_said,
    one_of_another_version_is_refused_with_both_named;
    ignored:
    // This test is slow, because it builds the collector again.
    scopes_of_a_debug_build_are_in_reports_recordings_and_tables_of_tests,
];
