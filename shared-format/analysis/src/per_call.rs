//! Number of calls of a function or scope, found by name: the divisor of numbers per frame or per request.

use std::error::Error;
use std::fmt;

use tickscope_format::snapshot::Snapshot;

use crate::functions::{FunctionId, Functions};
use crate::names::{TOLD, named, told};

/// The divisor of numbers per call: a function or scope, and its calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerCall {
    /// The requested name of the function or scope.
    pub name: String,
    /// Number of its calls; never 0.
    pub calls: u64,
}

/// Reason why numbers cannot be divided by the calls of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PerCallError {
    /// No function or scope has this name.
    None {
        /// The name.
        name: String,
        /// The functions with the most calls.
        there: String,
    },
    /// The name is a group's name.
    Group {
        /// The name.
        name: String,
        /// The functions of the group.
        there: String,
    },
    /// The function was not called since the reset, or in the window.
    NoCalls {
        /// The name.
        name: String,
    },
    /// Several functions have this name.
    Several {
        /// The name.
        name: String,
        /// The functions of that name.
        there: String,
    },
}

impl fmt::Display for PerCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None { name, there } => {
                write!(
                    f,
                    "no function or scope is called {name}; the most called are {there}"
                )
            }
            Self::Group { name, there } => write!(
                f,
                "{name} is a group, but numbers are per call of one function or scope; its members are {there}"
            ),
            Self::NoCalls { name } => write!(f, "{name} was not called, so there are no calls to divide by"),
            Self::Several { name, there } => write!(f, "{name} matches {there}; give more of its path"),
        }
    }
}

impl Error for PerCallError {}

impl PerCall {
    /// Finds the divisor of this name; see [`calls_of`].
    ///
    /// # Errors
    /// As [`calls_of`].
    pub fn of(snapshot: &Snapshot, name: &str) -> Result<Self, PerCallError> {
        Ok(Self {
            name: name.to_owned(),
            calls: calls_of(snapshot, name)?,
        })
    }
}

/// Returns the number of calls of the function with this name; see [`named`].
///
/// # Errors
/// No function or several functions have this name, or the function was never called.
pub fn calls_of(snapshot: &Snapshot, name: &str) -> Result<u64, PerCallError> {
    let functions = Functions::of(snapshot);
    let mut calls = vec![0u64; functions.list.len()];
    for (&site, &node) in snapshot.nodes.site.iter().zip(&snapshot.nodes.calls) {
        let function = functions.of_site[site as usize];
        calls[function.index()] = calls[function.index()].saturating_add(node);
    }
    let called = named(&functions, name);
    let told = |ids: &[FunctionId]| told(&functions, ids);
    let name = name.to_owned();
    match called[..] {
        [one] if calls[one.index()] > 0 => Ok(calls[one.index()]),
        [_] => Err(PerCallError::NoCalls { name }),
        [] if snapshot.sites.iter().any(|site| site.group == name) => {
            let sites = snapshot.sites.iter().zip(&functions.of_site);
            let mut members: Vec<FunctionId> = sites
                .filter(|(site, _)| site.group == name)
                .map(|(_, &function)| function)
                .collect();
            members.sort();
            members.dedup();
            let there = told(&members);
            Err(PerCallError::Group { name, there })
        }
        [] => {
            let mut others: Vec<FunctionId> = (0..functions.list.len() as u32).map(FunctionId).collect();
            others.sort_by_key(|id| std::cmp::Reverse(calls[id.index()]));
            others.truncate(TOLD);
            let there = told(&others);
            Err(PerCallError::None { name, there })
        }
        _ => {
            let there = told(&called);
            Err(PerCallError::Several { name, there })
        }
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::Site;
    use tickscope_testkit::fixture;

    use super::*;

    #[test]
    fn a_name_is_the_last_parts_of_a_path() {
        let mut snapshot = fixture::two_threads();
        let site = snapshot.sites[1].clone();
        let full = format!("{}::{}", site.module, site.name);
        assert_eq!(calls_of(&snapshot, &site.name), Ok(800));
        assert_eq!(calls_of(&snapshot, &full), Ok(800));
        let part = &site.name[1..];
        let none = calls_of(&snapshot, part).unwrap_err().to_string();
        assert!(none.contains("no function or scope is called"), "{none}");
        assert!(none.contains(&full), "names what is there: {none}");

        snapshot.sites[1].group = "io".into();
        let group = calls_of(&snapshot, "io").unwrap_err().to_string();
        assert!(
            group.starts_with("io is a group,") && group.ends_with(&full),
            "{group}"
        );

        let other = Site {
            module: "elsewhere".into(),
            ..site.clone()
        };
        snapshot.sites.push(other);
        let several = calls_of(&snapshot, &site.name).unwrap_err().to_string();
        assert!(several.contains("elsewhere::"), "{several}");
        assert!(several.ends_with("; give more of its path"), "{several}");
        let uncalled = calls_of(&snapshot, &format!("elsewhere::{}", site.name));
        let said = uncalled.unwrap_err().to_string();
        assert!(
            said.ends_with(" was not called, so there are no calls to divide by"),
            "{said}"
        );
    }
}
