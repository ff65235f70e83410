//! The columns of the list of sites.

use crate::app::columns::place::Width::{Cells, Own, Parts};
use crate::app::columns::place::{Place, Width, side_by_side_names_first};
use crate::app::columns::spec;
use crate::app::columns::spec::{ColumnSpec, text};

/// A column of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SiteColumn {
    /// Number of calls.
    Calls,
    /// Whether it was met or is off.
    State,
    /// The scope.
    Name,
    /// Its module.
    Module,
    /// Its file and line.
    Where,
}

impl SiteColumn {
    /// All of them, in the order of the help.
    pub(crate) const ALL: [Self; 5] = [Self::Calls, Self::State, Self::Name, Self::Module, Self::Where];

    /// What is known of it.
    pub(crate) const fn spec(self) -> ColumnSpec {
        match self {
            Self::Calls => spec::CALLS,
            Self::State => spec::STATE,
            Self::Name => spec::NAME,
            Self::Module => text("MODULE", "module that the site is in"),
            Self::Where => spec::WHERE,
        }
    }
}

/// The columns of a list that is `width` cells wide, from left to right.
pub(crate) fn places(width: u16) -> Vec<Place<SiteColumn>> {
    use SiteColumn::{Calls, Module, Name, State, Where};
    let state = match width {
        130.. => 24,
        100.. => 20,
        50.. => 15,
        40.. => 11,
        _ => 5,
    };
    let columns: &[(SiteColumn, Width)] = match width {
        80.. => &[
            (Calls, Own),
            (State, Cells(state)),
            (Name, Parts(8)),
            (Module, Parts(2)),
            (Where, Parts(4)),
        ],
        40.. => &[(Calls, Own), (State, Cells(state)), (Name, Parts(1))],
        _ => &[(State, Cells(state)), (Name, Parts(1))],
    };
    let leaving = [Module, Where, Calls];
    side_by_side_names_first(columns, &[Name], &leaving, width, |column| column.spec().width)
}
