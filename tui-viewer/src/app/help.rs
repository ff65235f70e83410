//! The help as lines, made from the key table. Drawing and scrolling take the length of the help from this module.

mod words;

use ratatui::layout::Size;
pub(crate) use words::WORD_CELLS;

use crate::keys::action::Section;
use crate::keys::keymap::KEYS;
use crate::text::cells::width;
use crate::text::glyphs::Glyphs;

/// A line of the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HelpLine {
    /// A heading.
    Title(&'static str),
    /// Keys and their effect.
    Keys(String, &'static str),
    /// A word or a mark on the screen and its meaning.
    Word(String, &'static str),
    /// An empty line.
    Gap,
}

/// Width in cells from which two columns stand side by side.
const TWO_COLUMNS: u16 = 119;

/// Returns the help for a screen of this width: one column or two.
pub(crate) fn columns(width: u16, ascii: bool) -> Vec<Vec<HelpLine>> {
    let mut sections: Vec<Vec<HelpLine>> = Section::ALL
        .iter()
        .map(|&section| lines_of(section, ascii))
        .collect();
    // At the head of the second column the marks are visible without scrolling.
    let marks = marks(ascii);
    if width < TWO_COLUMNS {
        sections.insert(sections.len() / 2, marks.clone());
    }
    let all: usize = sections.iter().map(|section| section.len() + 1).sum();
    let mut columns = vec![Vec::new()];
    for section in sections {
        let first: usize = columns[0].len();
        // The first column takes sections until its end is nearest to the middle.
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
    // The words come after all keys, for readers who look for a key.
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

/// Returns the last line to which the help scrolls.
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

/// Returns the cells that a line needs in the column of keys. Long keys get none, because they would move the texts of
/// all lines aside.
pub(crate) fn cells_of_keys(line: &HelpLine) -> usize {
    match line {
        HelpLine::Keys(keys, _) if width(keys) <= 18 => width(keys),
        HelpLine::Keys(..) | HelpLine::Word(..) | HelpLine::Title(_) | HelpLine::Gap => 0,
    }
}

/// Returns the marks beside names and numbers, each with its meaning.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_cut_at_sixty_columns() {
        let lines = columns(60, false).concat();
        // Two cells before the keys, two after the longest of them, and the frame with its margins.
        let keys = lines.iter().map(cells_of_keys).max().unwrap_or(0);
        for line in &lines {
            if let HelpLine::Keys(own, text) = line {
                let cells = keys.max(own.chars().count()) + text.chars().count() + 4;
                assert!(cells <= 60 - 4, "{text}: {cells}");
            }
        }
    }
}
