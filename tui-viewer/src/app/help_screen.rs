//! The help on the screen: its scroll position, and the search in it.

use tui_input::{Input, InputRequest};

use crate::app::help;
use crate::app::help::HelpLine;
use crate::app::state::ScreenInfo;

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

/// Number of lines of a page above a line that was found.
const ABOVE: usize = 4;

/// The help, scrolled and searched.
#[derive(Debug, Default)]
pub(crate) struct HelpScreen {
    /// Number of lines scrolled away.
    pub(crate) scroll: usize,
    pub(crate) search: Option<HelpSearch>,
}

impl HelpScreen {
    /// Returns the search whose text is being typed.
    pub(crate) fn typed(&self) -> Option<&HelpSearch> {
        self.search.as_ref().filter(|search| search.typing)
    }

    /// Starts to type a search.
    pub(crate) fn begin_search(&mut self) {
        self.search = Some(HelpSearch {
            typing: true,
            ..HelpSearch::default()
        });
    }

    /// Edits the line of the search by a key.
    pub(crate) fn edit(&mut self, request: InputRequest, screen: &ScreenInfo) {
        let Some(search) = self.search.as_mut().filter(|search| search.typing) else {
            return;
        };
        search.input.handle(request);
        self.look_at(self.best(screen), screen);
    }

    /// Keeps the search if it finds anything, and gives the keys back to the help.
    pub(crate) fn keep_search(&mut self, screen: &ScreenInfo) {
        let finds = !self.found(screen).is_empty();
        self.search.take_if(|_| !finds);
        if let Some(search) = &mut self.search {
            search.typing = false;
        }
    }

    /// Goes to the next or the previous line that has the text; wraps around at the ends.
    pub(crate) fn step(&mut self, forward: bool, screen: &ScreenInfo) {
        let count = self.found(screen).len();
        let Some(search) = self.search.as_ref().filter(|_| count > 0) else {
            return;
        };
        let to = (search.at + if forward { 1 } else { count - 1 }) % count;
        self.look_at(to, screen);
    }

    /// Returns the index of the found line to show first: the line that explains this very word, else the first.
    fn best(&self, screen: &ScreenInfo) -> usize {
        let found = self.places(screen, HelpSearch::finds);
        let explains = self.places(screen, HelpSearch::is_explained_by);
        let best = explains
            .first()
            .and_then(|best| found.iter().position(|at| at == best));
        best.unwrap_or(0)
    }

    /// Returns the lines that have the text, from the first column to the last.
    pub(crate) fn found(&self, screen: &ScreenInfo) -> Vec<usize> {
        let found = self.places(screen, HelpSearch::finds);
        found.into_iter().map(|(_, line)| line).collect()
    }

    /// Returns the columns and lines that a search wants.
    fn places(&self, screen: &ScreenInfo, wanted: fn(&HelpSearch, &HelpLine) -> bool) -> Vec<(usize, usize)> {
        let Some(search) = &self.search else {
            return Vec::new();
        };
        let columns = help::columns(screen.size.width, screen.ascii);
        let lines = columns.iter().enumerate().flat_map(|(column, lines)| {
            let lines = lines.iter().enumerate();
            lines.map(move |(at, line)| ((column, at), line))
        });
        lines
            .filter(|(_, line)| wanted(search, line))
            .map(|(place, _)| place)
            .collect()
    }

    /// Goes to a line that was found, and scrolls to it if it is not on the screen already.
    fn look_at(&mut self, at: usize, screen: &ScreenInfo) {
        let line = self.found(screen).get(at).copied();
        if let Some(search) = &mut self.search {
            search.at = at;
        }
        let page = help::page(screen.size);
        let Some(line) = line.filter(|line| !(self.scroll..self.scroll + page).contains(line)) else {
            return;
        };
        self.scroll = line
            .saturating_sub(ABOVE.min(page / 2))
            .min(help::end(screen.size));
    }
}
