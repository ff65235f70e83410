//! Finds the options that make the compiler insert sleds into functions. These options are unstable, and their spelling
//! may differ between compilers. So a small crate is compiled with each known spelling, and the output is checked.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use object::{Object, ObjectSection};

use crate::cache::Cache;
use crate::compiler::Compiler;
use crate::function_table::{MAP, VERSION, entries};

/// The known spellings of the options: the current one, and two from RFC 3917.
const SPELLINGS: [&[&str]; 3] = [
    &["-Zinstrument-xray=always"],
    &["-Zinstrument-function=xray", "-Zinstrument-xray-opts=always"],
    &["-Zinstrument-function=xray"],
];

/// Source of the small crate. It needs no library except `core`.
const CRATE: &str =
    "#![no_std]\n#[no_mangle]\npub extern \"C\" fn tickscope_probe(x: u32) -> u32 { x ^ 1 }\n";

/// The compiler's message about a target whose libraries are not installed.
const NO_LIBRARY: &str = "can't find crate for `core`";

/// Returns the options for a target, either from the cache or by compiling the small crate.
///
/// # Errors
/// No spelling produces sleds. The message contains the compiler's version, and says what the user can do.
pub(crate) fn flags(compiler: &Compiler, target: &str, cache: &Cache) -> anyhow::Result<Vec<String>> {
    let place = cache.place("sleds", (&compiler.version, compiler.program(), target));
    cache.make(&place, |folder| {
        let found = find(compiler, target, folder)?;
        Ok(fs::write(folder.join("flags"), found.join("\n"))?)
    })?;
    let text = fs::read_to_string(place.join("flags"))
        .with_context(|| format!("cannot read {}; remove that folder", place.display()))?;
    Ok(text.lines().map(ToString::to_string).collect())
}

fn find(compiler: &Compiler, target: &str, folder: &Path) -> anyhow::Result<Vec<&'static str>> {
    let help = compiler
        .ask(&["-Zhelp"])
        .map(|output| output.stdout)
        .unwrap_or_default();
    let help = String::from_utf8_lossy(&help).replace('_', "-");
    let known = |flag: &&str| {
        let name = flag
            .trim_start_matches("-Z")
            .split('=')
            .next()
            .unwrap_or_default();
        help.split_whitespace()
            .any(|word| word.trim_start_matches("-Z").split('=').next() == Some(name))
    };
    let mut tried = Vec::new();
    for spelling in SPELLINGS
        .into_iter()
        .filter(|spelling| spelling.iter().all(known))
    {
        match probe(compiler, target, spelling, folder)? {
            Ok(()) => return Ok(spelling.to_vec()),
            Err(why) => tried.push(format!("{}: {why}", spelling.join(" "))),
        }
    }
    if tried.iter().any(|why| why.contains(NO_LIBRARY)) {
        bail!(
            "rustc {} has no standard library for {target}\n  install it: rustup target add {target}",
            compiler.fact("release")
        );
    }
    let what = if tried.is_empty() {
        "it has neither -Zinstrument-xray nor -Zinstrument-function".to_string()
    } else {
        tried.join("; ")
    };
    bail!(
        "rustc {} puts no sleds into functions for {target}, wanted version {VERSION} of their map: {what}\n  rustc 1.89 to \
         1.95 do it for x86_64-unknown-linux-gnu; a newer tickscope may know a newer compiler",
        compiler.fact("release")
    )
}

/// Compiles the small crate. The inner error says why these options yield no sleds in the known format.
fn probe(
    compiler: &Compiler,
    target: &str,
    spelling: &[&str],
    folder: &Path,
) -> anyhow::Result<Result<(), String>> {
    let (source, object) = (folder.join("probe.rs"), folder.join("probe.o"));
    fs::write(&source, CRATE)?;
    let _ = fs::remove_file(&object);
    let output = compiler
        .command()
        .args(["--crate-type=lib", "--crate-name=tickscope_probe"])
        .args(["--edition=2021", "--emit=obj"])
        .args(["--target", target, "-Copt-level=1", "-Cpanic=abort"])
        .args(spelling)
        .arg("-o")
        .arg(&object)
        .arg(&source)
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().next().unwrap_or("it fails").to_string();
        return Ok(Err(first));
    }
    Ok(check(&fs::read(&object)?))
}

/// Checks that an object file contains a sled map of the known version.
fn check(object: &[u8]) -> Result<(), String> {
    let file = object::File::parse(object).map_err(|error| error.to_string())?;
    let map = file
        .section_by_name(MAP)
        .ok_or_else(|| format!("there is no section {MAP}"))?;
    let bytes = map.data().map_err(|error| error.to_string())?;
    if bytes.is_empty() {
        return Err(format!("{MAP} has no entry"));
    }
    entries(bytes).map(|_| ())
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::command;

    use super::*;

    const TARGET: &str = "x86_64-unknown-linux-gnu";

    /// Returns a compiler that runs a script and then the real compiler. The script reads its arguments from `$@`, and
    /// puts the arguments for the real compiler into `args`.
    fn changed(folder: &Path, script: &str) -> Compiler {
        let path = folder.join("compiler");
        command::script(&path, &format!("args=()\n{script}\nexec rustc \"${{args[@]}}\""));
        Compiler::find(path.into_os_string()).unwrap()
    }

    /// Returns the error for a compiler whose arguments are changed by a script.
    fn refused(folder: &Path, script: &str) -> String {
        let found = find(&changed(folder, script), TARGET, folder);
        found.unwrap_err().to_string()
    }

    #[test]
    fn the_compiler_here_gives_sleds() {
        let dir = tempfile::tempdir().unwrap();
        let compiler = Compiler::find("rustc".into()).unwrap();
        assert_eq!(
            find(&compiler, TARGET, dir.path()).unwrap(),
            ["-Zinstrument-xray=always"]
        );
    }

    #[test]
    fn a_compiler_with_the_new_spelling_is_understood() {
        let dir = tempfile::tempdir().unwrap();
        let compiler = changed(
            dir.path(),
            r#"for arg in "$@"; do case $arg in
                -Zhelp) echo '    -Z instrument-function=val -- x'; echo '    -Z instrument-xray-opts=val -- y'; exit;;
                -Zinstrument-xray=*) echo 'error: unknown unstable option' >&2; exit 1;;
                -Zinstrument-function=xray) args+=(-Zinstrument-xray=always);;
                -Zinstrument-xray-opts=always) ;;
                *) args+=("$arg");;
            esac; done"#,
        );
        let found = find(&compiler, TARGET, dir.path()).unwrap();
        assert_eq!(
            found,
            ["-Zinstrument-function=xray", "-Zinstrument-xray-opts=always"]
        );
    }

    #[test]
    fn a_target_that_is_not_installed_is_named_with_the_next_step() {
        let dir = tempfile::tempdir().unwrap();
        let script = format!(
            "args=(\"$@\")\n[ \"$1\" = --crate-type=lib ] && args+=(--sysroot {})",
            dir.path().display()
        );
        let refused = refused(dir.path(), &script);
        assert!(
            refused.ends_with(&format!("rustup target add {TARGET}")),
            "{refused}"
        );
    }

    #[test]
    fn a_compiler_without_sleds_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let without_flag = r#"for arg in "$@"; do case $arg in -Zhelp) echo ' -Z other'; exit;; *) args+=("$arg");; esac; done"#;
        let why = refused(dir.path(), without_flag);
        assert!(why.contains("it has neither -Zinstrument-xray"), "{why}");
        let without_effect =
            r#"for arg in "$@"; do case $arg in -Zinstrument-xray=*) ;; *) args+=("$arg");; esac; done"#;
        let why = refused(dir.path(), without_effect);
        assert!(why.contains("there is no section xray_instr_map"), "{why}");
        let release = Compiler::find("rustc".into())
            .unwrap()
            .fact("release")
            .to_string();
        assert!(why.contains(&format!("rustc {release}")), "{why}");
    }
}
