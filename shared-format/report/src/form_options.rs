//! Options that are common to all forms of a report.

use std::sync::Arc;

use crate::slots::Slots;
use crate::text::TextOptions;

/// Minimum share of a row in the text report that a page shows if scripts are disabled.
const MIN_SHARE_WITHOUT_SCRIPTS: f64 = 0.01;

/// Options for writing a report in any form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormOptions {
    /// Options of the text form. State, thread and minimum share apply to all forms. `per` applies only to the forms that
    /// [`check_per`](crate::form::Form::check_per) accepts. A page initially shows this thread and measure; its reader may switch
    /// to others.
    pub text: TextOptions,
    /// Activity of each thread over the course of a recording. Only `html` shows it.
    pub slots: Option<Arc<Slots>>,
    /// Index of the watched function whose slow calls a page shows first, if any.
    pub watch: Option<usize>,
}

impl FormOptions {
    /// Returns the options for the text report and the facts that a page contains.
    pub(crate) fn of_page_text(&self) -> TextOptions {
        let text = &self.text;
        TextOptions {
            state: text.state,
            extent: text.extent.clone(),
            min_share: MIN_SHARE_WITHOUT_SCRIPTS,
            per: text.per.clone(),
            by: text.by,
            ..TextOptions::default()
        }
    }
}
