//! Models of captures that read a tree while its thread runs.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::{OUTER, begin, end, tree};
use crate::enabled::capture::histograms::Histograms;
use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::capture::tree_reader::Reader;
use crate::enabled::platform::sync::Ordering;
use crate::enabled::platform::sync::modelled;
use crate::enabled::record::mode_switch;
use crate::enabled::record::tree::{NO_LIMIT, Tree};

/// A clock that advances by 10 ticks at every read. All threads of a model share it, because they run one at a time.
#[derive(Clone)]
struct Ticks(Arc<AtomicU64>);

impl Ticks {
    fn now(&self) -> u64 {
        self.0.fetch_add(10, Ordering::Relaxed) + 10
    }
}

/// Returns the ticks that a capture shows, summed over all nodes, and the tick at which the capture was taken.
fn shown(reader: &mut Reader, tree: &'static Tree, clock: &Ticks) -> (u64, u64) {
    let (mut sites, mut histograms) = (SiteIds::default(), Histograms::default());
    let mut at = 0;
    let now = || {
        at = clock.now();
        at
    };
    reader.find_rows(tree, &mut sites);
    reader.read_counts(now, NO_LIMIT, tree, &mut histograms, || None);
    (reader.counts.iter().map(|counts| counts.ticks).sum(), at)
}

fn captured_during(
    bound: Option<usize>,
    events: impl Fn(&'static Tree, &Ticks) + Send + Sync + Copy + 'static,
) {
    let tree = tree();
    modelled::check(bound, move || {
        tree.caught_up_to
            .store(mode_switch::newest().word, Ordering::Relaxed);
        let clock = Ticks(Arc::default());
        let mut reader = Reader::default();
        shown(&mut reader, tree, &clock);
        let at_rest = reader.counts.clone();
        let owner = modelled::spawn({
            let clock = clock.clone();
            move || events(tree, &clock)
        });
        let (ticks, at) = shown(&mut reader, tree, &clock);
        assert!(ticks <= at, "{ticks} ticks at tick {at}");
        for (counts, before) in reader.counts.iter().zip(at_rest) {
            assert!(counts.ticks >= before.ticks, "{counts:?} after {before:?}");
        }
        owner.join().unwrap();
        let (ticks, at) = shown(&mut reader, tree, &clock);
        assert_eq!(ticks, at, "at rest nothing is missing");
    });
}

/// A capture runs while a call begins. No tick is shown twice, and no tick disappears once it has been shown.
#[test]
fn what_a_capture_adds_is_never_charged_as_well() {
    captured_during(Some(2), |tree, clock| begin(tree, &OUTER, || clock.now()));
}

/// A capture runs while a call begins and ends. The thread is then back at the same node, although it had events.
#[test]
fn a_thread_that_is_back_where_it_was_has_not_rested() {
    captured_during(Some(1), |tree, clock| {
        begin(tree, &OUTER, || clock.now());
        end(tree, || clock.now());
    });
}
