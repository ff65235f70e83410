//! The rows of the threads.

use tickscope_analysis::call_tree::Figures;

use crate::app::data::Data;
use crate::app::names;
use crate::app::row::RowId;
use crate::app::row_table::RowTable;
use crate::app::search::Matcher;

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
