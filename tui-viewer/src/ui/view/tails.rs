//! Functions with a tail, as the view Slow lists them while no function is watched.

use ratatui::layout::Rect;
use tickscope_report::number;

use crate::app::columns::place::Place;
use crate::app::columns::tails;
use crate::app::columns::tails::TailColumn;
use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::state::App;
use crate::text::cells::cut_path;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::marks::UNKNOWN;
use crate::ui::view::rows;

/// Draws the titles above the columns.
pub(crate) fn titles(canvas: &mut Canvas<'_>, area: Rect) {
    for place in tails::places(area.width) {
        let title = place.column.title();
        match place.column {
            TailColumn::Name => {
                canvas.put_cut(place.x, area.y, place.width, title, Meaning::Quiet);
            }
            TailColumn::Tail => {
                let title = format!("{title}{}", canvas.glyphs.falls);
                canvas.put_right(place.x, area.y, place.width, &title, Meaning::Sorted);
            }
            TailColumn::Calls | TailColumn::P50 | TailColumn::P99 | TailColumn::Max => {
                canvas.put_right(place.x, area.y, place.width, title, Meaning::Quiet);
            }
        }
    }
}

/// Draws the rows.
pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    let places = tails::places(area.width);
    rows::each(canvas, app, data, area, |canvas, row, y, look| {
        for place in &places {
            let text = text(canvas, data, row.what, place);
            match place.column {
                TailColumn::Name => {
                    let meaning = if row.hit { Meaning::Strong } else { Meaning::Plain };
                    canvas.put(place.x, y, place.width, &text, look.of(meaning));
                }
                TailColumn::Tail => rows::number(canvas, place, y, &text, look.of(Meaning::Warm)),
                TailColumn::Calls | TailColumn::P50 | TailColumn::P99 | TailColumn::Max => {
                    rows::number(canvas, place, y, &text, look.of(Meaning::Plain));
                }
            }
        }
    });
}

fn text(canvas: &Canvas<'_>, data: &Data, what: What, place: &Place<TailColumn>) -> String {
    let Some(tail) = data.tail(what) else {
        return String::new();
    };
    let latency = &tail.latency;
    let time = |ticks: Option<u64>| {
        let ns = ticks.map(|ticks| data.snapshot.nanos(ticks));
        ns.map_or_else(|| UNKNOWN.to_string(), |ns| canvas.duration(ns))
    };
    match place.column {
        TailColumn::Tail => time(Some(tail.ticks)),
        TailColumn::Calls => number::count(latency.count()),
        TailColumn::P50 => time(latency.quantile(0.5)),
        TailColumn::P99 => time(latency.quantile(0.99)),
        TailColumn::Max => time(latency.max().map(|(ticks, _)| ticks)),
        TailColumn::Name => {
            cut_path(data.label(what), usize::from(place.width), canvas.glyphs.cut).into_owned()
        }
    }
}
