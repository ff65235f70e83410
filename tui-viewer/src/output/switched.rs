//! What switching sites has done, in words.

use tickscope_analysis::sites::sites;
use tickscope_format::Snapshot;
use tickscope_format::pattern::Pattern;

use crate::output::console::printable;
use crate::text::did_you_mean::nearest;

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// They are not measured any more.
    Off,
    /// They are measured again.
    On,
}

/// What is so now, as the snapshot has it.
pub(crate) fn outcome(snapshot: &Snapshot, pattern: &Pattern, switch: Switch) -> String {
    let (is_off, word) = match switch {
        Switch::Off => (true, "off"),
        Switch::On => (false, "on"),
    };
    let chosen = sites(snapshot).into_iter().filter(|row| {
        let site = &snapshot.sites[row.site.index()];
        row.off == is_off && pattern.matches(site)
    });
    let name = printable(pattern.as_str());
    match chosen.count() {
        0 => format!(
            "no site matches {name} yet{}; sites met later are switched {word} by it",
            similar(snapshot, pattern)
        ),
        1 => format!("1 site switched {word} by {name}; also applies to sites met later"),
        many => format!("{many} sites switched {word} by {name}; also applies to sites met later"),
    }
}

/// The site that may have been meant, where nothing matches.
fn similar(snapshot: &Snapshot, pattern: &Pattern) -> String {
    if snapshot.sites.iter().any(|site| pattern.matches(site)) {
        return String::new();
    }
    // Also by the last part of a name, `get` of `Slab::get`.
    let names = snapshot.sites.iter().flat_map(|site| {
        let last = site.name.rsplit("::").next();
        last.into_iter().chain([site.name.as_str()])
    });
    match nearest(pattern.as_str(), names) {
        Some(near) => format!(" (did you mean {}?)", printable(near)),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tickscope_format::ids::SiteId;
    use tickscope_format::snapshot::Site;

    #[test]
    fn it_says_how_many_and_that_later_ones_follow() {
        let mut snapshot = Snapshot::default();
        for name in ["get", "put", "main"] {
            snapshot.sites.push(Site {
                name: name.into(),
                file: "src/main.rs".into(),
                module: if name == "main" { "app" } else { "app::alloc" }.into(),
                ..Site::default()
            });
        }
        snapshot.measuring.off_sites = vec![SiteId(0), SiteId(1)];
        let line = |pattern: &str, switch| outcome(&snapshot, &Pattern::new(pattern).unwrap(), switch);
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
