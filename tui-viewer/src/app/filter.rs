//! The filter that decides which calls a view shows, and whether top-down or bottom-up. Applying it to a call tree
//! yields a new tree.

use std::rc::Rc;

use tickscope_analysis::call_tree::{CallTree, PathId};
pub(crate) use tickscope_analysis::focus::Focus as FocusOn;
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::transform::{bottom_up, focus_function, focus_subtree, fold_recursion};

use crate::app::cursor::Cursor;
use crate::app::keyhash::KeySet;
use crate::keys::view::View;

/// Maximum number of callers looked up while a bottom-up tree is built; this many take some tens of milliseconds. The
/// remaining callers are looked up only when rows are opened.
const STEPS: usize = 100_000;

/// Changes to the tree before it is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Filter {
    /// Rows put in focus one after another. Each one narrows down the calls that are left by the one before it.
    pub(crate) focus: Vec<Focus>,
    /// Whether the tree is bottom-up. Applies only to the view Tree.
    pub(crate) inverted: bool,
    /// Whether recursion is folded into one row. Applies only to the view Tree.
    pub(crate) folded: bool,
    /// Whether groups are shown instead of their members. Does not apply to views whose `is_of_all` is set.
    pub(crate) grouped: bool,
}

/// A row in focus: only its calls are shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Focus {
    /// Row or function in focus.
    pub(crate) on: FocusOn,
    /// Short name of the row.
    pub(crate) name: String,
    /// View in which the row was chosen.
    pub(crate) view: View,
    /// Selection before the row was put in focus.
    pub(crate) cursor: Cursor,
}

/// The trees that a view shows.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Calls in focus, neither inverted nor folded.
    pub(crate) calls: Rc<CallTree>,
    /// The calls in focus as the view shows them.
    pub(crate) tree: Rc<CallTree>,
    /// Whether the tree is bottom-up.
    pub(crate) bottom_up: bool,
    /// Whether the tree is incomplete. Missing rows are added when their parents are opened.
    pub(crate) in_part: bool,
}

impl Filter {
    /// Whether a view shows only the rows in focus.
    pub(crate) fn focuses(&self, view: View) -> bool {
        !self.focus.is_empty() && view.about().has_focus
    }

    /// Builds the trees that a view shows, starting from the tree of all calls.
    pub(crate) fn look(&self, whole: &Rc<CallTree>, view: View, open: &KeySet<PathId>) -> Seen {
        let mut calls = Rc::clone(whole);
        if self.focuses(view) {
            for focus in &self.focus {
                calls = Rc::new(match focus.on {
                    FocusOn::Subtree(path) => focus_subtree(&calls, path),
                    // A function that the snapshot lacks has no calls, so use an id that matches no function.
                    FocusOn::Function(key) => {
                        focus_function(&calls, function_of(&calls, key).unwrap_or(FunctionId(u32::MAX)))
                    }
                });
            }
        }
        let mut tree = Rc::clone(&calls);
        let mut in_part = false;
        if view.about().has_parents && self.folded {
            tree = Rc::new(fold_recursion(&tree));
        }
        let bottom_up_now = view.about().has_parents && self.inverted;
        if bottom_up_now {
            let turned = bottom_up(&tree, STEPS, |path| open.contains(&path));
            in_part = !turned.whole;
            tree = Rc::new(turned.tree);
        }
        Seen {
            calls,
            tree,
            bottom_up: bottom_up_now,
            in_part,
        }
    }

    /// Describes the filters of a view in words, for the line above the list.
    pub(crate) fn words(&self, view: View) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(focus) = self.focus.last().filter(|_| self.focuses(view)) {
            words.push(format!("focus {}", focus.name));
        }
        if view.about().has_parents && self.inverted {
            words.push("bottom-up".to_string());
        }
        if view.about().has_parents && self.folded {
            words.push("recursion folded".to_string());
        }
        if self.grouped && !view.about().is_of_all {
            words.push("groups".to_string());
        }
        words
    }
}

/// Returns the id of the function with this key.
pub(crate) fn function_of(tree: &CallTree, key: u64) -> Option<FunctionId> {
    let index = tree
        .functions
        .list
        .iter()
        .position(|function| function.key == key);
    index.map(|index| FunctionId(index as u32))
}
