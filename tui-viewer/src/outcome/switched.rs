//! Messages about the effect of switching sites on or off.

use tickscope_analysis::sites::sites;
use tickscope_command::console::printable;
use tickscope_command::similar::similar;
use tickscope_format::Snapshot;
use tickscope_format::pattern::Pattern;

/// Direction of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// The sites are no longer measured.
    Off,
    /// A rule is removed, so that the remaining rules determine which sites are measured.
    On,
    /// A rule is removed, so the remaining rules decide on the sites.
    Back,
}

/// Describes the effect of a switch, based on the snapshot. `unmet` is the number of functions that match the pattern
/// but are missing from the snapshot because they were never called.
pub(crate) fn outcome(snapshot: &Snapshot, unmet: usize, pattern: &Pattern, switch: Switch) -> String {
    if snapshot.functions.is_some() {
        return of_functions(snapshot, unmet, pattern, switch);
    }
    let (is_off, word) = match switch {
        Switch::Off => (true, "off"),
        Switch::On | Switch::Back => (false, "on"),
    };
    let chosen = sites(snapshot).into_iter().filter(|row| {
        let site = &snapshot.sites[row.site.index()];
        row.off == is_off && pattern.matches(site)
    });
    let name = printable(pattern.as_str());
    let is_met = snapshot.sites.iter().any(|site| pattern.matches(site));
    match chosen.count() {
        0 if is_met => format!("no site matches {name} yet; sites met later are switched {word} by it"),
        0 => format!(
            "no site matches {name} yet{}; sites met later are switched {word} by it",
            similar(pattern.as_str(), snapshot)
        ),
        1 => format!("1 site switched {word} by {name}; also applies to sites met later"),
        many => format!("{many} sites switched {word} by {name}; also applies to sites met later"),
    }
}

/// Describes the effect of a switch in a program with prepared functions, all of which it knows from the start.
fn of_functions(snapshot: &Snapshot, unmet: usize, pattern: &Pattern, switch: Switch) -> String {
    let name = printable(pattern.as_str());
    let chosen = sites(snapshot)
        .into_iter()
        .filter(|row| pattern.matches(&snapshot.sites[row.site.index()]));
    let (off, on): (Vec<_>, Vec<_>) = chosen.partition(|row| row.off);
    let count = off.len() + on.len() + unmet;
    let functions = match count {
        1 => "1 function".to_string(),
        many => format!("{many} functions"),
    };
    match switch {
        _ if count == 0 => format!(
            "no known function matches {name}{}; functions met later are switched by it",
            similar(pattern.as_str(), snapshot)
        ),
        Switch::On if pattern.as_str() == "*" => {
            "all functions are as at the program's start; all rules were removed".into()
        }
        Switch::Off => format!("{functions} switched off by {name}; their time counts for callers"),
        Switch::On => format!("{functions} switched on by {name}, also beyond the budget"),
        Switch::Back => format!("the rule {name} was removed: {functions} as without it"),
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::ids::SiteId;
    use tickscope_format::snapshot::Site;

    use super::*;

    #[test]
    fn it_says_how_many_and_that_later_ones_follow() {
        let mut snapshot = Snapshot::default();
        for name in ["get", "put", "main"] {
            snapshot.sites.push(Site {
                name: name.into(),
                file: "src/main.rs".into(),
                line: 7,
                module: if name == "main" { "app" } else { "app::alloc" }.into(),
                ..Site::default()
            });
        }
        snapshot.measuring.off_sites = vec![SiteId(0), SiteId(1)];
        let line = |pattern: &str, switch| outcome(&snapshot, 0, &Pattern::new(pattern).unwrap(), switch);
        assert_eq!(
            line("alloc::*", Switch::Off),
            "2 sites switched off by alloc::*; also applies to sites met later"
        );
        assert_eq!(
            line("main", Switch::On),
            "1 site switched on by main; also applies to sites met later"
        );
        assert_eq!(
            line("mian", Switch::Off),
            "no site matches mian yet (did you mean main?); sites met later are switched off by it"
        );
        for pattern in ["nobody", "main"] {
            assert_eq!(
                line(pattern, Switch::Off),
                format!("no site matches {pattern} yet; sites met later are switched off by it")
            );
        }
    }
}
