//! Tests that functions compiled with `-finstrument-functions` report their calls, in a program that does not include
//! the library's header.

use tickscope_testkit::suite::skip;

use crate::support::{self, Counted, Language, done};

fn each_call_of_an_unaware_program_ends_once() {
    if !cfg!(target_arch = "x86_64") {
        skip("functions are counted on x86-64 alone");
    }
    let dir = tempfile::tempdir().unwrap();
    for compiler in Language::Cpp.compilers() {
        for words in [&["-O0"][..], &["-O2"], &["-O2", "-fno-omit-frame-pointer"]] {
            let words = [words, &["-std=c++17", "-g", "-finstrument-functions"]].concat();
            let program = support::build(dir.path(), compiler, Language::Cpp, &words, "unaware.cpp");
            // Modes work the same at every optimization level, so only -O0 is tested with all of them.
            let modes = if words.contains(&"-O0") {
                &["exact", "adaptive", "sampled"][..]
            } else {
                &["exact"]
            };
            for mode in modes {
                let kept = dir.path().join("kept.tks");
                let _ = std::fs::remove_file(&kept);
                let mut command = support::program(&program, dir.path());
                command.env("TICKSCOPE", "report").env("TICKSCOPE_REPORT", &kept);
                let output = done(command.env("TICKSCOPE_MODE", mode));
                assert_eq!(output.stdout, b"349674\n", "{compiler} {words:?}: {output:?}");
                check(&Counted::read(&kept), &format!("{compiler} {words:?} {mode}"));
            }
        }
    }
}

fn check(counted: &Counted, what: &str) {
    let calls = counted.calls();
    let of = |name: &str| calls.get(name).copied().unwrap_or(0);
    let fib = |n: u32| {
        let (mut a, mut b) = (0_u64, 1);
        (0..=n).for_each(|_| (a, b) = (b, a + b));
        2 * a - 1
    };
    assert_eq!((of("main"), of("thread")), (1, 2), "{what}: {calls:?}");
    assert_eq!((of("jumps"), of("jumps_far"), of("stays")), (10, 5, 15), "{what}");
    assert_eq!((of("inlines"), of("inlined"), of("grows")), (1, 10, 5), "{what}");
    assert_eq!((of("catches"), of("throws")), (5, 25), "{what}");
    assert_eq!(of("fib"), fib(10) + 2 * fib(8) + fib(2), "{what}");
    for name in ["shapes::Square<int>::area", "shapes::Square<double>::area"] {
        assert_eq!(of(name), 1, "{what}: {calls:?}");
    }
    // A function that was left by longjmp or by an exception is not the caller of later calls.
    let below = |outer: &str, inner: &str| counted.calls_below(outer, inner);
    assert_eq!(below("main", "jumps"), 10, "{what}");
    assert_eq!(below("main", "jumps_far"), 5, "{what}");
    assert_eq!(below("main", "stays"), 10, "{what}");
    assert_eq!(below("grows", "stays"), 5, "{what}");
    assert_eq!(below("main", "catches"), 5, "{what}");
    assert_eq!(below("inlines", "inlined"), 10, "{what}");
    // Calls on the coroutine's stack are dropped.
    let losses = &counted.0.capture.losses;
    assert_eq!((losses.dropped, losses.unbalanced), (1 + 2 * fib(3), 0), "{what}");
}

tickscope_testkit::tests![each_call_of_an_unaware_program_ends_once];
