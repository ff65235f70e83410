//! Models of threads that begin and end during captures.

use std::sync::Arc;

use loom::sync::Mutex;

use super::{OUTER, begin, end};
use crate::enabled::capture::histograms::Histograms;
use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::capture::tree_reader::Reader;
use crate::enabled::platform::sync::Ordering;
use crate::enabled::platform::sync::modelled;
use crate::enabled::record::mode_switch;
use crate::enabled::record::registry::{self, Block};
use crate::enabled::record::tree::{NO_LIMIT, Path};
use tickscope_format::snapshot::Mode;

/// Returns the number of calls in a block, as seen by a capture.
fn calls(block: &'static Block, now: u64) -> u64 {
    let mut reader = Reader::default();
    let (mut sites, mut histograms) = (SiteIds::default(), Histograms::default());
    reader.find_rows(&block.tree, &mut sites);
    reader.read_counts(|| now, NO_LIMIT, &block.tree, &mut histograms, || None);
    assert!(
        !reader.rows.is_empty(),
        "a tree has a root once its thread is seen"
    );
    reader.counts.iter().map(|counts| counts.calls).sum()
}

/// Simulates a thread that makes one call and, when it ends, adds its calls to the count of the finished threads.
fn live(tid: u32, finished: &Mutex<u64>) {
    let block = registry::take().unwrap();
    assert!(block.tree.open(1, NO_LIMIT, 10, 10));
    block.begin(tid, Path::Exact);
    begin(&block.tree, &OUTER, || 2);
    end(&block.tree, || 3);
    let mut finished = finished.lock().unwrap();
    *finished += calls(block, 4);
    registry::give_back(block);
}

/// Returns the number of all calls counted so far, by living and finished threads.
fn captured(finished: &Mutex<u64>) -> u64 {
    let finished = finished.lock().unwrap();
    let living = registry::living().map(|block| {
        let calls = calls(block, 4);
        assert!(calls <= 1, "of an earlier life");
        calls
    });
    living.sum::<u64>() + *finished
}

fn nothing_yet() {
    registry::forget_all();
    mode_switch::note(Mode::Exact, false, 0);
}

/// A thread begins, counts and ends during captures. Its call is shown exactly once.
#[test]
#[ignore = "some five seconds: .ci/nightly mutations"]
fn a_thread_that_ends_is_shown_once() {
    modelled::check(Some(2), || {
        nothing_yet();
        let finished = Arc::new(Mutex::new(0));
        let thread = modelled::spawn({
            let finished = Arc::clone(&finished);
            move || live(1, &finished)
        });
        assert!(captured(&finished) <= 1);
        thread.join().unwrap();
        assert_eq!(captured(&finished), 1);
    });
}

/// A second thread takes either the block that the first thread has given back, or a new one. The call of each thread
/// counts once, and the memory of the block's previous life is reused.
#[test]
fn a_block_that_is_given_back_is_used_again() {
    modelled::check(Some(2), || {
        nothing_yet();
        let finished = Arc::new(Mutex::new(0));
        let thread = modelled::spawn({
            let finished = Arc::clone(&finished);
            move || live(1, &finished)
        });
        live(2, &finished);
        thread.join().unwrap();
        assert_eq!(captured(&finished), 2);
        let blocks = registry::all().count();
        // Each block takes pages for itself, for its first nodes and for its table.
        assert_eq!(modelled::pages_taken(), 3 * blocks);
        assert!(registry::all().all(|block| block.tid.load(Ordering::Relaxed) == 0));
    });
}
