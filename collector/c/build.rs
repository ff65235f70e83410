//! Says to the linker what `libtickscope.so` is called, and that it is never unloaded: its thread may run, and threads may have
//! counted, when a program closes the last library that uses it.
//!
//! A program looks for the name that is said here. Without more it is the name of the file that cargo leaves. The makefile installs the
//! library under the name of its interface, and says that one by `TICKSCOPE_SONAME`.

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
