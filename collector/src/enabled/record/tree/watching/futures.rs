//! Watches calls of futures. Each poll is watched like a call of a function. Between two polls, [`carried_calls`] holds the
//! journal words of the call so far, and the time is charged to the future that the call was awaiting.

use super::Tree;
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::carried_calls::{self, CarriedCall};
use crate::enabled::record::in_flight::CallId;
use crate::enabled::record::journal::{
    Kind, MORE_MAX, More, Record, TICKS_MAX, event, more, node_of, with_node,
};
use crate::enabled::record::node::Node;
use crate::enabled::record::registry;
use crate::enabled::record::site::Site;
use crate::enabled::record::watch::{self, Lost};
use crate::enabled::record::watching::OVER;

/// If a call has more journal words than this, they are replaced by sums, so that a call that lasts for hours takes little
/// memory.
const WORDS_MOST: u32 = 1 << 16;

impl Tree {
    /// Starts watching a poll of the call of `root`. The poll has just begun. If the call has been polled before, `call` is its
    /// id. `delay` is the number of ticks from the call's wake-up to this poll, if known.
    pub(crate) fn watch_poll(&self, root: &'static Node, is_first: bool, call: CallId, delay: Option<u64>) {
        let Some(slot) = root.site.get().and_then(Site::watch) else {
            return;
        };
        if is_first {
            if !Self::is_in_call_of(root, slot) {
                self.begin_watching(root, slot, Kind::Enter);
            }
            return;
        }
        let Some(carried) = carried_calls::polled_again(call) else {
            return;
        };
        let Some(watch) = watch::get(slot) else { return };
        let counts = carried.number.load(Ordering::Relaxed) == watch.number()
            && carried.slot.load(Ordering::Relaxed) == slot;
        if counts && self.begin_watching(root, slot, Kind::GoOn) {
            self.watching.carried.set(Some(carried));
            if self.add_await(carried, delay).is_none() {
                self.note_not_charged();
            }
        } else {
            carried.give_back();
            if counts {
                watch.lose(Lost::Discarded);
            }
        }
    }

    /// Charges the time since the call's last poll to the future that the call was awaiting. Returns `None` if there is no space
    /// for the words.
    fn add_await(&self, carried: &CarriedCall, delay: Option<u64>) -> Option<()> {
        let now = self.watching.began.load(Ordering::Relaxed);
        let since = carried.rests_since.load(Ordering::Relaxed);
        // The clocks of two threads may differ slightly.
        let ticks = now.saturating_sub(since);
        let node = carried.awaited.load(Ordering::Relaxed);
        let ready = delay.unwrap_or(0).min(ticks);
        add_number(carried, node, More::Waiting, ticks - ready)?;
        add_number(carried, node, More::Ready, ready)?;
        let all = carried.ticks.load(Ordering::Relaxed) + ticks;
        let last = ticks.min(TICKS_MAX);
        add_number(carried, node, More::Stay, ticks - last)?;
        carried.push(event(node, Kind::GoOn, last))?;
        carried.ticks.store(all, Ordering::Relaxed);
        Some(())
    }

    /// Notes that the open poll of `node` is about to end. `is_over` says whether it is the last poll of its call.
    #[cold]
    pub(crate) fn note_poll_end(&self, node: &'static Node, call: CallId, is_over: bool) {
        let watching = &self.watching;
        watching.awaited.forget(call);
        // If one future awaits another, only the innermost one counts as awaited.
        let awaited = watching.awaited.last();
        let is_below = awaited.is_some_and(|awaited| awaited.up().any(|at| std::ptr::eq(at, node)));
        if !is_over && !is_below {
            watching.awaited.add(node, call);
        }
        if watching.root.is(node) {
            let ending = if is_over { OVER } else { call };
            watching.ending.store(ending, Ordering::Relaxed);
        }
    }

    /// Ends a poll of the watched call of `root`. `lasted` is the duration of the poll in ticks, if known. If the call is over,
    /// its events are now in the journal, and its duration is returned.
    pub(super) fn end_watched_poll(
        &self,
        root: &'static Node,
        now: u64,
        lasted: Option<u64>,
    ) -> Result<Option<u64>, Lost> {
        let watching = &self.watching;
        let carried = watching.carried.get();
        watching.carried.set(None);
        let ending = watching.ending.load(Ordering::Relaxed);
        let Some(ticks) = lasted.filter(|_| ending != 0) else {
            // The poll has panicked, the table of calls in flight is full, or some of the poll's time is unknown.
            if let Some(carried) = carried {
                carried.give_back();
            }
            return Err(Lost::Discarded);
        };
        if carried.is_none() && ending == OVER {
            return Ok(Some(ticks));
        }
        let carried = carried.or_else(|| self.carry()).ok_or(Lost::Missed)?;
        let all = carried.ticks.load(Ordering::Relaxed) + ticks;
        carried.ticks.store(all, Ordering::Relaxed);
        let carried_on = self.carry_on(carried, root, now, ending);
        if carried_on.is_none() || ending == OVER {
            carried.give_back();
        }
        carried_on.ok_or(Lost::Missed)?;
        Ok((ending == OVER).then_some(all))
    }

    /// Returns the total ticks of all records of the open poll, or `None` if some records were overwritten. This sum serves as
    /// the duration when a future is dropped, because the beginning of the drop's scope is unknown.
    pub(super) fn noted_ticks(&self) -> Option<u64> {
        let journal = &self.watching.journal;
        if journal.was_full() {
            return None;
        }
        let (mut at, end) = journal.area();
        let mut sum = 0;
        while at < end {
            let word = journal.word(at);
            sum += match Record::of(word) {
                Record::Event { ticks, .. } => ticks,
                Record::More { .. } => number_of(word, More::Stay).unwrap_or(0),
            };
            at += 1 + text_words(word);
        }
        Some(sum)
    }

    /// Reserves a [`CarriedCall`] for a call whose first poll is ending. Returns `None` if none is free.
    fn carry(&self) -> Option<&'static CarriedCall> {
        let watching = &self.watching;
        let carried = carried_calls::take()?;
        carried
            .slot
            .store(watching.slot.load(Ordering::Relaxed), Ordering::Relaxed);
        for (to, from) in [
            (&carried.number, &watching.number),
            (&carried.began, &watching.began),
        ] {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        Some(carried)
    }

    /// Adds the events of a poll to the earlier events of its call. All events are kept for the next poll or, if the call is
    /// over, copied into the journal. Returns `None` if there is no space for them.
    fn carry_on(
        &self,
        carried: &'static CarriedCall,
        root: &'static Node,
        now: u64,
        ending: u64,
    ) -> Option<()> {
        let watching = &self.watching;
        if watching.journal.was_full() {
            self.add_up_area();
            self.carry_sums(carried, root)?;
        } else {
            self.carry_words(carried, root)?;
        }
        if ending == OVER {
            watching
                .began
                .store(carried.began.load(Ordering::Relaxed), Ordering::Relaxed);
            return self.replay(carried, root);
        }
        if carried.len() > WORDS_MOST {
            self.replay(carried, root)?;
            self.add_up_area();
            carried.clear();
            self.carry_sums(carried, root)?;
        }
        let awaited = watching.awaited.last().map_or(root.index(), Node::index);
        carried.awaited.store(awaited, Ordering::Relaxed);
        carried.rests_since.store(now, Ordering::Relaxed);
        carried.rest(ending)
    }

    /// Keeps the words in the journal, which has not overflowed, for the next poll.
    fn carry_words(&self, carried: &CarriedCall, root: &'static Node) -> Option<()> {
        let journal = &self.watching.journal;
        let (begin, end) = journal.area();
        self.begin_names();
        let mut count = self.name(carried, root, root)?;
        let mut at = begin;
        while at < end {
            let word = journal.word(at);
            count += self.name_index(carried, node_of(word), root)?;
            at += 1 + text_words(word);
        }
        if let Some(awaited) = self.watching.awaited.last() {
            count += self.name(carried, awaited, root)?;
        }
        add_more(carried, root.index(), More::Nodes, count)?;
        (begin..end).try_for_each(|at| carried.push(journal.word(at)))
    }

    /// Keeps the call's sums for the next poll, in place of its words. If this returns `None`, the sums are left pending.
    fn carry_sums(&self, carried: &CarriedCall, root: &'static Node) -> Option<()> {
        let (_, sums) = self.watching.of_slot()?;
        let is_first = carried.len() == 0;
        self.begin_names();
        let mut count = self.name(carried, root, root)?;
        for (index, _) in self.each_touched(sums) {
            count += self.name_index(carried, index, root)?;
        }
        if let Some(awaited) = self.watching.awaited.last() {
            count += self.name(carried, awaited, root)?;
        }
        add_more(carried, root.index(), More::Nodes, count)?;
        for (node, of_node) in self.each_touched(sums) {
            let [calls, ticks, waiting, ready, allocations, bytes] = of_node.pending.read();
            let counted = is_first && node == root.index();
            // An `Allocation` record counts as one allocation, and can hold at most `MORE_MAX` bytes.
            let records = bytes.div_ceil(MORE_MAX).max(1).min(allocations);
            if calls <= u64::from(counted) {
                // A `Calls` record is needed even if there are no calls to add, because it marks the records after it as sums.
                add_more(carried, node, More::Calls, 0)?;
            }
            let numbers = [
                (More::Calls, calls.saturating_sub(counted.into())),
                (More::Waiting, waiting),
                (More::Ready, ready),
                (More::Stay, ticks),
                (More::Allocations, allocations - records),
                (More::Allocation, bytes),
            ];
            for (what, number) in numbers {
                add_number(carried, node, what, number)?;
            }
            if records > 0 && bytes == 0 {
                add_more(carried, node, More::Allocation, 0)?;
            }
        }
        self.forget_pending();
        // `replay` starts as if a call had just been entered, so the first event, which is this one, counts the call itself.
        carried.push(event(root.index(), Kind::Exit, 0))
    }

    /// Copies the words of a call into the journal, with each node replaced by the corresponding node of this thread. `root` is
    /// the node of the call's last poll.
    fn replay(&self, carried: &CarriedCall, root: &'static Node) -> Option<()> {
        let watching = &self.watching;
        if !watching.journal.begin() {
            return None;
        }
        watching.before.store(Kind::Enter as u64, Ordering::Relaxed);
        let mut nodes = carried.nodes();
        let mut words = carried.words();
        while let Some(word) = words.next() {
            if let Some(count) = number_of(word, More::Nodes) {
                self.begin_names();
                for (index, parent, site) in nodes.by_ref().take(count as usize) {
                    let own = self.own_node(root, index, parent, site)?;
                    self.set_name(index, own.index());
                }
                continue;
            }
            let node = self.name_of(node_of(word))?;
            let text = text_words(word);
            self.make_space(1 + text);
            watching.journal.push(with_node(word, node));
            for word in words.by_ref().take(text as usize) {
                watching.journal.push(word);
            }
        }
        Some(())
    }

    /// Returns this thread's counterpart of a node that may belong to another thread's tree, adding it if necessary.
    fn own_node(
        &self,
        root: &'static Node,
        index: u32,
        parent: u32,
        site: Option<&'static Site>,
    ) -> Option<&'static Node> {
        if index == parent {
            return Some(root);
        }
        let parent = self.nodes.get(self.name_of(parent)?)?;
        if let Some(known) = self.known_child(parent, site?) {
            return Some(known);
        }
        let current = self.take()?;
        let added = self.add_child(parent, site?, registry::may_add_node);
        self.put(current);
        added
    }

    /// Starts a new, empty set of node names.
    fn begin_names(&self) {
        let set = &self.watching.names_number;
        set.store(set.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    fn name_of(&self, index: u32) -> Option<u32> {
        let set = self.watching.names_number.load(Ordering::Relaxed);
        let name = self.watching.names.get(index)?;
        (name.set.load(Ordering::Relaxed) == set).then(|| name.index.load(Ordering::Relaxed))
    }

    fn set_name(&self, index: u32, stands_for: u32) -> Option<()> {
        let set = self.watching.names_number.load(Ordering::Relaxed);
        let name = self.watching.names.make(index)?;
        name.set.store(set, Ordering::Relaxed);
        name.index.store(stands_for, Ordering::Relaxed);
        Some(())
    }

    fn name_index(&self, carried: &CarriedCall, index: u32, root: &'static Node) -> Option<u64> {
        if self.name_of(index).is_some() {
            return Some(0);
        }
        self.name(carried, self.nodes.get(index)?, root)
    }

    /// Adds `node`, and the nodes between it and `root`, to the list of nodes to which the call's words refer. `root` is stored
    /// as its own parent. Returns the number of nodes added.
    fn name(&self, carried: &CarriedCall, node: &'static Node, root: &'static Node) -> Option<u64> {
        let mut count = 0;
        while self.name_of(node.index()).is_none() {
            // The outermost node that has no name yet.
            let mut top = node;
            while !std::ptr::eq(top, root) {
                let parent = top.parent.get()?;
                if self.name_of(parent.index()).is_some() {
                    break;
                }
                top = parent;
            }
            let parent = match top.parent.get() {
                Some(parent) if !std::ptr::eq(top, root) => parent.index(),
                _ => top.index(),
            };
            carried.push_node(top.index(), parent, top.site.get())?;
            self.set_name(top.index(), top.index())?;
            count += 1;
        }
        Some(count)
    }
}

/// Returns the `number` of the record in `word`, if that record is of the kind `wanted`.
fn number_of(word: u64, wanted: More) -> Option<u64> {
    match Record::of(word) {
        Record::More { what, number, .. } if what == wanted => Some(number),
        Record::More { .. } | Record::Event { .. } => None,
    }
}

/// Returns the number of text words that follow this word.
fn text_words(word: u64) -> u32 {
    number_of(word, More::Note).unwrap_or(0) as u32
}

fn add_more(carried: &CarriedCall, node: u32, what: More, number: u64) -> Option<()> {
    carried.push(more(node, what, number))
}

/// Adds records that together hold `number`: none for 0, and several if it does not fit into one record.
fn add_number(carried: &CarriedCall, node: u32, what: More, mut number: u64) -> Option<()> {
    while number > 0 {
        let part = number.min(MORE_MAX);
        add_more(carried, node, what, part)?;
        number -= part;
    }
    Some(())
}
