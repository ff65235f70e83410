use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use object::ObjectSymbol;
use tickscope_format::Snapshot;
use tickscope_format::recording::{Recording, Writer};
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::{LineSample, SampledIn, Thread};
use tickscope_testkit::test_program::payload;

use super::*;

/// A program with a function `marked` on line 3.
const PROGRAM: &str = "
    #[no_mangle] #[inline(never)]
    pub fn marked(number: u64) -> u64 { std::hint::black_box(number) + 1 }
    fn main() { assert_eq!(marked(1), 2); }
";

fn run(command: &mut Command) {
    let done = command.output().unwrap();
    assert!(
        done.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// Compiles a program in a folder, and returns the path of the program.
fn compiled(folder: &Path, name: &str, program: &str, options: &[&str]) -> PathBuf {
    let source = folder.join(format!("{name}.rs"));
    fs::write(&source, program).unwrap();
    let file = folder.join(name);
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    run(Command::new(rustc)
        .args(["--edition=2021", "-Clink-arg=-Wl,--build-id"])
        .args(options)
        .arg("-o")
        .args([&file, &source]));
    file
}

/// Returns a module for the file, and the address of `marked` in it.
fn module(file: &Path) -> (Module, u64) {
    let bytes = fs::read(file).unwrap();
    let object = object::File::parse(&*bytes).unwrap();
    let marked = object.symbols().find(|symbol| symbol.name() == Ok("marked"));
    let module = Module {
        path: file.to_str().unwrap().into(),
        build_id: object.build_id().unwrap().unwrap().to_vec(),
    };
    (module, marked.unwrap().address())
}

/// Returns the function and the line at an address, and the problem that was found with the module.
fn found(module: &Module, address: u64) -> (String, u32, Option<String>) {
    let mut symbols = Symbols::of(std::process::id());
    let frames = symbols.frames(module, address);
    let frame = frames.last().cloned().unwrap_or_default();
    let problem = symbols.problems().remove(&module.path);
    (frame.function, frame.line, problem)
}

fn objcopy(arguments: &[&str], from: &Path, to: &Path) {
    run(Command::new("objcopy").args(arguments).args([from, to]));
}

#[test]
fn lines_are_found_wherever_the_debug_information_is() {
    let place = tempfile::tempdir().unwrap();
    for split in ["off", "packed", "unpacked"] {
        let split = format!("-Csplit-debuginfo={split}");
        let file = compiled(place.path(), "whole", PROGRAM, &["-Cdebuginfo=1", &split]);
        let (module, address) = module(&file);
        assert_eq!(found(&module, address), ("marked".into(), 3, None), "{split}");
    }
    // Line tables name only functions into which others were inlined. The name of this one comes from its symbol.
    let options = ["-Cdebuginfo=line-tables-only"];
    let file = compiled(place.path(), "lines", PROGRAM, &options);
    let (of_lines, address) = module(&file);
    assert_eq!(found(&of_lines, address), ("marked".into(), 3, None));
    let file = compiled(place.path(), "parts", PROGRAM, &["-Cdebuginfo=1"]);
    let (module, address) = module(&file);
    // Distributions ship debug information in a separate file, and the program contains the name of that file.
    let debug = place.path().join("parts.debug");
    objcopy(&["--only-keep-debug"], &file, &debug);
    let link = format!("--add-gnu-debuglink={}", debug.display());
    let stripped = place.path().join("stripped");
    objcopy(&["--strip-all", &link], &file, &stripped);
    fs::rename(&stripped, &file).unwrap();
    assert_eq!(found(&module, address), ("marked".into(), 3, None));
    fs::remove_file(debug).unwrap();
    let (function, line, problem) = found(&module, address);
    assert_eq!((function.as_str(), line), ("", 0));
    assert!(problem.unwrap().contains("no debug information"));
}

/// Sampled code gets the same names as counted rows. In debug information, the names of async bodies are found inside
/// the names of the functions that drop their futures.
#[test]
fn code_of_async_functions_has_their_names_and_no_closure_is_without_one() {
    let program = "
        pub struct Svc(u64);
        impl Svc {
            #[inline(always)] async fn call(&self, name: String) -> u64 {
                let mut x = self.0 + name.len() as u64;
                while x > 1 { x = x / 2 + (x & std::hint::black_box(1)); }
                x
            }
            async fn outer(&self) -> u64 {
                let name = std::hint::black_box(String::from(\"a\"));
                self.call(name.clone()).await + async { self.call(name).await }.await
            }
        }
        fn main() {
            let mut future = std::pin::pin!(Svc(3).outer());
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            let _ = std::hint::black_box(std::future::Future::poll(future.as_mut(), &mut context));
            (0..std::hint::black_box(9)).for_each(|n| { std::hint::black_box(n * n); });
        }
    ";
    let place = tempfile::tempdir().unwrap();
    let names = |level: &str| {
        let options = ["-O", "-Csymbol-mangling-version=v0", level];
        let file = compiled(place.path(), "program", program, &options);
        let bytes = fs::read(&file).unwrap();
        let object = object::File::parse(&*bytes).unwrap();
        let module = Module {
            path: file.to_str().unwrap().into(),
            build_id: object.build_id().unwrap().unwrap().to_vec(),
        };
        let mut symbols = Symbols::of(std::process::id());
        let own = object
            .symbols()
            .filter(|symbol| symbol.name().is_ok_and(|name| name.contains("7program")));
        let code = own.flat_map(|symbol| symbol.address()..symbol.address() + symbol.size());
        let frames = code.flat_map(|address| symbols.frames(&module, address));
        frames.map(|frame| frame.function).collect::<BTreeSet<String>>()
    };
    let all = names("-Cdebuginfo=1");
    assert!(
        ["Svc::call", "Svc::outer", "Svc::outer::{async_block}"]
            .iter()
            .all(|name| all.contains(*name)),
        "{all:?}"
    );
    let of_lines = names("-Cdebuginfo=line-tables-only");
    assert!(!of_lines.iter().any(|name| name.starts_with('{')), "{of_lines:?}");
}

#[test]
fn functions_of_the_running_kernels_vdso_are_named() {
    // A kernel may be told to provide none.
    let Some(image) = vdso_image() else { return };
    let file = object::File::parse(&*image).unwrap();
    let clock = file.dynamic_symbols().find(|symbol| {
        let name = symbol.name().unwrap();
        !symbol.is_weak() && name.ends_with("_clock_gettime")
    });
    let clock = clock.unwrap();
    let mut module = Module {
        path: "linux-vdso.so.1".into(),
        build_id: file.build_id().unwrap().unwrap().to_vec(),
    };
    let name = clock.name().unwrap().trim_start_matches('_').to_owned();
    assert_eq!(found(&module, clock.address() + 1), (name, 0, None));
    // A recording may come from another kernel.
    module.build_id[0] ^= 1;
    assert_eq!(found(&module, clock.address() + 1), (String::new(), 0, None));
}

#[test]
fn a_recording_names_code_whose_file_is_gone() {
    let place = tempfile::tempdir().unwrap();
    let file = compiled(place.path(), "program", PROGRAM, &["-Cdebuginfo=1"]);
    let (module, address) = module(&file);
    let mut snapshot = Snapshot::default();
    snapshot.threads.push(Thread {
        outside_ticks: 5,
        ..Thread::default()
    });
    snapshot.lines.modules.push(module);
    snapshot.lines.set([LineSample {
        inside: SampledIn::Thread(0),
        module: 0,
        address,
        samples: 5,
        cpu_ns: 5,
    }]);
    let payload = payload(&snapshot);
    let mut names = Names::of(std::process::id());
    let path = place.path().join("run.tks");
    let mut writer = Writer::create(&path, false).unwrap();
    let stamp = Stamp::from(&snapshot.capture);
    writer.name(names.new_in(&payload));
    writer.append(stamp, &payload).unwrap();
    assert!(names.new_in(&payload).is_empty(), "each address is named once");
    writer.append(stamp, &payload).unwrap();
    writer.finish().unwrap();

    fs::remove_file(file).unwrap();
    let recording = Recording::open(&path).unwrap();
    let known = recording.addresses();
    let module = &snapshot.lines.modules[0];
    let frames = known.looked_up(module, address).unwrap();
    assert_eq!(frames.last().unwrap().function, "marked");
    let mut symbols = Symbols::of(std::process::id());
    assert!(symbols.new_in(&snapshot.lines, &known).is_empty());
    assert_eq!(symbols.problems(), BTreeMap::new(), "the file is not looked for");
}

#[test]
fn what_is_missing_is_said() {
    let place = tempfile::tempdir().unwrap();
    let file = compiled(place.path(), "program", PROGRAM, &["-Cdebuginfo=0"]);
    let (module, address) = module(&file);
    let (function, line, problem) = found(&module, address);
    // The name comes from the symbol table.
    assert_eq!((function.as_str(), line), ("marked", 0));
    assert!(
        problem
            .unwrap()
            .contains("marked and others have no debug information")
    );

    compiled(place.path(), "program", "fn main() {}", &["-Cdebuginfo=1"]);
    let (function, _, problem) = found(&module, address);
    assert_eq!(function, "", "another program");
    assert!(problem.unwrap().contains("was replaced after the program began"));

    fs::remove_file(&file).unwrap();
    let (_, _, problem) = found(&module, address);
    assert!(problem.unwrap().contains("the file is not there"));

    fs::write(&file, "no program").unwrap();
    let (_, _, problem) = found(&module, address);
    assert!(problem.unwrap().contains("was replaced"));
}
