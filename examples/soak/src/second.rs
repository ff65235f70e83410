//! A second program that lives for a second or two, again and again. It publishes as fast as it may, gets requests all
//! the time, and then is killed, has its ring truncated or removed, or ends by itself.

use std::fs::{self, File};
use std::path::Path;
use std::thread;

use anyhow::ensure;
use fastrand::Rng;
use tickscope_format::file::open::{Liveness, RingFile};

use crate::askers::Asked;
use crate::epochs::Moment;
use crate::soak::{Over, Soak, one_in};
use crate::{account, commands, viewers};

/// What happens to the program.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Killed,
    /// Its ring is truncated or removed.
    Cut,
    Ends,
}

/// Runs life after life until the run is over.
pub(crate) fn live(soak: &Soak, mut random: Rng) {
    while !soak.over.is_set() {
        if let Err(why) = life(soak, &mut random) {
            soak.tally.error(why);
            soak.over.sleep(1000);
        }
    }
}

fn life(soak: &Soak, random: &mut Rng) -> anyhow::Result<()> {
    let tally = &soak.tally;
    let mut program = soak.place.load("soak-second", false, 10)?;
    let Some(ring) = program.ring(&soak.over)? else {
        return Ok(());
    };
    let path = ring.path();
    let fate = match random.u32(..10) {
        0..5 => Fate::Killed,
        5..9 => Fate::Cut,
        _ => Fate::Ends,
    };
    let mut viewer = None;
    if fate == Fate::Cut || one_in(random, 3) {
        let viewer = viewer.insert(soak.place.viewer_of(program.pid())?);
        // A viewer that is too late would report that there is no such program.
        while !viewer.is_attached(path) && viewer.has_ended().is_none() {
            if soak.over.sleep(5) {
                return Ok(());
            }
        }
    }
    let asked = Asked::default();
    thread::scope(|scope| {
        let askers = [random.fork(), random.fork()].map(|random| {
            let (asked, ring) = (&asked, &ring);
            scope.spawn(move || asked.ask(ring, random, tally))
        });
        soak.over.sleep(random.u64(50..=1500));
        if fate == Fate::Killed {
            program.kill();
            tally.kills.all.add(1);
            asked.gone.set();
        } else if fate == Fate::Cut {
            match cut(path, random) {
                Ok(()) => tally.cuts.all.add(1),
                Err(error) => tally.error(format!("{}: {error}", path.display())),
            }
            soak.over.sleep(random.u64(100..=300));
            asked.gone.set();
        }
        asked.enough.set();
        // Everything that was asked of a program that lives is answered first.
        while !askers.iter().all(|asker| asker.is_finished()) && program.has_ended().is_none() {
            Over::default().sleep(1);
        }
        asked.gone.set();
    });
    if fate != Fate::Killed {
        let figure = if fate == Fate::Cut {
            &tally.cuts
        } else {
            &tally.kills
        };
        if let Some(account) = tally.check(figure, account::of(program)) {
            tally.check(&tally.records, account::has_all_calls(&account));
        }
    }
    if fate == Fate::Cut {
        // No other process would ever remove it.
        _ = fs::remove_file(path);
    } else if let Some(begun) = tally.check(&tally.kills, left(path, fate == Fate::Killed)) {
        tally.check(&tally.requests, asked.check(begun));
    }
    if fate == Fate::Killed && one_in(random, 4) {
        commands::one(soak, &format!("report {}", path.display()), None);
    }
    // A viewer whose program is gone stays until it is told to leave.
    if let Some(mut viewer) = viewer {
        let is_dead = viewers::is_gone(&mut viewer, tally) && fate == Fate::Cut;
        tally.cuts.wrong.add(u64::from(is_dead));
        tally.did("viewers killed", 1);
    }
    Ok(())
}

/// Removes a ring, or truncates it somewhere.
fn cut(ring: &Path, random: &mut Rng) -> std::io::Result<()> {
    if one_in(random, 4) {
        return fs::remove_file(ring);
    }
    let file = File::options().write(true).open(ring)?;
    file.set_len(random.u64(..file.metadata()?.len().max(1)))
}

/// Returns how many epochs have begun, by the newest snapshot in the ring of a program that is gone.
///
/// # Errors
/// There is none, or it is not intact, or a killed program is said to be something else.
fn left(ring: &Path, is_killed: bool) -> anyhow::Result<u64> {
    let ring = RingFile::open(ring)?;
    let (record, snapshot) = ring.newest_snapshot()?;
    Moment::of(&record, &snapshot)?;
    let (is, crashed) = (
        ring.liveness()?,
        matches!(ring.liveness()?, Liveness::Crashed { .. }),
    );
    ensure!(crashed || !is_killed, "a killed program is said to be {is:?}");
    Ok(snapshot.capture.reset_epoch - u64::from(snapshot.clock.epoch))
}
