//! The text report, for reading in a terminal or pasting into a bug report.
//!
//! The header says how the program was measured and how reliable the numbers are. Below it come the call tree and the
//! functions with the most self time. Columns have fixed widths and names come last, so that everything lines up in a
//! terminal that is 100 columns wide.

mod columns;
mod flat;
mod groups;
mod header;
mod options;
mod page;
mod scale;
mod source;
mod threads;
mod top;
mod tree;

#[cfg(test)]
mod tests;

use std::fmt::{self, Write};

use tickscope_format::snapshot::Snapshot;

use self::page::Page;

pub use self::options::{TextOptions, View};
pub use self::source::without_samples;

/// Renders a snapshot as a text report that ends with a newline.
pub fn report(snapshot: &Snapshot, options: &TextOptions) -> String {
    let shown = options.by.of(snapshot);
    let page = Page::new(&shown, snapshot, options);
    let mut out = String::with_capacity(2_000 + page.tree.rows.len() * 100);
    // Writing into a `String` cannot fail.
    let _ = write(&mut out, &page);
    out
}

/// Returns the header lines below the title, each as a label and its text.
pub(crate) fn facts(snapshot: &Snapshot, options: &TextOptions) -> Vec<(&'static str, String)> {
    header::facts(&Page::new(&options.by.of(snapshot), snapshot, options))
}

/// Writes the header, followed by the tables of the selected view.
fn write(out: &mut String, page: &Page<'_>) -> fmt::Result {
    header::write(out, page)?;
    let doubtful_shown = match page.options.view {
        View::Both => {
            let in_tree = tree::write(out, page)?;
            top::write(out, page, page.options.top)? || in_tree
        }
        View::Tree => tree::write(out, page)?,
        View::Threads if !page.snapshot.threads.is_empty() => threads::write(out, page).map(|()| false)?,
        View::Source => source::write(out, page).map(|()| false)?,
        _ if page.tree.rows.is_empty() => tree::write(out, page)?,
        View::Threads => false,
        View::Hot => top::write(out, page, usize::MAX)?,
        View::Top => top::write(out, page, page.options.top)?,
        View::Flat => flat::write(out, page)?,
    };
    if page.options.view != View::Tree {
        groups::write(out, page)?;
    }
    if doubtful_shown {
        writeln!(
            out,
            "\n{} less than {} a call on average, three times what measuring one costs at most: doubtful",
            page.glyphs.doubtful,
            page.duration(page.snapshot.doubtful_below_ns().round() as u64),
        )?;
    }
    Ok(())
}
