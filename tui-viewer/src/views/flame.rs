//! View Flame: the call tree as widths.

use ratatui::layout::{Position, Rect};

use crate::app::data::Data;
use crate::app::flame::{Frames, lay_out};
use crate::app::layout::Layout;
use crate::app::listing::{Listing, Shape};
use crate::app::row::{Fold, Row, RowId, What};
use crate::app::state::App;
use crate::app::update::acts::{Act, MOVES, ORDERS, act, always, each, has_rows, never, only};
use crate::keys::action::Action;
use crate::keys::view::View;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::detail::Legend;
use crate::views::view_type::{About, ViewType, number_of};

pub(crate) mod graph;
mod moves;
#[cfg(test)]
mod tests;

#[derive(Debug)]
pub(crate) struct Flame;

const ABOUT: About = About {
    acts: ACTS,
    has_focus: true,
    has_paths: true,
    ..About::TIME
};

const ACTS: &[Act] = &[
    each(MOVES, always, App::flame_travel),
    act(&[Action::PreviousSibling], always, |app| app.flame_beside(-1)),
    act(&[Action::NextSibling], always, |app| app.flame_beside(1)),
    act(&[Action::Enter], has_rows, App::zoom_in),
    act(&[Action::FlameColour], App::may_recolour, App::flame_recolour),
    // A graph has neither an order to choose nor rows to leave out.
    only(ORDERS, never),
    only(&[Action::MatchesOnly, Action::Centre], never),
];

impl App {
    /// Whether the colours of frames have a meaning to choose.
    pub(crate) fn may_recolour(&self) -> bool {
        self.screen.theme.fills() && self.query.against.is_none()
    }
}

impl ViewType for Flame {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn list(&self, app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        let area = app.layout().rows;
        list(data, shape, &app.views.flame.zoom, (area.width, area.height))
    }

    fn choices(&self, app: &App) -> u64 {
        number_of((app.layout().rows, &app.views.flame.zoom))
    }

    fn first<'a>(&self, data: &Data, rows: &'a [Row]) -> Option<&'a Row> {
        largest(data, rows)
    }

    fn settle(&self, app: &mut App) {
        app.flame_settle();
    }

    fn step_back(&self, app: &mut App) -> bool {
        app.zoom_all()
    }

    fn way_back(&self, app: &App) -> Option<&'static str> {
        let is_zoomed = app.views.flame.is_zoomed();
        is_zoomed.then_some("zoom out").or_else(|| app.way_back())
    }

    fn reveal(&self, app: &mut App, what: What) -> bool {
        app.flame_reveal(what);
        true
    }

    fn click(&self, app: &mut App, at: Position, line: usize) {
        app.flame_click(at.x, line);
    }

    fn wheel(&self, app: &mut App, rows: isize, _at: Position) -> bool {
        let page = app.page().max(1);
        app.views.flame.scroll(rows, page);
        true
    }

    fn layout(&self, _app: &App, layout: Layout) -> Layout {
        layout.with_large_pane()
    }

    fn lines_of_row(&self, app: &App) -> u16 {
        app.views.flame.frames.rows_of_frame()
    }

    fn scrolled(&self, app: &App) -> (usize, usize) {
        (app.views.flame.top, app.views.flame.frames.lines())
    }

    fn heading(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        graph::title(canvas, app, data, area);
    }

    fn draw(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        graph::draw(canvas, app, data, area);
    }

    fn legend(&self, legend: &Legend) -> String {
        let (dot, of) = (legend.glyphs.dot, legend.of);
        let off = match legend.has_two_tones {
            true => format!("{dot}{} off CPU", legend.glyphs.off_cpu[1].repeat(3)),
            false => String::new(),
        };
        format!("a frame is as wide as its {of}{dot}blank below a frame: its self {of}{off}")
    }
}

/// Returns the largest of the outermost frames, where a selection begins.
fn largest<'a>(data: &Data, rows: &'a [Row]) -> Option<&'a Row> {
    let end = rows.partition_point(|row| row.depth == 0);
    // Of equal frames the first wins.
    rows[..end]
        .iter()
        .rev()
        .max_by_key(|row| data.figures(row.what).total_ns)
}

/// Lays out the tree of the data and returns the rows of the list. The lowest row of `zoom` that is still in the tree fills
/// the width.
pub(crate) fn list(data: &Data, shape: &Shape<'_>, zoom: &[RowId], (width, height): (u16, u16)) -> Listing {
    let tree = &data.tree;
    let zoom = zoom.iter().rev().find_map(|id| {
        let found = tree.rows.iter().position(|row| RowId::Path(row.path) == *id)?;
        Some(found as u32)
    });
    // The order is by name, so that no frame changes places while times change.
    let all = lay_out(tree, zoom, width, |a, b| {
        let (a, b) = (View::Tree.row(a), View::Tree.row(b));
        data.label(a)
            .cmp(data.label(b))
            .then_with(|| data.full_name(a).cmp(data.full_name(b)))
    });
    let mut frames = Frames {
        all,
        zoom_line: zoom.map(|row| tree.rows[row as usize].depth as usize),
        ..Frames::default()
    };
    frames.tall = 2 * frames.lines() <= usize::from(height);
    let mut out = Listing::default();
    let mut row_of_frame = vec![None; frames.all.len()];
    for (index, frame) in frames.all.iter().enumerate() {
        let Some(row) = frame.row.filter(|_| frame.few == 0) else {
            continue;
        };
        let what = View::Tree.row(row);
        row_of_frame[index] = Some(out.rows.len() as u32);
        frames.of_row.push(index as u32);
        out.rows.push(Row {
            id: data.id(what),
            what,
            depth: frame.line,
            parent: frame.parent.and_then(|parent| row_of_frame[parent as usize]),
            last: false,
            fold: Fold::Leaf,
            hit: shape.matcher.is_some_and(|filter| filter.hits(data, what)),
        });
    }
    if let Some(filter) = shape.matcher {
        let all = View::Tree.rows(0..tree.rows.len() as u32).into_iter();
        out.hits = all.filter(|&what| filter.hits(data, what)).collect();
        let selected = |what: &&What| Some(data.id(**what)) == shape.selected;
        out.before = match out.rows.iter().find(|row| Some(row.id) == shape.selected) {
            Some(row) => out.hits.partition_point(|hit| hit.row < row.what.row),
            None => out.hits.iter().position(|what| selected(&what)).unwrap_or(0),
        };
    }
    out.frames = Some(frames);
    out
}
