//! The tests and benchmarks of a test program, taken from the list that it prints.

use std::process::Command;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Names of its tests.
    pub(crate) tests: Vec<String>,
    /// Number of its benchmarks.
    pub(crate) benchmarks: usize,
}

/// Runs `list`, a command that makes a test program print its tests and benchmarks, and returns them. Returns `None` if the
/// program refuses the command.
///
/// # Errors
/// The program cannot be started.
pub(crate) fn listed(list: &mut Command) -> std::io::Result<Option<Listed>> {
    let output = list.env_remove("TICKSCOPE").output()?;
    let is_list = output.status.success();
    Ok(is_list.then(|| listed_in(&String::from_utf8_lossy(&output.stdout))))
}

fn listed_in(list: &str) -> Listed {
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    Listed {
        tests: tests.map(ToString::to_string).collect(),
        benchmarks: list.lines().filter(|line| line.ends_with(": benchmark")).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_list() {
        let list = "tests::adds: test\nslow: test\nspeed: benchmark\n\n2 tests, 1 benchmark\n";
        let wanted = Listed {
            tests: vec!["tests::adds".into(), "slow".into()],
            benchmarks: 1,
        };
        assert_eq!(listed_in(list), wanted);
    }
}
