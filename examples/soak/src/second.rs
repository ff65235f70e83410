//! A second program that lives for a second or two, again and again. It publishes as fast as it may, gets requests all
//! the time, and then is killed, has its ring truncated or removed, or ends by itself.

use std::fs::{self, File};
use std::path::Path;
use std::thread;
use std::time::Duration;

use tickscope_format::file::open::{Liveness, RingFile};

use crate::askers::{self, Asked};
use crate::commands;
use crate::moment::Moment;
use crate::over::Over;
use crate::program::Program;
use crate::random::Random;
use crate::tally::Tally;
use crate::terminal::Terminal;
use crate::viewers::Viewing;

const NAME: &str = "soak-second";

/// It publishes as often as a program may. Its ring is small, because many are left behind.
const SETTINGS: [(&str, &str); 2] = [("TICKSCOPE_INTERVAL_MS", "10"), ("TICKSCOPE_RING_BYTES", "1M")];

/// What happens to the program.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Killed,
    RingCut,
    RingRemoved,
    Ends,
}

/// How often each fate happens.
const FATES: [Fate; 10] = [
    Fate::Killed,
    Fate::Killed,
    Fate::Killed,
    Fate::Killed,
    Fate::Killed,
    Fate::RingCut,
    Fate::RingCut,
    Fate::RingCut,
    Fate::RingRemoved,
    Fate::Ends,
];

/// Runs life after life until the run is over.
pub(crate) fn live(viewing: &Viewing, mut random: Random, over: &Over, tally: &Tally) {
    while !over.is_set() {
        if let Err(why) = life(viewing, &mut random, over, tally) {
            tally.error(why);
            over.sleep(Duration::from_secs(1));
        }
    }
}

fn life(viewing: &Viewing, random: &mut Random, over: &Over, tally: &Tally) -> Result<(), String> {
    let mut program = Program::start(NAME, &viewing.rings, false, &SETTINGS)?;
    let Some(ring) = program.ring(over)? else {
        return Ok(());
    };
    let fate = *random.of(&FATES);
    let by_hand = matches!(fate, Fate::RingCut | Fate::RingRemoved);
    let watched = by_hand || random.one_in(3);
    let mut viewer = watched.then(|| viewing.of(program.pid())).transpose()?;
    // A viewer that is too late would report that there is no such program. An attached viewer has the ring open twice.
    while let Some(viewer) = &mut viewer
        && viewer.has_open(ring.path()) < 2
        && viewer.has_ended().is_none()
    {
        if over.sleep(Duration::from_millis(5)) {
            return Ok(());
        }
    }
    let (asked, enough, gone) = (Asked::default(), Over::default(), Over::default());
    thread::scope(|scope| {
        let askers = [random.next(), random.next()].map(|seed| {
            let (ring, asked, enough, gone) = (&ring, &asked, &enough, &gone);
            scope.spawn(move || askers::ask(ring, Random::new(seed, 0), (enough, gone), asked, tally))
        });
        over.sleep(random.ms(50, 1500));
        match fate {
            Fate::Killed => {
                program.kill();
                gone.set();
            }
            Fate::RingCut | Fate::RingRemoved => {
                damage(&ring, fate, random, tally);
                over.sleep(random.ms(100, 300));
                gone.set();
            }
            Fate::Ends => {}
        }
        enough.set();
        // Everything that was asked of a program that lives is answered first.
        while !askers.iter().all(|asker| asker.is_finished()) && program.has_ended().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        gone.set();
    });
    match fate {
        Fate::Killed => {
            killed(&ring, &asked, tally);
            if random.one_in(4) {
                commands::look_at(viewing, ring.path(), over, tally);
            }
        }
        Fate::RingCut | Fate::RingRemoved => {
            let well = ended(program, tally);
            tally.cut_dead.add(u64::from(!well));
            // No other process would ever remove it.
            _ = fs::remove_file(ring.path());
        }
        Fate::Ends => {
            let path = ring.path().to_owned();
            ended(program, tally);
            once(&path, &asked, tally);
        }
    }
    if let Some(viewer) = viewer {
        left_behind(viewer, by_hand, tally);
    }
    Ok(())
}

/// Truncates the ring somewhere, or removes it.
fn damage(ring: &RingFile, fate: Fate, random: &mut Random, tally: &Tally) {
    let done = if fate == Fate::RingRemoved {
        fs::remove_file(ring.path())
    } else {
        let file = File::options().write(true).open(ring.path());
        file.and_then(|file| {
            let length = file.metadata()?.len();
            file.set_len(random.below(length.max(1)))
        })
    };
    match done {
        Ok(()) => tally.cuts.add(1),
        Err(error) => tally.error(format!("{}: {error}", ring.path().display())),
    }
}

/// Checks the ring of a killed program: it must open, show that the program crashed, and contain the newest snapshot.
fn killed(ring: &RingFile, asked: &Asked, tally: &Tally) {
    tally.kills.add(1);
    let left = RingFile::open(ring.path()).and_then(|left| {
        let (record, snapshot) = left.newest_snapshot()?;
        Ok((left.liveness()?, record, snapshot))
    });
    match left {
        Ok((Liveness::Crashed { .. }, record, snapshot)) => {
            if let Err(why) = Moment::of(&record, &snapshot) {
                tally.lost.add(1);
                tally.error(why);
            }
            let begun = snapshot.capture.reset_epoch - u64::from(snapshot.clock.epoch);
            count_epochs(begun, asked, tally);
        }
        Ok((other, ..)) => tally.error(format!("a killed program is said to be {other:?}")),
        Err(error) => {
            tally.lost.add(1);
            tally.error(format!(
                "a killed program left {}: {error}",
                ring.path().display()
            ));
        }
    }
}

/// Checks that a program that ends by itself succeeds and has lost no call. Returns whether that is so.
fn ended(program: Program, tally: &Tally) -> bool {
    match program.end() {
        Ok(account) => {
            if !account.has_all_calls() {
                tally.off.add(1);
                tally.error(format!("{NAME} made other calls than were counted: {account:?}"));
            }
            true
        }
        Err(why) => {
            tally.error(why);
            false
        }
    }
}

/// Checks that each request was carried out once, for a program that has answered all.
fn once(ring: &Path, asked: &Asked, tally: &Tally) {
    match RingFile::open(ring).and_then(|ring| ring.newest_snapshot()) {
        Ok((_, snapshot)) => {
            let begun = snapshot.capture.reset_epoch - u64::from(snapshot.clock.epoch);
            count_epochs(begun, asked, tally);
        }
        Err(error) => tally.error(format!("{NAME} left {}: {error}", ring.display())),
    }
}

fn count_epochs(begun: u64, asked: &Asked, tally: &Tally) {
    let wanted = asked.epochs();
    if !wanted.contains(&begun) {
        tally.not_once.add(1);
        tally.error(format!("{begun} epochs began, {wanted:?} were asked for"));
    }
}

/// Checks that a viewer whose program is gone stays until it is told to leave.
fn left_behind(mut viewer: Terminal, by_hand: bool, tally: &Tally) {
    if let Some(status) = viewer.has_ended() {
        tally.cut_dead_viewers.add(u64::from(by_hand));
        tally.error(format!(
            "a viewer whose program went ended with {status}: {}",
            viewer.said()
        ));
    }
    viewer.kill();
    tally.viewers_killed.add(1);
}
