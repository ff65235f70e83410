//! The trigger that the user has set for the program on the screen, and what it has kept.

use std::path::PathBuf;

use crate::source::trigger::Watch;

/// A trigger of this sitting, if one is set.
#[derive(Debug, Default)]
pub(crate) struct Trigger {
    /// The trigger at work.
    pub(super) watch: Option<Watch>,
    /// How many recordings were kept, by this trigger and those before it.
    pub(super) kept: u64,
    /// The recording that was kept last, and what was true then.
    pub(super) last: Option<(PathBuf, String)>,
}

impl Trigger {
    /// For the header, in words and in short: `trigger p99(handle) > 50ms, 1 kept`.
    pub(crate) fn label(&self) -> Option<[String; 2]> {
        let watch = self.watch.as_ref()?;
        let kept = |before: &str| match self.kept {
            0 => String::new(),
            kept => format!("{before}{kept} kept"),
        };
        Some([
            format!("trigger {}{}", watch.condition(), kept(", ")),
            format!("trigger{}", kept(" ")),
        ])
    }
}
