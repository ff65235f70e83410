//! Sets the soname of `libtickscope.so`, and the linker flag `nodelete`, so that the library is never unloaded. It must
//! stay loaded even if a program closes the last plugin that uses it, because the publisher thread may still run the
//! library's code, and so may measured threads when they end.
//!
//! Programs look for the library by its soname. By default, the soname is the name of the file that cargo writes. The
//! makefile installs the library as `libtickscope.so.0`, a name that includes the version of the interface, and passes
//! that name in `TICKSCOPE_SONAME`.

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
