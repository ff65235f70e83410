//! The collector that is linked into programs. It is built once per compiler, from sources that are embedded in this
//! program.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use flate2::read::GzDecoder;
use tickscope_command::console::say;

use crate::cache::{Cache, key};
use crate::compiler::Compiler;

/// Compiler flags for building the collector:
///
/// - Bitcode is needed for programs with link-time optimisation.
/// - The target CPU is the oldest one. Sleds call the collector's hooks while arguments and results are still in
///   registers, so the hooks must not use registers that only newer CPUs have.
/// - The hooks must not call functions either. This requires a single codegen unit, and thread-local variables that are
///   read without a call.
/// - The metadata distinguishes the collector's crates from the same crates in the program.
const FLAGS: [&str; 5] = [
    "-Cembed-bitcode=yes",
    "-Ctarget-cpu=x86-64",
    "-Ccodegen-units=1",
    "-Cmetadata=tickscope-functions",
    "-Ztls-model=initial-exec",
];

/// Cargo profile for the build, as environment variables, because these take precedence over the user's configuration
/// files.
const PROFILE: [(&str, &str); 5] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3"),
    ("CARGO_PROFILE_RELEASE_PANIC", "unwind"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "0"),
    ("CARGO_PROFILE_RELEASE_STRIP", "none"),
];

/// The collector's sources, packed by `build.rs`. They are built with the compiler of each project.
static SOURCES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sources.tar.gz"));

/// Paths of the built crates.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    /// Library file of the collector.
    pub(crate) library: PathBuf,
    /// Folder of the crates that the collector depends on.
    pub(crate) dependencies: PathBuf,
    /// Hash of everything that goes into the build: sources, compiler, target, flags and profile.
    pub(crate) key: String,
}

/// Returns the collector for a target, and builds it if it is not in the cache.
///
/// # Errors
/// The collector cannot be built or cached.
pub(crate) fn build(compiler: &Compiler, target: &str, cache: &Cache) -> anyhow::Result<Built> {
    let facts = (SOURCES, &compiler.version, target, FLAGS, PROFILE);
    let place = cache.place("collector", facts);
    cache.make(&place, |folder| {
        say(&format!(
            "building the collector for rustc {}, once; it is kept in {}",
            compiler.fact("release"),
            place.display()
        ));
        build_crates(compiler, target, folder)
    })?;
    let is_collector = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libtickscope-") && name.ends_with(".rlib")
    };
    let files = fs::read_dir(&place).into_iter().flatten();
    let library = files
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(is_collector)
        .with_context(|| format!("{} is not complete; remove it, and try again", place.display()))?;
    Ok(Built {
        library,
        dependencies: place,
        key: key(facts),
    })
}

/// Builds the crates in `folder`, and leaves nothing but their libraries there.
fn build_crates(compiler: &Compiler, target: &str, folder: &Path) -> anyhow::Result<()> {
    let (sources, target_dir) = (folder.join("sources"), folder.join("target"));
    tar::Archive::new(GzDecoder::new(SOURCES))
        .unpack(&sources)
        .context("cannot unpack the collector's sources")?;
    let output = command(compiler)
        .args(["build", "--release", "--offline", "--quiet", "-p", "tickscope"])
        .args(["--target", target])
        .arg("--target-dir")
        .arg(&target_dir)
        .env("CARGO_BUILD_BUILD_DIR", &target_dir)
        .current_dir(&sources)
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let errors: Vec<&str> = said
            .lines()
            .filter(|line| line.starts_with("error"))
            .take(5)
            .collect();
        bail!(
            "the collector cannot be built with rustc {} for {target}\n  is the standard library for {target} there? rustup target \
             add {target}\n  {}",
            compiler.fact("release"),
            errors.join("\n  ")
        );
    }
    // Procedural macros are built for the machine that compiles, and all other crates for the target.
    for dir in [
        target_dir.join(target).join("release/deps"),
        target_dir.join("release/deps"),
    ] {
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            let is_crate = path
                .extension()
                .is_some_and(|ending| ending == "rlib" || ending == "so");
            if let Some(name) = path.file_name().filter(|_| is_crate) {
                fs::rename(&path, folder.join(name))?;
            }
        }
    }
    fs::remove_dir_all(&sources)?;
    Ok(fs::remove_dir_all(&target_dir)?)
}

/// Returns a command that starts cargo without the settings for the project's own build.
fn command(compiler: &Compiler) -> Command {
    let cargo = compiler.cargo().unwrap_or_else(crate::project::cargo);
    let mut command = Command::new(cargo);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_the_project(name)) {
        command.env_remove(name);
    }
    command
        .env("RUSTC", compiler.program())
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"))
        // An empty value also overrides a wrapper from the user's configuration files.
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "")
        .envs(PROFILE);
    command
}

/// Returns whether an environment variable configures how cargo or rustc builds the project. Such variables are not
/// passed on to the collector's build.
fn is_of_the_project(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    let is_kept = matches!(&*name, "CARGO_HOME" | "CARGO_MAKEFLAGS");
    let starts = ["CARGO_", "RUSTC", "RUSTFLAGS", "RUSTDOC"];
    !is_kept && starts.iter().any(|start| name.starts_with(start))
}
