//! Options of a report in any form.

use std::sync::Arc;

use crate::slots::Slots;
use crate::text::TextOptions;

/// Share below which rows are left out of the text that is shown without scripts.
const MIN_SHARE_WITHOUT_SCRIPTS: f64 = 0.01;

/// Options of a report in any form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormOptions {
    /// Options of the text. State, thread and least share apply to every form; `per` applies to the forms that accept it (see
    /// [`check_per`](crate::form::Form::check_per)). A page begins with the thread and the measure; its reader may choose others.
    pub text: TextOptions,
    /// Activity of threads over the time of a recording, for `html`.
    pub slots: Option<Arc<Slots>>,
    /// Index of the watched function whose slow calls a page shows when it is opened, if any.
    pub watch: Option<usize>,
}

impl FormOptions {
    /// Returns the options of the texts in a page.
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
