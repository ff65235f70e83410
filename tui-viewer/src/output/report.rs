//! A report in any of its forms: the same from a command and from the screen.

use std::io::{self, Write};

use tickscope_format::Snapshot;
use tickscope_report::form::{Form, FormOptions};
use tickscope_report::text::TextOptions;
use tickscope_report::unit::Unit;

/// What to write of a snapshot.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The form.
    pub format: Form,
    /// Which columns of times csv has.
    pub unit: Unit,
    /// What the text shows. State, thread, least share and compensation hold for every form, and what numbers are per
    /// for those that can say so.
    pub options: TextOptions,
}

// === impl Report ===

impl Report {
    /// Writes it.
    ///
    /// # Errors
    /// The error of writing to `out`.
    pub fn write(&self, snapshot: &Snapshot, out: &mut dyn Write) -> io::Result<()> {
        let options = FormOptions {
            csv_unit: self.unit,
            text: self.options.clone(),
        };
        self.format.write(snapshot, &options, out)
    }
}
