//! Options of reports in all forms.

use std::sync::Arc;

use crate::slots::Slots;
use crate::text::TextOptions;

/// Minimum share of a row in the text of a page that is shown without scripts.
const MIN_SHARE_WITHOUT_SCRIPTS: f64 = 0.01;

/// Options of a report in any of the forms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormOptions {
    /// Options of the text form. State, thread and minimum share apply to all forms, `per` only to some (see
    /// [`check_per`](crate::form::Form::check_per)). A page shows the thread and the measure first; its reader may choose others.
    pub text: TextOptions,
    /// Activity of threads over the time of a recording, shown by `html`.
    pub slots: Option<Arc<Slots>>,
    /// Index of the watched function whose slow calls a page shows first, if any.
    pub watch: Option<usize>,
}

impl FormOptions {
    /// Returns the options for the texts inside a page.
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
