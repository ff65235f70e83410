//! Passes the name of `libtickscope.so` to the linker, and a flag that the library is never unloaded. When a program
//! closes the last library that uses it, its thread may still run, and threads may have counted.
//!
//! Programs look for the library by this name. By default, it is the name of the file that cargo writes. The makefile
//! installs the library under the name of its interface, and passes that name by `TICKSCOPE_SONAME`.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "cargo::rerun-if-changed=build.rs")?;
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        writeln!(out, "cargo::rerun-if-env-changed=TICKSCOPE_SONAME")?;
        let name = std::env::var("TICKSCOPE_SONAME").unwrap_or_else(|_| "libtickscope.so".into());
        writeln!(out, "cargo::rustc-cdylib-link-arg=-Wl,-soname,{name}")?;
        writeln!(out, "cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete")?;
    }
    Ok(())
}
