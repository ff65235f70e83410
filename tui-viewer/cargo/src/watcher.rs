//! How a program that cargo starts is watched. The package that contains the binary implements this.

use std::path::PathBuf;

use clap::Args;
use tickscope_command::child::Program;

/// Watches a program from its start to its end. Each function returns the program's exit code.
pub trait Watcher {
    /// Command-line arguments for the appearance of the screen.
    type Look: Args;

    /// Shows the program on the screen while it runs or, with `report`, prints a report once it has ended.
    ///
    /// # Errors
    /// The program cannot be watched.
    fn watch(program: Program, report: bool, look: &Self::Look) -> anyhow::Result<u8>;

    /// Records the program to a new file.
    ///
    /// # Errors
    /// The program cannot be watched, or the file cannot be written.
    fn record(program: Program, file: PathBuf) -> anyhow::Result<u8>;

    /// Runs a test program, and then prints its tests, sorted by time. With `report`, also prints a report.
    ///
    /// # Errors
    /// The program cannot be watched.
    fn time_tests(program: Program, tests: &[String], report: bool) -> anyhow::Result<u8>;
}
