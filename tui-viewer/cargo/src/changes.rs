//! Decides how a compiler invocation is changed, or why it is refused.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::handover::{Handover, Prepared};
use crate::invocation::Invocation;

/// Compiler flags for tickscope itself, if the program depends on it. They apply in every profile of the program. The
/// hooks at the start and the end of functions must be short, and must not use instructions that the oldest CPU lacks.
const COLLECTOR_FLAGS: [&str; 6] = [
    "-Ctarget-cpu=x86-64",
    "-Copt-level=3",
    "-Ccodegen-units=1",
    "-Cdebug-assertions=off",
    "-Coverflow-checks=off",
    "-Ztls-model=initial-exec",
];

/// The collector's own packages. They get no sleds, because a sled in the collector would make it call itself.
const OWN_PACKAGES: [&str; 4] = [
    "tickscope",
    "tickscope-format",
    "tickscope-analysis",
    "tickscope-report",
];

/// What the environment says about a compiler invocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// `CARGO_CRATE_NAME`: the crate that cargo is compiling.
    pub(crate) cargo_crate_name: Option<String>,
    /// Whether the compiler was started by a build script.
    pub(crate) in_build_script: bool,
    /// `CARGO_PKG_NAME`.
    pub(crate) package: String,
    /// `CARGO_PKG_VERSION`.
    pub(crate) version: String,
    /// Library file of the tickscope that the program itself depends on, if the [`marker`] of a dependency names it.
    pub(crate) own_collector: Option<PathBuf>,
}

/// Changes to a compiler invocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Arguments that are appended to those from cargo.
    pub(crate) arguments: Vec<OsString>,
    /// Arguments that link the collector into a program or a shared library.
    pub(crate) for_links: Vec<OsString>,
    /// If this invocation compiles or uses the program's own tickscope: the library file of that tickscope.
    pub(crate) own_collector: Option<PathBuf>,
    /// Messages that are shown to the user at the end of the build.
    pub(crate) notes: Vec<String>,
}

/// Decides what to change. Returns `None` for code that does not become part of the program, such as a build script.
///
/// # Errors
/// The program depends on a version of tickscope that is not compatible with this `cargo tickscope`.
pub(crate) fn decide(
    call: &Invocation,
    facts: &Facts,
    handover: &Handover,
) -> Result<Option<Changes>, String> {
    let is_cargos = facts.cargo_crate_name.as_deref() == Some(&*call.crate_name) && !facts.in_build_script;
    let is_macro = call.types.iter().any(|kind| kind == "proc-macro");
    let target = call.target.as_deref();
    let Some(prepared) = target
        .and_then(|target| handover.targets.get(target))
        .filter(|_| is_cargos && !is_macro)
    else {
        return Ok(None);
    };
    let mut changes = Changes {
        own_collector: facts.own_collector.clone(),
        ..Changes::default()
    };
    // Only libraries count, because a program of the user's may be in a package with the same name.
    let is_library = !call.is_test && call.types.iter().any(|kind| kind == "lib");
    if facts.package == "tickscope" && is_library {
        join(call, facts, &mut changes)?;
    }
    if !(OWN_PACKAGES.contains(&&*facts.package) && is_library) {
        changes
            .arguments
            .extend(prepared.sled_flags.iter().map(OsString::from));
        add(&mut changes.arguments, readable(call));
    }
    if call.is_linked() && !call.is_test {
        let types = call.types.iter();
        changes
            .notes
            .extend(types.filter_map(|kind| uncounted(kind, call)));
    }
    if !call.linked_files().is_empty() {
        changes.for_links = for_links(prepared, changes.own_collector.as_deref());
    }
    Ok(Some(changes))
}

/// Returns flags that keep function names and line numbers if the profile would drop them. A higher debug level is left
/// unchanged.
fn readable(call: &Invocation) -> Vec<&'static str> {
    let mut more = Vec::new();
    if matches!(
        call.code("debuginfo"),
        None | Some("0" | "none" | "line-directives-only" | "line-tables-only")
    ) {
        // Line tables alone neither distinguish async functions from closures, nor show which function contains a
        // closure.
        more.push("-Cdebuginfo=1");
    }
    if call.code("strip").is_some_and(|what| what != "none") {
        more.push("-Cstrip=none");
    }
    if call.code("split-debuginfo").is_some_and(|how| how != "off") {
        more.push("-Csplit-debuginfo=off");
    }
    // With unstable options enabled, rustc uses the new symbol mangling. A profile that was recorded in an earlier run
    // (`profile-use`) contains names in the legacy mangling, so none of them would match.
    if call.code("profile-use").is_some() && call.code("symbol-mangling-version").is_none() {
        more.push("-Csymbol-mangling-version=legacy");
    }
    more
}

/// Enables the features that sleds need in the program's own tickscope, unless its feature `enable` is off. In that
/// case, adds a note for the user.
fn join(call: &Invocation, facts: &Facts, changes: &mut Changes) -> Result<(), String> {
    if !call.has_feature("enable") {
        changes.notes.push(
            "the program's own tickscope is built without the feature `enable`, so its scopes are not counted, but functions are"
                .into(),
        );
        return Ok(());
    }
    let ours = env!("CARGO_PKG_VERSION");
    if line(&facts.version) != line(ours) {
        return Err(format!(
            "the program depends on tickscope {}, and this is cargo tickscope {ours}: a program has one collector, so their first two \
             numbers must be the same\n  install the command of that version: cargo install tickscope-cli --version '~{}'; or build \
             with tickscope {ours}",
            facts.version, facts.version
        ));
    }
    // If a feature includes others, cargo enables them too, but the compiler does not. So each one is passed by name.
    for feature in ["feature=\"functions\"", "feature=\"hooks\""] {
        if !call.cfgs.iter().any(|cfg| cfg == feature) {
            add(&mut changes.arguments, ["--cfg", feature]);
        }
    }
    add(&mut changes.arguments, COLLECTOR_FLAGS);
    changes.own_collector = call.library();
    Ok(())
}

/// Returns the first two numbers of a version. Versions are compatible if both numbers are equal.
fn line(version: &str) -> (&str, &str) {
    let mut parts = version.split(['.', '-', '+']);
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

/// Returns arguments that link the collector even though no source file refers to it. The collector is the program's
/// own tickscope if there is one, and the prepared collector otherwise.
fn for_links(prepared: &Prepared, own: Option<&Path>) -> Vec<OsString> {
    let mut force = OsString::from("force:tickscope_functions=");
    force.push(own.unwrap_or(&prepared.collector));
    let mut arguments = vec!["-Zunstable-options".into(), "--extern".into(), force];
    if own.is_none() {
        let mut place = OsString::from("dependency=");
        place.push(&prepared.dependencies);
        arguments.extend(["-L".into(), place]);
    }
    arguments
}

/// Returns a note on a library of this type, if its functions cannot be counted.
fn uncounted(kind: &str, call: &Invocation) -> Option<String> {
    let name = &call.crate_name;
    match kind {
        "staticlib" => Some(format!(
            "lib{name}.a: a static library gets no collector, because the program that links it is not built here; its functions are \
             not counted\n  build a program or a cdylib from it"
        )),
        // If the crate is also a usual library, programs are linked to that one.
        "dylib" if call.types.len() == 1 => Some(format!(
            "lib{name}.so: a Rust dylib gets no collector, because the program that loads it has one; its functions are not \
             counted\n  build without dynamic linking"
        )),
        _ => None,
    }
}

fn add(arguments: &mut Vec<OsString>, more: impl IntoIterator<Item = &'static str>) {
    arguments.extend(more.into_iter().map(OsString::from));
}

/// Returns the path of a library's marker. This is a file next to the library, and contains the path of the tickscope
/// on which the library depends.
pub(crate) fn marker(library: &Path) -> PathBuf {
    let mut name = library.file_stem().unwrap_or_default().to_os_string();
    name.push(".tickscope");
    library.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrapper::recorded;

    const TARGET: &str = "x86_64-unknown-linux-gnu";

    fn handover() -> Handover {
        let prepared = Prepared {
            sled_flags: vec!["-Zsleds".into()],
            collector: "/c/libtickscope-1.rlib".into(),
            dependencies: "/c".into(),
            runner: Vec::new(),
        };
        Handover {
            targets: [(TARGET.to_string(), prepared)].into(),
            ..Handover::default()
        }
    }

    fn facts(call: &Invocation) -> Facts {
        Facts {
            cargo_crate_name: Some(call.crate_name.clone()),
            package: call.crate_name.replace('_', "-"),
            version: env!("CARGO_PKG_VERSION").into(),
            ..Facts::default()
        }
    }

    fn decided(call: &Invocation) -> Option<Changes> {
        decide(call, &facts(call), &handover()).unwrap()
    }

    fn words(arguments: &[OsString]) -> String {
        let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    #[test]
    fn libraries_get_sleds_and_lines() {
        let changes = decided(&recorded::read("library")).unwrap();
        assert_eq!(words(&changes.arguments), "-Zsleds -Cdebuginfo=1");
        assert!(changes.for_links.is_empty() && changes.notes.is_empty());
        let released = decided(&recorded::read("released")).unwrap();
        assert_eq!(words(&released.arguments), "-Zsleds -Cdebuginfo=1 -Cstrip=none");
        // A higher debug level stays.
        let program = decided(&recorded::read("program")).unwrap();
        assert_eq!(words(&program.arguments), "-Zsleds");
    }

    #[test]
    fn programs_tests_and_shared_libraries_get_the_collector() {
        for name in ["program", "test", "shared"] {
            let changes = decided(&recorded::read(name)).unwrap();
            assert_eq!(
                words(&changes.for_links),
                "-Zunstable-options --extern force:tickscope_functions=/c/libtickscope-1.rlib -L dependency=/c",
                "{name}"
            );
        }
    }

    #[test]
    fn what_only_the_build_needs_stays_as_it_is() {
        for name in ["proc_macro", "build_script", "version"] {
            assert_eq!(decided(&recorded::read(name)), None, "{name}");
        }
        let library = recorded::read("library");
        // One crate that a build script compiles as a probe, and one that it builds with a nested cargo.
        let tried = Facts {
            cargo_crate_name: Some("other".into()),
            ..facts(&library)
        };
        assert_eq!(decide(&library, &tried, &handover()), Ok(None));
        let nested = Facts {
            in_build_script: true,
            ..facts(&library)
        };
        assert_eq!(decide(&library, &nested, &handover()), Ok(None));
        let foreign = Invocation {
            target: Some("wasm32-unknown-unknown".into()),
            ..library.clone()
        };
        assert_eq!(decided(&foreign), None);
    }

    #[test]
    fn a_programs_own_tickscope_joins_or_is_refused() {
        let mut own = recorded::read("library");
        own.crate_name = "tickscope".into();
        own.cfgs = vec!["feature=\"enable\"".into()];
        let changes = decided(&own).unwrap();
        assert_eq!(
            words(&changes.arguments),
            format!(
                "--cfg feature=\"functions\" --cfg feature=\"hooks\" {}",
                COLLECTOR_FLAGS.join(" ")
            )
        );
        assert_eq!(changes.own_collector, own.library());
        // If a program depends on tickscope, that tickscope is linked as the collector instead of the prepared one.
        let program = recorded::read("program");
        let below = Facts {
            own_collector: own.library(),
            ..facts(&program)
        };
        let changes = decide(&program, &below, &handover()).unwrap().unwrap();
        let wanted = format!("force:tickscope_functions={}", own.library().unwrap().display());
        assert!(changes.for_links.contains(&OsString::from(wanted)), "{changes:?}");
        assert!(!words(&changes.for_links).contains("dependency=/c"));
        let other = Facts {
            version: "0.9.3".into(),
            ..facts(&own)
        };
        let refused = decide(&own, &other, &handover()).unwrap_err();
        assert!(refused.contains("tickscope 0.9.3"), "{refused}");
        assert!(refused.contains(env!("CARGO_PKG_VERSION")), "{refused}");
        // A program named `tickscope` is not the library.
        let mut program = recorded::read("program");
        program.crate_name = "tickscope".into();
        let changes = decided(&program).unwrap();
        assert!(changes.own_collector.is_none() && words(&changes.arguments) == "-Zsleds");
        own.cfgs.clear();
        let changes = decided(&own).unwrap();
        assert!(changes.arguments.is_empty() && changes.own_collector.is_none());
        assert!(changes.notes[0].contains("without the feature `enable`"));
    }

    #[test]
    fn what_cannot_be_had_is_noted() {
        let mut library = recorded::read("library");
        library.types = vec!["staticlib".into()];
        assert!(decided(&library).unwrap().notes[0].contains("libcrc32fast.a: a static library"));
        library.types = vec!["dylib".into()];
        assert!(decided(&library).unwrap().notes[0].contains("libcrc32fast.so: a Rust dylib"));
    }

    #[test]
    fn a_recorded_profile_keeps_the_names_of_its_symbols() {
        let mut program = recorded::read("program");
        program
            .codegen
            .push(("profile-use".into(), "/p/merged.profdata".into()));
        assert!(words(&decided(&program).unwrap().arguments).contains("-Csymbol-mangling-version=legacy"));
    }

    #[test]
    fn markers_stand_beside_libraries() {
        for path in ["/d/libregex-1.rlib", "/d/libregex-1.rmeta"] {
            assert_eq!(marker(Path::new(path)), Path::new("/d/libregex-1.tickscope"));
        }
    }
}
