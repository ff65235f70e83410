//! `tickscope watch`: makes a program watch a function, to find out how its slow calls differ from typical ones.

use tickscope_command::console;
use tickscope_format::Snapshot;
use tickscope_format::file::open::RingFile;
use tickscope_format::slots::Op;

use crate::cli::args::{TargetArgs, WatchArgs};
use crate::cli::commands::request;
use crate::outcome::watched;

/// Makes the program watch a function or stop watching it. Returns once the program has confirmed the change.
///
/// # Errors
/// There is no such target, or it refused the request.
pub fn run(args: &WatchArgs, target: &TargetArgs) -> anyhow::Result<u8> {
    let ring = request::find(target, "watch")?;
    let before = newest(&ring);
    let op = match args.off {
        true => Op::Unwatch(args.function),
        false => Op::Watch(args.function, args.over),
    };
    let done = request::ask_of(ring, op, "watch")?;
    let line = match args.off {
        true => watched::stopped(before.as_ref(), &args.function),
        false => watched::began(
            before.as_ref(),
            done.snapshot().as_ref(),
            &args.function,
            args.over,
        ),
    };
    console::write(&format!("{}: {line}\n", done.who()))?;
    Ok(console::DONE)
}

/// Returns the program's newest snapshot, if it can be read.
pub(super) fn newest(ring: &RingFile) -> Option<Snapshot> {
    ring.newest_snapshot().ok().map(|(_, snapshot)| snapshot)
}
