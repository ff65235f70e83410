//! Keys of the view Tree: the direction of the tree, recursion, and ways through it.

use tickscope_analysis::transform::outermost;

use crate::app::sort::Sort;
use crate::app::state::App;
use crate::app::update::travel::hottest_path;
use crate::keys::view::View;

impl App {
    /// Turns the tree bottom-up, or top-down.
    pub(crate) fn invert(&mut self) {
        let chosen = self.selected_function();
        self.query.filter.inverted = !self.query.filter.inverted;
        if self.query.filter.inverted {
            // The order is by total time, because the self time is 0 for most rows.
            self.list_of(View::Tree).sort = Sort::by(View::Tree.about().sort);
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

    /// Shows recursion in one row, or call by call.
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
