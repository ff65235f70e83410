//! The rows of the tasks.

use tickscope_analysis::call_tree::{AsyncCalls, Figures};
use tickscope_analysis::functions::FunctionId;
use tickscope_format::latency::Histogram;

use crate::app::data::Data;
use crate::app::row::RowId;
use crate::app::row_table::RowTable;

/// The table.
pub(crate) struct TaskRows;

impl RowTable for TaskRows {
    fn count(&self, data: &Data) -> u32 {
        data.tasks().rows.len() as u32
    }

    fn id(&self, data: &Data, row: u32) -> RowId {
        RowId::Task(data.tasks().rows[row as usize].path)
    }

    fn figures(&self, data: &Data, row: u32) -> Figures {
        let row = &data.tasks().rows[row as usize];
        Figures {
            total_ns: row.busy_ns,
            calls: row.started,
            asynchronous: AsyncCalls {
                ended: row.over(),
                ticks: 0,
                ns: row.wall_ns,
                is_future: true,
            },
            ..Figures::default()
        }
    }

    fn function(&self, data: &Data, row: u32) -> Option<FunctionId> {
        Some(data.tasks().rows[row as usize].function)
    }

    fn label<'a>(&self, data: &'a Data, row: u32) -> Option<&'a str> {
        Some(data.task_name(row))
    }

    fn latency<'a>(&self, data: &'a Data, row: u32) -> &'a Histogram {
        data.tasks().wall(row)
    }

    fn children<'a>(&self, data: &'a Data, row: u32) -> &'a [u32] {
        data.tasks().children(row)
    }

    fn is_open(&self) -> bool {
        true
    }
}
