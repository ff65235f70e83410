//! The harness of suites whose tests need tools that a machine may lack: a compiler, a debugger, root rights. The
//! standard harness decides before a test runs whether it is ignored; here the test itself can [`skip`].

use std::fmt::Display;
use std::num::NonZero;
use std::process::ExitCode;
use std::thread;

use libtest_mimic::{Arguments, Completion, Conclusion, Failed, Trial};

/// A test of a suite; [`tests!`](crate::tests) makes them.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    path: &'static str,
    is_ignored: bool,
    /// The test's function.
    pub test: fn(),
}

impl Case {
    /// Makes a test that runs by default. `path` is the path of its function, with all modules and the crate.
    pub const fn new(path: &'static str, test: fn()) -> Self {
        Self {
            path,
            is_ignored: false,
            test,
        }
    }

    /// Makes a test that runs only with `--ignored` or `--include-ignored`.
    pub const fn ignored(path: &'static str, test: fn()) -> Self {
        Self {
            is_ignored: true,
            ..Self::new(path, test)
        }
    }

    /// Returns the file and the function as `storm::name`, without the crate and its module `all`.
    pub fn name(&self) -> &'static str {
        let split = self
            .path
            .split_once("::all::")
            .or_else(|| self.path.split_once("::"));
        split.map_or(self.path, |(_, name)| name)
    }

    /// Returns a trial that runs on a thread with the test's name, because the message of a panic begins with that name.
    fn trial(self) -> Trial {
        let run = move || -> Result<Completion, Failed> {
            let named = thread::Builder::new().name(self.name().into());
            match named.spawn(self.test)?.join() {
                Ok(()) => Ok(Completion::Completed),
                Err(payload) => match payload.downcast::<Skip>() {
                    Ok(skip) => Ok(Completion::ignored_with(format!("skipped: {}", skip.0))),
                    // The panic is not printed again, because the hook has printed it.
                    Err(payload) => std::panic::resume_unwind(payload),
                },
            }
        };
        Trial::ignorable_test(self.name(), run).with_ignored_flag(self.is_ignored)
    }
}

/// Lists the tests of a file as `TESTS`: `tests![first, second; ignored: third]`. Ignored tests run only with
/// `--ignored`.
#[macro_export]
macro_rules! tests {
    ($($(#[$condition:meta])* $test:path),* $(,)? $(; ignored: $($later:path),* $(,)?)?) => {
        pub(crate) const TESTS: &[$crate::suite::Case] = &[
            $($(#[$condition])* $crate::suite::Case::new(concat!(module_path!(), "::", stringify!($test)), $test),)*
            $($($crate::suite::Case::ignored(concat!(module_path!(), "::", stringify!($later)), $later),)*)?
        ];
    };
}

/// Reason why a test cannot run here.
struct Skip(String);

/// Ends the running test as ignored, because the machine lacks something: `no clang here`.
///
/// # Panics
///
/// Always, without a message. Only the thread of the test may call this function.
pub fn skip(why: impl Display) -> ! {
    std::panic::resume_unwind(Box::new(Skip(why.to_string())))
}

/// Runs the tests of these files that the arguments choose, with the arguments and the output of the standard harness.
/// The output of tests is not captured.
///
/// Tests wait for other processes most of the time, so by default four tests run in parallel for each CPU; `--test-threads` and
/// `RUST_TEST_THREADS` choose another number.
///
/// # Panics
///
/// If `RUST_TEST_THREADS` is not a number above 0.
pub fn main(files: &[&[Case]]) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or_else(|| Some(default_threads()));
    run(&arguments, files).exit_code()
}

fn default_threads() -> usize {
    if let Ok(found) = std::env::var("RUST_TEST_THREADS") {
        let threads = found.parse::<NonZero<usize>>();
        assert!(
            threads.is_ok(),
            "RUST_TEST_THREADS is {found:?}, wanted a number above 0"
        );
        return threads.unwrap().get();
    }
    4 * thread::available_parallelism().map_or(1, usize::from)
}

fn run(arguments: &Arguments, files: &[&[Case]]) -> Conclusion {
    let cases = files.iter().copied().flatten();
    libtest_mimic::run(arguments, cases.map(|case| case.trial()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes() {}

    fn lacks_clang() {
        skip("no clang here");
    }

    fn fails() {
        panic!("on purpose");
    }

    mod inner {
        pub(super) fn takes_hours() {}
    }

    crate::tests![
        passes,
        lacks_clang,
        fails,
        #[cfg(not(test))]
        missing;
        ignored: inner::takes_hours,
    ];

    #[test]
    fn a_test_that_skips_is_ignored_with_its_reason_and_a_panic_is_a_failure() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let arguments = Arguments::from_iter(["suite", "--logfile", log.to_str().unwrap()]);
        let done = run(&arguments, &[TESTS]);
        let said = std::fs::read_to_string(log).unwrap();
        let counts = [done.num_passed, done.num_failed, done.num_ignored];
        assert_eq!(counts, [1, 1, 2], "{said}");
        let line = said.lines().find(|line| line.contains("lacks_clang"));
        let (_, outcome) = line.unwrap().split_once(" ... ").unwrap();
        assert_eq!(outcome, "ignored (skipped: no clang here)");
        assert!(said.contains("test panicked: on purpose"), "{said}");
        assert_eq!(TESTS[3].name(), "suite::tests::inner::takes_hours");
    }
}
