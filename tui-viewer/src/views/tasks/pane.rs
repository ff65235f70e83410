//! Pane of the view Tasks: the waits of a future's calls, and their outcome.

use ratatui::layout::Rect;
use tickscope_analysis::tasks::TaskKind;
use tickscope_report::number;

use crate::app::data::Data;
use crate::keys::view::View;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;

/// Draws the pane below: the waits of the selected future's calls, and their outcome.
pub(crate) fn detail(canvas: &mut Canvas<'_>, data: &Data, index: u32, area: Rect) {
    let tasks = data.tasks();
    let task = &tasks.rows[index as usize];
    let path: Vec<&str> = tasks
        .chain(index)
        .into_iter()
        .map(|row| data.label(View::Tasks.row(row)))
        .collect();
    let path = path.join(canvas.glyphs.then);
    let waits = match task.in_flight {
        0 => format!("no call is in flight in {path}"),
        1 => format!(
            "1 call is in flight in {path}, for {}",
            canvas.duration(task.oldest_ns)
        ),
        calls => format!(
            "{} calls are in flight in {path}, the oldest for {}",
            number::count(calls),
            canvas.duration(task.oldest_ns)
        ),
    };
    canvas.put_cut(area.x, area.y + 2, area.width, &waits, Meaning::Plain);
    if task.kind == TaskKind::UnnamedAwait {
        let text = "these calls await a future without a name: tickscope::wait!(\"name\", future) names it";
        return canvas_line(canvas, area, 3, text);
    }
    let vanished = match task.vanished {
        0 => String::new(),
        some => format!("{} whose end was not seen, ", number::count(some)),
    };
    let calls = format!(
        "{} calls begun, {} ready, {} cancelled, {vanished}{} polls",
        number::count(task.started),
        number::count(task.ended),
        number::count(task.cancelled),
        number::count(task.polls)
    );
    canvas_line(canvas, area, 3, &calls);
    if let Some(delay) = task.mean_scheduled_ns() {
        let text = format!(
            "from a wake to the poll that follows {} on average",
            canvas.duration(delay)
        );
        canvas_line(canvas, area, 4, &text);
    }
    if task.blocks_executor() {
        let text = format!(
            "its polls block their executor: {} of {} in polls were waits of the thread",
            canvas.duration(task.blocked_ns),
            canvas.duration(task.busy_ns)
        );
        canvas.put_cut(area.x, area.bottom() - 2, area.width, &text, Meaning::Notable);
    }
    let legend = "P50, P99 of calls by the wall clock   BUSY in polls   AWAIT the rest   of all threads";
    canvas.put_cut(area.x, area.bottom() - 1, area.width, legend, Meaning::Quiet);
}

fn canvas_line(canvas: &mut Canvas<'_>, area: Rect, line: u16, text: &str) {
    if area.y + line < area.bottom() - 1 {
        canvas.put_cut(area.x, area.y + line, area.width, text, Meaning::Quiet);
    }
}
