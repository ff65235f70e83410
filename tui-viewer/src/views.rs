//! The views. Each is a type that implements `ViewType`, and the rest of the program knows only this module and the
//! trait.

pub(crate) mod flame;
pub(crate) mod function;
pub(crate) mod functions;
pub(crate) mod hot;
pub(crate) mod sites;
pub(crate) mod slow;
pub(crate) mod tasks;
pub(crate) mod threads;
pub(crate) mod timeline;
pub(crate) mod tree;
pub(crate) mod view_type;

use crate::app::row::What;
use crate::app::row_table::{Outside, RowTable};
use crate::keys::view::View;
use crate::views::view_type::{About, ViewType};

impl View {
    pub(crate) fn kind(self) -> &'static dyn ViewType {
        match self {
            Self::Tree => &tree::Tree,
            Self::Hot => &hot::Hot,
            Self::Function => &function::Function,
            Self::Threads => &threads::Threads,
            Self::Flame => &flame::Flame,
            Self::Sites => &sites::Sites,
            Self::Tasks => &tasks::Tasks,
            Self::Slow => &slow::Slow,
            Self::Timeline => &timeline::Timeline,
        }
    }

    /// Returns the table that contains the view's rows. Flame and Timeline have no tables of their own: frames of the
    /// flame graph are rows of the tree, and lines of the timeline are threads.
    pub(crate) fn table(self) -> &'static dyn RowTable {
        match self {
            Self::Tree | Self::Flame => &tree::Tree,
            Self::Hot => &hot::Hot,
            Self::Function => &function::Function,
            Self::Threads | Self::Timeline => &threads::Threads,
            Self::Sites => &sites::Sites,
            Self::Tasks => &tasks::Tasks,
            Self::Slow => &slow::Slow,
        }
    }

    /// Returns the facts about the view that never change.
    pub(crate) fn about(self) -> &'static About {
        match self {
            Self::Tree => &tree::ABOUT,
            Self::Hot => &hot::ABOUT,
            Self::Function => &function::ABOUT,
            Self::Threads => &threads::ABOUT,
            Self::Flame => &flame::ABOUT,
            Self::Sites => &sites::ABOUT,
            Self::Tasks => &tasks::ABOUT,
            Self::Slow => &slow::ABOUT,
            Self::Timeline => &timeline::ABOUT,
        }
    }
}

impl What {
    /// Returns the table that contains the row.
    pub(crate) fn table(self) -> &'static dyn RowTable {
        match self.is_outside() {
            true => &Outside,
            false => self.of.table(),
        }
    }
}
