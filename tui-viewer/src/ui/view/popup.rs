//! Lists and questions in the middle of the screen.

use ratatui::layout::Rect;
use tickscope_format::ids::ThreadId;
use tickscope_format::layout::slot;
use tickscope_format::snapshot::Thread;
use tickscope_programs::events::Request;
use tickscope_report::number;

use crate::app::figures::share;
use crate::app::state::App;
use crate::app::threads;
use crate::text::cells::{cut_end, safe, width};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;

/// Cells of a thread's share with the gap before it: it stays in the narrowest list.
const SHARE_CELLS: usize = 7;

/// Cells of a thread's state, and of its id or count, with the gap before each.
const FACT_CELLS: usize = 9;

/// Cells that a name keeps; facts that would take them are left out.
const LEAST_NAME: usize = 12;

/// Draws the choice of the thread whose time is shown.
pub(crate) fn thread_list(canvas: &mut Canvas<'_>, app: &App, index: usize, order: &[ThreadId]) {
    let Some(snapshot) = app.shown() else { return };
    let rows = order.len() + 1;
    let area = middle(app, 58, rows as u16 + 2);
    let inner = canvas.frame(area, "Show the time of");
    let height = usize::from(inner.height).max(1);
    let offset = (index + 1).saturating_sub(height);
    let measured = snapshot.measured_ticks();
    for (line, y) in (offset..rows).zip(inner.top()..inner.bottom()) {
        let selected = line == index;
        let look = |meaning| if selected { Meaning::Selected } else { meaning };
        if selected {
            canvas.paint(
                Rect {
                    y,
                    height: 1,
                    ..inner
                },
                Meaning::Selected,
            );
        }
        let mark = if selected && app.screen.theme.points() {
            ">"
        } else {
            " "
        };
        canvas.put(inner.x, y, 1, mark, look(Meaning::Plain));
        let name_x = inner.x + 2;
        let thread = line.checked_sub(1).and_then(|line| order.get(line));
        let Some((&id, thread)) = thread.and_then(|id| Some((id, snapshot.threads.get(id.0 as usize)?)))
        else {
            canvas.put(
                name_x,
                y,
                inner.width.saturating_sub(2),
                "all threads",
                look(Meaning::Plain),
            );
            continue;
        };
        let own = threads::measured_ticks(snapshot, id);
        let mut facts = format!("{:>SHARE_CELLS$}", number::percent(share(own, measured)));
        if usize::from(inner.width) >= 2 + LEAST_NAME + FACT_CELLS + facts.len() {
            facts = format!("{:>FACT_CELLS$}{facts}", who(thread, canvas.ascii));
            if usize::from(inner.width) >= 2 + LEAST_NAME + 2 * FACT_CELLS + SHARE_CELLS {
                facts = format!("{:>FACT_CELLS$}{facts}", thread.state.as_str());
            }
        }
        let facts_x = inner.right().saturating_sub(width(&facts) as u16).max(name_x);
        let name_cells = facts_x.saturating_sub(name_x + 1);
        let name = cut_end(
            &safe(&thread.name, canvas.ascii),
            usize::from(name_cells),
            canvas.glyphs.cut,
        )
        .into_owned();
        canvas.put(name_x, y, name_cells, &name, look(Meaning::Plain));
        canvas.put(
            facts_x,
            y,
            inner.right().saturating_sub(facts_x),
            &facts,
            look(Meaning::Quiet),
        );
    }
}

/// Formats the id of one thread as `41877`, or a number of threads as `×111`.
pub(crate) fn who(thread: &Thread, ascii: bool) -> String {
    if thread.count > 1 {
        let times = if ascii { 'x' } else { '×' };
        format!("{times}{}", number::count(thread.count))
    } else if thread.tid == 0 {
        String::new()
    } else {
        thread.tid.to_string()
    }
}

/// Asks whether to reset or to change the mode although others watch.
pub(crate) fn confirm(canvas: &mut Canvas<'_>, app: &App, request: Request) {
    let viewers = app
        .program
        .newest
        .as_ref()
        .map_or(0, |newest| newest.capture.viewers);
    let others = viewers.saturating_sub(1);
    // A viewer without a slot is not counted.
    let who = if viewers as usize >= slot::COUNT {
        format!("{others} or more other viewers are")
    } else if others == 1 {
        "1 other viewer is".to_string()
    } else {
        format!("{others} other viewers are")
    };
    let (title, seen, yes) = match request {
        Request::Mode(mode) => (
            format!("Switch measuring to {}?", mode.as_str()),
            "They see it too. Counts begin at zero.",
            "y switch    Esc keep the mode",
        ),
        // No other request needs a confirmation.
        Request::Reset
        | Request::Undo
        | Request::Interval { .. }
        | Request::SitesOff(_)
        | Request::SitesOn(_)
        | Request::ForgetRule(_)
        | Request::Watch(..)
        | Request::Unwatch(_)
        | Request::Lines(_) => (
            "Count from zero?".to_string(),
            "They see the reset too. u takes it back.",
            "y reset    Esc keep counting",
        ),
    };
    let area = middle(app, 52, 6);
    let inner = canvas.frame(area, &title);
    let lines = [
        (format!("{who} watching."), Meaning::Plain),
        (seen.to_string(), Meaning::Plain),
        (String::new(), Meaning::Plain),
        (yes.to_string(), Meaning::Strong),
    ];
    for ((text, meaning), y) in lines.iter().zip(inner.top()..inner.bottom()) {
        canvas.put_cut(inner.x, y, inner.width, text, *meaning);
    }
}

/// Returns an area in the middle that leaves the header free.
pub(crate) fn middle(app: &App, width: u16, height: u16) -> Rect {
    let size = app.screen.size;
    let width = width.min(size.width.saturating_sub(2));
    let height = height.min(size.height.saturating_sub(2));
    Rect::new(
        (size.width - width) / 2,
        1 + (size.height.saturating_sub(2) - height) / 2,
        width,
        height,
    )
}
