//! Help texts, manual pages and completions.

use std::process::Command;

use clap::CommandFactory;
use tickscope_cli::cli::args::Cli;
use tickscope_testkit::suite::skip;

use crate::support::{Place, finish_with};

fn help_shows_examples_and_every_command() {
    let place = Place::new();
    let help = place.told(&["--help"]);
    assert!(help.contains("Examples:\n  tickscope "), "{help}");
    for command in Cli::command().get_subcommands() {
        let line = format!("\n  {} ", command.get_name());
        assert_eq!(help.contains(&line), !command.is_hide_set(), "{line}: {help}");
    }
    assert!(help.contains("[alias: ls]"), "{help}");
    assert!(help.contains("alias: dump"), "{help}");
    assert!(!help.contains("panic-after"), "{help}");
    assert!(help.lines().all(|line| line.chars().count() <= 120), "{help}");
    for (args, begins) in [
        (
            &["report", "--help"][..],
            "Print the call tree and the top functions",
        ),
        (&["--version"], "tickscope "),
        (&["agents"], "tickscope: a guide for agents and scripts\n"),
    ] {
        let out = place.told(args);
        assert!(out.starts_with(begins), "{out}");
    }
}

/// Returns whether a program accepts a text on its standard input without errors. If the program is missing, the test
/// is skipped.
fn accepts(program: &str, arguments: &[&str], text: &str) -> bool {
    if Command::new(program).arg("--version").output().is_err() {
        skip(format_args!("no {program} here"));
    }
    let done = finish_with(Command::new(program).args(arguments), text.as_bytes());
    done.code == Some(0) && done.err.is_empty()
}

fn completions_have_the_commands_for_users_of_each_shell() {
    let place = Place::new();
    for (shell, needle) in [
        ("bash", "complete -F _tickscope"),
        ("zsh", "#compdef tickscope"),
        ("fish", "complete -c tickscope"),
    ] {
        let script = place.told(&["completions", shell]);
        for word in [needle, "snapshot", "min-share"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
        for hidden in ["demo-program", "panic-after"] {
            assert!(!script.contains(hidden), "{shell}: {hidden}");
        }
    }
    let wrong = place.tickscope(&["completions", "tcsh"]);
    assert!(wrong.err.contains("possible values"), "{}", wrong.err);
}

fn assert_completions_are_accepted_by(shell: &str) {
    let script = Place::new().tickscope(&["completions", shell]).ok().out;
    assert!(accepts(shell, &["-n"], &script), "{shell} -n");
}

fn bash_accepts_its_completions() {
    assert_completions_are_accepted_by("bash");
}

fn zsh_accepts_its_completions() {
    assert_completions_are_accepted_by("zsh");
}

fn fish_accepts_its_completions() {
    assert_completions_are_accepted_by("fish");
}

/// Runs the bash completion script as the shell does when the cursor is on the first argument.
fn bash_completes_names_of_programs_that_run() {
    let (place, program) = Place::with("busy");
    let script = place.told(&["completions", "bash"]);
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_tickscope"));
    let folder = binary.parent().expect("a folder").display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let complete = |word: &str| {
        let run = format!(
            "{script}\nCOMP_WORDS=(tickscope '{word}'); COMP_CWORD=1; COMPREPLY=()\n\
             _tickscope_with_programs tickscope '{word}' tickscope\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        );
        let mut command = place.command("bash");
        let done = command.arg("-c").arg(run).env("PATH", &path).output();
        String::from_utf8(done.expect("bash is there").stdout).expect("text")
    };
    let name = &program.name;
    let has = |all: &str, word: &str| all.lines().any(|line| line == word);
    let all = complete("");
    assert!(has(&all, name), "{name} in {all}");
    assert!(has(&all, "report"), "commands as before: {all}");
    let begun = complete(&name[..2]);
    assert!(has(&begun, name), "{begun}");
    let option = complete("--th");
    assert_eq!(option.trim(), "--theme");
}

fn the_manual_has_a_page_for_all_and_for_each_command() {
    let place = Place::new();
    let page = place.told(&["man"]);
    for word in [
        ".TH tickscope 1",
        ".SH SYNOPSIS",
        ".SH EXAMPLES\n.nf\n  tickscope ",
        "mode exact",
    ] {
        assert!(page.contains(word), "no {word}: {page}");
    }
    let of_report = place.told(&["man", "report"]);
    assert!(of_report.contains(".TH tickscope-report 1"), "{of_report}");
    assert!(of_report.contains("500ms"), "{of_report}");
    let wrong = place.tickscope(&["man", "reprot"]);
    wrong.says(&["no command reprot", "report"]);
}

fn groff_accepts_the_pages_of_the_manual() {
    let place = Place::new();
    for page in [&["man"][..], &["man", "report"]] {
        let text = place.tickscope(page).ok().out;
        let groff = ["-man", "-Tascii", "-ww", "-z"];
        assert!(accepts("groff", &groff, &text), "groff -man: {page:?}");
    }
}

tickscope_testkit::tests![
    help_shows_examples_and_every_command,
    completions_have_the_commands_for_users_of_each_shell,
    bash_accepts_its_completions,
    zsh_accepts_its_completions,
    fish_accepts_its_completions,
    bash_completes_names_of_programs_that_run,
    the_manual_has_a_page_for_all_and_for_each_command,
    groff_accepts_the_pages_of_the_manual,
];
