//! The collector that is linked into programs: built from the sources that this program carries, with the compiler of the
//! project, once.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, anyhow, bail};
use flate2::read::GzDecoder;

use crate::cargo::cache::{Cache, key};
use crate::cargo::compiler::Compiler;
use crate::output::console::say;

/// How it is compiled, apart from what the program's own build says. Bitcode makes it fit for programs with link-time
/// optimisation as well. The sleds call it between any two instructions, where it may use no register that only newer CPUs
/// have, so it is for the oldest; and it calls nothing there, which takes one unit of code and variables of the thread that are
/// read without a call. The option with a name keeps its crates apart from the same crates of the program.
const FLAGS: [&str; 5] = [
    "-Cembed-bitcode=yes",
    "-Ctarget-cpu=x86-64",
    "-Ccodegen-units=1",
    "-Cmetadata=tickscope-functions",
    "-Ztls-model=initial-exec",
];

/// The profile, as environment variables: what the user sets for all builds is no matter of this one.
const PROFILE: [(&str, &str); 5] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3"),
    ("CARGO_PROFILE_RELEASE_PANIC", "unwind"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "0"),
    ("CARGO_PROFILE_RELEASE_STRIP", "none"),
];

/// The static library's name.
pub(crate) const STATIC: &str = "libtickscope.a";

/// The package that it is of, and the header of that package.
const FOR_C: &str = "tickscope-c";
pub(crate) const HEADER: &str = "tickscope.h";

/// What of the profile is another for the static library: it is optimised as a whole, because most of the standard library is
/// left out then.
const STATIC_PROFILE: (&str, &str) = ("CARGO_PROFILE_RELEASE_LTO", "fat");

/// Where the built crates are.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    /// The collector.
    pub(crate) library: PathBuf,
    /// The folder with the crates that it depends on.
    pub(crate) dependencies: PathBuf,
    /// A name for exactly this collector.
    pub(crate) key: String,
}

/// The collector for a target, from the cache or built.
///
/// # Errors
/// Why it cannot be built or kept.
pub(crate) fn build(
    archive: &[u8],
    compiler: &Compiler,
    target: &str,
    cache: &Cache,
) -> anyhow::Result<Built> {
    let facts = (archive, &compiler.version, target, FLAGS, PROFILE);
    let place = cache.place("collector", facts);
    cache.make(&place, |folder| {
        say(&format!(
            "building the collector for rustc {}, once; it is kept in {}",
            compiler.fact("release"),
            place.display()
        ));
        build_crates(archive, compiler, target, folder)
    })?;
    let library = find(&place, "libtickscope-", ".rlib")
        .with_context(|| format!("{} is not complete; remove it, and try again", place.display()))?;
    Ok(Built {
        library,
        dependencies: place,
        key: key(facts),
    })
}

/// The collector as a static library for the machine that builds it, from the cache or built.
///
/// # Errors
/// Why it cannot be built or kept.
pub(crate) fn build_static(archive: &[u8], compiler: &Compiler, cache: &Cache) -> anyhow::Result<PathBuf> {
    let target = compiler.fact("host");
    let facts = (archive, &compiler.version, target, FLAGS, PROFILE, STATIC_PROFILE);
    let place = cache.place("static", facts);
    cache.make(&place, |folder| {
        say(&format!(
            "building {STATIC} with rustc {}, once; it is kept in {}",
            compiler.fact("release"),
            place.display()
        ));
        let what = ["rustc", "--lib", "--crate-type", "staticlib"];
        let mut command = command(compiler);
        command.env(STATIC_PROFILE.0, STATIC_PROFILE.1);
        let target_dir = compile(archive, compiler, target, folder, command, FOR_C, &what)?;
        let made = target_dir.join(target).join("release").join(STATIC);
        fs::rename(made, folder.join(STATIC))?;
        Ok(fs::remove_dir_all(&target_dir)?)
    })?;
    let library = place.join(STATIC);
    if !library.exists() {
        bail!("{} is not complete; remove it, and try again", place.display());
    }
    Ok(library)
}

/// The folder with the header for programs in C and C++, from the cache or unpacked.
///
/// # Errors
/// Why it cannot be unpacked or kept.
pub(crate) fn include_dir(archive: &[u8], cache: &Cache) -> anyhow::Result<PathBuf> {
    let place = cache.place("include", archive);
    cache.make(&place, |folder| {
        let mut sources = tar::Archive::new(GzDecoder::new(archive));
        for entry in sources.entries()? {
            let mut entry = entry?;
            if entry.path()?.ends_with(Path::new("include").join(HEADER)) {
                entry.unpack(folder.join(HEADER))?;
                return Ok(());
            }
        }
        bail!("the collector's sources have no {HEADER}")
    })?;
    Ok(place)
}

/// Builds the crates, and leaves them in the folder alone.
fn build_crates(archive: &[u8], compiler: &Compiler, target: &str, folder: &Path) -> anyhow::Result<()> {
    let command = command(compiler);
    let target_dir = compile(
        archive,
        compiler,
        target,
        folder,
        command,
        "tickscope",
        &["build"],
    )?;
    // Macros are libraries of the machine that compiles, all others of the target.
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
    Ok(fs::remove_dir_all(&target_dir)?)
}

/// Unpacks the sources below a folder and has cargo build `what` of a package. Returns the target directory, which is in the folder
/// as well.
fn compile(
    archive: &[u8],
    compiler: &Compiler,
    target: &str,
    folder: &Path,
    mut command: Command,
    package: &str,
    what: &[&str],
) -> anyhow::Result<PathBuf> {
    let sources = folder.join("sources");
    tar::Archive::new(GzDecoder::new(archive))
        .unpack(&sources)
        .context("cannot unpack the collector's sources")?;
    let target_dir = folder.join("target");
    command
        .args(what)
        .args([
            "--release",
            "--offline",
            "--quiet",
            "-p",
            package,
            "--target",
            target,
        ])
        .arg("--target-dir")
        .arg(&target_dir)
        .env("CARGO_BUILD_BUILD_DIR", &target_dir)
        .current_dir(&sources);
    let output = command.output().context("cannot start cargo")?;
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
    fs::remove_dir_all(&sources)?;
    Ok(target_dir)
}

/// Cargo, with nothing of what the project's own build is told.
fn command(compiler: &Compiler) -> Command {
    let cargo = compiler.cargo().unwrap_or_else(crate::cargo::project::cargo);
    let mut command = Command::new(cargo);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_the_project(name)) {
        command.env_remove(name);
    }
    command
        .env("RUSTC", compiler.program())
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"))
        // Files of the user's may name a wrapper as well.
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "")
        .envs(PROFILE);
    command
}

/// Whether a variable is for the build of the project: all of cargo's and rustc's but where they keep their things.
fn is_of_the_project(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    let is_kept = matches!(&*name, "CARGO_HOME" | "CARGO_MAKEFLAGS");
    let starts = ["CARGO_", "RUSTC", "RUSTFLAGS", "RUSTDOC"];
    !is_kept && starts.iter().any(|start| name.starts_with(start))
}

fn find(folder: &Path, start: &str, end: &str) -> anyhow::Result<PathBuf> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(start) && name.ends_with(end) {
            return Ok(entry.path());
        }
    }
    Err(anyhow!("no file {start}*{end}"))
}
