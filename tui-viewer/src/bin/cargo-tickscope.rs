//! The `cargo tickscope` command. cargo starts this program again, in other roles: see `tickscope_cargo`.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGXFSZ;
use tickscope_cargo::role;
use tickscope_cli::cli::commands::cargo_watcher::CargoWatcher;
use tickscope_command::console;

fn main() -> ExitCode {
    // Registering a flag replaces the signal's default action, so a write beyond the file size limit fails with an
    // error instead of killing the process.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    match role::play::<CargoWatcher>(std::env::args_os().collect()) {
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
