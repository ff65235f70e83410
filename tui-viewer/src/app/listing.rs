//! Builds the rows of a list from data: sorts them, and leaves out those below closed rows. Rows that are left out are
//! still searched for matches.

use tickscope_analysis::call_tree::PathId;

use crate::app::data::Data;
use crate::app::flame::Frames;
use crate::app::keyhash::KeySet;
use crate::app::row::{Fold, Row, RowId, What};
use crate::app::search::Matcher;
use crate::app::sort::{Before, Sort};

/// Minimum number of lines for a list with headings.
pub(crate) const ROOM_FOR_HEADINGS: usize = 6;

/// All settings that shape a list, besides its data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape<'a> {
    /// Order of siblings.
    pub(crate) sort: Sort,
    /// Order of the rows in the previous list.
    pub(crate) before: &'a Before<'a>,
    /// Rows of the tree that are open.
    pub(crate) open: &'a KeySet<PathId>,
    /// The search, if there is one.
    pub(crate) matcher: Option<&'a Matcher>,
    /// Whether only matches and the rows above them are listed.
    pub(crate) only: bool,
    /// Whether the list also has a row for the time outside any scope.
    pub(crate) outside: bool,
    /// The selected row. Matches before it are counted in [`Listing::before`].
    pub(crate) selected: Option<RowId>,
}

/// A list, and all matches of a search, including those hidden below closed rows.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) rows: Vec<Row>,
    /// Index of the first row of the second list, if two lists are side by side.
    pub(crate) second: Option<usize>,
    /// All matches, in order.
    pub(crate) hits: Vec<What>,
    /// Number of matches before the selected row.
    pub(crate) before: usize,
    /// Frames of the flame graph, if it is on the screen or below the list.
    pub(crate) frames: Option<Frames>,
    /// Threads of the timeline below the list.
    pub(crate) lanes: Option<Vec<Row>>,
}

struct Level {
    items: Vec<What>,
    next: usize,
    parent: Option<u32>,
    depth: u32,
    /// Whether the rows of this level are listed. Rows below a closed row are not; they are only searched for matches.
    shown: bool,
}

/// Lists the rows of `top`, sorted, each followed by the rows below it.
pub(crate) fn walk(data: &Data, shape: &Shape<'_>, top: Vec<What>) -> Listing {
    walk_as_it_is(data, shape, arranged(data, shape, top))
}

/// Like [`walk`], but with the rows of `top` in the given order.
pub(crate) fn walk_as_it_is(data: &Data, shape: &Shape<'_>, top: Vec<What>) -> Listing {
    let mut out = Listing::default();
    // The levels are kept in a `Vec`, because recursion into a deep call tree would overflow the stack.
    let mut levels = vec![Level {
        items: top,
        next: 0,
        parent: None,
        depth: 0,
        shown: true,
    }];
    while let Some(level) = levels.last_mut() {
        let Some(&what) = level.items.get(level.next) else {
            levels.pop();
            continue;
        };
        level.next += 1;
        let last = level.next == level.items.len();
        let (parent, depth, shown) = (level.parent, level.depth, level.shown);
        let id = data.id(what);
        let hit = shape.matcher.is_some_and(|filter| filter.hits(data, what));
        let inside = shape.matcher.is_some_and(|filter| filter.inside(data, what));
        if shape.selected == Some(id) {
            out.before = out.hits.len();
        }
        if hit {
            out.hits.push(what);
        }
        let fold = fold_of(data, shape, what, inside);
        if shown {
            out.rows.push(Row {
                id,
                what,
                depth,
                parent,
                last,
                fold,
                hit,
            });
        }
        let is_open = what.table().is_open();
        let opens = shown && (fold == Fold::Open || is_open);
        if !(opens || inside || is_open) {
            continue;
        }
        let children = data.children(what);
        if children.is_empty() {
            continue;
        }
        let parent = shown.then(|| out.rows.len() as u32 - 1);
        levels.push(Level {
            items: arranged(data, shape, children),
            next: 0,
            parent,
            depth: depth + 1,
            shown: opens,
        });
    }
    out
}

fn fold_of(data: &Data, shape: &Shape<'_>, what: What, inside: bool) -> Fold {
    let below = what.table().below(data, what.row);
    let is_open = |path| shape.open.contains(&path);
    if below == 0 || (shape.only && !inside) {
        Fold::Leaf
    } else if data.id(what).as_fold().is_some_and(is_open) || (shape.only && inside) {
        Fold::Open
    } else {
        Fold::Closed(below)
    }
}

/// Returns the rows in sorted order, without those that a search hides.
pub(crate) fn arranged(data: &Data, shape: &Shape<'_>, mut items: Vec<What>) -> Vec<What> {
    if let Some(filter) = shape.matcher.filter(|_| shape.only) {
        items.retain(|&what| filter.inside(data, what) || filter.hits(data, what));
    }
    shape.sort.arrange(data, shape.before, &mut items);
    items
}
