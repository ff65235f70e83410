//! Writes a report with the call tree of each benchmark that the crate `criterion` runs.
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
//! `cargo bench --bench NAME -- --profile-time 5` runs each benchmark for five seconds, without criterion's own
//! measurements. The report of the benchmark `parse` is `target/criterion/parse/profile/tickscope.tks`, which
//! `tickscope FILE` shows and `tickscope report FILE` converts to other formats. It contains only the scopes of that
//! benchmark, from all threads.
//!
//! # While criterion measures
//! Without `--profile-time`, scopes are off, and each costs only a branch. If the environment variable `TICKSCOPE` is
//! set, scopes stay on: `TICKSCOPE=live cargo bench` publishes the benchmarks while they run, and the times that
//! criterion measures include the cost of the scopes.
//!
//! # Features
//! | feature | what it adds |
//! |---|---|
//! | (none) | Benchmarks run as they are. Nothing is measured, and no file is written. |
//! | `enable` | Reports in the format [`Format::Tks`]. |
//! | `report` | [`Format::Text`], [`Format::Html`], [`Format::Folded`], [`Format::Callgrind`] |
//! | `export` | all formats |
//!
//! Cargo compiles dev-dependencies only for tests and benchmarks. So a dev-dependency on `tickscope-criterion` with
//! `enable` does not change the program itself.
//!
//! # Versions of criterion
//! This crate works with criterion 0.3 to 0.8, which all have the same `Profiler` trait. By default, cargo chooses the
//! newest version for this crate. If your package uses an older one, the compiler reports that `TickscopeProfiler` does
//! not implement `Profiler`. `cargo update -p criterion@0.8.2 --precise 0.5.1` makes this crate use the same version as
//! your package, here 0.5.1.

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
    /// Whether scopes are on only while criterion profiles.
    pauses: bool,
    /// The session that the first benchmark started, and the mode that all benchmarks use.
    running: Option<(Session, Mode)>,
}

impl TickscopeProfiler {
    /// Returns a profiler that writes reports in one format. From this call on, scopes are on only while criterion
    /// profiles, unless the environment variable `TICKSCOPE` is set.
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

    /// Makes the profiler also write reports in another format.
    pub fn and(mut self, format: Format) -> Self {
        self.formats.push(format);
        self
    }

    fn begin(&mut self) {
        let (_, mode) = self.running.get_or_insert_with(|| {
            let session = Builder::new(program_name()).mode(Mode::default()).start();
            // Reads the mode back, because `TICKSCOPE_MODE` overrides the mode that the builder sets.
            (session, mode())
        });
        set_mode(*mode);
        reset();
    }

    fn end(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        for &format in &self.formats {
            let name = format!("tickscope.{}", ending(format));
            // Removes the report of the previous run. If the format was not built in, `dump` appended `.tks` to its
            // name.
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

/// The default profiler writes [`Format::Tks`], for which the feature `enable` is enough.
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
    /// Panics if the report cannot be written.
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

/// Returns the file name extension of a format.
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
