//! `justfile` and the CI workflow contain the commands of `.ci/run`.

use crate::docs::read;

/// Returns the commands of `.ci/run`. Leaves out commands with shell variables, and removes options and pipes that only
/// collect output.
fn steps() -> Vec<String> {
    let script = read(".ci/run");
    let commands = script
        .lines()
        .filter(|line| !line.starts_with("step()"))
        .filter_map(|line| line.split_once("step "))
        .filter(|(environment, _)| environment.is_empty() || environment.contains('='))
        .map(|(_, command)| command.split(" | ").next().unwrap());
    let plain = commands.map(|command| command.trim_end_matches(" -- --show-output"));
    plain
        .filter(|command| !command.contains('$'))
        .map(ToString::to_string)
        .collect()
}

fn recipes_and_workflow_have_every_step() {
    let steps = steps();
    assert!(steps.len() > 10, "{steps:?}");
    for file in ["justfile", ".github/workflows/ci.yml"] {
        let text = read(file);
        for step in &steps {
            assert!(
                text.contains(step.as_str()),
                "{file} has no `{step}`, which .ci/run has"
            );
        }
    }
}

tickscope_testkit::tests![recipes_and_workflow_have_every_step];
