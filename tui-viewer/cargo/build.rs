//! Packs the sources of the collector and of all crates that it needs. `cargo tickscope` builds them with the same
//! compiler as the program that it prepares for profiling.
//!
//! In the repository, this script creates the archive. A published package already contains it, created by
//! `.ci/package`, because crates from the registry come without the sources of the other crates. The archive is a
//! complete workspace that needs no registry: each manifest enables the features that the collector needs, and refers
//! to its dependencies by path instead of by version.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

type Done<T> = Result<T, Box<dyn Error>>;

/// File name of the archive. In a published package, it is next to this file; in the repository, it is in OUT_DIR.
const ARCHIVE: &str = "sources.tar.gz";

/// Target for which dependencies are packed. Those that only other systems need are left out.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Files and folders of the libc crate that a build for Linux needs, about a tenth of the crate.
const LIBC: [&str; 11] = [
    "src/lib.rs",
    "src/macros.rs",
    "src/primitives.rs",
    "src/types.rs",
    "src/new/mod.rs",
    "src/new/common",
    "src/new/linux_uapi",
    "src/new/glibc",
    "src/new/musl",
    "src/unix/mod.rs",
    "src/unix/linux_like",
];

/// Names of files and folders in the libc crate that are left out, because they are for other systems or CPUs.
const LIBC_OTHERS: [&str; 20] = [
    "aarch64",
    "android",
    "apple",
    "arm",
    "b32",
    "csky",
    "emscripten",
    "hexagon",
    "l4re",
    "loongarch64",
    "m68k",
    "mips",
    "mips64",
    "powerpc",
    "powerpc64",
    "riscv64",
    "s390x",
    "sparc",
    "sparc64",
    "uclibc",
];

fn main() -> Done<()> {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let root = here.join("../..");
    say("rerun-if-changed=build.rs")?;
    say(&format!(
        "rustc-env=CARGO_TICKSCOPE_REVISION={}",
        revision(&here)?
    ))?;
    let packed = out.join(ARCHIVE);
    if root.join("collector/Cargo.toml").exists() && root.join("shared-format/Cargo.toml").exists() {
        let archive = pack(&root, &out)?;
        // Leave an unchanged archive alone, so that cargo does not recompile the crate that includes it.
        if fs::read(&packed).ok().as_ref() != Some(&archive) {
            fs::write(&packed, archive)?;
        }
    } else {
        say(&format!("rerun-if-changed={ARCHIVE}"))?;
        fs::copy(here.join(ARCHIVE), &packed)
            .map_err(|error| format!("{}: {error}; .ci/package makes it", here.join(ARCHIVE).display()))?;
    }
    Ok(())
}

fn say(line: &str) -> Done<()> {
    Ok(writeln!(std::io::stdout(), "cargo::{line}")?)
}

/// Returns a hash of this crate's sources. Cargo links programs again if the hash or the collector changes.
fn revision(here: &Path) -> Done<String> {
    let mut files = Vec::new();
    say("rerun-if-changed=src")?;
    list(&here.join("src"), &mut files)?;
    let mut hasher = DefaultHasher::new();
    for file in files {
        fs::read(file)?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// A package of the archive.
struct Package<'a> {
    facts: &'a Value,
    /// Folder in the archive.
    folder: String,
    /// Folder on this machine.
    dir: PathBuf,
    features: Vec<String>,
    /// Package ids of the dependencies, by the names under which the sources refer to them.
    normal: BTreeMap<&'a str, &'a str>,
    build: BTreeMap<&'a str, &'a str>,
}

/// Returns the bytes of the archive.
fn pack(root: &Path, out: &Path) -> Done<Vec<u8>> {
    let alone = alone(root, out)?;
    let metadata = cargo(
        &alone,
        &["metadata", "--format-version", "1", "--filter-platform", PLATFORM],
    )?;
    let metadata = serde_json::from_str(&metadata)?;
    let packages = packages(&metadata, built(&alone)?)?;
    say(&format!("rerun-if-changed={}", root.join("Cargo.lock").display()))?;
    say(&format!("rerun-if-changed={}", root.join("Cargo.toml").display()))?;
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    let folders: Vec<String> = packages.values().map(|package| quoted(&package.folder)).collect();
    let workspace = format!(
        "[workspace]\nresolver = \"2\"\nmembers = [{}]\n",
        folders.join(", ")
    );
    append(&mut tar, "Cargo.toml", workspace.as_bytes())?;
    for package in packages.values() {
        let manifest = manifest(package, &packages)?;
        append(
            &mut tar,
            &format!("{}/Cargo.toml", package.folder),
            manifest.as_bytes(),
        )?;
        if package.facts["source"].is_null() {
            for part in ["src", "Cargo.toml", "build.rs"] {
                // If a path here did not exist, cargo would run this script on every build.
                let part = package.dir.join(part);
                if part.exists() {
                    say(&format!("rerun-if-changed={}", part.display()))?;
                }
            }
        }
        let mut files = Vec::new();
        list(&package.dir, &mut files)?;
        for file in files {
            let name = file.strip_prefix(&package.dir)?.to_string_lossy().into_owned();
            if is_wanted(text(&package.facts["name"])?, &name) {
                append(&mut tar, &format!("{}/{name}", package.folder), &fs::read(&file)?)?;
            }
        }
    }
    Ok(tar.into_inner()?.finish()?)
}

/// Creates a package whose only dependency is the collector. In the workspace, other packages could enable more
/// features of the shared dependencies.
fn alone(root: &Path, out: &Path) -> Done<PathBuf> {
    let alone = out.join("collector");
    fs::create_dir_all(alone.join("src"))?;
    fs::write(alone.join("src/lib.rs"), "")?;
    fs::copy(root.join("Cargo.lock"), alone.join("Cargo.lock"))?;
    let manifest = format!(
        "[package]\nname = \"alone\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\ntickscope = {{ path = {}, features = [\"functions\"] }}\n",
        quoted(&text_of(&fs::canonicalize(root.join("collector"))?)?)
    );
    fs::write(alone.join("Cargo.toml"), manifest)?;
    Ok(alone)
}

/// Returns the output of a cargo command that runs in the package created by [`alone`].
fn cargo(alone: &Path, arguments: &[&str]) -> Done<String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(arguments)
        .arg("--offline")
        .current_dir(alone)
        .output()?;
    if !output.status.success() {
        return Err(format!("cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the packages that a build compiles, as `NAME-VERSION`, with their features. `cargo metadata` does not show
/// this, because it also lists packages that are only in the lock file.
fn built(alone: &Path) -> Done<BTreeMap<String, Vec<String>>> {
    let form = ["--prefix", "none", "--no-dedupe", "--format", "{p} |{f}"];
    let mut arguments = vec!["tree", "-e", "normal,build", "--target", PLATFORM];
    arguments.extend(form);
    let mut found = BTreeMap::new();
    for line in cargo(alone, &arguments)?.lines() {
        let (package, features) = line.split_once('|').ok_or("wanted a package and its features")?;
        let mut words = package.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let features = features
            .split(',')
            .filter(|feature| !feature.is_empty() && *feature != "default");
        found.insert(
            format!("{name}-{}", version.trim_start_matches('v')),
            features.map(ToString::to_string).collect(),
        );
    }
    Ok(found)
}

/// Returns all packages by id, except the one created by [`alone`].
fn packages<'a>(
    metadata: &'a Value,
    mut built: BTreeMap<String, Vec<String>>,
) -> Done<BTreeMap<&'a str, Package<'a>>> {
    let mut found = BTreeMap::new();
    for facts in array(&metadata["packages"])? {
        let folder = format!("{}-{}", text(&facts["name"])?, text(&facts["version"])?);
        let manifest = PathBuf::from(text(&facts["manifest_path"])?);
        let Some(features) = built.remove(&folder).filter(|_| !folder.starts_with("alone-")) else {
            continue;
        };
        let package = Package {
            facts,
            folder,
            dir: manifest.parent().ok_or("a manifest has a folder")?.to_path_buf(),
            features,
            normal: BTreeMap::new(),
            build: BTreeMap::new(),
        };
        found.insert(text(&facts["id"])?, package);
    }
    for node in array(&metadata["resolve"]["nodes"])? {
        let Some(package) = found.get_mut(text(&node["id"])?) else {
            continue;
        };
        for dependency in array(&node["deps"])? {
            let (name, of) = (text(&dependency["name"])?, text(&dependency["pkg"])?);
            for kind in array(&dependency["dep_kinds"])? {
                match kind["kind"].as_str() {
                    None => package.normal.insert(name, of),
                    Some("build") => package.build.insert(name, of),
                    Some(_) => None,
                };
            }
        }
    }
    Ok(found)
}

/// Returns a manifest for the archive. Its default features are those that the collector needs, and it has no
/// dev-dependencies.
fn manifest(package: &Package<'_>, all: &BTreeMap<&str, Package<'_>>) -> Done<String> {
    let facts = package.facts;
    let mut lines = vec!["[package]".to_string()];
    for field in ["name", "version", "edition", "rust_version", "license", "links"] {
        if let Some(value) = facts[field].as_str() {
            lines.push(format!("{} = {}", field.replace('_', "-"), quoted(value)));
        }
    }
    let mut library = Vec::new();
    for target in array(&facts["targets"])? {
        let path = Path::new(text(&target["src_path"])?).strip_prefix(&package.dir)?;
        let path = quoted(&text_of(path)?);
        match text(&target["kind"][0])? {
            "custom-build" => lines.push(format!("build = {path}")),
            kind @ ("lib" | "rlib" | "proc-macro") => {
                library.push("[lib]".to_string());
                library.push(format!(
                    "name = {}\npath = {path}",
                    quoted(text(&target["name"])?)
                ));
                if kind == "proc-macro" {
                    library.push("proc-macro = true".into());
                }
            }
            _ => {}
        }
    }
    lines.append(&mut library);
    lines.push("[features]".into());
    let names: Vec<String> = package.features.iter().map(|name| quoted(name)).collect();
    lines.push(format!("default = [{}]", names.join(", ")));
    lines.extend(names.iter().map(|name| format!("{name} = []")));
    for (title, dependencies) in [
        ("dependencies", &package.normal),
        ("build-dependencies", &package.build),
    ] {
        lines.push(format!("[{title}]"));
        for (name, id) in dependencies {
            // A dependency that is not in `all` is optional, and no feature enables it.
            let Some(of) = all.get(id) else { continue };
            let (real, path) = (
                quoted(text(&of.facts["name"])?),
                quoted(&format!("../{}", of.folder)),
            );
            lines.push(format!("{name} = {{ package = {real}, path = {path} }}"));
        }
    }
    Ok(lines.join("\n") + "\n")
}

/// Returns whether a file of a package is packed. It is if the build needs it, or if it is the package's licence or
/// readme.
fn is_wanted(package: &str, name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    let upper = file.to_uppercase();
    if ["LICENSE", "LICENCE", "COPYING", "README"]
        .iter()
        .any(|start| upper.starts_with(start))
    {
        return !name.contains('/');
    }
    let is_source = name == "build.rs" || (name.starts_with("src/") && name.ends_with(".rs"));
    let is_test = name
        .split('/')
        .any(|part| matches!(part, "tests" | "tests.rs" | "snapshots"));
    let is_foreign = package == "libc" && name.starts_with("src/") && !is_linux(name);
    is_source && !is_test && !is_foreign
}

/// Returns whether a build for Linux needs this file of the libc crate.
fn is_linux(name: &str) -> bool {
    let is_below = |start: &&str| name == *start || name.starts_with(&format!("{start}/"));
    let is_other = |part: &str| LIBC_OTHERS.contains(&part.trim_end_matches(".rs"));
    LIBC.iter().any(is_below) && !name.split('/').any(is_other)
}

/// Appends a file to `found`, or all files below a folder in the order of their names.
fn list(place: &Path, found: &mut Vec<PathBuf>) -> Done<()> {
    if !place.is_dir() {
        if place.exists() {
            found.push(place.to_path_buf());
        }
        return Ok(());
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(place)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Done<_>>()?;
    entries.sort();
    for entry in entries {
        // These folders may exist in a checkout, but do not belong to the package.
        let is_foreign = entry
            .file_name()
            .is_some_and(|name| name == "target" || name == ".git");
        if !is_foreign {
            list(&entry, found)?;
        }
    }
    Ok(())
}

/// Adds a file to the archive without a timestamp or an owner, so that equal sources produce equal archives.
fn append(tar: &mut tar::Builder<GzEncoder<Vec<u8>>>, name: &str, bytes: &[u8]) -> Done<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    Ok(tar.append_data(&mut header, name, bytes)?)
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn text_of(path: &Path) -> Done<String> {
    Ok(path
        .to_str()
        .ok_or_else(|| format!("{} is no UTF-8", path.display()))?
        .to_string())
}

fn text(value: &Value) -> Done<&str> {
    value
        .as_str()
        .ok_or_else(|| format!("wanted a text, found {value}").into())
}

fn array(value: &Value) -> Done<&Vec<Value>> {
    value
        .as_array()
        .ok_or_else(|| format!("wanted a list, found {value}").into())
}
