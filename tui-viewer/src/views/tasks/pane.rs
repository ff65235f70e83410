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
    let path = tasks.chain(index).into_iter();
    let path: Vec<&str> = path.map(|row| data.label(View::Tasks.row(row))).collect();
    let path = path.join(canvas.glyphs.then);
    let (in_flight, oldest) = (number::count(task.in_flight), canvas.duration(task.oldest_ns));
    let waits = match task.in_flight {
        0 => format!("no call is in flight in {path}"),
        1 => format!("1 call is in flight in {path}, for {oldest}"),
        _ => format!("{in_flight} calls are in flight in {path}, the oldest for {oldest}"),
    };
    canvas.line(area, 2, &waits, Meaning::Plain);
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
        let delay = canvas.duration(delay);
        let text = format!("from a wake to the poll that follows {delay} on average");
        canvas_line(canvas, area, 4, &text);
    }
    if task.blocks_executor() {
        let (blocked, busy) = (canvas.duration(task.blocked_ns), canvas.duration(task.busy_ns));
        let text =
            format!("its polls block their executor: {blocked} of {busy} in polls were waits of the thread");
        canvas.line(area, area.height - 2, &text, Meaning::Notable);
    }
    let legend = "P50, P99 of calls by the wall clock   BUSY in polls   AWAIT the rest   of all threads";
    canvas.line(area, area.height - 1, legend, Meaning::Quiet);
}

/// Draws a line, unless the legend stands there.
fn canvas_line(canvas: &mut Canvas<'_>, area: Rect, line: u16, text: &str) {
    if line < area.height - 1 {
        canvas.line(area, line, text, Meaning::Quiet);
    }
}
