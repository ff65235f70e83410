//! The help: up and away, and looking something up in it.

use tui_input::InputRequest;

use crate::app::help;
use crate::app::help::line::HelpLine;
use crate::app::help_search::HelpSearch;
use crate::app::overlay::{HelpScreen, Overlay};
use crate::app::state::App;

/// So much of a page stands above a line that was found.
pub(crate) const ABOVE: usize = 4;

impl App {
    /// The help comes up, or goes.
    pub(in crate::app) fn turn_help(&mut self) {
        self.overlay = match self.overlay {
            Some(Overlay::Help(_)) => None,
            Some(_) | None => Some(Overlay::Help(HelpScreen::default())),
        };
    }

    /// The help, while it is on top.
    pub(crate) fn help(&self) -> Option<&HelpScreen> {
        match &self.overlay {
            Some(Overlay::Help(help)) => Some(help),
            Some(_) | None => None,
        }
    }

    fn help_mut(&mut self) -> Option<&mut HelpScreen> {
        match &mut self.overlay {
            Some(Overlay::Help(help)) => Some(help),
            Some(_) | None => None,
        }
    }

    /// Whether the help is on top, the place where keys that search look.
    pub(in crate::app) fn in_help(&self) -> bool {
        self.help().is_some()
    }

    /// Starts to type a search in the help.
    pub(in crate::app) fn help_search_begin(&mut self) {
        if let Some(help) = self.help_mut() {
            help.search = Some(HelpSearch {
                typing: true,
                ..HelpSearch::default()
            });
        }
    }

    /// A key in its line.
    pub(in crate::app) fn help_edit(&mut self, request: InputRequest) {
        let help = self.help_mut();
        let search = help.and_then(|help| help.search.as_mut().filter(|search| search.typing));
        let Some(search) = search else { return };
        search.input.handle(request);
        let best = self.help_best();
        self.help_look_at(best);
    }

    /// Enter: the search stays, the keys go back to the help.
    pub(in crate::app) fn help_keep(&mut self) {
        let finds = !self.help_found().is_empty();
        let Some(help) = self.help_mut() else { return };
        help.search.take_if(|_| !finds);
        if let Some(search) = &mut help.search {
            search.typing = false;
        }
    }

    /// To the next or the previous line that has the text, around the ends.
    pub(in crate::app) fn help_step(&mut self, forward: bool) {
        let count = self.help_found().len();
        let search = self.help().and_then(|help| help.search.as_ref());
        let Some(search) = search.filter(|_| count > 0) else {
            return;
        };
        self.help_look_at((search.at + if forward { 1 } else { count - 1 }) % count);
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
        let Some(search) = self.help().and_then(|help| help.search.as_ref()) else {
            return Vec::new();
        };
        let columns = help::columns(self.screen.size.width, self.screen.ascii);
        let lines = columns.iter().enumerate().flat_map(|(column, lines)| {
            let lines = lines.iter().enumerate();
            lines.map(move |(at, line)| ((column, at), line))
        });
        lines
            .filter(|(_, line)| wanted(search, line))
            .map(|(place, _)| place)
            .collect()
    }

    /// Looks at one of the lines found, and scrolls to it if it is not on the screen already.
    fn help_look_at(&mut self, at: usize) {
        let (line, size) = (self.help_found().get(at).copied(), self.screen.size);
        let Some(help) = self.help_mut() else { return };
        if let Some(search) = &mut help.search {
            search.at = at;
        }
        let page = help::page(size);
        let Some(line) = line.filter(|line| !(help.scroll..help.scroll + page).contains(line)) else {
            return;
        };
        help.scroll = line.saturating_sub(ABOVE.min(page / 2)).min(help::end(size));
    }
}
