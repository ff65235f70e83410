//! Says to the linker what `libtickscope.so` is called, and that it is never unloaded: its thread may run, and threads may have
//! counted, when a program closes the last library that uses it.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "cargo::rerun-if-changed=build.rs")?;
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        writeln!(out, "cargo::rustc-cdylib-link-arg=-Wl,-soname,libtickscope.so.0")?;
        writeln!(out, "cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete")?;
    }
    Ok(())
}
