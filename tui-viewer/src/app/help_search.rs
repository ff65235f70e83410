//! A search in the help.

use tui_input::Input;

use crate::app::help::line::HelpLine;

/// A search in the help, typed or kept.
#[derive(Debug, Default)]
pub(crate) struct HelpSearch {
    /// The line as it is typed.
    pub(crate) input: Input,
    /// Whether keys go to the line.
    pub(crate) typing: bool,
    /// Index of the found line that is shown.
    pub(crate) at: usize,
}

impl HelpSearch {
    /// Whether a line explains the text as a word, in any case of letters.
    pub(crate) fn is_explained_by(&self, line: &HelpLine) -> bool {
        let text = self.input.value().to_lowercase();
        let is_word = |word: &String| {
            let word = word.to_lowercase();
            word == text || word.split(' ').any(|part| part == text)
        };
        matches!(line, HelpLine::Word(word, _) if !text.is_empty() && is_word(word))
    }

    /// Whether a line of the help has the text, in any case of letters.
    pub(crate) fn finds(&self, line: &HelpLine) -> bool {
        let text = self.input.value().to_lowercase();
        let has = |part: &str| part.to_lowercase().contains(&text);
        !text.is_empty()
            && match line {
                HelpLine::Title(title) => has(title),
                HelpLine::Keys(keys, help) => {
                    has(help) || keys.split(' ').any(|key| key == self.input.value())
                }
                HelpLine::Word(word, meaning) => has(word) || has(meaning),
                HelpLine::Gap => false,
            }
    }
}
