//! Does nothing. Cargo accepts the key `links` only for packages with a build script.

use std::io::Write;

fn main() -> std::io::Result<()> {
    writeln!(std::io::stdout(), "cargo::rerun-if-changed=build.rs")
}
