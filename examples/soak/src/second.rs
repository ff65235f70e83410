//! Runs a second program over and over. Each time, it lives for a second or two and publishes as often as it is
//! allowed to. Then it is killed, has its ring truncated or removed, or ends normally.

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
        // Wait until the viewer is attached. If the program ended first, the viewer would report that there is no such
        // program.
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
        // No other process cleans up this file.
        _ = fs::remove_file(path);
    }
    // A viewer does not quit when its program ends, so it must still be running.
    viewer.map_or(Ok(()), |mut viewer| viewer.lives())
}

/// Removes a ring, or truncates it to a random length.
fn cut(ring: &Path) -> std::io::Result<()> {
    if one_in(4) {
        return fs::remove_file(ring);
    }
    let file = File::options().write(true).open(ring)?;
    file.set_len(fastrand::u64(..file.metadata()?.len().max(1)))
}

/// Checks the ring of a program that is no longer running.
///
/// # Errors
/// An error if there is no intact snapshot, if a killed program is not reported as crashed, or if a program is reported
/// as crashed although it ended normally.
fn left(ring: &Path, is_killed: bool) -> Result<()> {
    let ring = RingFile::open(ring)?;
    ring.newest_snapshot()?;
    let is = ring.liveness()?;
    let is_as_said = matches!(is, Liveness::Crashed { .. }) == is_killed;
    ensure!(is_as_said, "a program is said to be {is:?}; killed: {is_killed}");
    Ok(())
}
