//! Writes snapshots in formats for people and for other tools. Only [`form`] writes files and only [`archive`] reads them;
//! everything else returns a `String` or writes to an `io::Write` that the caller passes.
//!
//! ```text
//! Snapshot -> tickscope-analysis -> text    the report: call tree, functions, threads
//!          -> stacks             where every thread is right now
//!          -> tasks              which calls of futures are in flight, and what they wait for
//!          -> slow               why slow calls of a watched function are slow
//!          -> exemplar           one slow call, for Perfetto, the Firefox Profiler and speedscope (feature `exemplar`)
//!          -> sites              which sites were entered, and which are switched off
//!          -> json               every fact, per thread, for scripts (feature `json`)
//!          -> html               one page to view and share, which contains the snapshot itself
//!          -> brief              short answers for scripts and agents (feature `json`)
//!          -> folded             for flame graphs
//!          -> callgrind          for KCachegrind and callgrind_annotate
//!          -> speedscope, pprof  for the tools with these names (feature `export`)
//!          -> form               any of these formats, or the snapshot itself, as a new file
//! Records of one run -> slots -> html  a timeline of what each thread did, in a page
//! A kept file or a page -> archive -> Snapshot
//! Lines of a program's code (`SourceCode`) -> text, json, callgrind, pprof
//! Snapshots as they arrive -> intervals -> log   a line for each thread and group
//! Snapshots of two builds -> compare  -> diff  text, markdown, JSON, a page
//! ```
//!
//! This turns a kept snapshot into a page:
//!
//! ```no_run
//! use std::fs::File;
//! use std::path::Path;
//!
//! use tickscope_report::archive;
//! use tickscope_report::form::{Form, FormOptions};
//!
//! let snapshot = archive::read(Path::new("run.tks"))?;
//! let mut page = File::create("run.html")?;
//! Form::Html.write(&snapshot, &FormOptions::default(), &mut page)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

pub mod archive;
#[cfg(feature = "json")]
pub mod brief;
mod budget;
pub mod callgrind;
pub mod clock;
pub mod diff;
mod escape;
#[cfg(feature = "exemplar")]
pub mod exemplar;
pub mod extent;
pub mod folded;
pub mod form;
mod form_options;
mod glyphs;
pub mod html;
#[cfg(feature = "json")]
pub mod json;
pub mod label;
pub mod log;
mod markup;
pub mod memory_bound;
pub mod modules;
mod names;
pub mod number;
#[cfg(feature = "export")]
pub mod pprof;
pub mod process_state;
#[cfg(feature = "json")]
mod quotient;
pub mod sites;
pub mod slots;
pub mod slow;
mod source_code;
#[cfg(feature = "export")]
pub mod speedscope;
#[cfg(any(feature = "export", feature = "exemplar"))]
mod speedscope_file;
pub mod stacks;
pub mod tally;
pub mod tasks;
pub mod text;
pub mod trend;
pub mod unit;

use std::fmt;

pub use self::extent::Extent;
pub use self::process_state::ProcessState;
pub use self::source_code::SourceCode;

/// Returns the text that `write` appends. Writing into a `String` cannot fail.
pub(crate) fn text_of(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut out = String::new();
    let _ = write(&mut out);
    out
}
