//! The open functions of a thread, each with its *place*: the stack address that holds its return address.
//!
//! The compiler puts sleds at a function's first instruction, in place of its return instruction, and before a tail call.
//! Whenever a sled runs, the stack pointer is equal to the function's place. Of the open functions with sleds, no two have the
//! same place, so the place tells to which of them an event belongs. Functions with lower places have ended without an event:
//! they were unwound by a panic, skipped by `longjmp`, never returned, or their sleds were switched off during the call.

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering, add};
use crate::enabled::record::arena::{Column, Ref, zeroed};
use crate::enabled::record::calls_by_future::{self, Future, Held};
use crate::enabled::record::in_flight;
use crate::enabled::record::node::Node;

zeroed! {
    /// An open function, or the sentinel at the end of the list.
    #[derive(Debug)]
    pub(crate) struct Frame {
        /// The function's place; [`BOTTOM`] in the first frame, which belongs to no function.
        place: AtomicU64,
        /// The node of the call.
        node: Ref<Node>,
        /// The compiler-inserted call that reported the beginning of the function; all fields are 0 if a sled reported it.
        pub(crate) call: Call,
        /// The next outer open frame.
        below: Ref<Frame>,
        /// The frame for the next function called inside this one; `None` if that frame has not been made yet.
        above: Ref<Frame>,
    }
}

zeroed! {
    /// Identifies the compiler-inserted call that reported the beginning of a function. The place and the return address are not
    /// enough, because a function that was inlined into another one has the same place and return address as the other.
    #[derive(Debug)]
    pub(crate) struct Call {
        /// The address of the function.
        function: AtomicU64,
        /// Return address of the function.
        caller: AtomicU64,
        /// Return address of the call that reported the beginning.
        from: AtomicU64,
        /// The stack pointer at that call.
        stack: AtomicU64,
    }
}

zeroed! {
    /// An open poll of an async body. Its function is open as well, as a [`Frame`].
    #[derive(Debug)]
    pub(crate) struct OpenPoll {
        node: Ref<Node>,
        /// The other fields of the [`Poll`], in the order of their declaration.
        fields: [AtomicU64; 7],
    }
}

/// Data of a poll while it is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Poll {
    pub(crate) place: u64,
    pub(crate) node: &'static Node,
    /// The address of the future.
    pub(crate) address: u64,
    /// The number of the function that polls the future.
    pub(crate) function: u32,
    /// Tick at which the future's call began; 0 if the call is not in flight.
    pub(crate) began: u64,
    /// The [`CallId`](crate::enabled::record::in_flight::CallId) of the future's call.
    pub(crate) call: u64,
    /// The call that the thread was polling when this poll began.
    pub(crate) outer: u64,
    /// The number of this poll, counted among all polls of the same row.
    pub(crate) number: u64,
}

zeroed! {
    /// The open functions of a thread. Only the thread itself uses them.
    #[repr(C)]
    #[derive(Debug)]
    pub(crate) struct Frames {
        /// The innermost frame; `None` before the thread's first function call.
        top: Ref<Frame>,
        /// The lowest address of the thread's own stack.
        low: AtomicU64,
        /// The size of the thread's own stack, in bytes.
        bytes: AtomicU64,
        /// Number of functions that returned.
        pub(crate) returned: AtomicU64,
        all: Column<Frame>,
        made: AtomicU32,
        polls: Column<OpenPoll>,
        open_polls: AtomicU32,
        /// Number of functions that ended without returning.
        pub(crate) unwound: AtomicU64,
        /// Number of events on the stacks of coroutines and signal handlers. Such events are otherwise ignored.
        pub(crate) elsewhere: AtomicU64,
    }
}

/// Place of the first frame. It is higher than any address on a stack.
const BOTTOM: u64 = u64::MAX;

impl Frame {
    /// Offset of `place` in a frame, for assembly.
    #[cfg(all(feature = "functions", target_env = "gnu"))]
    pub(crate) const PLACE: usize = std::mem::offset_of!(Self, place);

    #[inline(always)]
    pub(crate) fn place(&self) -> u64 {
        self.place.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn node(&self) -> Option<&'static Node> {
        self.node.get()
    }

    pub(crate) fn below(&self) -> Option<&'static Self> {
        self.below.get()
    }

    #[inline(always)]
    pub(crate) fn above(&self) -> Option<&'static Self> {
        self.above.get()
    }
}

impl Call {
    #[inline(always)]
    pub(crate) fn set(&self, function: u64, caller: u64, from: u64, stack: u64) {
        self.function.store(function, Ordering::Relaxed);
        self.caller.store(caller, Ordering::Relaxed);
        self.from.store(from, Ordering::Relaxed);
        self.stack.store(stack, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn function(&self) -> u64 {
        self.function.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn caller(&self) -> u64 {
        self.caller.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn from(&self) -> u64 {
        self.from.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn stack(&self) -> u64 {
        self.stack.load(Ordering::Relaxed)
    }
}

impl Frames {
    /// Offset of `top` in the frames, for assembly.
    #[cfg(all(feature = "functions", target_env = "gnu"))]
    pub(crate) const TOP: usize = std::mem::offset_of!(Self, top);

    /// Discards all frames and resets the counters, before the tree is reused.
    pub(crate) fn clear(&self) {
        self.top.set(None);
        self.open_polls.store(0, Ordering::Relaxed);
        for counter in [&self.returned, &self.unwound, &self.elsewhere] {
            counter.store(0, Ordering::Relaxed);
        }
    }

    /// Creates the first frame, for a thread whose stack has this lowest address and this size. Returns false if there is no
    /// memory.
    pub(crate) fn begin(&self, low: u64, bytes: u64) -> bool {
        self.low.store(low, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
        let Some(bottom) = self.all.make(0) else {
            return false;
        };
        bottom.place.store(BOTTOM, Ordering::Relaxed);
        self.made
            .store(self.made.load(Ordering::Relaxed).max(1), Ordering::Relaxed);
        self.top.set(Some(bottom));
        true
    }

    #[inline(always)]
    pub(crate) fn top(&self) -> Option<&'static Frame> {
        self.top.get()
    }

    /// Returns the end of the thread's own stack.
    #[inline(always)]
    pub(crate) fn stack_end(&self) -> u64 {
        self.low
            .load(Ordering::Relaxed)
            .wrapping_add(self.bytes.load(Ordering::Relaxed))
    }

    /// Returns whether a place is not on the thread's own stack.
    #[inline(always)]
    pub(crate) fn is_elsewhere(&self, place: u64) -> bool {
        place.wrapping_sub(self.low.load(Ordering::Relaxed)) >= self.bytes.load(Ordering::Relaxed)
    }

    /// Counts an event that happened on another stack.
    #[inline(always)]
    pub(crate) fn note_elsewhere(&self) {
        add(&self.elsewhere, 1);
    }

    /// Opens `frame`, which must be the [`Frame::above`] of the innermost frame.
    #[inline(always)]
    pub(crate) fn open(&self, frame: &'static Frame, place: u64, node: &'static Node) {
        frame.place.store(place, Ordering::Relaxed);
        frame.node.set(Some(node));
        self.top.set(Some(frame));
    }

    /// Opens the next frame, creating it if needed. Returns false if there is no memory; then the function is open in the tree,
    /// but has no frame.
    pub(crate) fn open_next(&self, place: u64, node: &'static Node) -> bool {
        let top = self.top();
        let frame = top.and_then(|top| top.above().or_else(|| self.make_above(top)));
        if let Some(frame) = frame {
            self.open(frame, place, node);
        }
        frame.is_some()
    }

    /// Records that the function opened last is polling a future. Returns false if there is no memory.
    pub(crate) fn open_poll(&self, poll: &Poll) -> bool {
        let count = self.open_polls.load(Ordering::Relaxed);
        let Some(open) = self.polls.get(count).or_else(|| self.polls.make(count)) else {
            return false;
        };
        open.node.set(Some(poll.node));
        let fields = [
            poll.place,
            poll.address,
            poll.function.into(),
            poll.began,
            poll.call,
            poll.outer,
            poll.number,
        ];
        for (to, value) in open.fields.iter().zip(fields) {
            to.store(value, Ordering::Relaxed);
        }
        self.open_polls.store(count + 1, Ordering::Relaxed);
        true
    }

    /// Removes and returns the innermost open poll, if the place of its function is `place`.
    pub(crate) fn take_poll_at(&self, place: u64) -> Option<Poll> {
        self.take_poll(|found| found == place)
    }

    /// Removes and returns the innermost open poll, if its function has ended without an event. The parameters have the
    /// same meaning as in [`close_below`](Self::close_below).
    pub(crate) fn take_ended_poll(&self, place: u64, at_it: bool) -> Option<Poll> {
        self.take_poll(|found| found < place || at_it && found == place)
    }

    fn take_poll(&self, is_wanted: impl Fn(u64) -> bool) -> Option<Poll> {
        let last = self.open_polls.load(Ordering::Relaxed).checked_sub(1)?;
        let poll = self.poll_at(last).filter(|poll| is_wanted(poll.place))?;
        self.open_polls.store(last, Ordering::Relaxed);
        Some(poll)
    }

    /// Returns the poll that has ended last among those that were as deeply nested as the next poll will be. It may have been a
    /// poll of an earlier thread.
    pub(crate) fn last_poll(&self) -> Option<Poll> {
        self.poll_at(self.open_polls.load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn poll_at(&self, index: u32) -> Option<Poll> {
        let open = self.polls.get(index)?;
        let fields = open.fields.each_ref().map(|field| field.load(Ordering::Relaxed));
        let [place, address, function, began, call, outer, number] = fields;
        Some(Poll {
            place,
            node: open.node.get()?,
            address,
            function: function as u32,
            began,
            call,
            outer,
            number,
        })
    }

    fn make_above(&self, top: &'static Frame) -> Option<&'static Frame> {
        let index = self.made.load(Ordering::Relaxed);
        let frame = self.all.make(index)?;
        self.made.store(index + 1, Ordering::Relaxed);
        frame.below.set(Some(top));
        frame.above.set(None);
        top.above.set(Some(frame));
        Some(frame)
    }

    /// Returns whether the innermost function or the innermost open poll has ended without an event. The parameters have the same
    /// meaning as in [`close_below`](Self::close_below).
    #[inline]
    pub(crate) fn has_ended(&self, place: u64, at_it: bool) -> bool {
        let first_open = place + u64::from(at_it);
        let polls = self.open_polls.load(Ordering::Relaxed);
        let poll = polls.checked_sub(1).and_then(|index| self.polls.get(index));
        self.top().is_some_and(|top| top.place() < first_open)
            || poll.is_some_and(|poll| poll.fields[0].load(Ordering::Relaxed) < first_open)
    }

    /// Closes the innermost frame, whose function has returned.
    #[inline(always)]
    pub(crate) fn close(&self, top: &'static Frame) {
        add(&self.returned, 1);
        self.top.set(top.below.get());
    }

    /// Closes all frames whose place is below `place`, and if `at_it` is true, also those whose place is equal to it. Their
    /// functions have ended without returning. Returns the node of the outermost closed frame.
    pub(crate) fn close_below(&self, place: u64, at_it: bool) -> Option<&'static Node> {
        self.close_while(|frame| frame.place() < place || at_it && frame.place() == place)
    }

    /// Closes the `count` innermost frames, whose functions have ended without returning. Returns the node of the outermost
    /// closed frame.
    pub(crate) fn close_inner(&self, count: usize) -> Option<&'static Node> {
        let mut left = count;
        self.close_while(|_| left.checked_sub(1).map(|rest| left = rest).is_some())
    }

    /// Closes all frames whose nodes are inside `node`, because the scope of `node` has ended. Returns the number of closed
    /// frames.
    pub(crate) fn close_inside(&self, node: &'static Node) -> u64 {
        let before = self.unwound.load(Ordering::Relaxed);
        self.close_while(|frame| frame.node().is_some_and(|open| open.depth() > node.depth()));
        self.unwound.load(Ordering::Relaxed) - before
    }

    /// Closes all frames, because the thread stops counting. The calls of futures that it is polling stay in flight, or vanish if
    /// the thread `has_ended`. `row_of` returns the number of a node's [`Owner`](super::owner::Owner).
    pub(crate) fn close_all(&self, row_of: impl Fn(&'static Node) -> u64, has_ended: bool) {
        self.close_while(|_| true);
        while let Some(poll) = self.take_poll(|_| true) {
            poll.leave(row_of(poll.node), has_ended);
        }
    }

    /// Returns the place of the innermost open poll of a future.
    pub(crate) fn place_of(&self, future: Future) -> Option<u64> {
        let open = (0..self.open_polls.load(Ordering::Relaxed)).rev();
        let mut open = open.filter_map(|index| Some(&self.polls.get(index)?.fields));
        let [place, ..] = open.find(|[_, address, function, ..]| {
            let [address, function] = [address, function].map(|field| field.load(Ordering::Relaxed));
            (address, function) == (future.address, future.function.into())
        })?;
        Some(place.load(Ordering::Relaxed))
    }

    fn close_while(&self, mut has_ended: impl FnMut(&Frame) -> bool) -> Option<&'static Node> {
        let mut outermost = None;
        while let Some(top) = self.top()
            && top.place() != BOTTOM
            && has_ended(top)
        {
            add(&self.unwound, 1);
            outermost = top.node();
            self.top.set(top.below.get());
        }
        outermost
    }
}

impl Poll {
    /// Returns the key under which the call will be found at its next poll.
    pub(crate) fn future(&self) -> Future {
        Future {
            address: self.address,
            function: self.function,
        }
    }

    /// Forgets the open poll. If the thread has ended, so has the call. If not, the call stays in flight, and the poll continues
    /// without being observed.
    fn leave(&self, row: u64, has_ended: bool) {
        if let Some(slot) = in_flight::slot_of(self.call) {
            slot.set_polled(false);
        }
        let held = Held {
            began: self.began,
            call: self.call,
            row,
            // The state is unknown, because the poll continues without being observed.
            state: 0,
        };
        if self.began == 0 {
            return;
        }
        if has_ended {
            _ = held.vanish();
        } else {
            calls_by_future::keep(self.future(), held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::arena::zeros;
    use crate::enabled::record::site::Site;
    use crate::enabled::record::tree::tests::opened;
    use crate::enabled::record::tree::{NO_LIMIT, Tree};

    static F: Site = Site::named("f", "m", "f.rs", 1);

    /// Returns a chain of open nodes.
    fn nodes(tree: &Tree, depth: usize) -> Vec<&'static Node> {
        let mut at = tree.take().unwrap();
        let mut all = Vec::new();
        for _ in 0..depth {
            at = tree.add_child(at, &F, || true).unwrap();
            all.push(at);
        }
        all
    }

    fn counts(frames: &Frames) -> (u64, u64) {
        (
            frames.returned.load(Ordering::Relaxed),
            frames.unwound.load(Ordering::Relaxed),
        )
    }

    #[test]
    fn frames_close_in_order_and_are_used_again() {
        let tree = opened(NO_LIMIT, 1000, 1000);
        let nodes = nodes(&tree, 600);
        let frames: Box<Frames> = Box::new(zeros());
        assert!(frames.top().is_none() && frames.begin(1000, 100_000));
        for _ in 0..3 {
            for (depth, node) in nodes.iter().enumerate() {
                frames.open_next(90_000 - depth as u64 * 8, node);
            }
            for node in nodes.iter().rev() {
                let top = frames.top().unwrap();
                assert!(std::ptr::eq(top.node().unwrap(), *node));
                frames.close(top);
            }
        }
        assert_eq!(counts(&frames), (1800, 0));
        assert_eq!(frames.made.load(Ordering::Relaxed), 601);
        assert!(frames.is_elsewhere(999) && !frames.is_elsewhere(1000) && frames.is_elsewhere(101_000));
    }

    #[test]
    fn what_ended_without_an_event_is_closed_by_the_next_one_above() {
        let tree = opened(NO_LIMIT, 1000, 1000);
        let nodes = nodes(&tree, 4);
        let frames: Box<Frames> = Box::new(zeros());
        assert!(frames.begin(0, 1000));
        for (node, place) in nodes.iter().zip([900, 800, 700, 600]) {
            frames.open_next(place, node);
        }
        // The second function returns. The functions inside it have ended without an event.
        let outermost = frames.close_below(800, false).unwrap();
        assert!(std::ptr::eq(outermost, nodes[2]));
        assert_eq!(counts(&frames), (0, 2));
        // Another function begins, at the same place as the second function.
        let outermost = frames.close_below(800, true).unwrap();
        assert!(std::ptr::eq(outermost, nodes[1]));
        assert!(frames.close_below(800, true).is_none());
        // The scope of the first node ends, and then the scope around it.
        frames.open_next(700, nodes[1]);
        assert_eq!(frames.close_inside(nodes[0]), 1);
        assert_eq!(frames.top().unwrap().place(), 900);
        assert_eq!(frames.close_inside(nodes[0].parent.get().unwrap()), 1);
        assert_eq!(counts(&frames), (0, 5));
        assert_eq!(frames.top().unwrap().place(), BOTTOM);
        frames.open_next(900, nodes[0]);
        frames.close_all(|_| 0, true);
        assert_eq!(counts(&frames), (0, 6));
        assert_eq!(frames.top().unwrap().place(), BOTTOM);
    }
}
