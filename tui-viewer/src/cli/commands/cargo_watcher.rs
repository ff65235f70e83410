//! Shows, records and reports on the programs that `cargo tickscope` starts, in the same way as `tickscope run` and
//! `tickscope record`.

use std::path::PathBuf;

use tickscope_cargo::watcher::Watcher;
use tickscope_command::child::Program;

use crate::cli::args::{LookArgs, RecordArgs};
use crate::cli::commands::record::started;
use crate::cli::commands::{run, test_report};

/// [`Watcher`] with the screen, the recorder and the reports of this package.
#[derive(Debug)]
pub struct CargoWatcher;

impl Watcher for CargoWatcher {
    type Look = LookArgs;

    fn watch(program: Program, report: bool, look: &LookArgs) -> anyhow::Result<u8> {
        run::watch_program(program, report, None, look)
    }

    fn record(program: Program, file: PathBuf) -> anyhow::Result<u8> {
        let args = RecordArgs {
            output: Some(file),
            ..RecordArgs::default()
        };
        started::run(&args, program)
    }

    fn time_tests(program: Program, tests: &[String], report: bool) -> anyhow::Result<u8> {
        test_report::run(program, tests, report)
    }
}
