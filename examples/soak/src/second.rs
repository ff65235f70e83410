//! A second program that lives for a second or two, again and again. It publishes as fast as it may, and then is
//! killed, has its ring truncated or removed, or ends by itself.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Result, ensure};
use tickscope_format::file::open::{Liveness, RingFile};

use crate::account;
use crate::checks::{CUTS, KILLS};
use crate::soak::{Soak, one_in};

/// Runs the program again and again until the run is over.
pub(crate) fn live(soak: &Soak) {
    while !soak.over.sleep(0) {
        if let Err(why) = life(soak) {
            soak.tally.check::<()>(CUTS, Err(why));
        }
    }
}

fn life(soak: &Soak) -> Result<()> {
    let tally = &soak.tally;
    let mut program = soak.place.load("soak-second")?;
    let ring = soak.place.ring_of(&mut program)?;
    let path = ring.path();
    let (is_killed, is_cut) = (one_in(2), !one_in(5));
    let viewer = one_in(2).then(|| soak.place.tickscope(&format!("--pid {}", program.pid())));
    let mut viewer = viewer.transpose()?;
    if let Some(viewer) = &mut viewer {
        // A viewer that starts too late would report that there is no such program.
        while !viewer.output().contains("LIVE") {
            viewer.lives()?;
            if soak.over.sleep(5) {
                return Ok(());
            }
        }
    }
    soak.over.sleep(fastrand::u64(50..=1500));
    if is_killed {
        drop(program);
        tally.check(KILLS, left(path, true));
        let report = soak.place.tickscope(&format!("report {}", path.display()))?;
        tally.check("commands", report.end(""));
    } else {
        if is_cut {
            cut(path)?;
            soak.over.sleep(fastrand::u64(100..=300));
        }
        tally.check(CUTS, account::account_of(program));
        if !is_cut {
            left(path, false)?;
        }
        // No other process would remove the file.
        _ = fs::remove_file(path);
    }
    // A viewer whose program is gone stays until it is ended.
    viewer.map_or(Ok(()), |mut viewer| viewer.lives())
}

/// Removes a ring, or truncates it somewhere.
fn cut(ring: &Path) -> std::io::Result<()> {
    if one_in(4) {
        return fs::remove_file(ring);
    }
    let file = File::options().write(true).open(ring)?;
    file.set_len(fastrand::u64(..file.metadata()?.len().max(1)))
}

/// Checks the ring of a program that is gone.
///
/// # Errors
/// An error if there is no intact snapshot, or if a program is reported as crashed and was not killed, or the reverse.
fn left(ring: &Path, is_killed: bool) -> Result<()> {
    let ring = RingFile::open(ring)?;
    ring.newest_snapshot()?;
    let is = ring.liveness()?;
    let is_as_said = matches!(is, Liveness::Crashed { .. }) == is_killed;
    ensure!(is_as_said, "a program is said to be {is:?}; killed: {is_killed}");
    Ok(())
}
