//! Tells the linker to keep the installed programs small.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(out, "cargo::rerun-if-changed=build.rs")?;
    if is_small() {
        // The viewer needs no symbols for its local functions. If the profile keeps the demo's line tables, they are
        // compressed.
        writeln!(out, "cargo::rustc-link-arg-bins=-Wl,--discard-all")?;
        writeln!(
            out,
            "cargo::rustc-link-arg-bins=-Wl,--compress-debug-sections=zlib"
        )?;
    }
    Ok(())
}

/// Returns whether this build is meant for installation (optimised, without debug information) and has a linker that
/// knows the options.
fn is_small() -> bool {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    is("PROFILE", "release") && is("DEBUG", "false") && is("CARGO_CFG_TARGET_OS", "linux")
}
