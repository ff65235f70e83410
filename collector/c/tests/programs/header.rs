//! Tests the header. Every compiler must accept it, and it must declare exactly the library's functions. With
//! -DTICKSCOPE_DISABLE, it must leave no trace in the compiled program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSymbol};

use crate::support::{self, Counted, Language, compile, done, source};

/// Additional warnings that some projects enable. They count as errors here, like the usual warnings in all tests.
const MORE: [&str; 8] = [
    "-Wshadow",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wundef",
    "-Wcast-qual",
    "-Wwrite-strings",
    "-Wredundant-decls",
    "-Wmissing-declarations",
];
const MORE_C: [&str; 3] = [
    "-Wstrict-prototypes",
    "-Wmissing-prototypes",
    "-Wold-style-definition",
];
const MORE_CPP: [&str; 4] = [
    "-Wold-style-cast",
    "-Wzero-as-null-pointer-constant",
    "-Wextra-semi",
    "-Weffc++",
];

fn every_compiler_takes_all_of_it_without_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let object = dir.path().join("compiled.o");
    for language in [Language::C, Language::Cpp] {
        let more = match language {
            Language::C => &MORE_C[..],
            Language::Cpp => &MORE_CPP,
        };
        for compiler in language.compilers() {
            for standard in language.standards() {
                for how in ["-DPLAIN", "-DTICKSCOPE_DISABLE", "-DTICKSCOPE_OPTIONAL"] {
                    let compile = || compile(compiler, language, &[standard, how, "-O1", "-c"]);
                    done(compile().arg(source("every.c")).arg("-o").arg(&object));
                    let mut command = compile();
                    command.args(MORE).args(more).arg(source("lines.c"));
                    done(command.arg("-o").arg(&object));
                }
            }
        }
    }
}

fn scopes_on_one_line_count_each() {
    let dir = tempfile::tempdir().unwrap();
    for language in [Language::C, Language::Cpp] {
        for compiler in language.compilers() {
            let program = support::build(dir.path(), compiler, language, &["-O1"], "lines.c");
            let kept = dir.path().join(format!("{compiler}.tks"));
            done(support::program(&program, dir.path()).arg(&kept));
            let calls = Counted::read(&kept).calls();
            let one = |name: &&str| calls.get(*name) == Some(&1);
            let all = [
                "line one", "line two", "a", "b", "c", "d", "e", "f", "g", "outer", "in it", "v", "y",
            ];
            assert!(all.iter().all(one), "{compiler}: {calls:?}");
        }
    }
}

fn the_library_has_what_the_header_declares_and_nothing_else() {
    let header = fs::read_to_string(support::package().join("include/tickscope.h")).unwrap();
    let declared: BTreeSet<String> = header
        .lines()
        .filter_map(|line| line.strip_prefix("TICKSCOPE_API_ "))
        .map(|line| {
            let name = line.split('(').next().unwrap();
            name.rsplit([' ', '*']).next().unwrap().to_string()
        })
        .collect();
    assert!(declared.len() > 20, "{declared:?}");
    let bytes = fs::read(support::libraries().join("libtickscope.so")).unwrap();
    let library = object::File::parse(&*bytes).unwrap();
    let symbols = library.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let mut names: BTreeSet<String> = symbols.map(|symbol| symbol.name().unwrap().to_string()).collect();
    if cfg!(target_arch = "x86_64") {
        for name in ["__cyg_profile_func_enter", "__cyg_profile_func_exit"] {
            assert!(names.remove(name), "{name}");
        }
    }
    assert_eq!(names, declared);
}

/// Compiles `pair.c` with the option `how`, which selects a definition of the macros, and returns the object file.
fn pair(dir: &Path, compiler: &str, language: Language, how: &str) -> PathBuf {
    let object = dir.join("pair.o");
    let standard = language.standards()[0];
    let mut command = compile(compiler, language, &[standard, "-O2", how, "-c"]);
    done(command.arg(source("pair.c")).arg("-o").arg(&object));
    object
}

fn no_name_is_left_where_it_is_disabled() {
    let dir = tempfile::tempdir().unwrap();
    for language in [Language::C, Language::Cpp] {
        for compiler in language.compilers() {
            let names = |how: &str| {
                let bytes = fs::read(pair(dir.path(), compiler, language, how)).unwrap();
                let object = object::File::parse(&*bytes).unwrap();
                let names = object.symbols().map(|symbol| symbol.name().unwrap().to_string());
                names
                    .filter(|name| name.contains("tickscope"))
                    .collect::<Vec<_>>()
            };
            assert!(!names("-DPLAIN").is_empty());
            let left = names("-DTICKSCOPE_DISABLE");
            assert!(left.is_empty(), "{compiler}: {left:?}");
        }
    }
}

fn no_instruction_is_left_where_it_is_disabled() {
    support::wants("objdump");
    let dir = tempfile::tempdir().unwrap();
    for language in [Language::C, Language::Cpp] {
        for compiler in language.compilers() {
            let object = pair(dir.path(), compiler, language, "-DTICKSCOPE_DISABLE");
            let (plain, scoped) = instructions(&object, language);
            assert!(plain.len() > 5, "{plain:?}");
            assert_eq!(plain, scoped, "{compiler}");
        }
    }
}

/// Returns the instructions of the two functions in `pair.c`, without addresses.
fn instructions(object: &Path, language: Language) -> (Vec<String>, Vec<String>) {
    let mut objdump = Command::new("objdump");
    let output = done(
        objdump
            .args(["-d", "--no-show-raw-insn", "--no-addresses"])
            .arg(object),
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let of = |name: &str| {
        let name = match language {
            Language::C => name.to_string(),
            Language::Cpp => format!("_Z{}{name}PKii", name.len()),
        };
        let begin = format!("<{name}>:");
        let lines = text.lines().skip_while(|line| !line.ends_with(&begin)).skip(1);
        // Jump targets are addresses within the function, so they differ between the two functions and are removed. So
        // is the padding at the end, which belongs to the next function.
        let lines = lines.take_while(|line| !line.is_empty());
        let lines = lines.map(|line| line.split("<").next().unwrap().trim().to_string());
        let lines = lines.map(|line| match line.starts_with('j') {
            true => line.split_whitespace().next().unwrap().to_string(),
            false => line,
        });
        lines
            .filter(|line| !line.contains("nop") && *line != "xchg   %ax,%ax")
            .collect::<Vec<_>>()
    };
    (of("plain"), of("scoped"))
}

fn all_that_it_has_does_what_it_says() {
    let dir = tempfile::tempdir().unwrap();
    for language in [Language::C, Language::Cpp] {
        let compiler = language.compiler();
        // A weak symbol alone does not make the linker take an object out of an archive, so `--whole-archive` is
        // needed.
        for words in [
            &["-O2"][..],
            &["-O0", "-DTICKSCOPE_OPTIONAL", "-Wl,--whole-archive"],
        ] {
            let program = support::build(dir.path(), compiler, language, words, "every.c");
            let kept = dir.path().join("kept.tks");
            let _ = fs::remove_file(&kept);
            let output = done(support::program(&program, dir.path()).arg(&kept));
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(["0 1 1\n", "1 1 1\n"].contains(&said.as_str()), "{said}");
            let written = dir.path().join("written.tks");
            fs::write(&written, output.stdout).unwrap();
            for path in [&kept, &written] {
                check(&Counted::read(path));
            }
        }
    }
}

fn check(counted: &Counted) {
    let calls = counted.calls();
    let all = [
        ("leaves", 7),
        // 1 + 1 + 1 + 3 + 3 from `leaves(0)` to `leaves(4)`, and 3 after the site was enabled again.
        ("in loop", 12),
        ("counts", 10),
        ("count", 10),
        ("count in", 10),
        ("value", 10),
        ("value in", 10),
        ("gauge", 10),
        ("gauge in", 10),
        ("grouped", 10),
        ("without braces", 4),
        ("otherwise", 6),
        ("watched", 1),
    ];
    let wanted = all.map(|(name, count)| (name.to_string(), count)).into();
    assert_eq!(calls, wanted);
    assert_eq!(counted.calls_below("leaves", "in loop"), 12);
    assert_eq!(counted.calls_below("counts", "grouped"), 10);
    let site = |name: &str| counted.0.sites.iter().find(|site| site.name == name).unwrap();
    assert_eq!(site("grouped").group.as_str(), "group");
    assert_eq!(site("leaves").group.as_str(), "");
    assert_eq!(site("leaves").module, "every");
    assert!(site("leaves").file.ends_with("every.c") && site("leaves").line > 10);
    let losses = &counted.0.capture.losses;
    assert_eq!((losses.dropped, losses.unbalanced), (0, 0));
}

fn every_function_takes_what_the_others_return() {
    let dir = tempfile::tempdir().unwrap();
    for language in [Language::C, Language::Cpp] {
        let compiler = language.compiler();
        let program = support::build(dir.path(), compiler, language, &["-O1"], "misuse.c");
        for settings in [
            None,
            Some(("TICKSCOPE", "off")),
            Some(("TICKSCOPE", "live")),
            Some(("TICKSCOPE_MODE", "off")),
            Some(("TICKSCOPE_MODE", "exact")),
            Some(("TICKSCOPE_MODE", "sampled")),
            Some(("TICKSCOPE_THREADS", "opt-in")),
        ] {
            let mut command = support::program(&program, dir.path());
            command.envs(settings).arg(dir.path().join("kept.tks"));
            assert_eq!(done(&mut command).stdout, b"all\n", "{settings:?}");
        }
    }
}

fn names_that_are_no_text_have_rows_and_scopes_before_libc_count() {
    let dir = tempfile::tempdir().unwrap();
    let compiler = Language::C.compiler();
    let program = support::build(dir.path(), compiler, Language::C, &["-O1"], "names.c");
    let kept = dir.path().join("kept.tks");
    let report = dir.path().join("at exit.txt");
    let mut command = support::program(&program, dir.path());
    done(command.env("TICKSCOPE_REPORT", &report).arg(&kept));
    let counted = Counted::read(&kept);
    let one = |name: &str| (name.to_string(), 1);
    let shown = [
        "early",
        r"caf\xe9",
        r"caf\xe8",
        "caf\u{e9}",
        r"\xff",
        r"\xe9t\xe9",
        "after",
        "still",
    ];
    assert_eq!(counted.calls(), shown.map(one).into());
    assert_eq!(counted.calls_below("caf\u{e9}", r"\xff"), 1);
    let site = |name: &str| counted.0.sites.iter().find(|site| site.name == name).unwrap();
    assert_eq!(site(r"\xff").group, r"gr\xfcn");
    // The scope that opens before `main` is in the report that TICKSCOPE_REPORT requests, so the environment was already
    // read when it opened.
    let text = fs::read_to_string(&report).unwrap();
    assert!(text.contains("names::early"), "{text}");
}

/// Finds the table row that begins with `first` in the book, and returns the rest of that row.
fn rows<'a>(book: &'a str, first: &str) -> Option<&'a str> {
    book.lines()
        .find_map(|line| line.strip_prefix("| `")?.strip_prefix(first))
}

fn the_book_has_the_states_and_functions_of_the_header() {
    let header = fs::read_to_string(support::package().join("include/tickscope.h")).unwrap();
    let book = fs::read_to_string(support::package().join("../../docs/c-and-cpp.md")).unwrap();
    let states = rows(&book, "tickscope_status(session)` | ").unwrap();
    let mut count = 0;
    for line in header.lines() {
        let Some((name, rest)) = line.trim().split_once(" = ") else {
            continue;
        };
        let number = rest.split([',', ' ']).next().unwrap();
        if let Some(name) = name.strip_prefix("TICKSCOPE_")
            && header.split("tickscope_state;").next().unwrap().contains(line)
        {
            let wanted = format!("{number} `_{name}`");
            assert!(
                states.replace("TICKSCOPE_", "_").contains(&wanted),
                "{wanted}: {states}"
            );
            count += 1;
        }
    }
    assert_eq!(count, 4);
    for line in header
        .lines()
        .filter_map(|line| line.strip_prefix("TICKSCOPE_API_ "))
    {
        let name = line.split('(').next().unwrap().rsplit([' ', '*']).next().unwrap();
        let is_for_macros = ["enter", "leave", "count", "value", "gauge"]
            .iter()
            .any(|end| name.trim_end_matches('_') == format!("tickscope_{end}"));
        assert!(is_for_macros || book.contains(&format!("`{name}(")), "{name}");
    }
}

fn without_the_library_a_program_links_and_does_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let compiler = Language::C.compiler();
    let program = dir.path().join("pair");
    let main = dir.path().join("main.c");
    fs::write(
        &main,
        "#include <tickscope.h>\nint scoped(const int *, int);\nint main(void) {\n\
             int n[] = {1, 2};\nchar text[9] = \"x\";\ntickscope_session *session = tickscope_start(\"x\");\n\
             tickscope_reset();\nif (scoped(n, 2) != 9 || session || tickscope_status(session) != TICKSCOPE_OFF) return 1;\n\
             if (tickscope_dump(\"x\", TICKSCOPE_TKS) != 0 || tickscope_warnings(session, text, 9) != 0 || *text) return 2;\n\
             tickscope_finish(session);\nreturn 0;\n}\n",
    )
    .unwrap();
    let mut command = compile(compiler, Language::C, &["-DTICKSCOPE_OPTIONAL"]);
    done(command.arg(source("pair.c")).arg(&main).arg("-o").arg(&program));
    done(&mut support::program(&program, dir.path()));
    let mut command = compile(compiler, Language::C, &[]);
    command.arg(source("pair.c")).arg(&main).arg("-o").arg(&program);
    assert!(
        !command.output().unwrap().status.success(),
        "it links although the library is missing"
    );
}

tickscope_testkit::tests![
    every_compiler_takes_all_of_it_without_a_warning,
    scopes_on_one_line_count_each,
    the_library_has_what_the_header_declares_and_nothing_else,
    no_name_is_left_where_it_is_disabled,
    no_instruction_is_left_where_it_is_disabled,
    all_that_it_has_does_what_it_says,
    every_function_takes_what_the_others_return,
    names_that_are_no_text_have_rows_and_scopes_before_libc_count,
    the_book_has_the_states_and_functions_of_the_header,
    without_the_library_a_program_links_and_does_nothing,
];
