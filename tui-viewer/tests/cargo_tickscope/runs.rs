//! What is run: output and codes are the program's own.

use std::process::Command;

use crate::support::{Project, finish};

#[test]
fn output_arguments_and_codes_are_the_programs() {
    let project = Project::fixture();
    let done = project
        .run("--report run -q -p app -- 7 --report --only")
        .with_code(7);
    assert!(done.out.contains("built 42 answer 42 work 1000\n"), "{done}");
    assert!(
        done.out
            .contains(r#"arguments ["7", "--report", "--only"] wrapper None"#),
        "{done}"
    );
    project.run("run -- abort").with_code(128 + 6);
    project.run("run --no-such-option").with_code(1);
    project.write("app/src/main.rs", "fn main() { wrong }");
    project
        .run("run")
        .with_code(101)
        .says(&["cannot find value `wrong`"])
        .has_messages(0);
}

#[test]
fn the_collector_is_told_what_to_measure() {
    let project = Project::fixture();
    let done = project.run("--report run -- 0").with_code(0);
    for line in [
        "tickscope Ok(\"live\")",
        "FUNCTIONS Ok(\"on\")",
        "ONLY Err(NotPresent)",
        "NOT Err(NotPresent)",
        "BUDGET Err(NotPresent)",
    ] {
        assert!(done.out.contains(line), "{line}: {done}");
    }
    let done = project.run("--only a,b::* --not c --not d --budget 2.50 --every-function --report run -- 0");
    for line in [
        "FUNCTIONS Ok(\"every\")",
        "ONLY Ok(\"a,b::*\")",
        "NOT Ok(\"c,d\")",
        "BUDGET Ok(\"2.5%\")",
    ] {
        assert!(done.out.contains(line), "{line}: {done}");
    }
    // What is measured is no matter of the build.
    done.with_code(0).says_nothing_of(&["Compiling"]);
}

#[test]
fn tests_benchmarks_and_documentation_tests_run_as_ever() {
    let project = Project::fixture();
    let done = project.run("test --workspace").with_code(0);
    let ran = done.out.matches("test result: ok. 1 passed").count();
    assert_eq!(ran, 4, "whole, mylib, plugin, and a documentation test: {done}");
    assert!(done.out.contains("test tests::adds ... ok"), "{done}");
    let list = project.run("test -p mylib --lib -- --list").with_code(0);
    assert_eq!(list.out, "tests::adds: test\n\n1 test, 0 benchmarks\n");
    let bench = project.run("bench -p app").with_code(0);
    assert!(bench.out.contains("benchmark 3"), "{bench}");
    project.write("app/tests/whole.rs", "#[test]\nfn fails() { panic!() }\n");
    let failed = project.run("test -p app --no-fail-fast").with_code(101);
    assert!(failed.out.contains("test fails ... FAILED"), "{failed}");
}

#[test]
fn what_is_built_can_be_run_by_hand() {
    let project = Project::fixture();
    project.run("build -p app").with_code(0);
    let done = finish(Command::new(project.built("debug/app")).arg("3")).with_code(3);
    assert!(done.out.contains("answer 42"), "{done}");
}
