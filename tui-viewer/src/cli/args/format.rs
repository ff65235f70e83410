//! The forms of a report.

use std::path::Path;

use clap::ValueEnum;
use tickscope_report::form::Form;

/// The forms of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For reading.
    #[default]
    Text,
    /// One page with everything in it.
    Html,
    /// For programs.
    Json,
    /// Folded stacks, for flame graphs.
    Folded,
    /// For speedscope.
    Speedscope,
    /// For pprof.
    Pprof,
    /// For KCachegrind and `callgrind_annotate`.
    Callgrind,
    /// For spreadsheets.
    Csv,
    /// The snapshot itself, to be opened again.
    Tks,
}

impl ReportFormat {
    /// The form of files.
    pub fn form(self) -> Form {
        match self {
            Self::Text => Form::Text,
            Self::Html => Form::Html,
            Self::Json => Form::Json,
            Self::Folded => Form::Folded,
            Self::Speedscope => Form::Speedscope,
            Self::Pprof => Form::Pprof,
            Self::Callgrind => Form::Callgrind,
            Self::Csv => Form::Csv,
            Self::Tks => Form::Tks,
        }
    }

    /// The ending of a file's name that says this form.
    pub fn ending(self) -> &'static str {
        self.form().ending()
    }

    /// The form that a file's name says; none where it says nothing.
    pub fn of_file(file: &Path) -> Option<Self> {
        let form = Form::of_file(file)?;
        let mut forms = Self::value_variants().iter().copied();
        forms.find(|known| known.form() == form)
    }
}
