//! Lists and questions in the middle of the screen.

use ratatui::layout::Rect;
use tickscope_format::ids::ThreadId;
use tickscope_format::render::number;
use tickscope_format::snapshot::Thread;

use crate::cells::{cut_end, safe};
use crate::model::Model;
use crate::model::data::share;
use crate::theme::{Meaning, ThemeKind};
use crate::view::pen::Pen;

/// Which thread's time to show.
pub(super) fn threads(pen: &mut Pen<'_>, model: &Model, index: usize) {
    let Some(snapshot) = &model.shown else { return };
    let rows = snapshot.threads.len() + 1;
    let area = middle(model, 58, rows as u16 + 2);
    let inner = pen.frame(area, "Show the time of");
    let height = usize::from(inner.height).max(1);
    let offset = (index + 1).saturating_sub(height);
    let measured = snapshot.measured_ticks();
    for (line, y) in (offset..rows).zip(inner.top()..inner.bottom()) {
        let selected = line == index;
        let look = |meaning| if selected { Meaning::Selected } else { meaning };
        if selected {
            pen.paint(
                Rect {
                    y,
                    height: 1,
                    ..inner
                },
                Meaning::Selected,
            );
        }
        let mark = if selected && model.theme == ThemeKind::Mono {
            ">"
        } else {
            " "
        };
        pen.put(inner.x, y, 1, mark, look(Meaning::Plain));
        let name_x = inner.x + 2;
        let facts_x = inner.right().saturating_sub(27).max(name_x);
        let name_cells = facts_x.saturating_sub(name_x + 1);
        let Some(thread) = line.checked_sub(1).and_then(|at| snapshot.threads.get(at)) else {
            pen.put(
                name_x,
                y,
                inner.width.saturating_sub(2),
                "all threads",
                look(Meaning::Plain),
            );
            continue;
        };
        let own: u64 = snapshot
            .rows_of(ThreadId(line as u32 - 1))
            .map(|row| snapshot.nodes.self_ticks[row])
            .sum();
        let name = cut_end(
            &safe(&thread.name, pen.ascii),
            usize::from(name_cells),
            pen.glyphs.cut,
        )
        .into_owned();
        pen.put(name_x, y, name_cells, &name, look(Meaning::Plain));
        let facts = format!(
            "{:>9} {:>9} {:>7}",
            who(thread),
            thread.state.as_str(),
            number::percent(share(own, measured))
        );
        pen.put(
            facts_x,
            y,
            inner.right().saturating_sub(facts_x),
            &facts,
            look(Meaning::Quiet),
        );
    }
}

fn who(thread: &Thread) -> String {
    if thread.count > 1 {
        format!("{} of them", number::count(thread.count))
    } else if thread.tid == 0 {
        String::new()
    } else {
        thread.tid.to_string()
    }
}

/// Reset, although others watch?
pub(super) fn ask_reset(pen: &mut Pen<'_>, model: &Model) {
    let viewers = model.newest.as_ref().map_or(0, |newest| newest.capture.viewers);
    let others = viewers.saturating_sub(1);
    let who = if others == 1 {
        "1 other viewer is".to_string()
    } else {
        format!("{others} other viewers are")
    };
    let area = middle(model, 52, 6);
    let inner = pen.frame(area, "Count from zero?");
    let lines = [
        (format!("{who} watching."), Meaning::Plain),
        (
            "They see the reset too. u takes it back.".to_string(),
            Meaning::Plain,
        ),
        (String::new(), Meaning::Plain),
        ("y reset    Esc keep counting".to_string(), Meaning::Strong),
    ];
    for ((text, meaning), y) in lines.iter().zip(inner.top()..inner.bottom()) {
        pen.put_cut(inner.x, y, inner.width, text, *meaning);
    }
}

/// An area in the middle that leaves the header alone.
fn middle(model: &Model, width: u16, height: u16) -> Rect {
    let size = model.size;
    let width = width.min(size.width.saturating_sub(2));
    let height = height.min(size.height.saturating_sub(2));
    Rect::new(
        (size.width - width) / 2,
        1 + (size.height.saturating_sub(2) - height) / 2,
        width,
        height,
    )
}
