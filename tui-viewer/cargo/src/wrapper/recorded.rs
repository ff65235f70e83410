//! Compiler calls recorded from cargo 1.95, with shortened paths.

use std::ffi::OsString;

use crate::invocation::Invocation;

/// Returns the recorded call with this name.
pub(crate) fn read(name: &str) -> Invocation {
    let found = CALLS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text);
    let words: Vec<OsString> = found
        .unwrap_or_else(|| panic!("no call {name}"))
        .lines()
        .flat_map(|line| line.splitn(2, ' '))
        .map(OsString::from)
        .collect();
    Invocation::read(&words)
}

/// Name and arguments of each call. Each line is an argument, or an option with its value.
const CALLS: [(&str, &str); 8] = [
    // A dependency, in release.
    (
        "library",
        r#"/toolchain/bin/rustc
--crate-name crc32fast
--edition=2021
/registry/crc32fast-1.5.4/src/lib.rs
--error-format=json
--json=diagnostic-rendered-ansi,artifacts,future-incompat
--crate-type lib
--emit=dep-info,metadata,link
-C opt-level=3
-C embed-bitcode=no
-C debuginfo=line-tables-only
--cfg feature="default"
--cfg feature="std"
--check-cfg cfg(docsrs,test)
--check-cfg cfg(feature, values("default", "nightly", "std"))
-C metadata=bfa2a35a62af1d4e
-C extra-filename=-df498c8c5b80aed1
--out-dir /p/target/tickscope/x86_64-unknown-linux-gnu/release/deps
--target x86_64-unknown-linux-gnu
-L dependency=/p/target/tickscope/x86_64-unknown-linux-gnu/release/deps
-L dependency=/p/target/tickscope/release/deps
--extern cfg_if=/p/target/tickscope/x86_64-unknown-linux-gnu/release/deps/libcfg_if-0b47620ca50bca42.rmeta
--cap-lints allow
--cfg stable_arm_crc32_intrinsics
--cfg stable_vpclmulqdq
--check-cfg cfg(stable_arm_crc32_intrinsics)
--check-cfg cfg(stable_vpclmulqdq)"#,
    ),
    // A program, in debug.
    (
        "program",
        r#"/toolchain/bin/rustc
--crate-name app
--edition=2021
app/src/main.rs
--error-format=json
--json=diagnostic-rendered-ansi,artifacts,future-incompat
--crate-type bin
--emit=dep-info,link
-C embed-bitcode=no
-C debuginfo=2
--check-cfg cfg(docsrs,test)
--check-cfg cfg(feature, values())
-C metadata=45b899e511dde3e9
-C extra-filename=-d1d271e3bf7fb934
--out-dir /p/target/tickscope/x86_64-unknown-linux-gnu/debug/deps
--target x86_64-unknown-linux-gnu
-C incremental=/p/target/tickscope/x86_64-unknown-linux-gnu/debug/incremental
-L dependency=/p/target/tickscope/x86_64-unknown-linux-gnu/debug/deps
-L dependency=/p/target/tickscope/debug/deps
--extern macros=/p/target/tickscope/debug/deps/libmacros-909f02049ce663b4.so
--extern mylib=/p/target/tickscope/x86_64-unknown-linux-gnu/debug/deps/libmylib-e21d166bf3034fbd.rlib"#,
    ),
    // A program in release, with a profile that strips it.
    (
        "released",
        r#"/toolchain/bin/rustc
--crate-name app
--edition=2021
app/src/main.rs
--error-format=json
--json=diagnostic-rendered-ansi,artifacts,future-incompat
--crate-type bin
--emit=dep-info,link
-C opt-level=3
-C embed-bitcode=no
--check-cfg cfg(docsrs,test)
--check-cfg cfg(feature, values())
-C metadata=50a2f61e5ae21dc2
-C extra-filename=-9c8c1622776137bb
--out-dir /p/target/tickscope/x86_64-unknown-linux-gnu/release/deps
--target x86_64-unknown-linux-gnu
-C strip=symbols
-L dependency=/p/target/tickscope/x86_64-unknown-linux-gnu/release/deps
-L dependency=/p/target/tickscope/release/deps
--extern macros=/p/target/tickscope/release/deps/libmacros-cb5736e280a271b3.so
--extern mylib=/p/target/tickscope/x86_64-unknown-linux-gnu/release/deps/libmylib-e8afd667e94cd116.rlib"#,
    ),
    // A library's unit tests.
    (
        "test",
        r#"/toolchain/bin/rustc
--crate-name mylib
--edition=2021
mylib/src/lib.rs
--error-format=json
--json=diagnostic-rendered-ansi,artifacts,future-incompat
--emit=dep-info,link
-C embed-bitcode=no
-C debuginfo=2
--test
--check-cfg cfg(docsrs,test)
--check-cfg cfg(feature, values())
-C metadata=3da3aabde35d0707
-C extra-filename=-c9055ba26826f591
--out-dir /p/target/tickscope/x86_64-unknown-linux-gnu/debug/deps
--target x86_64-unknown-linux-gnu
-C incremental=/p/target/tickscope/x86_64-unknown-linux-gnu/debug/incremental
-L dependency=/p/target/tickscope/x86_64-unknown-linux-gnu/debug/deps
-L dependency=/p/target/tickscope/debug/deps"#,
    ),
    // A crate that is both a `cdylib` and a Rust library.
    (
        "shared",
        r#"/toolchain/bin/rustc
--crate-name plugin
--edition=2021
plugin/src/lib.rs
--error-format=json
--json=diagnostic-rendered-ansi,artifacts,future-incompat
--crate-type cdylib
--crate-type rlib
--emit=dep-info,link
-C embed-bitcode=no
-C debuginfo=2
--check-cfg cfg(docsrs,test)
--check-cfg cfg(feature, values())
-C metadata=cdc58e43375fbadd
--out-dir /p/target/tickscope/x86_64-unknown-linux-gnu/debug/deps
--target x86_64-unknown-linux-gnu
-C incremental=/p/target/tickscope/x86_64-unknown-linux-gnu/debug/incremental
-L dependency=/p/target/tickscope/x86_64-unknown-linux-gnu/debug/deps
-L dependency=/p/target/tickscope/debug/deps
--extern mylib=/p/target/tickscope/x86_64-unknown-linux-gnu/debug/deps/libmylib-e21d166bf3034fbd.rlib"#,
    ),
    // A procedural macro.
    (
        "proc_macro",
        r#"/toolchain/bin/rustc
--crate-name macros
--edition=2021
macros/src/lib.rs
--error-format=json
--json=diagnostic-rendered-ansi,artifacts,future-incompat
--crate-type proc-macro
--emit=dep-info,link
-C prefer-dynamic
-C embed-bitcode=no
-C debuginfo=2
--check-cfg cfg(docsrs,test)
--check-cfg cfg(feature, values())
-C metadata=0c82109eab02c1c7
-C extra-filename=-909f02049ce663b4
--out-dir /p/target/tickscope/debug/deps
-C incremental=/p/target/tickscope/debug/incremental
-L dependency=/p/target/tickscope/debug/deps
--extern proc_macro"#,
    ),
    // A build script.
    (
        "build_script",
        r#"/toolchain/bin/rustc
--crate-name build_script_build
--edition=2021
app/build.rs
--error-format=json
--json=diagnostic-rendered-ansi,artifacts,future-incompat
--crate-type bin
--emit=dep-info,link
-C embed-bitcode=no
-C debuginfo=2
--check-cfg cfg(docsrs,test)
--check-cfg cfg(feature, values())
-C metadata=0d56de813cd7e80a
-C extra-filename=-41d5a9072e54a5c8
--out-dir /p/target/tickscope/debug/build/app-41d5a9072e54a5c8
-C incremental=/p/target/tickscope/debug/incremental
-L dependency=/p/target/tickscope/debug/deps
--extern mylib=/p/target/tickscope/debug/deps/libmylib-80fa9d9c06cd1f45.rlib"#,
    ),
    // Cargo queries the version.
    (
        "version",
        r#"/toolchain/bin/rustc
-vV"#,
    ),
];
