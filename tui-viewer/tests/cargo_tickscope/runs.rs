//! Running programs: the command passes on the program's output and exit code.

use std::fs;
use std::process::Command;

use crate::support::{Project, finish};

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

fn the_collector_is_told_what_to_measure() {
    let project = Project::fixture();
    project.run("--report run -- 0").with_code(0).prints(&[
        "tickscope Ok(\"live\")",
        "FUNCTIONS Ok(\"on\")",
        "ONLY Err(NotPresent)",
        "NOT Err(NotPresent)",
        "BUDGET Err(NotPresent)",
    ]);
    let done = project.run("--only a,b::* --not c --not d --budget 2.50 --every-function --report run -- 0");
    // Options for measuring do not cause a rebuild.
    done.with_code(0).says_nothing_of(&["Compiling"]).prints(&[
        "FUNCTIONS Ok(\"every\")",
        "ONLY Ok(\"a,b::*\")",
        "NOT Ok(\"c,d\")",
        "BUDGET Ok(\"2.5%\")",
    ]);
}

fn the_projects_own_choice_is_passed_on() {
    let project = Project::fixture();
    project.write(
        "tickscope.toml",
        "[functions]\nonly = [\"work\", \"it's::*\"]\nbudget = \"7%\"\n",
    );
    let done = project.run("--report run -- 0").with_code(0).prints(&[
        "ONLY Ok(\"work,it's::*\")",
        "NOT Err(NotPresent)",
        "BUDGET Ok(\"7%\")",
    ]);
    assert!(done.err.contains("work"), "{done}");
    assert!(!done.err.contains("main::main"), "{done}");
    let done = project.run("--report --not mylib run -- 0").with_code(0);
    done.prints(&["ONLY Err(NotPresent)", "NOT Ok(\"mylib\")", "BUDGET Ok(\"7%\")"]);
    // The file in the package replaces the one in the workspace.
    project.write("app/tickscope.toml", "[functions]\nevery = true\n");
    let done = finish(
        project
            .tickscope("--report run -- 0")
            .current_dir(project.dir().join("app")),
    )
    .with_code(0);
    done.prints(&[
        "FUNCTIONS Ok(\"every\")",
        "ONLY Err(NotPresent)",
        "BUDGET Err(NotPresent)",
    ]);
    project
        .run("build")
        .with_code(0)
        .says(&["to watch it: TICKSCOPE_ONLY='work,it'\\''s::*' TICKSCOPE_BUDGET=7% tickscope run -- "]);
    project.write("tickscope.toml", "[functions]\n\nnever = true\n");
    project.run("run").failed(
        2,
        &[
            "/tickscope.toml:3: unknown key never",
            "wanted only, not, every or budget",
        ],
    );
}

fn tests_benchmarks_and_documentation_tests_run_as_ever() {
    let project = Project::fixture();
    let done = project.run("test --workspace").with_code(0);
    let ran = done.out.matches("test result: ok. 1 passed").count();
    assert_eq!(ran, 4, "whole, mylib, plugin, and a documentation test: {done}");
    assert!(done.out.contains("test tests::adds ... ok"), "{done}");
    // Programs without tests, or without tests of that name, are no reason to complain or to stop.
    let named = project
        .run("test --workspace --lib --bins --tests adds")
        .with_code(0);
    named
        .says(&["tickscope: tests of mylib-"])
        .says_nothing_of(&["no report"]);
    project
        .run("--record t.tks test --workspace --lib --bins --tests")
        .with_code(0);
    let recorded = |name: &str| {
        let mut files = fs::read_dir(project.dir())
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        files.any(|file| file.to_string_lossy().starts_with(&format!("t-{name}-")))
    };
    assert!(recorded("mylib") && recorded("whole") && !recorded("app"));
    let list = project.run("test -p mylib --lib -- --list").with_code(0);
    assert_eq!(list.out, "tests::adds: test\n\n1 test, 0 benchmarks\n");
    let bench = project.run("bench -p app").with_code(0);
    assert!(bench.out.contains("benchmark 3"), "{bench}");
    project.write("app/tests/whole.rs", "#[test]\nfn fails() { panic!() }\n");
    let failed = project.run("test -p app --no-fail-fast").with_code(101);
    assert!(failed.out.contains("test fails ... FAILED"), "{failed}");
}

fn what_is_built_can_be_run_by_hand() {
    let project = Project::fixture();
    project.run("build -p app").with_code(0);
    let done = finish(Command::new(project.built("debug/app")).arg("3")).with_code(3);
    assert!(done.out.contains("answer 42"), "{done}");
    // A variable with an invalid value is reported, but the program still runs.
    let report = project.dir().join("report.txt");
    let mut command = project.command(project.built("debug/app"));
    command
        .env("TICKSCOPE_REPORT", &report)
        .env("TICKSCOPE_FUNCTIONS", "maybe")
        .env("TICKSCOPE_BUDGET", "lots")
        .env("TICKSCOPE_NOT", "mylib,,other");
    finish(command.arg("3")).with_code(3);
    let kept = report.with_extension("txt.tks");
    let done = project.viewer(&["report", kept.to_str().unwrap()]).with_code(0);
    let said = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "TICKSCOPE_FUNCTIONS=maybe is not understood; allowed: on, every, off; the variable is ignored",
        "TICKSCOPE_BUDGET=lots is not understood; allowed: 0% to 1000%, off; the budget is 5%",
        "TICKSCOPE_NOT=mylib,,other is not understood; allowed: 1 to 96 bytes",
        "\"\" is left out",
    ] {
        assert!(said.contains(words), "{words}: {done}");
    }
}

tickscope_testkit::tests![
    output_arguments_and_codes_are_the_programs,
    the_collector_is_told_what_to_measure,
    the_projects_own_choice_is_passed_on,
    tests_benchmarks_and_documentation_tests_run_as_ever,
    what_is_built_can_be_run_by_hand,
];
