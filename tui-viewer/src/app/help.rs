//! The help: its lines (most of them made from the key table), its scroll position, and the search in it. Both drawing
//! and scrolling get the length of the help from this module.

use ratatui::layout::Size;
use tui_input::{Input, InputRequest};
pub(crate) use words::{HelpLine, WORD_CELLS};

use crate::app::screen_info::ScreenInfo;
use crate::keys::action::Section;
use crate::keys::keymap::KEYS;
use crate::text::cells::width;
use crate::text::glyphs::Glyphs;

mod words;

/// Minimum screen width in cells for two columns side by side.
const TWO_COLUMNS: u16 = 119;

/// Returns the help for a screen of this width: one column or two.
pub(crate) fn columns(width: u16, ascii: bool) -> Vec<Vec<HelpLine>> {
    let mut sections: Vec<Vec<HelpLine>> = Section::ALL
        .iter()
        .map(|&section| lines_of(section, ascii))
        .collect();
    // The marks start the second column, where they are visible without scrolling.
    let marks = marks(ascii);
    if width < TWO_COLUMNS {
        sections.insert(sections.len() / 2, marks.clone());
    }
    let all: usize = sections.iter().map(|section| section.len() + 1).sum();
    let mut columns = vec![Vec::new()];
    for section in sections {
        let first: usize = columns[0].len();
        // Fill the first column until one more section would leave its end further from the halfway point.
        if width >= TWO_COLUMNS && columns.len() == 1 && 2 * first + section.len() > all {
            columns.push(marks.clone());
        }
        if let Some(column) = columns.last_mut() {
            if !column.is_empty() {
                column.push(HelpLine::Gap);
            }
            column.extend(section);
        }
    }
    // Words are explained after all the keys, because most readers look for a key.
    for words in words::parts(ascii) {
        if let Some(column) = columns.iter_mut().min_by_key(|column| column.len()) {
            column.push(HelpLine::Gap);
            column.extend(words);
        }
    }
    columns
}

/// Returns the number of lines of the help that fit on a screen, inside the frame and below the header.
pub(crate) fn page(size: Size) -> usize {
    usize::from(size.height.saturating_sub(4)).max(1)
}

/// Returns the maximum of [`HelpScreen::scroll`].
pub(crate) fn end(size: Size) -> usize {
    let longest = columns(size.width, false).iter().map(Vec::len).max().unwrap_or(0);
    longest.saturating_sub(page(size))
}

fn lines_of(section: Section, ascii: bool) -> Vec<HelpLine> {
    let mut lines = vec![HelpLine::Title(section.title())];
    let of_it = KEYS.iter().filter(|line| line.section == section);
    lines.extend(of_it.map(|line| HelpLine::Keys(line.keys_text(ascii), line.help)));
    lines
}

/// Returns how many cells a line needs in the key column. Long keys count as 0; otherwise they would push the text of
/// every line far to the right.
pub(crate) fn cells_of_keys(line: &HelpLine) -> usize {
    match line {
        HelpLine::Keys(keys, _) if width(keys) <= 18 => width(keys),
        HelpLine::Keys(..) | HelpLine::Word(..) | HelpLine::Title(_) | HelpLine::Gap => 0,
    }
}

/// Returns the marks next to names and numbers, each with its meaning.
fn marks(ascii: bool) -> Vec<HelpLine> {
    let glyphs = Glyphs::of(ascii);
    vec![
        HelpLine::Title("Marks"),
        HelpLine::Keys(
            format!("{} ~ {} -", glyphs.running, glyphs.at_most),
            "open now, estimated, at most, not known",
        ),
        HelpLine::Keys(
            glyphs.doubtful.to_string(),
            "mean under 3x what measuring may cost",
        ),
    ]
}

/// A search in the help, while its text is typed and afterwards.
#[derive(Debug, Default)]
pub(crate) struct HelpSearch {
    /// Editor of the text.
    pub(crate) input: Input,
    /// Whether key presses go into the search text.
    pub(crate) typing: bool,
    /// Index of the line to show, among the lines that match.
    pub(crate) at: usize,
}

impl HelpSearch {
    /// Whether this line of the help explains the word being searched for. Case is ignored.
    pub(crate) fn is_explained_by(&self, line: &HelpLine) -> bool {
        let text = self.input.value().to_lowercase();
        let is_word = |word: &String| {
            let word = word.to_lowercase();
            word == text || word.split(' ').any(|part| part == text)
        };
        matches!(line, HelpLine::Word(word, _) if !text.is_empty() && is_word(word))
    }

    /// Whether this line of the help contains the search text. Case is ignored, except that a key must be equal to the text.
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

/// Number of lines to show above a line that was found.
const ABOVE: usize = 4;

/// The help, scrolled and searched.
#[derive(Debug, Default)]
pub(crate) struct HelpScreen {
    /// Number of lines scrolled away.
    pub(crate) scroll: usize,
    pub(crate) search: Option<HelpSearch>,
}

impl HelpScreen {
    /// Returns the search while its text is being typed.
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

    /// Edits the searched text.
    pub(crate) fn edit(&mut self, request: InputRequest, screen: &ScreenInfo) {
        let Some(search) = self.search.as_mut().filter(|search| search.typing) else {
            return;
        };
        search.input.handle(request);
        self.look_at(self.best(screen), screen);
    }

    /// Ends typing, so that keys act on the help again. Keeps the search only if it finds anything.
    pub(crate) fn keep_search(&mut self, screen: &ScreenInfo) {
        let finds = !self.found(screen).is_empty();
        self.search.take_if(|_| !finds);
        if let Some(search) = &mut self.search {
            search.typing = false;
        }
    }

    /// Goes to the next or the previous line that contains the text; wraps around at the ends.
    pub(crate) fn step(&mut self, forward: bool, screen: &ScreenInfo) {
        let count = self.found(screen).len();
        let Some(search) = self.search.as_ref().filter(|_| count > 0) else {
            return;
        };
        let to = (search.at + if forward { 1 } else { count - 1 }) % count;
        self.look_at(to, screen);
    }

    /// Returns the index, among the matching lines, of the one to show first: the first that explains the word, or else
    /// the first of all.
    fn best(&self, screen: &ScreenInfo) -> usize {
        let found = self.places(screen, HelpSearch::finds);
        let explains = self.places(screen, HelpSearch::is_explained_by);
        let best = explains
            .first()
            .and_then(|best| found.iter().position(|at| at == best));
        best.unwrap_or(0)
    }

    /// Returns the lines that contain the text, from the first column to the last.
    pub(crate) fn found(&self, screen: &ScreenInfo) -> Vec<usize> {
        let found = self.places(screen, HelpSearch::finds);
        found.into_iter().map(|(_, line)| line).collect()
    }

    /// Returns the column and line number of every line of the help that `wanted` accepts.
    fn places(&self, screen: &ScreenInfo, wanted: fn(&HelpSearch, &HelpLine) -> bool) -> Vec<(usize, usize)> {
        let Some(search) = &self.search else {
            return Vec::new();
        };
        let columns = columns(screen.size.width, screen.ascii);
        let lines = columns.iter().enumerate().flat_map(|(column, lines)| {
            let lines = lines.iter().enumerate();
            lines.map(move |(at, line)| ((column, at), line))
        });
        lines
            .filter(|(_, line)| wanted(search, line))
            .map(|(place, _)| place)
            .collect()
    }

    /// Goes to the matching line with this index, and scrolls to it unless it is already on the screen.
    fn look_at(&mut self, at: usize, screen: &ScreenInfo) {
        let line = self.found(screen).get(at).copied();
        if let Some(search) = &mut self.search {
            search.at = at;
        }
        let page = page(screen.size);
        let Some(line) = line.filter(|line| !(self.scroll..self.scroll + page).contains(line)) else {
            return;
        };
        self.scroll = line.saturating_sub(ABOVE.min(page / 2)).min(end(screen.size));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_cut_at_sixty_columns() {
        let lines = columns(60, false).concat();
        // Besides its text, a line has two cells before the keys and two after the longest keys. The frame and its
        // margins take four more.
        let keys = lines.iter().map(cells_of_keys).max().unwrap_or(0);
        for line in &lines {
            if let HelpLine::Keys(own, text) = line {
                let cells = keys.max(own.chars().count()) + text.chars().count() + 4;
                assert!(cells <= 60 - 4, "{text}: {cells}");
            }
        }
    }
}
