//! The rows of the threads.

use tickscope_analysis::call_tree::Figures;

use crate::app::data::Data;
use crate::app::listing::{self, Listing, Shape};
use crate::app::names;
use crate::app::row::RowId;
use crate::app::row_table::RowTable;
use crate::app::search::Matcher;
use crate::app::threads;
use crate::keys::view::View;

/// The table.
pub(crate) struct ThreadRows;

impl RowTable for ThreadRows {
    fn count(&self, data: &Data) -> u32 {
        data.threads().len() as u32
    }

    fn id(&self, data: &Data, row: u32) -> RowId {
        RowId::Thread(data.threads()[row as usize].key)
    }

    fn figures(&self, data: &Data, row: u32) -> Figures {
        let row = &data.threads()[row as usize];
        Figures {
            total_ns: row.measured_ns,
            self_ns: row.measured_ns,
            calls: row.calls,
            ..Figures::default()
        }
    }

    fn label<'a>(&self, data: &'a Data, row: u32) -> Option<&'a str> {
        Some(&data.threads()[row as usize].name)
    }

    fn overtakes(&self) -> bool {
        true
    }

    fn is_hit(&self, data: &Data, row: u32, matcher: &Matcher) -> bool {
        let row = &data.threads()[row as usize];
        let doing = row.doing.is_some_and(|function| matcher.finds(function));
        doing || names::contains(&row.name, &matcher.text)
    }
}

/// Returns the threads as a list. Equal threads are in the order of numbers in their names: `job-2` before `job-10`.
pub(crate) fn list(data: &Data, shape: &Shape<'_>) -> Listing {
    let all = threads::busiest_first(&data.snapshot);
    listing::walk(data, shape, View::Threads.rows(all.into_iter().map(|id| id.0)))
}
