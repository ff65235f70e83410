//! The command `lib`: the collector as a static library, for programs that are built without cargo.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::cargo::c_compiler::{CCompiler, Language};
use crate::cargo::cache::Cache;
use crate::cargo::collector;
use crate::cargo::compiler::Compiler;
use crate::cargo::settings::Settings;
use crate::cli::args::cargo::LibArgs;
use crate::output::console::{DONE, write};

/// What a linker is to look for, so that it takes the collector out of the library: no program names it.
const WANTED: &str = "-Wl,-u,tickscope_functions";

/// The libraries that the collector needs.
const SYSTEM: &str = "-lpthread -ldl -lm";

/// Builds the library, or takes it from the cache, and prints how to use it.
///
/// # Errors
/// What keeps it from being built or copied.
pub(crate) fn run(args: &LibArgs, archive: &[u8]) -> anyhow::Result<u8> {
    let cache = Cache::open()?;
    let kept_header = collector::include_dir(archive, &cache)?;
    let header = match &args.out {
        Some(dir) => copied(&kept_header.join(collector::HEADER), dir, collector::HEADER)?
            .parent()
            .map_or(kept_header, Path::to_path_buf),
        None => kept_header,
    };
    let include = format!("-I{}", word(&header)?);
    if args.cflags {
        write(&format!("{include} {}\n", compiler_options(&cache)?))?;
        return Ok(DONE);
    }
    let settings = Settings::read(&[]);
    let compiler = Compiler::find(settings.rustc())?;
    compiler.check_version(env!("CARGO_PKG_RUST_VERSION"))?;
    let kept = collector::build_static(archive, &compiler, &cache)?;
    let library = match &args.out {
        Some(dir) => copied(&kept, dir, collector::STATIC)?,
        None => kept,
    };
    let options = linker_options(&library)?;
    write(&if args.libs {
        format!("{options}\n")
    } else {
        let compile = format!("{include} {}", compiler_options(&cache)?);
        instructions(&library, &compile, &options)
    })?;
    Ok(DONE)
}

/// The options for the compiler that the user has chosen, or clang.
fn compiler_options(cache: &Cache) -> anyhow::Result<String> {
    let named = std::env::var(Language::C.compiler_variable());
    let named = named.ok().filter(|value| !value.trim().is_empty());
    let chosen = named.unwrap_or_else(|| Language::C.clang().to_string());
    let compiler = CCompiler::of(&chosen, Language::C);
    let Some(version) = compiler.version() else {
        bail!(
            "cannot start {chosen}, which is to compile C; wanted clang, because no other compiler puts sleds into functions\n  \
             install clang, or name it: CC=/opt/llvm/bin/clang cargo tickscope lib"
        );
    };
    match compiler.sled_flags(cache)? {
        Some(flags) => Ok(flags.join(" ")),
        None => bail!(
            "{chosen} is {version}, which puts no sleds into functions; wanted clang\n  name it: CC=clang cargo tickscope lib"
        ),
    }
}

fn linker_options(library: &Path) -> anyhow::Result<String> {
    Ok(format!("{WANTED} {} {SYSTEM}", word(library)?))
}

/// A path as a word of a command line.
fn word(path: &Path) -> anyhow::Result<String> {
    let path = path.display().to_string();
    if path.contains(char::is_whitespace) {
        bail!("{path}: a command line divides a path at its blanks; choose another place with --out DIR");
    }
    Ok(path)
}

fn instructions(library: &Path, compile: &str, link: &str) -> String {
    format!(
        "{}\n\n\
         compile  clang -g {compile} -c app.c\n\
         link     clang app.o {link} -o app\n\
         table    cargo tickscope table app\n\
         watch    tickscope run -- ./app\n\n\
         In a makefile, and in C++ with clang++:\n  \
         CFLAGS += $(shell cargo tickscope lib --cflags)\n  \
         LDLIBS += $(shell cargo tickscope lib --libs)\n",
        library.display()
    )
}

fn copied(kept: &Path, dir: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let copy = std::path::absolute(dir)?.join(name);
    fs::create_dir_all(dir)
        .and_then(|()| fs::copy(kept, &copy))
        .with_context(|| format!("cannot write {}", copy.display()))?;
    Ok(copy)
}
