//! Libraries that have their own copies of the collector and are loaded, unloaded or preloaded in one program.

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{
    self, Isolated, calls_of, has_exited, isolated, newest, rings_in, test_name, wait_until,
};
use tickscope_format::file::list;
use tickscope_format::file::open::{Liveness, RingFile};

/// Returns the path of the library in `loadable.rs`. `cargo test` builds it as an example, unless only this test is
/// requested. If the library is missing or out of date, this function builds it.
fn library() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let built = this.parent().unwrap().parent().unwrap();
    let library = built.join("examples/libloadable.so");
    let is_new = || {
        let made = |path: &Path| path.metadata().and_then(|facts| facts.modified()).ok();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("it/libraries/loadable.rs");
        made(&library) > made(&source)
    };
    if !is_new() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args("build --quiet -p tickscope-tests --example loadable".split(' '));
        cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        cargo.env("CARGO_TARGET_DIR", built.parent().unwrap());
        assert!(cargo.status().unwrap().success());
    }
    assert!(library.exists(), "{}", library.display());
    library
}

/// Copies the library under another name, so that the loader treats the copy as a separate library.
fn copy(name: &str) -> CString {
    let copy = support::shared_place().join(name);
    std::fs::copy(library(), &copy).unwrap();
    CString::new(copy.to_str().unwrap()).unwrap()
}

struct Loaded(*mut c_void);

impl Loaded {
    fn new(path: &CString) -> Self {
        // SAFETY: the library is the one in `loadable.rs`, whose constructor opens a scope.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!handle.is_null(), "{path:?}");
        Self(handle)
    }

    fn work(&self) -> bool {
        // SAFETY: the handle comes from `dlopen`, and the name is NUL-terminated.
        let work = unsafe { libc::dlsym(self.0, c"loadable_work".as_ptr()) };
        assert!(!work.is_null());
        // SAFETY: the library defines the function with exactly this type.
        let work = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> bool>(work) };
        work()
    }

    fn unload(self) {
        // SAFETY: the handle comes from `dlopen` and is not used again.
        assert_eq!(unsafe { libc::dlclose(self.0) }, 0);
    }
}

fn rings() -> Vec<RingFile> {
    let rings = rings_in(&support::shared_place().join("rings"));
    rings.iter().map(|path| RingFile::open(path).unwrap()).collect()
}

fn two_copies_in_one_process_have_a_ring_each() {
    let done = isolated!(|| {
        let (one, two) = (Loaded::new(&copy("one.so")), Loaded::new(&copy("two.so")));
        let own = tickscope::Builder::new("program").try_start().unwrap();
        assert!(one.work() && two.work());
        assert!(two.work());
        tickscope::time!("own", ());
        let mut calls: Vec<_> = Vec::new();
        wait_until("all calls in the rings", || {
            let rings = rings();
            calls = rings
                .iter()
                .map(|ring| calls_of(&newest(ring), "loaded"))
                .collect();
            calls.sort_unstable();
            calls == [0, 1, 2]
        });
        let listed = list::list(&[support::shared_place().join("rings")]);
        let running = listed.iter().filter(|entry| {
            let facts = entry.ring.as_ref().unwrap();
            let lives = matches!(facts.1, Liveness::Running | Liveness::Stale { .. });
            lives && facts.0.header().pid == std::process::id()
        });
        assert_eq!(running.count(), 3, "all of this process");
        // Each ring lists the files of the process's other collectors.
        let place = support::shared_place();
        let files = [
            std::env::current_exe().unwrap(),
            place.join("one.so"),
            place.join("two.so"),
        ];
        let texts = files.each_ref().map(|file| file.display().to_string());
        for ring in rings() {
            let library = ring.header().library.clone();
            let own = texts.iter().position(|text| *text == library).unwrap_or(0);
            assert_eq!(library.is_empty(), own == 0, "{library}");
            let others: Vec<&String> = texts.iter().filter(|text| **text != texts[own]).collect();
            wait_until("the other copies in the record", || {
                let process = newest(&ring).process;
                let mut copies: Vec<&String> = process.copies.iter().collect();
                copies.sort();
                let mut wanted = others.clone();
                wanted.sort();
                let warned = process.warnings.iter().any(|warning| {
                    let has =
                        |file: &&String| warning.contains(&format!("{file} ({})", env!("CARGO_PKG_VERSION")));
                    warning.contains("another copy of tickscope") && others.iter().all(has)
                });
                warned && copies == wanted
            });
        }
        let others = own.other_copies();
        assert!(files[1..].iter().all(|file| others.contains(file)), "{others:?}");
        assert!(others.len() == 2, "{others:?}");
        assert!(
            own.warnings().iter().any(|warning| warning.contains(&texts[2])),
            "{:?}",
            own.warnings()
        );
        drop(own);
    });
    let rings = rings_in(&done.place().join("rings"));
    for ring in rings.iter().map(|path| RingFile::open(path).unwrap()) {
        assert!(has_exited(&ring));
    }
}

/// Unloading the library must not unmap its code while the library's publisher still runs it.
fn a_library_that_publishes_can_be_unloaded() {
    let done = isolated!(|| {
        let file = copy("one.so");
        // The library is used on another thread, because a thread that counted in the library delays its unloading.
        std::thread::scope(|scope| {
            let works = || Loaded::new(&file).work();
            assert!(scope.spawn(works).join().unwrap());
        });
        let library = Loaded::new(&file);
        let path = rings()[0].path().to_path_buf();
        library.unload();
        // The loader counts how often a library is loaded, and it must be unloaded just as often.
        let once_more = Loaded::new(&file);
        for _ in 0..2 {
            // SAFETY: two loads are still open: the one by the thread above, and `once_more`.
            assert_eq!(unsafe { libc::dlclose(once_more.0) }, 0);
        }
        let ring = RingFile::open(&path).unwrap();
        let _slot = ring.take_slot().unwrap();
        let first = ring.newest().unwrap().sequence;
        wait_until("later records", || ring.newest().unwrap().sequence > first + 3);
        // A library that is loaded again keeps its counts.
        let again = Loaded::new(&file);
        assert!(again.work());
        wait_until("both calls", || calls_of(&newest(&ring), "loaded") == 2);
        assert_eq!(rings().len(), 1);
    });
    assert!(has_exited(&done.ring()));
}

/// Unloading the library must not unmap its code while a thread that has counted in it is still alive.
fn a_library_that_only_counted_can_be_unloaded() {
    let path = copy("counts.so");
    for _ in 0..20 {
        std::thread::scope(|scope| {
            scope.spawn(|| Loaded::new(&path).unload());
        });
    }
    assert_eq!(rings().len(), 0);
}

/// A program without tickscope is run with the library preloaded. The library has scopes in a constructor and in an
/// exit handler.
fn preloaded_it_publishes_what_comes_before_and_after_main() {
    for (command, code) in [("exit 3", 3), ("true | true; sleep 0.3; exit 4", 4)] {
        let test = Isolated::new(test_name!());
        let place = test.place().join("rings");
        let mut shell = Command::new("bash");
        shell
            .args(["-c", command])
            .env("LD_PRELOAD", library())
            .env("TICKSCOPE", "live")
            .env("TICKSCOPE_DIR", &place);
        let done = shell.output().unwrap();
        assert_eq!(done.status.code(), Some(code), "{done:?}");
        assert_eq!((done.stdout, done.stderr), (Vec::new(), Vec::new()));
        let rings = rings_in(&place);
        // The shell has one ring, and each program that it starts has another.
        assert!(!rings.is_empty());
        for path in rings {
            let ring = RingFile::open(&path).unwrap();
            assert!(has_exited(&ring), "{}", path.display());
            let last = support::checked(newest(&ring));
            assert_eq!(calls_of(&last, "constructor"), 1);
            // Exit handlers run in reverse order. The collector registered its own first, so that one runs last.
            assert_eq!(calls_of(&last, "after main"), 1);
        }
    }
}

crate::support::tests![
    own:
    two_copies_in_one_process_have_a_ring_each,
    a_library_that_publishes_can_be_unloaded,
    preloaded_it_publishes_what_comes_before_and_after_main;
    isolated: a_library_that_only_counted_can_be_unloaded;
];
