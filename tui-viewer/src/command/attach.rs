//! `tickscope [TARGET]`: the screen, or where there is none the text report.

use std::io::IsTerminal;

use crate::args::{LookArgs, ReportArgs, TargetArgs};
use crate::command::{report, snapshot};
use crate::feed::RingFeed;
use crate::local_time;
use crate::news::Feed;
use crate::screen::{self, ScreenOptions};
use crate::target::{self, Wanted};

/// Watches a target.
///
/// # Errors
/// No such target, or why it cannot be read or shown.
pub fn run(args: &TargetArgs, look: &LookArgs) -> anyhow::Result<u8> {
    if !has_screen() {
        return report::run(&ReportArgs {
            target: args.clone(),
            ..ReportArgs::default()
        });
    }
    let wanted = Wanted::of(args);
    if let Wanted::File(_) | Wanted::Pid(_) = wanted {
        // A file or a process that is not there does not come by waiting: say so before taking the screen.
        target::find(&wanted, args.dir.as_deref())?;
    }
    watch(
        &mut RingFeed::new(wanted, args.dir.clone(), local_time::utc_offset_s()),
        look,
    )
}

/// Whether there is a terminal to draw on and to hear keys from.
pub fn has_screen() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !dumb && std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
}

/// Shows a feed until the user has seen enough.
///
/// # Errors
/// As [`screen::run`].
pub fn watch(feed: &mut dyn Feed, look: &LookArgs) -> anyhow::Result<u8> {
    let options = ScreenOptions {
        color: look.color.into(),
        ascii: look.ascii,
        utc_offset_s: local_time::utc_offset_s(),
        mouse: false,
        keep: snapshot::keep,
        panic_after: look.panic_after,
    };
    Ok(screen::run(feed, options)?.exit_code())
}
