//! What stands in for the forms and the log without the feature `report`: the snapshot itself, kept in a `.tks` file.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use tickscope_format::snapshot_file::{self, ENDING};
use tickscope_format::{FormatError, Snapshot};

use crate::types::Format;

/// Why there is no log although one was asked for.
pub(crate) const LOG_IS_MISSING: Option<&str> = Some(
    "the log needs the feature `report` of tickscope; this program publishes without one: `tickscope log` shows the same \
     lines from outside",
);

/// The endings of file names that say a form.
pub(super) fn endings() -> String {
    format!(".{ENDING}")
}

/// A form, as far as this build tells one from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One that needs the feature `report` or `export`.
    Missing,
    /// The snapshot itself.
    Tks,
}

/// Stands where the log is with the feature; there never is one.
#[derive(Debug)]
pub(crate) enum Log {}

/// The report as text; none, as this build has no such form.
pub(super) fn text(_: &Snapshot) -> Option<String> {
    None
}

/// The form that a program names.
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

/// The form that a file's name says.
pub(super) fn of_file(path: &Path) -> Form {
    Form::of_file(path).unwrap_or(Form::Missing)
}

impl Form {
    pub(super) fn of_file(path: &Path) -> Option<Self> {
        (path.extension() == Some(OsStr::new(ENDING))).then_some(Self::Tks)
    }

    pub(super) fn ending(self) -> &'static str {
        ENDING
    }

    pub(super) fn is_built_in(self) -> bool {
        self == Self::Tks
    }

    /// Which feature of tickscope brings the form. Text and pages come with `report`; a name does not tell this build
    /// which form is meant.
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
