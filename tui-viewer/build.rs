//! Has the linker make the installed programs small.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(out, "cargo::rerun-if-changed=build.rs")?;
    if is_small() {
        // The viewer needs no names of its own functions. The demo's lines, if the profile keeps them, are compressed.
        writeln!(out, "cargo::rustc-link-arg-bins=-Wl,--discard-all")?;
        writeln!(
            out,
            "cargo::rustc-link-arg-bins=-Wl,--compress-debug-sections=zlib"
        )?;
    }
    Ok(())
}

/// Returns whether this is a build to be installed: optimised and without debug information, for a linker that knows
/// the options.
fn is_small() -> bool {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    is("PROFILE", "release") && is("DEBUG", "false") && is("CARGO_CFG_TARGET_OS", "linux")
}
