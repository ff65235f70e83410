//! A harness for test suites that need things a machine may lack, such as a compiler, a debugger or root rights. In the
//! standard harness, a test is marked as ignored before it runs; here, a running test can [`skip`] itself.

use std::fmt::Display;
use std::num::NonZero;
use std::process::ExitCode;
use std::thread;

use libtest_mimic::{Arguments, Completion, Conclusion, Failed, Trial};

/// A test of a suite, created by [`tests!`](crate::tests).
#[derive(Clone, Copy, Debug)]
pub struct Case {
    path: &'static str,
    is_ignored: bool,
    /// The test's function.
    pub test: fn(),
}

impl Case {
    /// Creates a test that runs by default. `path` is the full path of its function, including the crate and all
    /// modules.
    pub const fn new(path: &'static str, test: fn()) -> Self {
        Self {
            path,
            is_ignored: false,
            test,
        }
    }

    /// Creates a test that runs only with `--ignored` or `--include-ignored`.
    pub const fn ignored(path: &'static str, test: fn()) -> Self {
        Self {
            is_ignored: true,
            ..Self::new(path, test)
        }
    }

    /// Returns the name of the test, such as `storm::name`: its path without the crate, and without the module `all` if
    /// that follows the crate.
    pub fn name(&self) -> &'static str {
        let split = self
            .path
            .split_once("::all::")
            .or_else(|| self.path.split_once("::"));
        split.map_or(self.path, |(_, name)| name)
    }

    /// Returns a trial for libtest-mimic. It runs the test on a thread that has the test's name, so that panic messages
    /// begin with that name.
    fn trial(self) -> Trial {
        let run = move || -> Result<Completion, Failed> {
            let named = thread::Builder::new().name(self.name().into());
            match named.spawn(self.test)?.join() {
                Ok(()) => Ok(Completion::Completed),
                Err(payload) => match payload.downcast::<Skip>() {
                    Ok(skip) => Ok(Completion::ignored_with(format!("skipped: {}", skip.0))),
                    // The panic hook has already printed the message, and `resume_unwind` does not print it again.
                    Err(payload) => std::panic::resume_unwind(payload),
                },
            }
        };
        Trial::ignorable_test(self.name(), run).with_ignored_flag(self.is_ignored)
    }
}

/// Defines `TESTS`, the list of tests in a file: `tests![first, second; ignored: third]`. The tests after `ignored:`
/// run only with `--ignored` or `--include-ignored`.
#[macro_export]
macro_rules! tests {
    ($($(#[$condition:meta])* $test:path),* $(,)? $(; ignored: $($later:path),* $(,)?)?) => {
        pub(crate) const TESTS: &[$crate::suite::Case] = &[
            $($(#[$condition])* $crate::suite::Case::new(concat!(module_path!(), "::", stringify!($test)), $test),)*
            $($($crate::suite::Case::ignored(concat!(module_path!(), "::", stringify!($later)), $later),)*)?
        ];
    };
}

/// Why a test cannot run on this machine.
struct Skip(String);

/// Ends the running test and marks it as ignored. `why` says what the machine lacks, such as `no clang here`.
///
/// # Panics
///
/// Always, but without printing a message. Call this only on the thread that runs the test.
pub fn skip(why: impl Display) -> ! {
    std::panic::resume_unwind(Box::new(Skip(why.to_string())))
}

/// Runs the tests in these files, or only those selected on the command line. The arguments and the output are as in
/// the standard harness, except that the output of tests is not captured.
///
/// Tests spend most of their time waiting for other processes, so by default six tests per CPU run in parallel.
/// `--test-threads` and `RUST_TEST_THREADS` override this number.
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
    6 * thread::available_parallelism().map_or(1, usize::from)
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
