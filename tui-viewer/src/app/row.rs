//! A line of a list: what it is, and how it hangs in the tree.

use tickscope_format::profile::tree::PathId;

use crate::app::data::What;
use crate::app::function::CallId;

/// What a row is, whatever the snapshot: selection and folds are kept by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RowId {
    /// A path of functions.
    Path(PathId),
    /// A function, by its key.
    Function(u64),
    /// A line of a function's callers and callees.
    Call(CallId),
    /// A thread, by name and id.
    Thread(u64),
    /// A place in the source.
    Site(u64),
    /// Time outside any scope.
    Outside,
}

/// What is below a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// Nothing.
    Leaf,
    /// Its children follow.
    Open,
    /// So many rows that are not in the list.
    Closed(u32),
}

/// A line of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// What it is.
    pub(crate) id: RowId,
    /// Where its figures stand in the data of now.
    pub(crate) what: What,
    /// 0 at the top.
    pub(crate) depth: u32,
    /// The line of its parent in the same list.
    pub(crate) parent: Option<u32>,
    /// No sibling follows.
    pub(crate) last: bool,
    /// What is below.
    pub(crate) fold: Fold,
    /// The search found it.
    pub(crate) hit: bool,
}
