//! Tests with paths as compilers write them.

use super::*;

fn sources() -> Sources {
    let member = |dir: &str, package: &str| Member {
        dir: dir.into(),
        package: package.into(),
    };
    Sources {
        workspace_root: "/home/u/work".into(),
        members: vec![
            member("/home/u/work", "app 0.1.0"),
            member("/home/u/work/crates/my-lib", "my-lib 2.0.0-rc.1"),
        ],
        sysroot: "/opt/rust".into(),
    }
}

fn rust(module: &str) -> Name {
    Name {
        module: module.into(),
        name: "f".into(),
        is_rust: true,
    }
}

fn place_of(file: &str, name: &Name) -> (Origin, String, String) {
    let sources = sources();
    let place = sources.places().of(file, name);
    (place.origin, place.package, place.file)
}

#[test]
fn files_say_whose_they_are_without_paths_of_the_machine() {
    // In the eighth row, cargo's folder is inside the workspace.
    let table = "
        /home/u/work/src/main.rs | Own | app 0.1.0 | src/main.rs
        /home/u/work/./src/a/../b.rs | Own | app 0.1.0 | src/b.rs
        /home/u/work/crates/my-lib/src/x.rs | Own | my-lib 2.0.0-rc.1 | crates/my-lib/src/x.rs
        /rustc/59807616e1fa/library/core/src/option.rs | Std | core | library/core/src/option.rs
        /opt/rust/lib/rustlib/src/rust/library/std/src/io/mod.rs | Std | std | library/std/src/io/mod.rs
        /rust/deps/hashbrown-0.16.1/src/raw.rs | Std | hashbrown 0.16.1 | hashbrown-0.16.1/src/raw.rs
        /home/u/.cargo/registry/src/index-1949cf8c6b5b557f/jpeg-2000-codec-1.2.3-beta.4/src/a/b.rs | Dependency | jpeg-2000-codec 1.2.3-beta.4 | jpeg-2000-codec-1.2.3-beta.4/src/a/b.rs
        /home/u/work/.cargo/registry/src/index/memchr-2.8.3/src/lib.rs | Dependency | memchr 2.8.3 | memchr-2.8.3/src/lib.rs
        /home/u/.cargo/git/checkouts/tokio-0f3c5e2a/1a2b3c4/tokio/src/lib.rs | Dependency | tokio | tokio/tokio/src/lib.rs
        /home/u/work/vendor/libc/src/lib.rs | Dependency | libc | libc/src/lib.rs
        /home/u/work/target/release/build/my-lib-0123456789abcdef/out/t.rs | Own | my-lib 2.0.0-rc.1 | my-lib/out/t.rs
        /tmp/t/release/build/proto-0123456789abcdef/out/t.rs | Dependency | proto | proto/out/t.rs
        /home/u/other/near/src/x.rs | Dependency | near | near/src/x.rs
        /home/u/other/x.rs | Dependency |  | x.rs
        /home/u/other/src/table.inc | Unknown |  | table.inc
    ";
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let parts: Vec<&str> = line.split(" | ").collect();
        let &[file, origin, package, short] = &parts[..] else {
            panic!("{line}")
        };
        let (found, of, place) = place_of(file, &rust("app"));
        assert_eq!(
            (format!("{found:?}"), of, place),
            (origin.into(), package.into(), short.into()),
            "{file}"
        );
    }
}

#[test]
fn a_workspace_in_cargos_folder_is_own() {
    let root = PathBuf::from("/c/registry/src/index/ripgrep-15.2.0");
    let sources = Sources {
        members: vec![Member {
            dir: root.clone(),
            package: "ripgrep 15.2.0".into(),
        }],
        workspace_root: root,
        ..Sources::default()
    };
    let mut places = sources.places();
    let own = places.of(
        "/c/registry/src/index/ripgrep-15.2.0/crates/core/main.rs",
        &rust("rg"),
    );
    assert_eq!(own.origin, Origin::Own);
    assert_eq!(own.file.as_str(), "crates/core/main.rs");
    let other = places.of("/c/registry/src/index/bstr-1.13.0/src/lib.rs", &rust("bstr"));
    assert_eq!(other.origin, Origin::Dependency);
}

#[test]
fn without_a_file_the_crate_decides() {
    for (module, origin, package) in [
        ("alloc::vec", Origin::Std, "alloc"),
        ("my_lib::x", Origin::Own, "my-lib 2.0.0-rc.1"),
        ("app", Origin::Own, "app 0.1.0"),
        ("regex::bytes", Origin::Dependency, "regex"),
    ] {
        let expected = (origin, package.to_string(), String::new());
        assert_eq!(place_of("", &rust(module)), expected, "{module}");
    }
    let nameless = Name::of_address(16);
    assert_eq!(
        place_of("", &nameless),
        (Origin::Unknown, String::new(), String::new())
    );
    // The path is relative because the compiler was told to remap it.
    let remapped = place_of("src/x.rs", &rust("my_lib::x"));
    assert_eq!(remapped.2, "src/x.rs");
    assert_eq!(place_of("../../secret/x.rs", &nameless).2, "");
}

#[test]
fn files_are_modules_of_names_without_one() {
    let module = |file: &str| {
        let sources = sources();
        let name = Name::of_address(16);
        sources.places().of(file, &name).module()
    };
    assert_eq!(module("/home/u/work/src/net/http.rs"), "app::net::http");
    assert_eq!(module("/home/u/work/crates/my-lib/src/lib.rs"), "my_lib");
    assert_eq!(module(""), "");
}
