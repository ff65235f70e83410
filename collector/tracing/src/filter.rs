//! Decides which spans and events count.

use tracing_core::{LevelFilter, Metadata};

/// A filter by level and target.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    /// Most verbose level that counts for targets not in `targets`.
    pub(crate) level: LevelFilter,
    /// Module paths. Each has the most verbose level that counts for the targets at and below this path.
    targets: Vec<(String, LevelFilter)>,
    /// Whether events count.
    pub(crate) events: bool,
}

impl Filter {
    pub(crate) fn new() -> Self {
        Self {
            level: LevelFilter::TRACE,
            targets: Vec::new(),
            events: false,
        }
    }

    pub(crate) fn set_target(&mut self, target: String, level: LevelFilter) {
        self.targets.retain(|(known, _)| *known != target);
        self.targets.push((target, level));
    }

    /// Returns whether spans or events of a call site count.
    pub(crate) fn allows(&self, metadata: &Metadata<'_>) -> bool {
        let counts = metadata.is_span() || self.events && metadata.is_event();
        counts && *metadata.level() <= self.level_of(metadata.target())
    }

    /// Returns the most verbose level that counts anywhere.
    pub(crate) fn most_verbose(&self) -> LevelFilter {
        let levels = self.targets.iter().map(|&(_, level)| level);
        levels.fold(self.level, LevelFilter::max)
    }

    /// Returns the most verbose level that counts for a target. This is the level of the longest path that equals or
    /// contains the target.
    fn level_of(&self, target: &str) -> LevelFilter {
        let covers = |path: &str| {
            let below = target.strip_prefix(path);
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        let found = self.targets.iter().filter(|(path, _)| covers(path));
        found
            .max_by_key(|(path, _)| path.len())
            .map_or(self.level, |&(_, level)| level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_path_decides() {
        let mut filter = Filter::new();
        filter.level = LevelFilter::INFO;
        filter.set_target("hyper".into(), LevelFilter::OFF);
        filter.set_target("hyper::proto".into(), LevelFilter::OFF);
        filter.set_target("hyper::proto".into(), LevelFilter::DEBUG);
        for (target, level) in [
            ("app", LevelFilter::INFO),
            ("hyper", LevelFilter::OFF),
            ("hyper::client", LevelFilter::OFF),
            ("hyper::proto::h1", LevelFilter::DEBUG),
            ("hyperlocal", LevelFilter::INFO),
        ] {
            assert_eq!(filter.level_of(target), level, "{target}");
        }
        assert_eq!(filter.most_verbose(), LevelFilter::DEBUG);
    }
}
