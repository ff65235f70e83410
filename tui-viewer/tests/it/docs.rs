//! The README and the book in `docs/`: links lead to existing files, commands parse, and tables match the code.

mod ci;
mod commands;
mod links;
mod markdown;
mod readme;
mod runs;
pub(crate) mod shell;
mod tables;

use std::path::{Path, PathBuf};

use tickscope_testkit::suite::Case;

pub(crate) const TESTS: &[&[Case]] = &[
    runs::TESTS,
    ci::TESTS,
    commands::TESTS,
    links::TESTS,
    markdown::TESTS,
    readme::TESTS,
    shell::TESTS,
    tables::TESTS,
];

/// The README, which is not part of the book.
const README: &str = "README.md";

/// Pages outside the book whose links are checked.
const OTHER_PAGES: [&str; 4] = [README, "ARCHITECTURE.md", "CHANGELOG.md", "SECURITY.md"];

/// Pages besides the README that newcomers read first. Package registries show the READMEs of the packages.
const FIRST_PAGES: [&str; 13] = [
    "CONTRIBUTING.md",
    "examples/README.md",
    "collector/README.md",
    "collector/c/README.md",
    "collector/criterion/README.md",
    "collector/macros/README.md",
    "collector/profiling/README.md",
    "collector/tracing/README.md",
    "shared-format/README.md",
    "shared-format/analysis/README.md",
    "shared-format/report/README.md",
    "tui-viewer/README.md",
    "tui-viewer/demo/README.md",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the text of a file. Its path is relative to the root of the repository.
fn read(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// Returns the pages of the book in reading order. The paths are relative to the root of the repository.
fn book() -> Vec<String> {
    let summary = read("docs/SUMMARY.md");
    let pages: Vec<String> = markdown::links(&summary)
        .iter()
        .map(|link| format!("docs/{link}"))
        .collect();
    assert!(pages.len() > 10, "{pages:?}");
    pages
}

/// Returns the pages whose commands, names and tables are checked: the book, the README and [`FIRST_PAGES`].
fn pages() -> Vec<String> {
    let mut pages = book();
    pages.push(README.into());
    pages.extend(FIRST_PAGES.map(String::from));
    pages
}
