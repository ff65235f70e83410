//! Writes a report with the call tree of each benchmark that runs under the crate `criterion`.
//!
//! ```no_run
//! use criterion::{Criterion, criterion_group, criterion_main};
//! use tickscope_criterion::TickscopeProfiler;
//!
//! fn parse(criterion: &mut Criterion) {
//!     criterion.bench_function("parse", |bencher| bencher.iter(|| "a b c".split(' ').count()));
//! }
//!
//! criterion_group! {
//!     name = benches;
//!     config = Criterion::default().with_profiler(TickscopeProfiler::default());
//!     targets = parse
//! }
//! criterion_main!(benches);
//! ```
//!
//! `cargo bench --bench NAME -- --profile-time 5` runs each benchmark for five seconds, without criterion's own measurements. The
//! report of the benchmark `parse` is `target/criterion/parse/profile/tickscope.tks`, which `tickscope FILE` shows and
//! `tickscope report FILE` converts. It has only the scopes of that benchmark, in all threads.
//!
//! # While criterion measures
//! Without `--profile-time` scopes are off, and each costs a branch. If the variable `TICKSCOPE` is set, scopes stay
//! on: `TICKSCOPE=live cargo bench` publishes the benchmarks, and criterion's times then include the cost of scopes.
//!
//! # Features
//! | feature | what it adds |
//! |---|---|
//! | (none) | Benchmarks run as they are. Nothing is measured, and no file is written. |
//! | `enable` | Files in the form [`Format::Tks`]. |
//! | `report` | [`Format::Text`], [`Format::Html`], [`Format::Folded`], [`Format::Callgrind`] |
//! | `export` | all forms |
//!
//! Cargo compiles dev-dependencies only for tests and benchmarks. So `tickscope-criterion` with `enable` as a
//! dev-dependency does not change the program itself.
//!
//! # Versions of criterion
//! This crate works with versions 0.3 to 0.8, which have the same trait. Cargo takes the newest version by default. In
//! a package with an older version, the compiler then reports that `TickscopeProfiler` does not implement `Profiler`.
//! `cargo update -p criterion@0.8.2 --precise 0.5.1` makes both versions equal.

use std::fs;
use std::io;
use std::path::Path;

use criterion::profiler::Profiler;
use tickscope::__private::spans::IS_MEASURED;
use tickscope::{Builder, Mode, Session, dump, mode, reset, set_mode};

/// Re-exported for benchmarks that depend on no other crate of tickscope.
pub use tickscope;
pub use tickscope::Format;

/// Writes a report for each benchmark that criterion profiles: see [the crate](crate).
#[derive(Debug)]
#[must_use = "no report is written unless criterion gets it: `Criterion::default().with_profiler(..)`"]
pub struct TickscopeProfiler {
    formats: Vec<Format>,
    /// Whether scopes are off while criterion measures.
    pauses: bool,
    /// The session that the first benchmark has started, and the mode for all benchmarks.
    running: Option<(Session, Mode)>,
}

impl TickscopeProfiler {
    /// Returns a profiler that writes reports of one form. After this call, scopes are off except while criterion
    /// profiles, unless the variable `TICKSCOPE` is set.
    ///
    /// ```
    /// use criterion::Criterion;
    /// use tickscope_criterion::{Format, TickscopeProfiler};
    ///
    /// let profiler = TickscopeProfiler::new(Format::Folded).and(Format::Html);
    /// let criterion = Criterion::default().with_profiler(profiler);
    /// # drop(criterion);
    /// ```
    pub fn new(format: Format) -> Self {
        // With `TICKSCOPE` set, the user wants to see the running benchmarks, so scopes stay on.
        let pauses = std::env::var_os("TICKSCOPE").is_none();
        if pauses {
            set_mode(Mode::Off);
        }
        Self {
            formats: vec![format],
            pauses,
            running: None,
        }
    }

    /// Makes the profiler write reports of another form as well.
    pub fn and(mut self, format: Format) -> Self {
        self.formats.push(format);
        self
    }

    fn begin(&mut self) {
        let (_, mode) = self.running.get_or_insert_with(|| {
            let session = Builder::new(program_name()).mode(Mode::default()).start();
            // Reads the mode back, because `TICKSCOPE_MODE` overrides the mode of the builder.
            (session, mode())
        });
        set_mode(*mode);
        reset();
    }

    fn end(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        for &format in &self.formats {
            let name = format!("tickscope.{}", ending(format));
            // Removes the report of the previous run, also under the name that `dump` uses if the form is not built in.
            for before in [format!("{name}.tks"), name.clone()] {
                match fs::remove_file(directory.join(before)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            dump(directory.join(name), format).map_err(io::Error::other)?;
        }
        if self.pauses {
            set_mode(Mode::Off);
        }
        Ok(())
    }
}

/// Returns a profiler for files of the form [`Format::Tks`], which the feature `enable` alone can write.
impl Default for TickscopeProfiler {
    fn default() -> Self {
        Self::new(Format::Tks)
    }
}

impl Profiler for TickscopeProfiler {
    fn start_profiling(&mut self, _: &str, _: &Path) {
        if IS_MEASURED {
            self.begin();
        }
    }

    /// # Panics
    /// If the report cannot be written.
    #[expect(
        clippy::panic,
        reason = "the run is only for its reports, and criterion accepts no error"
    )]
    fn stop_profiling(&mut self, benchmark: &str, directory: &Path) {
        if IS_MEASURED && let Err(error) = self.end(directory) {
            panic!(
                "there is no report of benchmark {benchmark} in {}: {error}",
                directory.display()
            );
        }
    }
}

/// Returns the program's name for viewers: the name of its executable, without cargo's hash.
fn program_name() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    without_hash(&stem).to_owned()
}

fn without_hash(stem: &str) -> &str {
    match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => stem,
    }
}

/// Returns the ending of file names of this form.
fn ending(format: Format) -> &'static str {
    match format {
        Format::Text => "txt",
        Format::Html => "html",
        Format::Json => "json",
        Format::Folded => "folded",
        Format::Speedscope => "speedscope.json",
        Format::Pprof => "pb.gz",
        Format::Callgrind => "callgrind",
        Format::Tks | _ => "tks",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_called_as_its_benchmark() {
        assert_eq!(without_hash("words-0123456789abcdef"), "words");
        assert_eq!(without_hash("many-words"), "many-words");
        assert_eq!(without_hash("words"), "words");
    }
}
