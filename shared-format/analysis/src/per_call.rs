//! The number of calls of a function or scope that is looked up by name. Other numbers are divided by it to show them per frame
//! or per request.

use tickscope_format::snapshot::Snapshot;

use crate::functions::{FunctionId, Functions};
use crate::names::{TOLD, named, told};

/// A function or scope, with the number of calls by which other numbers are divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerCall {
    /// Name of the function or scope, as requested.
    pub name: String,
    /// Number of calls of the function or scope; never 0.
    pub calls: u64,
}

impl PerCall {
    /// Counts the calls of the function with this name; see [`calls_of`].
    ///
    /// # Errors
    /// The same errors as [`calls_of`].
    pub fn of(snapshot: &Snapshot, name: &str) -> Result<Self, String> {
        Ok(Self {
            name: name.to_owned(),
            calls: calls_of(snapshot, name)?,
        })
    }
}

/// Returns the number of calls of the function with this name; see [`named`].
///
/// # Errors
/// Returns a message if no function or more than one function has this name, or if the function was never called.
pub fn calls_of(snapshot: &Snapshot, name: &str) -> Result<u64, String> {
    let functions = Functions::of(snapshot);
    let mut calls = vec![0u64; functions.list.len()];
    for (&site, &node) in snapshot.nodes.site.iter().zip(&snapshot.nodes.calls) {
        let function = functions.of_site[site as usize];
        calls[function.index()] = calls[function.index()].saturating_add(node);
    }
    let mut called = named(&functions, name);
    // A function that was only sampled has no calls to divide by.
    if called.iter().any(|id| calls[id.index()] > 0) {
        called.retain(|id| calls[id.index()] > 0);
    }
    let told = |ids: &[FunctionId]| told(&functions, ids);
    match called[..] {
        [one] if calls[one.index()] > 0 => Ok(calls[one.index()]),
        [_] => Err(format!(
            "{name} was not called, so there are no calls to divide by"
        )),
        [] if snapshot.sites.iter().any(|site| site.group == name) => {
            let sites = snapshot.sites.iter().zip(&functions.of_site);
            let members = sites.filter(|(site, _)| site.group == name);
            let mut members: Vec<FunctionId> = members.map(|(_, &function)| function).collect();
            members.sort();
            members.dedup();
            Err(format!(
                "{name} is a group, but numbers are per call of one function or scope; its members are {}",
                told(&members)
            ))
        }
        [] => {
            let mut others: Vec<FunctionId> = (0..functions.list.len() as u32).map(FunctionId).collect();
            others.sort_by_key(|id| std::cmp::Reverse(calls[id.index()]));
            others.truncate(TOLD);
            let most = told(&others);
            Err(format!(
                "no function or scope is called {name}; the most called are {most}"
            ))
        }
        _ => Err(format!("{name} matches {}; give more of its path", told(&called))),
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::ids::SiteId;
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
        assert!(group.starts_with("io is a group,"), "{group}");
        assert!(group.ends_with(&full), "{group}");

        let other = Site {
            module: "elsewhere".into(),
            ..site.clone()
        };
        let elsewhere = SiteId(snapshot.sites.len() as u32);
        snapshot.sites.push(other);
        assert_eq!(calls_of(&snapshot, &site.name), Ok(800), "the other has no calls");
        let uncalled = calls_of(&snapshot, &format!("elsewhere::{}", site.name));
        let said = uncalled.unwrap_err().to_string();
        assert!(
            said.ends_with(" was not called, so there are no calls to divide by"),
            "{said}"
        );
        snapshot.nodes.push(None, elsewhere, 1, 0);
        let several = calls_of(&snapshot, &site.name).unwrap_err().to_string();
        assert!(several.contains("elsewhere::"), "{several}");
        assert!(several.ends_with("; give more of its path"), "{several}");
    }
}
