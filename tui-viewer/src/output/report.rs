//! A report in any of its forms: the same from a command and from the screen.

use std::borrow::Cow;
use std::io;
use std::io::Write;

use tickscope_analysis::filter;
use tickscope_analysis::overhead_correction::compensated;
use tickscope_format::{Snapshot, snapshot_file};
use tickscope_report::csv::Unit;
use tickscope_report::html;
use tickscope_report::html::PageOptions;
use tickscope_report::text::TextOptions;
use tickscope_report::{callgrind, csv, folded, json, pprof, speedscope, text};

use crate::cli::args::ReportFormat;

/// What to write of a snapshot.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The form.
    pub format: ReportFormat,
    /// Which columns of times csv has.
    pub unit: Unit,
    /// What the text shows. State, thread, least share and compensation hold for every form, and what numbers are per
    /// for those that can say so.
    pub options: TextOptions,
}

impl Report {
    /// Writes it.
    ///
    /// # Errors
    /// What writing gives.
    pub fn write(&self, snapshot: &Snapshot, mut out: &mut dyn Write) -> io::Result<()> {
        if self.format == ReportFormat::Text {
            return out.write_all(text::report(snapshot, &self.options).as_bytes());
        }
        if self.format == ReportFormat::Html {
            return out.write_all(self.page(snapshot)?.as_bytes());
        }
        let raw = self.in_thread(snapshot);
        let shown = self.shown(&raw);
        match self.format {
            ReportFormat::Text | ReportFormat::Html => Ok(()),
            // As it was measured, like that of a page.
            ReportFormat::Tks => out.write_all(&self.kept(&raw)?),
            ReportFormat::Json => out.write_all(self.json(&shown, &raw).as_bytes()),
            ReportFormat::Folded => folded::write(&shown, &mut out),
            ReportFormat::Speedscope => speedscope::write(&shown, &mut out),
            ReportFormat::Pprof => pprof::write(&shown, &mut out),
            ReportFormat::Callgrind => callgrind::write(&shown, &mut out),
            ReportFormat::Csv => csv::write_per(&shown, self.unit, self.options.per.as_ref(), &mut out),
        }
    }

    /// The page begins with the thread that is chosen, and has the others as well.
    fn page(&self, snapshot: &Snapshot) -> io::Result<String> {
        let less = (self.options.min_share > 0.0).then(|| filter::above(snapshot, self.options.min_share));
        let options = PageOptions {
            state: self.options.state,
            thread: self.options.thread,
            compensated: self.options.compensated,
            per: self.options.per.clone(),
            extent: self.options.extent.clone(),
        };
        html::page(less.as_ref().unwrap_or(snapshot), &options).map_err(io::Error::other)
    }

    fn kept(&self, raw: &Snapshot) -> io::Result<Vec<u8>> {
        let less = (self.options.min_share > 0.0).then(|| filter::above(raw, self.options.min_share));
        snapshot_file::bytes(less.as_ref().unwrap_or(raw)).map_err(io::Error::other)
    }

    fn in_thread<'a>(&self, snapshot: &'a Snapshot) -> Cow<'a, Snapshot> {
        match self.options.thread {
            Some(only) => Cow::Owned(filter::of_threads(snapshot, |thread| thread == only)),
            None => Cow::Borrowed(snapshot),
        }
    }

    fn shown<'a>(&self, raw: &'a Snapshot) -> Cow<'a, Snapshot> {
        let mut shown = Cow::Borrowed(raw);
        if self.options.compensated {
            shown = Cow::Owned(compensated(&shown));
        }
        if self.options.min_share > 0.0 {
            shown = Cow::Owned(filter::above(&shown, self.options.min_share));
        }
        shown
    }

    fn json(&self, shown: &Snapshot, raw: &Snapshot) -> String {
        let options = &self.options;
        let raw = options.compensated.then_some(raw);
        json::of_part(shown, raw, options.per.as_ref(), options.state, &options.extent)
    }
}
