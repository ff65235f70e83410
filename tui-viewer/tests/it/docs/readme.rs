//! The README stays short, and contains the facts that newcomers look for.

use crate::docs::{README, read};

/// Maximum length of the README in bytes, to keep it short enough to read in one sitting. The book contains the rest.
const LONGEST: usize = 10_000;

fn the_readme_stays_short() {
    let bytes = read(README).len();
    assert!(bytes <= LONGEST, "{bytes} bytes");
}

fn the_readme_has_two_commands_and_what_a_newcomer_looks_for() {
    let readme = read(README);
    for line in [
        "![The call tree of a running program](docs/pictures/tree-120x40.svg)",
        "cargo run --release -- demo ",
        "cargo test --workspace ",
        "cargo install --locked --profile dist --path tui-viewer",
        "profile = [\"tickscope/enable\"]",
        "## Use it in your program",
        "### Inside a dependency",
        "## What you get",
        "## What it costs",
        "## How it compares",
        "## Platforms",
        "## Documents",
    ] {
        assert!(readme.lines().any(|found| found.starts_with(line)), "{line}");
    }
}

tickscope_testkit::tests![
    the_readme_stays_short,
    the_readme_has_two_commands_and_what_a_newcomer_looks_for
];
