//! The formats of reports and dumps, in builds with the feature `report`.

use std::path::Path;

use tickscope_format::{FormatError, Snapshot};
use tickscope_report::ProcessState;
use tickscope_report::text::{TextOptions, report};

pub(super) use tickscope_report::form::Form;

use crate::types::Format;

/// Why a requested log is missing. This is `None` here, because builds with the feature `report` have a log.
pub(crate) const LOG_IS_MISSING: Option<&str> = None;

/// Returns the report as text, for a terminal. Builds without the feature `report` return `None`.
pub(super) fn text(snapshot: &Snapshot) -> Option<String> {
    let options = TextOptions {
        state: ProcessState::Exited,
        ..TextOptions::default()
    };
    Some(report(snapshot, &options))
}

/// Returns the report crate's [`Form`] for a [`Format`] of the API.
pub fn of_format(format: Format) -> Form {
    match format {
        Format::Text => Form::Text,
        Format::Html => Form::Html,
        Format::Json => Form::Json,
        Format::Folded => Form::Folded,
        Format::Speedscope => Form::Speedscope,
        Format::Pprof => Form::Pprof,
        Format::Callgrind => Form::Callgrind,
        Format::Tks => Form::Tks,
    }
}

/// Writes a snapshot to a new file, whole or not at all.
pub(super) fn write_new(
    form: Form,
    path: &Path,
    snapshot: &Snapshot,
    has_exited: bool,
) -> Result<(), FormatError> {
    let state = if has_exited {
        ProcessState::Exited
    } else {
        ProcessState::Running
    };
    form.write_new(path, snapshot, state)
}
