//! The command line: typed in the footer, completed by Tab, remembered for this sitting.

use tui_input::Input;

use crate::keys::command_line::Offers;

/// A command as it is typed.
#[derive(Debug, Default)]
pub(crate) struct CommandLine {
    /// The line.
    pub(crate) input: Input,
    /// What its last word may become.
    pub(crate) offers: Offers,
    /// Which of them stands in the line, once Tab has put one there.
    pub(crate) chosen: Option<usize>,
    /// What was wrong with it when it was to be carried out.
    pub(crate) wrong: Option<String>,
    /// How its command goes on.
    pub(crate) hint: Option<String>,
    /// The remembered command that it shows, counted from the newest.
    pub(super) recalled: Option<usize>,
    /// What was typed before the first one was recalled.
    pub(super) draft: String,
}

impl CommandLine {
    pub(super) fn set(&mut self, text: String) {
        self.input = Input::new(text);
    }

    /// How the command goes on says more than the bare names of its options.
    pub(crate) fn wants_hint(&self) -> bool {
        self.chosen.is_none()
            && self.offers.word.is_empty()
            && self.offers.list.iter().all(|offer| offer.starts_with("--"))
    }

    /// Puts something in place of the word that is being typed.
    pub(super) fn replace(&mut self, with: &str) {
        let (line, cursor) = (self.input.value(), self.input.cursor());
        let after: String = line.chars().skip(cursor).collect();
        let before = &line[..self.offers.start.min(line.len())];
        let at = before.chars().count() + with.chars().count();
        self.input = Input::new(format!("{before}{with}{after}")).with_cursor(at);
    }

    /// The line up to the cursor: what stands behind it is not completed.
    pub(super) fn before_cursor(&self) -> String {
        self.input.value().chars().take(self.input.cursor()).collect()
    }
}
