//! Code of a snapshot's samples: rows for functions that were sampled and not counted.

use std::collections::BTreeMap;

use tickscope_analysis::sampled_rows::add_sampled_rows;
use tickscope_format::Snapshot;
use tickscope_format::addresses::Addresses;
use tickscope_report::SourceCode;
use tickscope_symbols::symbolizer::Symbols;

/// Adds rows to a snapshot for functions that were sampled and not counted. Returns the code of the snapshot's samples,
/// without the text of source lines. The addresses in `named`, which the recording contains, are not looked up in files.
pub fn read_code(snapshot: &mut Snapshot, named: Addresses) -> SourceCode {
    let mut symbols = Symbols::of(snapshot.process.pid);
    let mut addresses = named;
    addresses.extend(symbols.new_in(&snapshot.lines, &addresses));
    add_sampled_rows(snapshot, &addresses);
    SourceCode {
        texts: BTreeMap::new(),
        problems: symbols.problems().into_values().collect(),
        addresses,
    }
}
