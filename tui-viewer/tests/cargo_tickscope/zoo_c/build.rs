//! Compiles C code with the same conventions as the `cc` crate, but without depending on it.

use std::env::var;
use std::process::Command;

fn run(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

fn main() {
    let out = var("OUT_DIR").unwrap();
    let object = format!("{out}/sum.o");
    println!("cargo:rerun-if-env-changed=CC");
    let mut command = Command::new(var("CC").unwrap_or("cc".into()));
    run(command.args(["-O2", "-fPIC", "-c", "c/sum.c", "-o", &object]));
    run(Command::new("ar").args(["crs", &format!("{out}/libparts.a"), &object]));
    println!("cargo:rustc-link-lib=static=parts\ncargo:rustc-link-search=native={out}\ncargo:rerun-if-changed=c");
}
