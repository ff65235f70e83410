//! Which part of the calls is shown, and which way round: makes one tree of another.

use std::rc::Rc;

use tickscope_analysis::call_tree::{CallTree, PathId};
pub(super) use tickscope_analysis::focus::Focus as FocusOn;
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::transform::{bottom_up, focus_function, focus_subtree, fold_recursion};

use crate::app::cursor::Cursor;
use crate::app::keyhash::KeySet;
use crate::app::view::View;

/// A tree turned round looks up so many callers at most, some tens of milliseconds; further ones when rows are opened.
const STEPS: usize = 100_000;

/// What is done to the tree before it is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Filter {
    /// What is in focus; each is looked for in what the one before it leaves.
    pub(super) focus: Vec<Focus>,
    /// From the bottom up; in the tree only.
    pub(crate) inverted: bool,
    /// Recursion in one row; in the tree only.
    pub(crate) folded: bool,
    /// Groups in place of their members; everywhere but in the sites.
    pub(crate) grouped: bool,
}

/// The only thing to be shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Focus {
    /// Which thing.
    pub(super) on: FocusOn,
    /// Its short name.
    pub(super) name: String,
    /// Where it was chosen.
    pub(super) view: View,
    /// The selection before.
    pub(super) cursor: Cursor,
}

/// The trees that a view shows.
#[derive(Debug)]
pub(super) struct Seen {
    /// What is in focus, every call in its place.
    pub(super) calls: Rc<CallTree>,
    /// The same as the view shows it.
    pub(super) tree: Rc<CallTree>,
    /// The tree is from the bottom up.
    pub(super) bottom_up: bool,
    /// Not all of the tree was made: opening rows asks for more.
    pub(super) in_part: bool,
}

impl Filter {
    /// Whether a view shows nothing but what is in focus.
    pub(super) fn focuses(&self, view: View) -> bool {
        !self.focus.is_empty() && matches!(view, View::Tree | View::Hot | View::Flame)
    }

    /// Makes of the whole tree what a view shows.
    pub(super) fn look(&self, whole: &Rc<CallTree>, view: View, open: &KeySet<PathId>) -> Seen {
        let mut calls = Rc::clone(whole);
        if self.focuses(view) {
            for focus in &self.focus {
                calls = Rc::new(match focus.on {
                    FocusOn::Subtree(path) => focus_subtree(&calls, path),
                    // A function that this snapshot does not know has no call in it.
                    FocusOn::Function(key) => {
                        focus_function(&calls, function_of(&calls, key).unwrap_or(FunctionId(u32::MAX)))
                    }
                });
            }
        }
        let mut tree = Rc::clone(&calls);
        let mut in_part = false;
        if view == View::Tree && self.folded {
            tree = Rc::new(fold_recursion(&tree));
        }
        let bottom_up_now = view == View::Tree && self.inverted;
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

    /// What a view is made to show, in words for the line above the list.
    pub(crate) fn words(&self, view: View) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(focus) = self.focus.last().filter(|_| self.focuses(view)) {
            words.push(format!("focus {}", focus.name));
        }
        if view == View::Tree && self.inverted {
            words.push("bottom-up".to_string());
        }
        if view == View::Tree && self.folded {
            words.push("recursion folded".to_string());
        }
        if self.grouped && !view.is_of_all() {
            words.push("groups".to_string());
        }
        words
    }
}

/// The function that has a key.
pub(super) fn function_of(tree: &CallTree, key: u64) -> Option<FunctionId> {
    let index = tree
        .functions
        .list
        .iter()
        .position(|function| function.key == key);
    index.map(|index| FunctionId(index as u32))
}
