//! Stands in for the report formats and the log in builds without the feature `report`. Such builds save the snapshot
//! itself, in a `.tks` file.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use tickscope_format::snapshot_file::{self, ENDING};
use tickscope_format::{FormatError, Snapshot};

use crate::types::Format;

/// Reason why a requested log is missing.
pub(crate) const LOG_IS_MISSING: Option<&str> = Some(
    "the log needs the feature `report` of tickscope; this program publishes without a log: `tickscope log` shows the \
     same lines",
);

/// The formats, as far as this build can tell them apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// A format that needs the feature `report` or `export`.
    #[default]
    Missing,
    /// The snapshot itself.
    Tks,
}

/// The log. This type has no values, because this build has no log.
pub(crate) enum Log {}

/// Returns `None`, because this build cannot write text.
pub(super) fn text(_: &Snapshot) -> Option<String> {
    None
}

pub(super) fn of_format(format: Format) -> Form {
    if format == Format::Tks {
        Form::Tks
    } else {
        Form::Missing
    }
}

/// Writes a snapshot to a new file, whole or not at all.
pub(super) fn write_new(_: Form, path: &Path, snapshot: &Snapshot, _: bool) -> Result<(), FormatError> {
    snapshot_file::write(path, snapshot)
}

impl Form {
    /// Returns the file name endings that select a format.
    pub(super) fn endings() -> String {
        format!(".{ENDING}")
    }

    /// Returns the format that a file name selects.
    pub(super) fn of_file(path: &Path) -> Option<Self> {
        (path.extension() == Some(OsStr::new(ENDING))).then_some(Self::Tks)
    }

    pub(super) fn ending(self) -> &'static str {
        ENDING
    }

    pub(super) fn is_built_in(self) -> bool {
        self == Self::Tks
    }

    /// Returns the feature that a format needs. This build cannot tell the missing formats apart, so it returns the
    /// feature for text and HTML.
    pub(super) fn feature(self) -> &'static str {
        "report"
    }
}

impl Log {
    pub(crate) fn new(_: Duration) -> Option<Self> {
        None
    }

    pub(crate) fn rest(&self) -> Duration {
        match *self {}
    }

    pub(crate) fn is_due(&self) -> bool {
        match *self {}
    }

    pub(crate) fn note(&mut self, _: &Snapshot) -> bool {
        match *self {}
    }

    pub(crate) fn end(&mut self) {
        match *self {}
    }

    pub(crate) fn missed() {}
}
