//! Compiles C and C++ by the rules of the crate `cc`, without that crate.

use std::env::var;
use std::process::Command;

fn run(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

fn main() {
    let (target, out) = (var("TARGET").unwrap().replace('-', "_"), var("OUT_DIR").unwrap());
    let mut objects = Vec::new();
    for (file, compiler, flags, usual) in [
        ("sum.c", "CC", "CFLAGS", "cc"),
        ("thing.cpp", "CXX", "CXXFLAGS", "c++"),
    ] {
        println!("cargo:rerun-if-env-changed={compiler}");
        let compiler = var(compiler).unwrap_or(usual.into());
        let flags = var(format!("{flags}_{target}")).or(var(flags)).unwrap_or_default();
        let object = format!("{out}/{file}.o");
        let mut command = Command::new(compiler);
        command.args(["-O2", "-fPIC"]).args(flags.split_whitespace());
        run(command.args(["-c", &format!("c/{file}"), "-o", &object]));
        objects.push(object);
    }
    run(Command::new("ar").arg("crs").arg(format!("{out}/libparts.a")).args(objects));
    println!("cargo:rustc-link-lib=static=parts\ncargo:rustc-link-search=native={out}\ncargo:rerun-if-changed=c");
    println!("cargo:rustc-link-lib=stdc++");
}
