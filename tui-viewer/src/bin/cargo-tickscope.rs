//! The `cargo tickscope` command, and what it has cargo start: see `tickscope_cli::cargo`.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGXFSZ;
use tickscope_cli::cargo::role;
use tickscope_cli::output::console;

/// The sources of the collector, which are built with the compiler of each project.
static SOURCES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sources.tar.gz"));

fn main() -> ExitCode {
    // As in `tickscope`: beyond the limit of a file's size a write is an error, and no death.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    match role::play(std::env::args_os().collect(), SOURCES) {
        Ok(code) => console::code(code),
        Err(error) => {
            console::say(&console::in_one_line(&error));
            console::code(if error.is::<console::Misuse>() {
                console::NO_TARGET
            } else {
                console::FAILED
            })
        }
    }
}
