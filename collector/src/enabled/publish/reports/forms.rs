//! The forms of reports and dumps, with the feature `report`.

use std::path::Path;

use tickscope_format::{FormatError, Snapshot};
use tickscope_report::ProcessState;
use tickscope_report::text::{TextOptions, report};

pub(super) use tickscope_report::form::Form;

use crate::types::Format;

/// Why there is no log although one was asked for; none, as this build has one.
pub(crate) const LOG_IS_MISSING: Option<&str> = None;

/// The endings of file names that say a form.
pub(super) fn endings() -> String {
    Form::endings()
}

/// The report as text, for a terminal; none where this build has no such form.
pub(super) fn text(snapshot: &Snapshot) -> Option<String> {
    let options = TextOptions {
        state: ProcessState::Exited,
        ..TextOptions::default()
    };
    Some(report(snapshot, &options))
}

/// The form that a program names.
pub(super) fn of_format(format: Format) -> Form {
    match format {
        Format::Text => Form::Text,
        Format::Html => Form::Html,
        Format::Json => Form::Json,
        Format::Csv => Form::Csv,
        Format::Folded => Form::Folded,
        Format::Speedscope => Form::Speedscope,
        Format::Pprof => Form::Pprof,
        Format::Callgrind => Form::Callgrind,
        Format::Tks => Form::Tks,
    }
}

/// The form that a file's name says; text where it says nothing.
pub(super) fn of_file(path: &Path) -> Form {
    Form::of_file(path).unwrap_or(Form::Text)
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
