//! The tests in the folder `it`, which need the feature `enable`. If it is missing, this program runs cargo again with
//! all features, because the hint that cargo prints after a failure, `to rerun pass -p tickscope --test it`, does not
//! mention any features.

use std::process::ExitCode;

#[cfg(feature = "enable")]
#[path = "it/all.rs"]
mod all;
#[cfg(feature = "enable")]
use all::{allocations, support, waits, watches};

#[cfg(feature = "enable")]
fn main() -> ExitCode {
    all::main()
}

#[cfg(not(feature = "enable"))]
#[allow(clippy::expect_used, reason = "a test that cannot go on has failed")]
fn main() -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let again = std::process::Command::new(cargo)
        .args([
            "test",
            "--package",
            "tickscope",
            "--features",
            "export",
            "--test",
            "it",
            "--",
        ])
        .args(std::env::args_os().skip(1))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo starts");
    if again.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
