//! The open functions of a thread, each with its *place*: the stack address that holds its return address.
//!
//! The compiler's sleds are at a function's first instruction, instead of its return, and before a tail call. At all three, the
//! stack pointer is equal to the function's place. No other open function has the same place, so the place identifies the
//! function of an event. Functions with lower places have ended without an event: they were unwound by a panic, jumped over by
//! `longjmp`, never returned, or their sleds were switched off during the call.

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering, add};
use crate::enabled::record::arena::{Column, Ref, zeroed};
use crate::enabled::record::calls_by_future::{self, Future, Held};
use crate::enabled::record::in_flight;
use crate::enabled::record::node::Node;

zeroed! {
    /// An open function, or the end of the list.
    #[derive(Debug)]
    pub(crate) struct Frame {
        /// The function's place; [`BOTTOM`] in the first frame, which belongs to no function.
        place: AtomicU64,
        /// The node of the call.
        node: Ref<Node>,
        /// The inserted call that has reported the function's beginning; all fields are 0 if a sled has reported it.
        pub(crate) call: Call,
        /// The next outer open frame.
        below: Ref<Frame>,
        /// The frame to use for a call inside this call; `None` if that frame is not made yet.
        above: Ref<Frame>,
    }
}

zeroed! {
    /// Identifies the call, inserted by the compiler, that has reported the beginning of a function. The place and the return
    /// address do not suffice, because functions that were inlined into one another share both.
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
        /// The other fields of the [`Poll`], in their order.
        fields: [AtomicU64; 7],
    }
}

/// Data of a poll while it is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Poll {
    pub(crate) place: u64,
    pub(crate) node: &'static Node,
    /// The address of the future, and the number of the function that polls it.
    pub(crate) address: u64,
    pub(crate) function: u32,
    /// Tick at which the future's call began, and its [`CallId`](crate::enabled::record::in_flight::CallId).
    pub(crate) began: u64,
    pub(crate) call: u64,
    /// The call that the thread was polling when this poll began.
    pub(crate) outer: u64,
    /// The number of this poll among the polls of its row.
    pub(crate) number: u64,
}

zeroed! {
    /// The open functions of a thread. Only the thread itself uses them.
    #[derive(Debug)]
    pub(crate) struct Frames {
        /// The innermost frame; `None` before the thread's first function.
        top: Ref<Frame>,
        /// The thread's own stack: its lowest address and its size in bytes.
        low: AtomicU64,
        bytes: AtomicU64,
        all: Column<Frame>,
        made: AtomicU32,
        polls: Column<OpenPoll>,
        open_polls: AtomicU32,
        /// Number of functions that returned.
        pub(crate) returned: AtomicU64,
        /// Number of functions that ended without returning.
        pub(crate) unwound: AtomicU64,
        /// Number of events on other stacks: stacks of coroutines and of signal handlers. These events are not counted.
        pub(crate) elsewhere: AtomicU64,
    }
}

/// Place in the first frame, higher than all addresses on a stack.
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

    /// Forgets all frames, before the tree is used again.
    pub(crate) fn clear(&self) {
        self.top.set(None);
        self.open_polls.store(0, Ordering::Relaxed);
        for counter in [&self.returned, &self.unwound, &self.elsewhere] {
            counter.store(0, Ordering::Relaxed);
        }
    }

    /// Makes the first frame, for a thread with this stack. Returns false if there is no memory.
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

    /// Counts an event on another stack.
    #[inline(always)]
    pub(crate) fn note_elsewhere(&self) {
        add(&self.elsewhere, 1);
    }

    /// Opens `frame`, which is [`Frame::above`] of the innermost frame.
    #[inline(always)]
    pub(crate) fn open(&self, frame: &'static Frame, place: u64, node: &'static Node) {
        frame.place.store(place, Ordering::Relaxed);
        frame.node.set(Some(node));
        self.top.set(Some(frame));
    }

    /// Opens the next frame, and makes it if needed. Returns false if there is no memory. The function is then open only in the
    /// tree.
    #[cold]
    pub(crate) fn open_next(&self, place: u64, node: &'static Node) -> bool {
        let top = self.top();
        let frame = top.and_then(|top| top.above().or_else(|| self.make_above(top)));
        if let Some(frame) = frame {
            self.open(frame, place, node);
        }
        frame.is_some()
    }

    /// Notes that the function that was just opened is a poll. Returns false if there is no memory.
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

    /// Removes the innermost open poll and returns it, if its function has this place.
    pub(crate) fn take_poll_at(&self, place: u64) -> Option<Poll> {
        self.take_poll(|found| found == place)
    }

    /// Removes the innermost open poll and returns it, if its function has ended without an event: see
    /// [`close_below`](Self::close_below).
    pub(crate) fn take_ended_poll(&self, place: u64, at_it: bool) -> Option<Poll> {
        self.take_poll(|found| found < place || at_it && found == place)
    }

    fn take_poll(&self, is_wanted: impl Fn(u64) -> bool) -> Option<Poll> {
        let count = self.open_polls.load(Ordering::Relaxed).checked_sub(1)?;
        let open = self.polls.get(count)?;
        let fields = open.fields.each_ref().map(|field| field.load(Ordering::Relaxed));
        let [place, address, function, began, call, outer, number] = fields;
        let poll = Poll {
            place,
            node: open.node.get()?,
            address,
            function: function as u32,
            began,
            call,
            outer,
            number,
        };
        is_wanted(poll.place).then(|| self.open_polls.store(count, Ordering::Relaxed))?;
        Some(poll)
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

    /// Closes the innermost frame, whose function has returned.
    #[inline(always)]
    pub(crate) fn close(&self, top: &'static Frame) {
        add(&self.returned, 1);
        self.top.set(top.below.get());
    }

    /// Closes all frames whose places are below `place`, or equal to it if `at_it` is true. Their functions have ended without
    /// returning. Returns the node of the outermost closed frame.
    pub(crate) fn close_below(&self, place: u64, at_it: bool) -> Option<&'static Node> {
        self.close_while(|frame| frame.place() < place || at_it && frame.place() == place)
    }

    /// Closes the `count` innermost frames, whose functions have ended without returning. Returns the node of the outermost
    /// closed frame.
    pub(crate) fn close_inner(&self, count: usize) -> Option<&'static Node> {
        let mut left = count;
        self.close_while(|_| left.checked_sub(1).map(|rest| left = rest).is_some())
    }

    /// Closes the frames of nodes inside `node`, the node of a scope that has ended. Returns the number of closed frames.
    pub(crate) fn close_inside(&self, node: &'static Node) -> u64 {
        let before = self.unwound.load(Ordering::Relaxed);
        self.close_while(|frame| frame.node().is_some_and(|open| open.depth() > node.depth()));
        self.unwound.load(Ordering::Relaxed) - before
    }

    /// Closes all frames, because the thread no longer counts. Calls of futures that are polled stay in flight.
    pub(crate) fn close_all(&self) {
        self.close_while(|_| true);
        while let Some(poll) = self.take_poll(|_| true) {
            poll.leave();
        }
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
    /// Returns the key under which the call is found at its next poll.
    pub(crate) fn future(&self) -> Future {
        Future {
            address: self.address,
            function: self.function,
        }
    }

    /// Forgets the open poll, which continues unseen, and keeps its call in flight.
    fn leave(&self) {
        if let Some(slot) = in_flight::slot_of(self.call) {
            slot.set_polled(false);
        }
        let held = Held {
            began: self.began,
            call: self.call,
            row: 0,
            // The state is unknown, because the poll continues unseen.
            state: 0,
        };
        if self.began != 0 && !calls_by_future::TABLE.put(self.future(), held) {
            in_flight::end_without_tree(self.call);
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
        // The second function returns, and the functions inside it have ended without an event.
        let outermost = frames.close_below(800, false).unwrap();
        assert!(std::ptr::eq(outermost, nodes[2]));
        assert_eq!(counts(&frames), (0, 2));
        // Another function begins at the place of the second function.
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
        frames.close_all();
        assert_eq!(counts(&frames), (0, 6));
        assert_eq!(frames.top().unwrap().place(), BOTTOM);
    }
}
