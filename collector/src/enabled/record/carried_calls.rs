//! Watched calls of futures between two polls, along with the journal words of their events so far.
//!
//! During a poll, the events of such a call go into the journal of the polling thread, as for any watched call. If the poll ends
//! without ending the call, its words are moved here. The thread that finally ends the call reads the words of all polls. Each
//! poll may be on a different thread, with different nodes. So the words of a poll are stored along with the nodes to which they
//! refer.

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering};
use crate::enabled::record::arena::{Chunk, Column, zeroed, zeros};
use crate::enabled::record::in_flight::{self, CallId};
use crate::enabled::record::journal::NamedNode;
use crate::enabled::record::pool::{Chain, Linked, Pool, briefly};
use crate::enabled::record::site::Site;
use crate::enabled::record::watch::{self, Lost};

/// Maximum numbers of watched calls, of chunks for their words, and of chunks for their nodes. The chunks of each kind take at
/// most 64 MiB.
const CALLS_MOST: u32 = 1 << 16;
const WORDS_MOST: u32 = 1 << 17;
const NODES_MOST: u32 = 1 << 17;

const FREE: u32 = 0;
const RESTS: u32 = 1;
const POLLED: u32 = 2;
const STATES: u32 = 3;

zeroed! {
    /// A watched call of a future.
    #[derive(Debug)]
    pub(crate) struct CarriedCall {
        /// [`FREE`], [`RESTS`] (between two polls) or [`POLLED`]. The higher bits count how many times the place has been taken.
        state: AtomicU32,
        /// This place's number in the pool.
        own: AtomicU32,
        next: AtomicU32,
        /// The slot of the watch to which the call belongs.
        pub(crate) slot: AtomicU32,
        /// The number that this watch had when the call began.
        pub(crate) number: AtomicU64,
        call: AtomicU64,
        /// Tick at which the call began.
        pub(crate) began: AtomicU64,
        /// Tick at which the last poll ended.
        pub(crate) rests_since: AtomicU64,
        /// Duration of the call up to the end of its last poll, excluding pauses, in ticks.
        pub(crate) ticks: AtomicU64,
        /// Index of the node in which the call is waiting. It refers to the same nodes as the words of the last poll.
        pub(crate) awaited: AtomicU32,
        words: Chain,
        nodes: Chain,
    }
}

impl Linked for CarriedCall {
    fn next(&self) -> &AtomicU32 {
        &self.next
    }
}

static CALLS: Pool<CarriedCall> = Pool::new(CALLS_MOST);
static WORDS: Pool<Chunk<AtomicU64, 63>> = Pool::new(WORDS_MOST);
static NODES: Pool<Chunk<NamedNode, 31>> = Pool::new(NODES_MOST);

/// For each slot of the table `in_flight`: the number in [`CALLS`] of the watched call that has this slot and is between polls.
static BY_SLOT: Column<AtomicU32> = zeros();

/// Locked while a chunk is added to [`BY_SLOT`].
static GROWS: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Takes a place for a watched call that is being polled. Returns `None` if no place is free.
pub(crate) fn take() -> Option<&'static CarriedCall> {
    let (number, call) = CALLS.take()?;
    call.own.store(number, Ordering::Relaxed);
    call.ticks.store(0, Ordering::Relaxed);
    let taken = call.state.load(Ordering::Relaxed) & !STATES;
    call.state
        .store(taken.wrapping_add(STATES + 1) | POLLED, Ordering::Relaxed);
    Some(call)
}

/// Returns the watched call of a future that is now being polled again. Returns `None` if the future's call is not watched.
pub(crate) fn polled_again(id: CallId) -> Option<&'static CarriedCall> {
    let number = BY_SLOT.get(in_flight::index_of(id)).filter(|_| id != 0)?;
    let call = CALLS.get(number.load(Ordering::Relaxed))?;
    // SYNC POINT: this poll sees all changes that the previous poll made to the call (pairs with `rest`).
    let state = call.state.load(Ordering::Acquire);
    if call.call.load(Ordering::Relaxed) != id {
        return None;
    }
    call.leave_rest(state).then_some(call)
}

/// Gives back the places of calls between polls that will not be polled again as watched calls. Either their watch has ended or
/// has been restarted, or they have ended without being seen.
pub(crate) fn give_lost_back() {
    for number in 1..=CALLS.made() {
        let Some(call) = CALLS.get(number) else { continue };
        let state = call.state.load(Ordering::Acquire);
        if state & STATES != RESTS {
            continue;
        }
        let watch = watch::get(call.slot.load(Ordering::Relaxed));
        let watch = watch.filter(|watch| watch.number() == call.number.load(Ordering::Relaxed));
        let id = call.call.load(Ordering::Relaxed);
        if (watch.is_none() || !in_flight::is_live(id)) && call.leave_rest(state) {
            if let Some(watch) = watch {
                watch.lose(Lost::Discarded);
            }
            call.give_back();
        }
    }
}

impl CarriedCall {
    /// Stores the call until its next poll, which may be on any thread. Returns `None` if the call cannot be entered in
    /// [`BY_SLOT`].
    pub(crate) fn rest(&self, id: CallId) -> Option<()> {
        let slot = in_flight::index_of(id);
        let by_slot = BY_SLOT
            .get(slot)
            .or_else(|| briefly(&GROWS, |()| BY_SLOT.make(slot))?)?;
        by_slot.store(self.own.load(Ordering::Relaxed), Ordering::Relaxed);
        self.call.store(id, Ordering::Relaxed);
        let taken = self.state.load(Ordering::Relaxed) & !STATES;
        // SYNC POINT: the fields of the call are stored before its state (pairs with `polled_again`).
        self.state.store(taken | RESTS, Ordering::Release);
        Some(())
    }

    fn leave_rest(&self, state: u32) -> bool {
        let next = state & !STATES | POLLED;
        state & STATES == RESTS
            && self
                .state
                .compare_exchange(state, next, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// Returns the place to the pool. Only the thread that has marked the call as [`POLLED`] may do this.
    pub(crate) fn give_back(&self) {
        self.clear();
        let taken = self.state.load(Ordering::Relaxed) & !STATES;
        self.state.store(taken | FREE, Ordering::Relaxed);
        let own = self.own.load(Ordering::Relaxed);
        CALLS.give(own, own);
    }

    /// Removes all words and nodes.
    pub(crate) fn clear(&self) {
        self.words.clear(&WORDS);
        self.nodes.clear(&NODES);
    }

    pub(crate) fn len(&self) -> u32 {
        self.words.len()
    }

    /// Adds a word. Returns `None` if the pool is full.
    pub(crate) fn push(&self, word: u64) -> Option<()> {
        self.words.add(&WORDS)?.store(word, Ordering::Relaxed);
        Some(())
    }

    /// Adds a node to which later words may refer. Returns `None` if the pool is full.
    pub(crate) fn push_node(&self, index: u32, parent: u32, site: Option<&'static Site>) -> Option<()> {
        self.nodes.add(&NODES)?.set((index, parent, site));
        Some(())
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        let words = self.words.values(&WORDS);
        words.map(|word| word.load(Ordering::Relaxed))
    }

    /// Returns the nodes to which the words refer, each as its index, the index of its parent, and its site.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (u32, u32, Option<&'static Site>)> {
        self.nodes.values(&NODES).map(NamedNode::get)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::in_flight::OwnSlots;

    static SITE: Site = Site::named("future", "m", "f.rs", 1);

    #[test]
    fn a_call_is_found_at_its_next_poll_and_once() {
        let slots: OwnSlots = zeros();
        let ids = [slots.begin(&SITE, 1), slots.begin(&SITE, 2)];
        let watch = watch::get(2).unwrap();
        watch.begin(0);
        watch.begin(77);
        for (id, words) in ids.into_iter().zip([5u64, 500]) {
            let call = take().unwrap();
            call.slot.store(2, Ordering::Relaxed);
            call.number.store(77, Ordering::Relaxed);
            assert!((0..words).all(|word| call.push(word).is_some()));
            assert!((0..40).all(|node| call.push_node(node, node / 2, Some(&SITE)).is_some()));
            assert!(polled_again(id).is_none());
            assert!(call.rest(id).is_some());
        }
        let call = polled_again(ids[1]).unwrap();
        assert!(call.words().eq(0..500) && call.nodes().count() == 40);
        assert!(polled_again(ids[1]).is_none());
        assert!(call.rest(ids[1]).is_some());
        give_lost_back();
        assert_eq!(watch.lost().discarded, 0);
        // One of the calls has ended without being seen.
        slots.end(ids[0]);
        give_lost_back();
        assert_eq!(watch.lost().discarded, 1);
        assert!(polled_again(ids[0]).is_none() && polled_again(ids[1]).is_some());
        let again = take().unwrap();
        assert_eq!((again.len(), again.nodes().count()), (0, 0));
        // The watch is restarted, so the call between polls no longer belongs to it.
        assert!(call.rest(ids[1]).is_some());
        watch.begin(0);
        give_lost_back();
        assert!(polled_again(ids[1]).is_none());
        again.give_back();
        slots.end(ids[1]);
    }
}
