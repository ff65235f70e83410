//! View Tree: functions below their callers.

mod keys;
mod rows;

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::app::about::About;
use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::layout::Layout;
use crate::app::listing::{self, Listing, Shape};
use crate::app::row::Row;
use crate::app::row_table::RowTable;
use crate::app::sort::{Before, Sort};
use crate::app::state::App;
use crate::app::timeline::{Lanes, columns_in};
use crate::app::update::acts::{Act, act, has_rows, shows};
use crate::app::view::Below;
use crate::keys::action::Action;
use crate::keys::view::View;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::{Column, Place};
use crate::ui::view::detail::Legend;
use crate::views::flame;
use crate::views::functions;
use crate::views::threads;
use crate::views::timeline;
use crate::views::timeline::keys::TimeColumns;
use crate::views::view_type::ViewType;

/// The view.
#[derive(Debug)]
pub(crate) struct Tree;

const ABOUT: About = About {
    has_focus: true,
    has_parents: true,
    has_paths: true,
    stays_at_top: true,
    ..About::TIME
};

const ACTS: &[Act] = &[
    act(&[Action::HotPath], has_rows, |app, _, _| app.go_hot()),
    act(&[Action::Invert], shows, |app, _, _| app.invert()),
    act(&[Action::FoldRecursion], shows, |app, _, _| app.fold_recursion()),
    act(&[Action::OtherPlace], has_rows, |app, _, _| app.other_place()),
    act(&[Action::Second], shows, |app, _, _| app.next_below()),
    act(
        &[Action::FlameColour],
        |app| app.below() == Below::Flame && app.may_recolour(),
        |app, _, _| app.flame_recolour(),
    ),
];

impl ViewType for Tree {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn table(&self) -> &'static dyn RowTable {
        &rows::TreeRows
    }

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
                    frames: flame::rows::list(data, &plain, &[], size).frames,
                    ..listing
                }
            }
            (Some(_), Below::Timeline) => {
                let mut before = Before::of(&app.views.lanes, shape.before.hold);
                before.calm = shape.before.calm;
                let lanes = Shape {
                    sort: Sort::by(View::Timeline.about().sort),
                    before: &before,
                    ..plain
                };
                Listing {
                    lanes: Some(threads::rows::list(data, &lanes).rows),
                    ..listing
                }
            }
            (Some(_), Below::Nothing) | (None, _) => listing,
        }
    }

    fn columns(&self, width: u16) -> Vec<Place> {
        functions::of_tree(width)
    }

    fn all_columns(&self) -> &'static [&'static Column] {
        &functions::ALL
    }

    fn weigh(&self, app: &App, data: &Data, row: &Row, then: Option<(&Data, What)>) -> [Meaning; 2] {
        functions::weigh(app, data, row, then)
    }

    fn choices(&self, app: &App) -> u64 {
        let mut choices = DefaultHasher::new();
        (app.layout().second, app.below()).hash(&mut choices);
        choices.finish()
    }

    fn searched(&self, _app: &App, data: &Data) -> usize {
        data.tree.rows.len()
    }

    fn time_columns(&self, app: &App) -> Option<TimeColumns> {
        app.timeline_below().map(|area| TimeColumns {
            columns: columns_in(area.width),
            lanes: Lanes::Threads,
            is_strip: false,
        })
    }

    fn acts(&self) -> &'static [Act] {
        ACTS
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
                "TOTAL, AVG self {of} of the topmost row's function when called so{dot}TOP the part without a caller"
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
