//! The rows of the sites.

use std::collections::BTreeSet;

use tickscope_analysis::call_tree::Figures;
use tickscope_analysis::functions::FunctionId;

use crate::app::data::Data;
use crate::app::row::RowId;
use crate::app::row_table::RowTable;
use crate::app::search::Matcher;

/// The table.
pub(crate) struct SiteRows;

impl RowTable for SiteRows {
    fn count(&self, data: &Data) -> u32 {
        data.sites().len() as u32
    }

    fn id(&self, data: &Data, row: u32) -> RowId {
        RowId::Site(data.sites()[row as usize].key)
    }

    fn figures(&self, data: &Data, row: u32) -> Figures {
        Figures {
            calls: data.sites()[row as usize].calls,
            ..Figures::default()
        }
    }

    fn function(&self, data: &Data, row: u32) -> Option<FunctionId> {
        let site = data.sites()[row as usize].site?;
        Some(data.tree.functions.of_site[site.index()])
    }

    fn label<'a>(&self, data: &'a Data, row: u32) -> Option<&'a str> {
        let table = data.site_table();
        table.is_grouped().then(|| table.name(row))
    }

    fn full_name<'a>(&self, data: &'a Data, row: u32) -> Option<&'a str> {
        Some(data.site_table().full_name(row))
    }

    fn above(&self, data: &Data, row: u32) -> Option<u32> {
        data.site_table().parent(row)
    }

    fn children<'a>(&self, data: &'a Data, row: u32) -> &'a [u32] {
        data.site_table().children(row)
    }

    fn below(&self, data: &Data, row: u32) -> u32 {
        data.site_table().below(row)
    }

    fn is_hit(&self, data: &Data, row: u32, matcher: &Matcher) -> bool {
        match data.site_table().is_grouped() {
            true => matcher.places(data).0[row as usize],
            false => self
                .function(data, row)
                .is_some_and(|function| matcher.finds(function)),
        }
    }

    fn has_hit_below(&self, data: &Data, row: u32, matcher: &Matcher) -> bool {
        data.site_table().is_grouped() && matcher.places(data).1[row as usize]
    }

    fn callees(&self, data: &Data, row: u32) -> Result<BTreeSet<FunctionId>, &'static str> {
        if data.site_table().is_module(row) {
            return Err("a module calls nothing itself: Space switches all that is in it");
        }
        let calls = data.whole();
        let own = self.function(data, row);
        let rows = (0..calls.rows.len() as u32).filter(|&row| Some(calls.rows[row as usize].function) == own);
        let children = rows.flat_map(|row| calls.children(row));
        Ok(children.map(|&row| calls.rows[row as usize].function).collect())
    }
}
