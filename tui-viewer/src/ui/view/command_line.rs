//! The line above the command line: what is wrong with it, what its last word may become, or how it goes on.

use ratatui::layout::Rect;

use crate::app::command_line::CommandLine;
use crate::app::state::App;
use crate::cli::args::look::ThemeKind;
use crate::text::cells::{cut_end, safe, width};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;

/// No offer takes more cells than this.
const LONGEST_OFFER: usize = 60;

/// Cells between two offers.
const GAP: usize = 2;

/// Draws the line, where there is one to spare; a notice stands above it.
pub(super) fn draw(canvas: &mut Canvas<'_>, app: &App, command: &CommandLine) {
    let layout = app.layout();
    let Some(footer) = layout.footer else {
        // Without a footer what is wrong takes the place of what was typed: the next key shows that again.
        if let Some(why) = &command.wrong {
            let line = layout.bottom_line();
            canvas.clear(line);
            wrong(canvas, why, line);
        }
        return;
    };
    let line = Rect {
        y: footer.y.saturating_sub(1),
        ..footer
    };
    canvas.clear(line);
    let several = command.offers.list.len() > 1;
    let hint = command.hint.as_ref().filter(|_| command.wants_hint() || !several);
    if let Some(why) = &command.wrong {
        wrong(canvas, why, line);
    } else if let Some(hint) = hint {
        canvas.put_cut(
            line.x + 2,
            line.y,
            line.width.saturating_sub(3),
            hint,
            Meaning::Quiet,
        );
    } else if !command.offers.list.is_empty() {
        offers(canvas, app, command, line);
    }
}

fn wrong(canvas: &mut Canvas<'_>, why: &str, line: Rect) {
    let text = format!("! {}", safe(why, canvas.ascii));
    canvas.put_cut(
        line.x + 1,
        line.y,
        line.width.saturating_sub(2),
        &text,
        Meaning::Alarm,
    );
}

/// The offers side by side, from the one in the line on where they do not all fit.
fn offers(canvas: &mut Canvas<'_>, app: &App, command: &CommandLine, line: Rect) {
    let list: Vec<String> = command
        .offers
        .list
        .iter()
        .map(|offer| cut_end(&safe(offer, canvas.ascii), LONGEST_OFFER, canvas.glyphs.cut).into_owned())
        .collect();
    let room = usize::from(line.width).saturating_sub(3);
    let chosen = command.chosen.unwrap_or(0);
    // How many are left out stands at both ends.
    let left_out = |count: usize| {
        if count == 0 {
            String::new()
        } else {
            format!("+{count}")
        }
    };
    let mut first = 0;
    while first < chosen && cells(&list[first..=chosen]) + 2 * (GAP + 4) > room {
        first += 1;
    }
    let mut x = line.x + 2;
    let before = left_out(first);
    if !before.is_empty() {
        x = canvas.put(x, line.y, line.width, &before, Meaning::Quiet) + GAP as u16;
    }
    for (index, offer) in list.iter().enumerate().skip(first) {
        let more = left_out(list.len() - index);
        let reserve = if index + 1 < list.len() {
            GAP + more.len()
        } else {
            0
        };
        let end = usize::from(x) + width(offer) + reserve;
        if end >= usize::from(line.right()) && index > chosen {
            canvas.put(x, line.y, line.width, &more, Meaning::Quiet);
            return;
        }
        let is_chosen = command.chosen == Some(index);
        let meaning = if is_chosen {
            Meaning::Selected
        } else {
            Meaning::Plain
        };
        if is_chosen && app.screen.theme == ThemeKind::Mono {
            canvas.put(x.saturating_sub(1), line.y, 1, ">", Meaning::Strong);
        }
        x = canvas.put(x, line.y, line.width, offer, meaning) + GAP as u16;
    }
}

fn cells(offers: &[String]) -> usize {
    offers.iter().map(|offer| width(offer) + GAP).sum()
}
