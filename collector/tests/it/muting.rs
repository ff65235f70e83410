//! Scopes that cost more than they tell are muted: by the program itself, or because a viewer asks for it.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::support::{self, Isolated, ask, calls_of, newest, test_name};
use tickscope::{AutoMute, Builder, Mode, Session, Snapshot};
use tickscope_format::file::open::RingFile;
use tickscope_format::muting;
use tickscope_format::pattern::Pattern;
use tickscope_format::slots::{Op, Outcome};
use tickscope_format::snapshot::{AutoMute as Policy, MuteReason};

fn start(name: &str, set: impl FnOnce(Builder) -> Builder) -> (Session, RingFile) {
    let builder = Builder::new(name).interval(Duration::from_millis(20));
    let session = set(builder).try_start().unwrap();
    let ring = RingFile::open(&session.path().unwrap()).unwrap();
    (session, ring)
}

fn tiny(n: u64) -> u64 {
    tickscope::scope!("tiny");
    black_box(n)
}

/// Tiny scopes, and one that lasts.
fn work() {
    tickscope::scope!("work");
    (0..100_000).for_each(|n| {
        tiny(n);
    });
    tickscope::scope!("long");
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(2) {}
}

/// Works until a record shows something.
fn work_until(ring: &RingFile, shows: impl Fn(&Snapshot) -> bool) -> Snapshot {
    loop {
        work();
        let snapshot = newest(ring);
        if shows(&snapshot) {
            return snapshot;
        }
    }
}

fn offered(snapshot: &Snapshot) -> Vec<&str> {
    let offered = muting::offered(snapshot);
    let names = offered
        .iter()
        .map(|cost| &*snapshot.sites[cost.site.index()].name);
    names.collect()
}

fn muted(snapshot: &Snapshot) -> Vec<(&str, MuteReason)> {
    let muted = snapshot.muting.muted.iter();
    let named = muted.map(|muted| (&*snapshot.sites[muted.site.index()].name, muted.reason));
    named.collect()
}

fn a_program_mutes_by_itself_where_it_is_told_to_and_says_so() {
    Isolated::new(test_name!())
        .env("TICKSCOPE_AUTOMUTE", "on")
        .run(|| {
            let (_session, ring) = start("auto", |builder| builder.auto_mute(AutoMute::Off));
            let snapshot = work_until(&ring, |snapshot| !snapshot.muting.muted.is_empty());
            assert_eq!(snapshot.muting.policy, Policy::On);
            assert_eq!(muted(&snapshot), [("tiny", MuteReason::Automatic)]);
            let why = &snapshot.muting.muted[0];
            assert!(why.own_share() > 1.0 / 3.0 && why.cost_share > 0.02, "{why:?}");
            let warnings = &snapshot.process.warnings;
            assert!(
                warnings.len() == 1
                    && warnings[0].contains("tiny is muted: its scopes cost more than they tell"),
                "{warnings:?}"
            );
            let before = calls_of(&tickscope::snapshot(), "tiny");
            work();
            let after = tickscope::snapshot();
            assert_eq!(calls_of(&after, "tiny"), before);
            // What somebody switches on stays on.
            tickscope::enable_sites("tiny").unwrap();
            let least = before + 3_000_000;
            let snapshot = work_until(&ring, |snapshot| calls_of(snapshot, "tiny") > least);
            assert_eq!(muted(&snapshot), []);
            assert_eq!(snapshot.measuring.rules.len(), 1);
            // All as in the beginning: it is muted again.
            tickscope::enable_sites("*").unwrap();
            work_until(&ring, |snapshot| !snapshot.muting.muted.is_empty());
        })
        .succeeded();
}

fn nothing_is_muted_unless_somebody_asks() {
    // In adaptive mode a scope costs so little on some CPUs that even one around nothing stays on.
    for mode in ["exact", "sampled"] {
        Isolated::new(test_name!())
            .env("TICKSCOPE_MODE", mode)
            .run(|| {
                let (_session, ring) = start("asked", |builder| builder);
                let snapshot = work_until(&ring, |snapshot| !offered(snapshot).is_empty());
                assert_eq!(offered(&snapshot), ["tiny"]);
                assert_eq!(snapshot.muting.policy, Policy::Offer);
                assert_eq!(muted(&snapshot), []);
                let mut slot = ring.take_slot().unwrap().unwrap();
                let other = Pattern::new("long").unwrap();
                assert_eq!(ask(&mut slot, Op::Mute(other)).outcome, Outcome::Done);
                assert_eq!(muted(&newest(&ring)), []);
                // What is worth it on a busy machine is not at each moment.
                let snapshot = loop {
                    work();
                    assert_eq!(ask(&mut slot, Op::Mute(Pattern::all())).outcome, Outcome::Done);
                    let snapshot = newest(&ring);
                    if !muted(&snapshot).is_empty() {
                        break snapshot;
                    }
                };
                assert_eq!(muted(&snapshot), [("tiny", MuteReason::Asked)]);
                assert_eq!(snapshot.measuring.off_sites.len(), 1);
                assert!(offered(&snapshot).is_empty() && snapshot.process.warnings.is_empty());
                // Another rule takes its place, and it is offered no more.
                let own = Pattern::new("tiny").unwrap();
                assert_eq!(ask(&mut slot, Op::SitesOn(own)).outcome, Outcome::Done);
                let snapshot = newest(&ring);
                assert!(muted(&snapshot).is_empty() && offered(&snapshot).is_empty());
                assert!(snapshot.measuring.off_sites.is_empty());
            })
            .succeeded();
    }
}

fn a_program_that_offers_nothing_mutes_nothing_either() {
    support::isolated!(|| {
        let (_session, ring) = start("not-offered", |builder| builder.auto_mute(AutoMute::Off));
        let snapshot = work_until(&ring, |snapshot| muting::worth_muting(snapshot).next().is_some());
        assert!(offered(&snapshot).is_empty());
        let mut slot = ring.take_slot().unwrap().unwrap();
        assert_eq!(ask(&mut slot, Op::Mute(Pattern::all())).outcome, Outcome::Done);
        assert_eq!(muted(&newest(&ring)), []);
    });
}

fn what_is_watched_is_not_muted() {
    support::isolated!(|| {
        let (_session, ring) = start("watched", |builder| {
            builder.mode(Mode::Exact).watch("tiny", tickscope::Over::Tail)
        });
        let snapshot = work_until(&ring, |snapshot| {
            calls_of(snapshot, "tiny") > 3_000_000 && snapshot.nanos(snapshot.working_ticks()) > 200_000_000
        });
        assert!(offered(&snapshot).is_empty());
        let mut slot = ring.take_slot().unwrap().unwrap();
        assert_eq!(ask(&mut slot, Op::Mute(Pattern::all())).outcome, Outcome::Done);
        assert_eq!(muted(&newest(&ring)), []);
    });
}

tickscope_testkit::tests![
    what_is_watched_is_not_muted;
    ignored:
    // What is worth muting is measured: calls that lose their CPU seem to last, and beside other programs nothing is for minutes.
    nothing_is_muted_unless_somebody_asks,
    a_program_that_offers_nothing_mutes_nothing_either,
    a_program_mutes_by_itself_where_it_is_told_to_and_says_so,
];
