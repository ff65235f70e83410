//! Tests libraries that are loaded while a program runs.

use std::path::{Path, PathBuf};

use crate::support::{self, Counted, Language, compile, done, source};

/// Builds the plugin. If `is_shared`, it uses the shared library; otherwise it contains a collector of its own.
fn plugin(dir: &Path, compiler: &str, name: &str, is_shared: bool) -> PathBuf {
    let library = dir.join(name);
    let mut command = compile(compiler, Language::C, &["-O2", "-fPIC", "-shared"]);
    command
        .arg(source("plugin.c"))
        .args(["-x", "none", "-o"])
        .arg(&library);
    if is_shared {
        command.arg("-L").arg(support::libraries()).arg("-ltickscope");
        command.arg(format!("-Wl,-rpath,{}", support::libraries().display()));
    } else {
        command
            .arg(support::libraries().join("libtickscope.a"))
            .args(support::SYSTEM);
        // Like the shared library, the plugin is never unloaded, because it contains the collector.
        command.arg("-Wl,-z,nodelete").arg("-Wl,--exclude-libs,ALL");
    }
    done(&mut command);
    library
}

fn calls(path: &Path) -> (u64, u64, u64) {
    let calls = Counted::read(path).calls();
    let of = |name: &str| calls.get(name).copied().unwrap_or(0);
    (of("work"), of("of plugin"), of("bytes"))
}

fn libraries_share_a_collector_or_have_one_each() {
    let compiler = Language::C.compiler();
    let dir = tempfile::tempdir().unwrap();
    let host = dir.path().join("host");
    let mut command = compile(compiler, Language::C, &["-O1"]);
    done(
        command
            .arg(source("host.c"))
            .args(["-x", "none", "-o"])
            .arg(&host)
            .args(["-ldl", "-lpthread"]),
    );
    for is_shared in [true, false] {
        let mut command = support::program(&host, dir.path());
        let mut kept = Vec::new();
        for name in ["one", "two"] {
            let name = format!("{name}{is_shared}");
            command.arg(plugin(dir.path(), compiler, &format!("lib{name}.so"), is_shared));
            command.arg(dir.path().join(&name));
            kept.push(name);
        }
        done(&mut command);
        let calls = |name: &str, round: u32| calls(&dir.path().join(format!("{name}.{round}.tks")));
        // In each round, two threads call `work` of each library, with 5 and with 3 iterations.
        let times = |n: u64| (2 * n, 8 * n, 8 * n);
        let wanted = if is_shared { [1, 2, 3, 4] } else { [1, 1, 2, 2] };
        let counted = [
            calls(&kept[0], 0),
            calls(&kept[1], 0),
            calls(&kept[0], 1),
            calls(&kept[1], 1),
        ];
        assert_eq!(counted, wanted.map(times), "shared: {is_shared}");
    }
}

fn a_program_starts_with_the_shared_library_that_cargo_leaves() {
    let compiler = Language::C.compiler();
    let dir = tempfile::tempdir().unwrap();
    // The folder contains only the library, under the name that cargo gives it.
    let library = dir.path().join("libtickscope.so");
    std::fs::copy(support::libraries().join("libtickscope.so"), library).unwrap();
    let program = dir.path().join("program");
    let mut command = compile(compiler, Language::C, &["-O1"]);
    command
        .arg(source("lines.c"))
        .args(["-x", "none", "-ltickscope", "-L"])
        .arg(dir.path());
    command.arg(format!("-Wl,-rpath,{}", dir.path().display()));
    done(command.arg("-o").arg(&program));
    let kept = dir.path().join("kept.tks");
    done(support::program(&program, dir.path()).arg(&kept));
    assert_eq!(Counted::read(&kept).calls().get("line one"), Some(&1));
}

tickscope_testkit::tests![
    libraries_share_a_collector_or_have_one_each,
    a_program_starts_with_the_shared_library_that_cargo_leaves,
];
