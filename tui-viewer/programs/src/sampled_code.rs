//! Looks up the code at a snapshot's sampled addresses, and adds rows for functions that were sampled but not counted.

use std::collections::BTreeMap;

use tickscope_analysis::sampled_rows::add_sampled_rows;
use tickscope_format::Snapshot;
use tickscope_format::addresses::Addresses;
use tickscope_report::SourceCode;
use tickscope_symbols::symbolizer::Symbols;

/// Adds rows to a snapshot for functions that were sampled but not counted. Returns the functions and line numbers at
/// the sampled addresses, without the text of the source lines. Addresses in `named` are already resolved by the
/// recording, so they are not looked up in files.
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
