//! `tickscope mute`: scopes that cost more than they tell are measured no longer.

use anyhow::bail;
use tickscope_format::Snapshot;
use tickscope_format::pattern::Pattern;
use tickscope_format::slots::Op;
use tickscope_format::snapshot::AutoMute;
use tickscope_report::json;

use crate::cli::args::MuteArgs;
use crate::cli::commands::live_snapshot;
use crate::cli::commands::live_snapshot::Reader;
use crate::cli::commands::request;
use crate::output::console;
use crate::output::muted::{NOTHING_OFFERED, muted, offered};
use crate::source::target::wanted::Wanted;

/// Mutes what is worth it, or lists it, and tells why.
///
/// # Errors
/// No such target, or why it did not do it.
pub fn run(args: &MuteArgs) -> anyhow::Result<u8> {
    if args.dry_run {
        let wanted = Wanted::of(&args.target);
        let found = live_snapshot::find(&args.target, Reader::of_text(!args.json), None)?;
        let snapshot = live_snapshot::of(&found, &wanted)?.snapshot;
        return tell(args, &snapshot, &offered(&snapshot));
    }
    let ring = request::find(&args.target, "mute")?;
    let before = ring
        .newest_snapshot()
        .map(|(_, before)| before)
        .unwrap_or_default();
    if before.muting.policy == AutoMute::Off {
        bail!("{NOTHING_OFFERED}");
    }
    let done = request::ask_of(ring, Op::Mute(Pattern::all()), "mute")?;
    let Some(snapshot) = done.snapshot() else {
        bail!("{}: no record shows what it has muted", done.who());
    };
    tell(args, &snapshot, &muted(&before, &snapshot))
}

fn tell(args: &MuteArgs, snapshot: &Snapshot, lines: &[String]) -> anyhow::Result<u8> {
    if args.json {
        console::write(&json::mute(snapshot))?;
    } else {
        console::write(&(lines.join("\n") + "\n"))?;
    }
    Ok(console::DONE)
}
