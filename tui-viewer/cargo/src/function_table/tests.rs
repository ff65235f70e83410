//! Tests with programs that are compiled with sleds, get their tables, and are then run.

mod programs;

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use programs::{APP, Program};
use tickscope_format::function_table::{Function, FunctionTable, Origin, SECTION, SledKind};

use super::*;

/// Returns the bytes of a file's table, or `None` if it has no table.
fn table_of(executable: &Path) -> Option<Vec<u8>> {
    let bytes = fs::read(executable).unwrap();
    let elf = ElfFile64::<Endianness>::parse(&*bytes).unwrap();
    let section = elf.section_by_name(SECTION)?;
    Some(object::ObjectSection::data(&section).unwrap().to_vec())
}

/// Adds the table to a program.
fn with_table(program: Program) -> Program {
    add(&program.path, &program.sources()).unwrap();
    program
}

/// Checks that adding a table to the file fails, and that the error contains these words.
fn refused(path: &Path, words: &[&str]) {
    let error = add(path, &Sources::default()).unwrap_err().to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
}

/// Returns the functions in a program's table.
fn table(program: &Program) -> Vec<Function> {
    let bytes = table_of(&program.path).unwrap();
    let table = FunctionTable::read(&bytes).unwrap();
    (0..table.len())
        .map(|index| table.function(index).unwrap())
        .collect()
}

fn function(functions: &[Function], module: &str, name: &str) -> Function {
    let found: Vec<_> = functions
        .iter()
        .filter(|f| f.module == module && f.name == name)
        .collect();
    let all = functions.iter().map(|f| (&f.module, &f.name));
    let all = all.collect::<Vec<_>>();
    assert_eq!(found.len(), 1, "{module} {name} among {all:#?}");
    found[0].clone()
}

/// Returns the number of the line in [`APP`] that contains the text.
fn line_of(text: &str) -> u32 {
    let at = APP
        .find(text)
        .unwrap_or_else(|| panic!("no {text} in the source"));
    APP[..at].lines().count() as u32 + u32::from(APP[..at].ends_with('\n'))
}

/// Counts the sections with the name of the table.
fn sections(program: &Program) -> usize {
    let bytes = fs::read(&program.path).unwrap();
    let elf = ElfFile64::<Endianness>::parse(&*bytes).unwrap();
    let names = elf
        .sections()
        .map(|section| object::ObjectSection::name(&section).unwrap().to_string());
    names.filter(|name| name == SECTION).count()
}

#[test]
fn functions_have_names_places_and_origins() {
    let program = programs::app();
    let expected = program.run();
    add(&program.path, &program.sources()).unwrap();
    assert_eq!(program.run(), expected);
    let functions = table(&program);
    for (module, name, text) in [
        ("app", "fib", "fn fib("),
        ("app", "main", "fn main("),
        ("app", "with_inner::inner", "fn inner("),
        ("app", "Local::go", "fn go("),
        ("app", "block_on::<outer>", "fn block_on<"),
        ("app", "apply::<u64, main::{closure}>", "fn apply<"),
        ("app", "outer::{async_block}", "async fn outer("),
        ("app::shapes", "Sq::new", "pub fn new("),
        ("app::shapes", "Sq::area", "fn area(&self) -> u64 {"),
        ("app::shapes", "Sq::twice", "fn twice("),
        ("app::shapes::deep", "Vec<Sq>::sorted", "fn sorted(mut"),
        ("app::shapes::deep", "Sq::far", "pub fn far("),
    ] {
        let found = function(&functions, module, name);
        let place = (
            found.file.as_str(),
            found.line,
            found.package.as_str(),
            found.origin,
        );
        assert_eq!(
            place,
            ("src/main.rs", line_of(text), "app 0.1.0", Origin::Own),
            "{name}"
        );
        assert!(found.size > 0 && found.sleds.len() > 1, "{found:?}");
        assert_eq!(found.sleds[0].kind, SledKind::Entry, "{name}");
    }
    let generic = function(&functions, "dep", "Heap<u64>::push");
    assert_eq!(generic.origin, Origin::Dependency);
    assert_eq!(generic.package.as_str(), "dep 1.2.3");
    assert_eq!(generic.file.as_str(), "dep-1.2.3/src/lib.rs");
    let std = functions
        .iter()
        .find(|f| f.name.starts_with("drop_in_place::<"))
        .unwrap();
    assert_eq!((std.origin, std.package.as_str()), (Origin::Std, "core"));
    assert!(std.file.starts_with("library/core/src/ptr/"), "{}", std.file);

    assert!(
        functions
            .iter()
            .all(|f| f.origin != Origin::Unknown && f.line > 0)
    );
    let text = String::from_utf8_lossy(&table_of(&program.path).unwrap()).into_owned();
    assert!(
        !text.contains(program.workspace.to_str().unwrap()),
        "a path of this machine"
    );
}

#[test]
fn what_the_collector_may_call_is_not_in_the_table() {
    let program = programs::app();
    let symbols = programs::output("nm", &["-C".as_ref(), program.path.as_os_str()]);
    assert!(
        symbols.contains("tickscope::enter"),
        "it is not in the program either"
    );
    add(&program.path, &program.sources()).unwrap();
    for function in table(&program) {
        assert!(!function.module.starts_with("tickscope"), "{function:?}");
        assert!(!function.module.starts_with("__rustc"), "{function:?}");
        assert!(
            !function.name.contains("Guard>"),
            "drop glue of the collector's type: {function:?}"
        );
    }
}

/// Returns the names of the program's own functions, with async bodies named as closures. Without debug information,
/// the two cannot be distinguished.
fn own_names(program: &Program) -> BTreeSet<(String, String)> {
    let own = table(program).into_iter().filter(|f| f.origin == Origin::Own);
    let names = own.map(|f| {
        (
            f.module,
            f.name
                .replace("outer::{closure}", "outer")
                .replace("async_block", "closure"),
        )
    });
    names.collect()
}

#[test]
fn every_kind_of_debug_information_gives_the_same_names() {
    let limited = with_table(programs::app());
    let names = own_names(&limited);

    let complete = with_table(programs::compile(
        APP,
        &["-Cdebuginfo=2", "-Clink-arg=-Wl,--compress-debug-sections=zlib"],
    ));
    assert_eq!(own_names(&complete), names);
    let fib = function(&table(&complete), "app", "fib");
    assert_eq!((fib.file.as_str(), fib.line), ("src/main.rs", line_of("fn fib(")));

    let lines = with_table(programs::compile(APP, &["-Cdebuginfo=line-tables-only"]));
    assert_eq!(own_names(&lines), names);
    // Without `debuginfo=1`, the function may begin at the line of `fn` or of the first statement.
    for (name, text) in [("fib", "fn fib("), ("main", "fn main(")] {
        let found = function(&table(&lines), "app", name);
        assert_eq!(found.file.as_str(), "src/main.rs");
        assert_eq!(found.package.as_str(), "app 0.1.0");
        assert!(
            (line_of(text)..line_of(text) + 2).contains(&found.line),
            "{found:?}"
        );
    }
    assert!(own_names(&lines).contains(&("app".into(), "outer::{closure}".into())));
    function(&table(&lines), "app", "outer::{async_block}");

    let none = with_table(programs::compile(APP, &["-Cdebuginfo=0", "-Cstrip=debuginfo"]));
    assert_eq!(own_names(&none), names);
    assert!(table(&none).iter().all(|f| f.line == 0));
    let fib = function(&table(&none), "app", "fib");
    assert_eq!((fib.file.as_str(), fib.package.as_str()), ("", "app 0.1.0"));
    let heap = function(&table(&none), "dep", "Heap<u64>::push");
    assert_eq!((heap.origin, heap.package.as_str()), (Origin::Dependency, "dep"));
}

#[test]
fn the_old_mangling_gives_the_same_modules() {
    let program = with_table(programs::compile(
        APP,
        &["-Csymbol-mangling-version=legacy", "-Zunstable-options"],
    ));
    let functions = table(&program);
    for (module, name) in [
        ("app", "fib"),
        ("app", "block_on"),
        ("app::shapes", "Sq::area"),
        ("app::shapes::deep", "Sq::far"),
        ("app::shapes::deep", "Vec<Sq>::sorted"),
    ] {
        assert_eq!(function(&functions, module, name).origin, Origin::Own);
    }
}

#[test]
fn a_second_table_takes_the_place_of_the_first() {
    let program = programs::app();
    fs::set_permissions(&program.path, fs::Permissions::from_mode(0o750)).unwrap();
    let linked = fs::metadata(&program.path).unwrap().len();
    add(&program.path, &program.sources()).unwrap();
    let once = fs::read(&program.path).unwrap();
    let bytes = table_of(&program.path).unwrap().len() as u64;
    assert!(
        (once.len() as u64) < linked + bytes + 8192,
        "{} bytes",
        once.len()
    );
    add(&program.path, &program.sources()).unwrap();
    assert!(
        fs::read(&program.path).unwrap() == once,
        "the second table is not the first"
    );
    assert_eq!(sections(&program), 1);
    assert_eq!(
        fs::metadata(&program.path).unwrap().permissions().mode() & 0o7777,
        0o750
    );
    let left = fs::read_dir(program.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left
        .filter(|name| name.to_string_lossy().starts_with(".tickscope"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    // With other sources, the table is different, and may have another length.
    add(&program.path, &Sources::default()).unwrap();
    assert!(table(&program).iter().all(|f| f.origin != Origin::Own));
    assert_eq!(sections(&program), 1);
    program.run();
}

#[test]
fn a_link_to_the_program_stays_a_link() {
    let program = programs::app();
    let link = program.folder.path().join("link");
    std::os::unix::fs::symlink(&program.path, &link).unwrap();
    add(&link, &program.sources()).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(sections(&program), 1);
}

#[test]
fn strip_keeps_the_table() {
    let program = programs::app();
    let expected = program.run();
    add(&program.path, &program.sources()).unwrap();
    let before = table_of(&program.path).unwrap();
    programs::output("strip", &["--strip-debug".as_ref(), program.path.as_os_str()]);
    assert!(table_of(&program.path).unwrap() == before);
    // The program still has symbols, so the table can be created again, but without line numbers.
    add(&program.path, &program.sources()).unwrap();
    let again = table(&program);
    assert!(again.iter().all(|f| f.line == 0) && sections(&program) == 1);
    assert_eq!(program.run(), expected);
    programs::output("strip", &[program.path.as_os_str()]);
    assert_eq!((table(&program), sections(&program)), (again, 1));
    assert_eq!(program.run(), expected);
    let headers = programs::output("readelf", &["-SW".as_ref(), program.path.as_os_str()]);
    assert!(headers.contains(SECTION), "{headers}");
    // Without symbols, no function has a name. So the table cannot be created, and the file stays unchanged.
    let stripped = fs::read(&program.path).unwrap();
    refused(&program.path, &["no symbols and no debug information"]);
    assert!(fs::read(&program.path).unwrap() == stripped);
}

#[test]
fn libraries_for_c_have_tables() {
    let source =
        "#[unsafe(no_mangle)]\npub extern \"C\" fn twice(n: u64) -> u64 { std::hint::black_box(n) * 2 }\n";
    let program = with_table(programs::compile(source, &["--crate-type=cdylib"]));
    let twice = function(&table(&program), "app", "twice");
    assert_eq!((twice.origin, twice.line), (Origin::Own, 2));
    // `strip` does not remove the dynamic symbols.
    programs::output("strip", &[program.path.as_os_str()]);
    assert_eq!(function(&table(&program), "app", "twice"), twice);
    add(&program.path, &program.sources()).unwrap();
    let functions = table(&program);
    assert!(functions.iter().any(|f| f.name == "twice"), "{functions:?}");
    assert!(
        functions.iter().any(|f| f.name.starts_with("0x")),
        "the others have no names"
    );
}

#[test]
fn entries_that_are_no_sleds_are_left_out() {
    let program = with_table(programs::app());
    let fib = function(&table(&program), "app", "fib");
    let mut bytes = fs::read(&program.path).unwrap();
    let elf = ElfFile64::<Endianness>::parse(&*bytes).unwrap();
    let offsets = fib.sleds.iter().map(|sled| {
        let here = |section: &object::read::elf::ElfSection64<'_, '_, Endianness>| {
            let start = object::ObjectSection::address(section);
            (start..start + object::ObjectSection::size(section)).contains(&sled.address)
        };
        let code = elf.sections().find(here).unwrap();
        let file = object::ObjectSection::file_range(&code).unwrap();
        (file.0 + sled.address - object::ObjectSection::address(&code)) as usize
    });
    let offsets: Vec<usize> = offsets.collect();
    for at in offsets {
        bytes[at] = 0x90;
    }
    fs::write(&program.path, &bytes).unwrap();
    add(&program.path, &program.sources()).unwrap();
    assert!(table(&program).iter().all(|f| f.name != "fib"));
}

#[test]
fn a_file_without_sleds_says_what_was_found() {
    let here = std::env::current_exe().unwrap();
    assert!(table_of(&here).is_none());
    refused(
        &here,
        &["no section xray_instr_map; it was compiled without sleds"],
    );
}

#[test]
fn gold_is_named_where_it_drops_the_map() {
    if Command::new("ld.gold").arg("--version").output().is_err() {
        println!("no ld.gold here");
        return;
    }
    let program = programs::compile(
        "fn main() {}",
        &[
            "-Clink-arg=-fuse-ld=gold",
            "-Clink-self-contained=-linker",
            "-Zunstable-options",
        ],
    );
    refused(&program.path, &["the linker gold drops it with --gc-sections"]);
}

#[test]
fn other_files_are_refused_with_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let error = add(&path, &Sources::default()).unwrap_err().to_string();
    assert!(error.starts_with("read ") && error.contains("file"), "{error}");
    let here = fs::read(std::env::current_exe().unwrap()).unwrap();
    let changed = |at: usize, byte: u8| {
        let mut bytes = here[..4096].to_vec();
        bytes[at] = byte;
        bytes
    };
    for (bytes, found) in [
        (b"#!/bin/sh\n".to_vec(), "begins with \"#!/b\""),
        (Vec::new(), "begins with \"\""),
        (changed(18, 183), "machine 183"),
        (changed(4, 1), "class 1"),
        (changed(16, 1), "type 1"),
        (here[..64].to_vec(), "damaged"),
    ] {
        fs::write(&path, &bytes).unwrap();
        refused(&path, &["wanted a program or shared library", found]);
        assert!(fs::read(&path).unwrap() == bytes);
    }
}

#[test]
fn another_version_of_the_map_is_named() {
    let program = programs::compile("fn main() {}", &[]);
    let mut bytes = fs::read(&program.path).unwrap();
    let elf = ElfFile64::<Endianness>::parse(&*bytes).unwrap();
    let map = elf.section_by_name("xray_instr_map").unwrap();
    let (at, _) = object::ObjectSection::file_range(&map).unwrap();
    bytes[at as usize + 18] = 7;
    fs::write(&program.path, &bytes).unwrap();
    refused(&program.path, &["version 7", "reads 2"]);
}

#[test]
fn damaged_programs_are_refused_or_read() {
    let program = programs::compile(
        "fn main() { println!(\"1\") }",
        &["-Cdebuginfo=0", "-Cstrip=debuginfo"],
    );
    let whole = fs::read(&program.path).unwrap();
    let elf = ElfFile64::<Endianness>::parse(&*whole).unwrap();
    let headers = elf.elf_header().e_shoff.get(Endianness::Little) as usize;
    // Damage the file in one way at a time: invert a byte in the file header or in a section header, or truncate the
    // file.
    let bytes = (0..64).chain((headers..whole.len()).step_by(23)).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        bytes
    });
    let lengths = (0..whole.len())
        .step_by(whole.len() / 10)
        .map(|length| whole[..length].to_vec());
    let (mut read, mut refused) = (0, 0);
    for bytes in bytes.chain(lengths) {
        fs::write(&program.path, &bytes).unwrap();
        match add(&program.path, &program.sources()) {
            Ok(()) => {
                read += 1;
                assert!(table_of(&program.path).is_some());
            }
            Err(error) => {
                refused += 1;
                assert!(fs::read(&program.path).unwrap() == bytes, "changed, and {error}");
            }
        }
    }
    assert!(read > 0 && refused > 0, "{read} read, {refused} refused");
}
