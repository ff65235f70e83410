//! The forms of a report as files: what each is called, which file's name says it, and a new file in any of them.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use tickscope_format::FormatError;
use tickscope_format::snapshot::Snapshot;
use tickscope_format::snapshot_file;

use crate::html::{self, PageOptions};
use crate::text::{self, TextOptions};
use crate::{ProcessState, callgrind, folded};
#[cfg(feature = "export")]
use crate::{csv, json, pprof, speedscope};

/// So much is handed to the system at once.
const BUFFER_BYTES: usize = 256 << 10;

/// A form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For reading.
    Text,
    /// One page with everything in it; carries the snapshot.
    Html,
    /// For programs.
    Json,
    /// Folded stacks, for flame graphs.
    Folded,
    /// For speedscope.
    Speedscope,
    /// For pprof.
    Pprof,
    /// For `KCachegrind` and `callgrind_annotate`.
    Callgrind,
    /// For spreadsheets.
    Csv,
    /// The snapshot itself.
    Kept,
}

// === impl Form ===

impl Form {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Text,
        Self::Html,
        Self::Json,
        Self::Folded,
        Self::Speedscope,
        Self::Pprof,
        Self::Callgrind,
        Self::Csv,
        Self::Kept,
    ];

    /// What the names of files may end in, for people.
    pub const ENDINGS: &'static str = ".txt .html .json .csv .folded .speedscope.json .pb.gz .callgrind .tks";

    /// The ending of a file's name that says this form.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Html => "html",
            Self::Json => "json",
            Self::Folded => "folded",
            Self::Speedscope => "speedscope.json",
            Self::Pprof => "pb.gz",
            Self::Callgrind => "callgrind",
            Self::Csv => "csv",
            Self::Kept => snapshot_file::KEPT_ENDING,
        }
    }

    /// The form that a file's name says; none where it says nothing.
    pub fn of_file(file: &Path) -> Option<Self> {
        let name = file.file_name()?.to_string_lossy().to_lowercase();
        if name.starts_with("callgrind.out") {
            return Some(Self::Callgrind);
        }
        let says = |form: &Self| name.ends_with(&format!(".{}", form.ending()));
        Self::ALL
            .into_iter()
            .filter(says)
            .max_by_key(|form| form.ending().len())
    }

    /// Whether this build can write it: some need a library.
    pub fn is_built_in(self) -> bool {
        match self {
            Self::Text | Self::Html | Self::Folded | Self::Callgrind | Self::Kept => true,
            Self::Json | Self::Speedscope | Self::Pprof | Self::Csv => cfg!(feature = "export"),
        }
    }

    /// Which feature of the crate `tickscope` brings the form.
    pub fn feature(self) -> &'static str {
        match self {
            Self::Text | Self::Html | Self::Folded | Self::Callgrind | Self::Kept => "report",
            Self::Json | Self::Speedscope | Self::Pprof | Self::Csv => "export",
        }
    }

    /// Writes a snapshot to a file that must not exist yet: whole, or not at all.
    ///
    /// # Errors
    /// What the system says, "File exists" above all; `Unsupported` where the form is not built in.
    pub fn write_new(self, path: &Path, snapshot: &Snapshot, state: ProcessState) -> Result<(), FormatError> {
        if self == Self::Kept {
            return snapshot_file::write(path, snapshot);
        }
        if !self.is_built_in() {
            return Err(FormatError::io("write", path, not_built_in()));
        }
        snapshot_file::write_new_by(path, |file| {
            let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
            self.write(snapshot, state, &mut out)?;
            out.flush()
        })
    }

    fn write(self, snapshot: &Snapshot, state: ProcessState, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Text => {
                let options = TextOptions {
                    state,
                    ..TextOptions::default()
                };
                out.write_all(text::report(snapshot, &options).as_bytes())
            }
            Self::Html => {
                let options = PageOptions {
                    state,
                    ..PageOptions::default()
                };
                let page = html::page(snapshot, &options).map_err(io::Error::other)?;
                out.write_all(page.as_bytes())
            }
            Self::Folded => folded::write(snapshot, out),
            Self::Callgrind => callgrind::write(snapshot, out),
            #[cfg(feature = "export")]
            Self::Json => out.write_all(json::report(snapshot, state).as_bytes()),
            #[cfg(feature = "export")]
            Self::Speedscope => speedscope::write(snapshot, out),
            #[cfg(feature = "export")]
            Self::Pprof => pprof::write(snapshot, out),
            #[cfg(feature = "export")]
            Self::Csv => csv::write(snapshot, csv::Unit::default(), out),
            #[cfg(not(feature = "export"))]
            Self::Json | Self::Speedscope | Self::Pprof | Self::Csv => Err(not_built_in()),
            // It is written in one piece.
            Self::Kept => Err(io::ErrorKind::InvalidInput.into()),
        }
    }
}

fn not_built_in() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "this form needs the feature `export` of tickscope",
    )
}

#[cfg(test)]
mod tests;
