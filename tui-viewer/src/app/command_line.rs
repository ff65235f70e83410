//! The command line: typed in the footer, completed by Tab, remembered for this sitting.

use tui_input::Input;

use crate::keys::command_line;
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

    /// Puts what all offers have in common in place of the word, then one after the other. Returns whether the word may
    /// be completed further.
    pub(super) fn complete(&mut self, forward: bool) -> bool {
        let count = self.offers.list.len();
        if let [only] = self.offers.list.as_slice() {
            let whole = format!("{only} ");
            self.replace(&whole);
            return true;
        }
        if count == 0 {
            return false;
        }
        // Nothing was begun: Enter must not carry out what was not typed. The list turns, so that all of it is seen.
        if self.input.value().trim().is_empty() {
            match forward {
                true => self.offers.list.rotate_left(1),
                false => self.offers.list.rotate_right(1),
            }
            return false;
        }
        if let (None, true, Some(common)) = (self.chosen, forward, self.offers.common()) {
            let common = common.to_string();
            self.replace(&common);
            return true;
        }
        let next = match (self.chosen, forward) {
            (None, true) => 0,
            (None, false) => count - 1,
            (Some(at), true) => (at + 1) % count,
            (Some(at), false) => (at + count - 1) % count,
        };
        let offer = self.offers.list[next].clone();
        self.replace(&offer);
        self.chosen = Some(next);
        self.wrong = None;
        self.hint = command_line::hint(self.input.value());
        false
    }

    /// Puts an older or a newer one of these commands into the line; returns whether there is one.
    pub(super) fn recall(&mut self, commands: &[String], older: bool) -> bool {
        let to = match (self.recalled, older) {
            (None, true) => Some(0),
            (None, false) | (Some(0), false) => None,
            (Some(at), true) => Some(at + 1),
            (Some(at), false) => Some(at - 1),
        };
        let text = match to {
            None if self.recalled.is_none() => return false,
            None => self.draft.clone(),
            Some(back) => match commands.iter().rev().nth(back) {
                Some(command) => command.clone(),
                None => return false,
            },
        };
        if self.recalled.is_none() {
            self.draft = self.input.value().to_string();
        }
        self.recalled = to;
        self.set(text);
        true
    }
}
