//! Commands of tickscope that watch the programs that cargo starts.

use std::path::PathBuf;

use clap::Args;
use tickscope_command::child::Program;

/// Watches a program from its start to its end. Each function returns the program's exit code, and fails if the program
/// cannot be watched.
pub trait Watcher {
    /// Arguments for the look of the screen.
    type Look: Args;

    /// Shows the program on the screen, or its `report` at the end.
    ///
    /// # Errors
    /// The program cannot be watched.
    fn watch(program: Program, report: bool, look: &Self::Look) -> anyhow::Result<u8>;

    /// Records the program in a new file.
    ///
    /// # Errors
    /// The program cannot be watched, or the file cannot be written.
    fn record(program: Program, file: PathBuf) -> anyhow::Result<u8>;

    /// Prints the tests of a test program by time, and its `report`, at the end.
    ///
    /// # Errors
    /// The program cannot be watched.
    fn time_tests(program: Program, tests: &[String], report: bool) -> anyhow::Result<u8>;
}
