//! C and C++ that build scripts compile: what their compilers are told, and what is said where they do not do it.

use std::fs;
use std::path::Path;

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};

use crate::cargo::c_compiler::{CCompiler, Language};
use crate::cargo::cache::Cache;
use crate::cargo::handover::Variable;
use crate::cargo::invocation::Invocation;
use crate::cargo::settings::Settings;
use crate::cargo::sleds::MAP;

/// Without lines it is not known whose a function is.
const LINES: &str = "-gline-tables-only";

/// The variables that make build scripts compile with sleds for a target, by the crate `cc` and all that follow its rules.
/// Options of the user's stay, and stand behind ours.
///
/// # Errors
/// That nothing can be kept.
pub(crate) fn variables(
    target: &str,
    host: &str,
    settings: &Settings,
    cache: &Cache,
) -> anyhow::Result<Vec<Variable>> {
    let set = |name: &str| settings.of_build_scripts(name);
    let mut found = Vec::new();
    for language in Language::ALL {
        let names = names(language.compiler_variable(), target, host);
        let named = names.iter().find_map(|name| set(name));
        // For other targets the usual compiler is a GCC with the target in its name.
        let Some(compiler) =
            named.or_else(|| (target == host).then(|| language.usual_compiler().to_string()))
        else {
            continue;
        };
        if let Some(mut flags) = CCompiler::of(&compiler, language).sled_flags(cache)? {
            flags.insert(0, LINES.into());
            let names = self::names(language.flags_variable(), target, host);
            found.push(with_flags(&names, &flags, set));
        }
    }
    Ok(found)
}

/// The names under which a variable is looked for, those for one target first.
fn names(variable: &str, target: &str, host: &str) -> [String; 4] {
    let kind = if target == host { "HOST" } else { "TARGET" };
    [
        format!("{variable}_{target}"),
        format!("{variable}_{}", target.replace(['-', '.'], "_")),
        format!("{kind}_{variable}"),
        variable.to_string(),
    ]
}

/// The variable for the target alone, with options before those that would count without it.
fn with_flags(names: &[String; 4], flags: &[String], set: impl Fn(&str) -> Option<String>) -> Variable {
    let [with_dashes, for_target, ..] = names;
    let name = match std::env::var_os(with_dashes) {
        Some(_) => with_dashes,
        None => for_target,
    };
    let of_user = names.iter().find_map(|name| set(name));
    let words = flags.iter().cloned().chain(of_user);
    Variable {
        name: name.clone(),
        value: words.collect::<Vec<_>>().join(" "),
        before: std::env::var(name).ok(),
    }
}

/// What the user is to know of the libraries that the build script of a crate has made below a folder.
pub(crate) fn notes(call: &Invocation, target_dir: &Path) -> Vec<String> {
    let mut notes = Vec::new();
    for name in &call.static_libraries {
        let file = format!("lib{name}.a");
        let places = call.native_dirs.iter().filter(|dir| dir.starts_with(target_dir));
        let bytes = places.filter_map(|dir| fs::read(dir.join(&file)).ok()).next();
        notes.extend(bytes.and_then(|bytes| silent(&bytes)));
    }
    notes.dedup();
    notes
}

/// Why the functions of a library are not seen, if none is.
fn silent(library: &[u8]) -> Option<String> {
    let archive = ArchiveFile::parse(library).ok()?;
    let members = archive
        .members()
        .filter_map(|member| member.ok()?.data(library).ok());
    let mut compiler = None;
    for object in members.filter_map(|data| object::File::parse(data).ok()) {
        if object.section_by_name(MAP).is_some() {
            return None;
        }
        let comment = object
            .section_by_name(".comment")
            .and_then(|section| section.data().ok());
        compiler = compiler.or_else(|| comment.and_then(named_compiler));
    }
    let compiler = compiler?;
    Some(if compiler.contains("clang") {
        format!(
            "its C code was compiled by {compiler} without CFLAGS of the environment, so its functions are not seen; its build script \
             has to pass them on"
        )
    } else {
        format!(
            "its C code was compiled by {compiler}, which puts no sleds into functions, so they are not seen; with clang they are: \
             CC=clang CXX=clang++ cargo tickscope …"
        )
    })
}

/// The compiler that an object file names: `GCC: (Debian 12.2.0-14) 12.2.0`, or clang's whole version.
fn named_compiler(comment: &[u8]) -> Option<String> {
    let texts = comment.split(|byte| *byte == 0).filter(|text| !text.is_empty());
    let mut texts = texts.map(|text| String::from_utf8_lossy(text).into_owned());
    texts
        .find(|text| text.starts_with("GCC") || text.contains("clang"))
        .map(|text| text.replace("GCC:", "GCC"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "x86_64-unknown-linux-gnu";

    #[test]
    fn options_of_the_user_stay_behind_ours() {
        let flags = ["-fx".to_string(), "-fy".to_string()];
        let names = names("CFLAGS", HOST, HOST);
        assert_eq!(names[2], "HOST_CFLAGS");
        let of = |pairs: &[(&str, &str)]| {
            let set = |name: &str| {
                let found = pairs.iter().find(|(set, _)| *set == name);
                found.map(|(_, value)| value.to_string())
            };
            with_flags(&names, &flags, set).value
        };
        assert_eq!(of(&[]), "-fx -fy");
        assert_eq!(of(&[("CFLAGS", "-O1")]), "-fx -fy -O1");
        let both = [
            ("CFLAGS", "-O1"),
            ("CFLAGS_x86_64_unknown_linux_gnu", "-fno-xray-instrument"),
        ];
        assert_eq!(of(&both), "-fx -fy -fno-xray-instrument");
        let variable = with_flags(&names, &flags, |_| None);
        assert_eq!(variable.name, "CFLAGS_x86_64_unknown_linux_gnu");
        assert_eq!(
            self::names("CC", "x86_64-unknown-linux-musl", HOST)[2],
            "TARGET_CC"
        );
    }

    #[test]
    fn the_compiler_is_found_in_what_it_leaves() {
        let named = |comment: &str| named_compiler(comment.as_bytes());
        let gcc = "\0GCC: (Debian 12.2.0-14+deb12u1) 12.2.0\0";
        assert_eq!(
            named(gcc).as_deref(),
            Some("GCC (Debian 12.2.0-14+deb12u1) 12.2.0")
        );
        let clang = "Debian clang version 14.0.6\0";
        assert_eq!(named(clang).as_deref(), Some("Debian clang version 14.0.6"));
        assert_eq!(named("rustc version 1.95.0\0"), None);
    }
}
