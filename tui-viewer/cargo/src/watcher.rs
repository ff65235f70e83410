//! What the package with the binary does with each program that cargo starts.

use std::path::PathBuf;

use clap::Args;
use tickscope_command::child::Program;

/// Watches a program from its start to its end. Each function returns the program's exit code.
pub trait Watcher {
    /// Command-line arguments for the look of the screen.
    type Look: Args;

    /// Shows the program on the screen while it runs, or with `report` prints a report at its end.
    ///
    /// # Errors
    /// The program cannot be watched.
    fn watch(program: Program, report: bool, look: &Self::Look) -> anyhow::Result<u8>;

    /// Records the program in a new file.
    ///
    /// # Errors
    /// The program cannot be watched, or the file cannot be written.
    fn record(program: Program, file: PathBuf) -> anyhow::Result<u8>;

    /// Prints the tests of a test program, sorted by time, at its end. With `report`, also prints a report.
    ///
    /// # Errors
    /// The program cannot be watched.
    fn time_tests(program: Program, tests: &[String], report: bool) -> anyhow::Result<u8>;
}
