//! The Tree view: functions below their callers.

use std::collections::BTreeSet;

use tickscope_analysis::call_tree::Figures;
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::transform::outermost;
use tickscope_analysis::uncertainty::Uncertainty;
use tickscope_format::latency::Histogram;

use crate::app::data::Data;
use crate::app::detail::Detail;
use crate::app::keyhash::number_of;
use crate::app::layout::Layout;
use crate::app::listing::{self, Listing, Shape};
use crate::app::row::{RowId, What};
use crate::app::row_table::RowTable;
use crate::app::search::Matcher;
use crate::app::sort::{Before, Sort};
use crate::app::state::App;
use crate::app::timeline::{Lanes, TimeColumns, columns_in};
use crate::app::update::acts::{Act, act, has_rows, shows};
use crate::app::update::travel::hottest_path;
use crate::app::view::Below;
use crate::keys::action::Action;
use crate::keys::view::View;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::{Column, Place};
use crate::ui::view::detail::Legend;
use crate::views::view_type::{About, ViewType};
use crate::views::{flame, functions, threads, timeline};

#[cfg(test)]
mod tests;

#[derive(Debug)]
pub(crate) struct Tree;

pub(super) const ABOUT: About = About {
    acts: ACTS,
    has_focus: true,
    has_parents: true,
    has_paths: true,
    stays_at_top: true,
    ..About::TIME
};

const ACTS: &[Act] = &[
    act(&[Action::HotPath], has_rows, App::go_hot),
    act(&[Action::Invert], shows, App::invert),
    act(&[Action::FoldRecursion], shows, App::fold_recursion),
    act(&[Action::OtherPlace], has_rows, App::other_place),
    act(&[Action::Second], shows, App::next_below),
    act(&[Action::FlameColour], has_frames, App::flame_recolour),
];

fn has_frames(app: &App) -> bool {
    app.below() == Below::Flame && app.may_recolour()
}

impl ViewType for Tree {
    fn list(&self, app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        let mut top = View::Tree.rows(data.tree.top().iter().copied());
        if shape.outside {
            top.push(What::outside(View::Tree));
        }
        let listing = listing::walk(data, shape, top);
        let plain = Shape {
            matcher: None,
            ..*shape
        };
        match (app.layout().second, app.below()) {
            (Some(area), Below::Flame) => {
                let size = (area.width, area.height.saturating_sub(1));
                Listing {
                    frames: flame::list(data, &plain, &[], size).frames,
                    ..listing
                }
            }
            (Some(_), Below::Timeline) => {
                let before = Before::of(&app.views.lanes, shape.before.hold, shape.before.calm);
                let lanes = Shape {
                    sort: Sort::by(View::Timeline.about().sort),
                    before: &before,
                    ..plain
                };
                Listing {
                    lanes: Some(threads::list(data, &lanes).rows),
                    ..listing
                }
            }
            (Some(_), Below::Nothing) | (None, _) => listing,
        }
    }

    fn columns(&self, width: u16) -> Vec<Place> {
        functions::of_tree(width)
    }

    fn all_columns(&self) -> Vec<&'static Column> {
        functions::ALL.to_vec()
    }

    fn choices(&self, app: &App) -> u64 {
        number_of((app.layout().second, app.below()))
    }

    fn time_columns(&self, app: &App) -> Option<TimeColumns> {
        app.timeline_below().map(|area| TimeColumns {
            columns: columns_in(area.width),
            lanes: Lanes::Threads,
            is_strip: false,
        })
    }

    fn layout(&self, app: &App, layout: Layout) -> Layout {
        let layout = layout.with_large_pane();
        match app.below() {
            Below::Nothing => layout,
            Below::Flame | Below::Timeline => layout.with_second(),
        }
    }

    fn below(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, layout: &Layout) {
        match (layout.second, app.below()) {
            (Some(area), Below::Flame) => flame::graph::below(canvas, app, data, area),
            (Some(area), Below::Timeline) => timeline::lanes::below(canvas, app, data, area),
            (Some(_), Below::Nothing) | (None, _) => {}
        }
    }

    fn legend(&self, legend: &Legend) -> String {
        let (dot, of) = (legend.glyphs.dot, legend.of);
        let mut text = match (legend.is_bottom_up, legend.is_wide) {
            (true, true) => format!(
                "TOTAL, AVG self {of} of the topmost row's function on this path{dot}TOP the part without a caller"
            ),
            (true, false) => format!("TOTAL self {of} of the topmost row{dot}TOP not called"),
            (false, _) => format!(
                "{}{dot}{}{dot}{} open now",
                legend.inside, legend.itself, legend.glyphs.running
            ),
        };
        if legend.waits && !legend.is_bottom_up {
            text += &format!("{dot}{} waits", legend.glyphs.waits);
        }
        text + &legend.bars()
    }
}

impl RowTable for Tree {
    fn count(&self, data: &Data) -> u32 {
        data.tree.rows.len() as u32
    }

    fn id(&self, data: &Data, row: u32) -> RowId {
        RowId::Path(data.tree.rows[row as usize].path)
    }

    fn figures(&self, data: &Data, row: u32) -> Figures {
        data.tree.rows[row as usize].figures
    }

    fn function(&self, data: &Data, row: u32) -> Option<FunctionId> {
        Some(data.tree.rows[row as usize].function)
    }

    fn latency<'a>(&self, data: &'a Data, row: u32) -> &'a Histogram {
        data.tree.latency(row)
    }

    fn uncertainty(&self, data: &Data, row: u32) -> Option<Uncertainty> {
        data.tree.uncertainty(row)
    }

    fn ticks(&self, data: &Data, row: u32) -> Option<(u64, u64)> {
        let row = &data.tree.rows[row as usize];
        Some((row.total_ticks, row.self_ticks))
    }

    fn parent_ns(&self, data: &Data, row: u32) -> u64 {
        let parent = self.above(data, row);
        parent.map_or(data.measured_ns, |parent| {
            data.tree.rows[parent as usize].total_ns
        })
    }

    fn above(&self, data: &Data, row: u32) -> Option<u32> {
        data.tree.rows[row as usize].parent
    }

    fn children<'a>(&self, data: &'a Data, row: u32) -> &'a [u32] {
        data.tree.children(row)
    }

    fn below(&self, data: &Data, row: u32) -> u32 {
        data.below(row)
    }

    fn is_recursive(&self, data: &Data, row: u32) -> bool {
        data.tree.is_folded(row)
    }

    fn has_hit_below(&self, _data: &Data, row: u32, matcher: &Matcher) -> bool {
        matcher.inside[row as usize]
    }

    fn place(&self, _data: &Data, row: u32) -> Option<u32> {
        Some(row)
    }

    fn callees(&self, data: &Data, row: u32) -> Result<BTreeSet<FunctionId>, &'static str> {
        if data.bottom_up {
            return Err("below are callers here: i shows callees again");
        }
        let children = data.tree.children(row).iter();
        Ok(children
            .map(|&row| data.tree.rows[row as usize].function)
            .collect())
    }

    fn detail(&self, data: &Data, row: u32) -> Detail {
        Detail::of_path(data, row)
    }
}

impl App {
    /// Switches the tree between top-down and bottom-up.
    pub(crate) fn invert(&mut self) {
        let chosen = self.selected_function();
        self.query.filter.inverted = !self.query.filter.inverted;
        if self.query.filter.inverted {
            // Sorts by total time, because most rows of a bottom-up tree have no self time.
            self.views.list_of(View::Tree).sort = Sort::by(View::Tree.about().sort);
        }
        self.refresh();
        if let Some(chosen) = chosen {
            self.find_function(chosen.key);
        }
        self.tell(match self.query.filter.inverted {
            true => "bottom-up: self time of functions, by who called them; i turns back",
            false => "top-down: who calls what",
        });
    }

    /// Switches between folding recursion into one row and showing it call by call.
    pub(crate) fn fold_recursion(&mut self) {
        self.query.filter.folded = !self.query.filter.folded;
        self.refresh();
        let data = self.data();
        let any = data.is_some_and(|data| outermost(data.calls()).contains(&false));
        self.tell(match (self.query.filter.folded, any) {
            (true, true) => "recursion in one row; c shows it call by call",
            (true, false) => "recursion in one row, but nothing calls itself here",
            (false, _) => "recursion call by call",
        });
    }

    /// Goes to the next row of the same function.
    pub(crate) fn other_place(&mut self) {
        let Some((data, row)) = self.selected().filter(|(_, row)| !row.what.is_outside()) else {
            return;
        };
        let selected = row.what.row;
        let function = data.tree.rows[selected as usize].function;
        let rows = data.tree.rows.iter().zip(0u32..);
        let places: Vec<u32> = rows
            .filter(|(row, _)| row.function == function)
            .map(|(_, index)| index)
            .collect();
        let next = places.iter().position(|&place| place > selected).unwrap_or(0);
        let count = places.len();
        let Some(&place) = places.get(next) else { return };
        if count == 1 {
            return self.tell("this is its only place");
        }
        self.show_all_rows();
        self.reveal(View::Tree.row(place));
        self.tell(format!("place {} of {count}", next + 1));
    }

    /// Opens the hottest path below the selected row and goes to its end.
    pub(crate) fn go_hot(&mut self) {
        let Some((data, row)) = self.selected().filter(|(_, row)| !row.what.is_outside()) else {
            return;
        };
        let row = row.what.row;
        let path = hottest_path(data, Some(row));
        let Some(&last) = path.last() else { return };
        self.views.expanded.extend(path);
        self.refresh();
        // The end of the path is the hottest child of the last row that was opened.
        let end = self.data().and_then(|data| {
            let last = data.tree.rows.iter().position(|row| row.path == last)?;
            let children = data.tree.children(last as u32).iter().copied();
            children.max_by_key(|&child| data.tree.rows[child as usize].total_ns)
        });
        if let Some(end) = end {
            self.reveal(View::Tree.row(end));
        }
    }
}
