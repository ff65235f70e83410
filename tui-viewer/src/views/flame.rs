//! The Flame view: the call tree as frames whose widths show their time.

use ratatui::layout::{Position, Rect};

use crate::app::data::Data;
use crate::app::flame::{FlameColour, Frames, lay_out};
use crate::app::keyhash::number_of;
use crate::app::layout::Layout;
use crate::app::listing::{Listing, Shape};
use crate::app::row::{Fold, Row, RowId, What};
use crate::app::state::App;
use crate::app::update::acts::{Act, MOVES, ORDERS, act, always, each, has_rows, never, only};
use crate::keys::action::Action;
use crate::keys::view::View;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::detail::Legend;
use crate::views::view_type::{About, ViewType};

pub(crate) mod graph;
#[cfg(test)]
mod tests;

#[derive(Debug)]
pub(crate) struct Flame;

pub(super) const ABOUT: About = About {
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
    // A flame graph has no order to choose, and always shows all rows.
    only(ORDERS, never),
    only(&[Action::MatchesOnly, Action::Centre], never),
];

impl App {
    /// Whether the user can choose what the colours of frames mean.
    pub(crate) fn may_recolour(&self) -> bool {
        self.screen.theme.fills() && self.query.against.is_none()
    }
}

impl ViewType for Flame {
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
    // `rev` makes the first of equally large frames win.
    rows[..end]
        .iter()
        .rev()
        .max_by_key(|row| data.figures(row.what).total_ns)
}

/// Lays out the call tree and returns the rows of the list. `zoom` is a path of rows, outermost first. The innermost of
/// them that still exists fills the width.
pub(crate) fn list(data: &Data, shape: &Shape<'_>, zoom: &[RowId], (width, height): (u16, u16)) -> Listing {
    let tree = &data.tree;
    let zoom = zoom.iter().rev().find_map(|id| {
        let found = tree.rows.iter().position(|row| RowId::Path(row.path) == *id)?;
        Some(found as u32)
    });
    // Frames are sorted by name, so that they do not change places while times change.
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

/// After zooming, the callers above the zoomed frame take up at most this fraction (1 / n) of the screen height, unless
/// the graph ends before the bottom of the screen.
pub(crate) const ABOVE_PART: usize = 3;

impl App {
    /// Corrects the scroll position after the rows have changed, because the graph may now have fewer lines.
    pub(crate) fn flame_settle(&mut self) {
        let page = self.page();
        self.views.flame.scroll(0, page);
    }

    fn flame_select(&mut self, row: usize) {
        self.select(row);
        self.flame_show(row);
    }

    /// Moves the selection up to callers or down to the largest callees, by one or more lines.
    pub(crate) fn flame_travel(&mut self, action: Action) {
        let page = self.page().max(1);
        let lines = self.views.flame.frames.lines();
        let ways = [
            ([Action::Up, Action::Down], 1),
            ([Action::PageUp, Action::PageDown], page),
            ([Action::HalfUp, Action::HalfDown], (page / 2).max(1)),
            ([Action::First, Action::Last], lines),
        ];
        let way = ways.into_iter().find(|(way, _)| way.contains(&action));
        let Some(([upwards, _], steps)) = way else { return };
        let up = action == upwards;
        if action == Action::Up && self.zoom_up() {
            return;
        }
        for _ in 0..steps {
            let at = self.list().cursor.index;
            let to = match up {
                true => self.flame_above(at),
                false => self.flame_below(at),
            };
            let Some(to) = to else { break };
            self.flame_select(to);
        }
    }

    /// Returns the caller's frame. Returns `None` for the frame that fills the width, because from there only `zoom_up`
    /// leads further up.
    fn flame_above(&self, row: usize) -> Option<usize> {
        let row = self.list().rows.get(row)?;
        let at_zoom = Some(row.depth as usize) == self.views.flame.frames.zoom_line;
        row.parent.filter(|_| !at_zoom).map(|parent| parent as usize)
    }

    fn flame_below(&self, row: usize) -> Option<usize> {
        let data = self.data()?;
        let rows = self.list().rows.iter().enumerate();
        let children = rows.filter(|(_, below)| below.parent == Some(row as u32));
        // `rev` makes the first of equally large frames win.
        let largest = children
            .rev()
            .max_by_key(|(_, below)| data.figures(below.what).total_ns);
        largest.map(|(index, _)| index)
    }

    /// Goes to a frame beside the selected frame, on the same line.
    pub(crate) fn flame_beside(&mut self, step: isize) {
        let (rows, at) = (&self.list().rows, self.list().cursor.index);
        let line = rows.get(at).map(|row| row.depth);
        let to = at.checked_add_signed(step);
        if let Some(to) = to.filter(|&to| line.is_some() && rows.get(to).map(|row| row.depth) == line) {
            self.flame_select(to);
        }
    }

    /// Zooms in so that the selected frame fills the width.
    pub(crate) fn zoom_in(&mut self) {
        let want = self.list().lineage_of(self.list().cursor.index);
        self.zoom_to(want);
    }

    /// Zooms to the row with this path, so that it fills the width. An empty path shows the whole tree.
    fn zoom_to(&mut self, zoom: Vec<RowId>) {
        self.views.flame.zoom = zoom;
        self.refresh();
        let (page, line) = (self.page(), self.views.flame.frames.zoom_line);
        self.views.flame.top = line.unwrap_or(0).saturating_sub(page / ABOVE_PART);
        self.views.flame.scroll(0, page);
        self.flame_show(self.list().cursor.index);
    }

    /// Scrolls as little as needed to show the frame of a row.
    fn flame_show(&mut self, row: usize) {
        let page = self.page();
        if let Some(line) = self.views.flame.frame(row).map(|frame| frame.line as usize) {
            self.views.flame.show(line, page);
        }
    }

    /// If the selected frame fills the width, zooms out by one step. Returns whether it did.
    fn zoom_up(&mut self) -> bool {
        let selected = self.list().selected().map(|row| row.depth as usize);
        let at_zoom = selected.is_some() && selected == self.views.flame.frames.zoom_line;
        if at_zoom {
            let mut want = self.list().lineage_of(self.list().cursor.index);
            want.pop();
            if !want.is_empty() {
                self.list_mut().cursor.want = want.clone();
            }
            // Instead of zooming to an outermost function, show the whole tree.
            if want.len() == 1 {
                want.clear();
            }
            self.zoom_to(want);
        }
        at_zoom
    }

    /// Shows the whole tree again. Returns whether the graph was zoomed.
    pub(crate) fn zoom_all(&mut self) -> bool {
        let zoomed = self.views.flame.is_zoomed();
        if zoomed {
            self.zoom_to(Vec::new());
        }
        zoomed
    }

    /// Selects a row of the tree even if its frame is outside the zoomed part or too small to be seen.
    pub(crate) fn flame_reveal(&mut self, what: What) {
        let Some(data) = &self.derived.data else { return };
        let want: Vec<RowId> = data.lineage(what).into_iter().map(|what| data.id(what)).collect();
        let found = |app: &Self| {
            let id = want.last()?;
            app.list().place_of(*id)
        };
        if found(self).is_none() {
            // Zoom to the whole tree, then to the caller, then to the row itself, until the frame can be seen.
            let caller = want[..want.len().saturating_sub(1)].to_vec();
            for zoom in [Vec::new(), caller, want.clone()] {
                if found(self).is_none() {
                    self.zoom_to(zoom);
                }
            }
        }
        if let Some(index) = found(self) {
            self.flame_select(index);
        }
        self.list_mut().cursor.want = want;
    }

    /// Switches between the meanings that the colours of frames can have.
    pub(crate) fn flame_recolour(&mut self) {
        let (next, told) = match self.views.flame.colour {
            FlameColour::Module => (FlameColour::Own, "colours: how much a function costs itself"),
            FlameColour::Own => (FlameColour::Module, "colours: the module of a function"),
        };
        self.views.flame.colour = next;
        self.tell(told);
    }

    /// Selects the frame that was clicked on, or zooms in if it was already selected.
    pub(crate) fn flame_click(&mut self, x: u16, line: usize) {
        let flame = &self.views.flame;
        let Some(row) = flame.row_under(x, (flame.top + line) as u32) else {
            return;
        };
        if row == self.list().cursor.index && self.list().cursor.touched {
            self.zoom_in();
        } else {
            self.flame_select(row);
        }
    }
}
