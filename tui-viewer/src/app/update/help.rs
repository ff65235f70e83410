//! The help: up and away, and looking something up in it.

use tui_input::InputRequest;

use crate::app::help;
use crate::app::help::line::HelpLine;
use crate::app::help_search::HelpSearch;
use crate::app::popup::Popup;
use crate::app::state::Model;

/// So much of a page stands above a line that was found.
pub(crate) const ABOVE: usize = 4;

impl Model {
    /// The help comes up, or goes.
    pub(in crate::app) fn turn_help(&mut self) {
        self.help_search = None;
        self.popup = match self.popup {
            Some(Popup::Help { .. }) => None,
            Some(Popup::Threads { .. } | Popup::Modes { .. } | Popup::Ask(_)) | None => {
                Some(Popup::Help { scroll: 0 })
            }
        };
    }

    /// Whether the help is on top, the place where keys that search look.
    pub(in crate::app) fn in_help(&self) -> bool {
        matches!(self.popup, Some(Popup::Help { .. }))
    }

    /// Starts to type a search in the help.
    pub(in crate::app) fn help_search_begin(&mut self) {
        self.help_search = Some(HelpSearch {
            typing: true,
            ..HelpSearch::default()
        });
    }

    /// A key in its line.
    pub(in crate::app) fn help_edit(&mut self, request: InputRequest) {
        let Some(search) = self.help_search.as_mut().filter(|search| search.typing) else {
            return;
        };
        search.input.handle(request);
        let at = self.help_best();
        if let Some(search) = &mut self.help_search {
            search.at = at;
        }
        self.help_look();
    }

    /// Enter: the search stays, the keys go back to the help.
    pub(in crate::app) fn help_keep(&mut self) {
        if let Some(search) = &mut self.help_search {
            search.typing = false;
        }
        if self.help_found().is_empty() {
            self.help_search = None;
        }
    }

    /// To the next or the previous line that has the text, around the ends.
    pub(in crate::app) fn help_step(&mut self, forward: bool) {
        let count = self.help_found().len();
        let Some(search) = self.help_search.as_mut().filter(|_| count > 0) else {
            return;
        };
        search.at = (search.at + if forward { 1 } else { count - 1 }) % count;
        self.help_look();
    }

    /// Which of the lines found to look at first: the one that explains this very word, or else the first.
    fn help_best(&self) -> usize {
        let found = self.found_in_help(HelpSearch::finds);
        let explains = self.found_in_help(HelpSearch::is_explained_by);
        let best = explains
            .first()
            .and_then(|best| found.iter().position(|at| at == best));
        best.unwrap_or(0)
    }

    /// The lines that have the text, from the first column to the last.
    pub(crate) fn help_found(&self) -> Vec<usize> {
        let found = self.found_in_help(HelpSearch::finds);
        found.into_iter().map(|(_, line)| line).collect()
    }

    /// Columns and lines that a search wants.
    fn found_in_help(&self, wanted: fn(&HelpSearch, &HelpLine) -> bool) -> Vec<(usize, usize)> {
        let Some(search) = &self.help_search else {
            return Vec::new();
        };
        let columns = help::columns(self.size.width, self.ascii);
        let lines = columns.iter().enumerate().flat_map(|(column, lines)| {
            let lines = lines.iter().enumerate();
            lines.map(move |(at, line)| ((column, at), line))
        });
        lines
            .filter(|(_, line)| wanted(search, line))
            .map(|(place, _)| place)
            .collect()
    }

    /// Scrolls to the line looked at, if it is not on the screen already.
    fn help_look(&mut self) {
        let at = self.help_search.as_ref().map_or(0, |search| search.at);
        let (Some(Popup::Help { scroll }), Some(&line)) = (self.popup, self.help_found().get(at)) else {
            return;
        };
        let page = help::page(self.size);
        if !(scroll..scroll + page).contains(&line) {
            let scroll = line.saturating_sub(ABOVE.min(page / 2)).min(help::end(self.size));
            self.popup = Some(Popup::Help { scroll });
        }
    }
}
