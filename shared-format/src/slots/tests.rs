use super::*;
use crate::layout::RING_FIRST;
use crate::words::read_one;
use crate::words::recorder::Recorder;

fn put(words: &impl Words, slot: usize, request: [u64; REQUEST_WORDS]) {
    for (offset, word) in request.into_iter().enumerate() {
        words.store(first_word(slot) + offset, word);
    }
}

fn ask(words: &Recorder, slot: usize, op: Op) -> [u64; REQUEST_WORDS] {
    let request = request_words(next_sequence(words, slot).unwrap(), op);
    put(words, slot, request);
    request
}

/// A reply whose outcome code is unknown is still a reply. Otherwise the viewer would report that the program does not
/// respond.
#[test]
fn a_request_is_seen_once_and_its_answer_heard() {
    for outcome in [1, 2, 3, 4, 9].map(Outcome::of) {
        let words = Recorder::new(RING_FIRST);
        let mut server = Server::default();
        assert!(server.look(&words).is_empty(), "a fresh page asks for nothing");
        let request = ask(&words, 3, Op::Interval(50_000_000));
        let found = server.look(&words);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].slot, found[0].op), (3, Some(Op::Interval(50_000_000))));
        assert_eq!(reply_to(&words, 3, &request).unwrap(), None);
        server.answer(&words, &found[0], outcome, 17, 2);
        assert!(server.look(&words).is_empty());
        let reply = reply_to(&words, 3, &request).unwrap().unwrap();
        let told = (reply.outcome, reply.record, reply.reset_epoch);
        assert_eq!(told, (outcome, 17, 2));
    }
}

#[test]
fn every_request_is_understood_as_it_was_meant() {
    let pattern = Pattern::new("book::*").unwrap();
    let longest = Pattern::new(&"x".repeat(pattern::BYTES_MAX)).unwrap();
    let modes = Mode::ALL.map(Op::Mode);
    let others = [Op::PublishNow, Op::Reset, Op::UndoReset, Op::Interval(5)];
    let sites = [
        Op::SitesOff(pattern),
        Op::SitesOn(pattern),
        Op::ForgetRule(pattern),
        Op::Watch(pattern, Over::Tail),
        Op::Watch(pattern, Over::Ns(5_000_000)),
        Op::Unwatch(pattern),
        Op::Lines(1_000),
        Op::Lines(0),
        Op::SitesOff(longest),
    ];
    for op in modes.into_iter().chain(others).chain(sites) {
        assert_eq!(Op::decode(&request_words(1, op)), Some(op));
    }
}

#[test]
fn an_unknown_request_is_passed_on_without_an_op() {
    let words = Recorder::new(RING_FIRST);
    let mut request = request_words(1, Op::PublishNow);
    request[CODE_AT] = 77;
    request[CRC_AT] = checksum(&request[..CRC_AT], &[]);
    put(&words, 5, request);
    assert_eq!(Server::default().look(&words)[0].op, None);
}

#[test]
fn a_sequence_far_ahead_is_refused_and_does_not_close_the_slot_for_ever() {
    let words = Recorder::new(RING_FIRST);
    let mut server = Server::default();
    put(&words, 1, request_words(u64::MAX, Op::Reset));
    assert!(server.look(&words).is_empty());
    assert!(server.look(&words).is_empty());
    assert_eq!(server.refused(), 1);
    ask(&words, 1, Op::Reset);
    assert_eq!(server.look(&words).len(), 1);
}

/// A viewer may die after writing any number of words of a request, and the slot may already hold an answered request.
/// The program must not carry out an incomplete request, and the slot's next owner must get the reply to its own
/// request.
#[test]
fn a_request_cut_off_at_any_word_is_none() {
    for answered in [false, true] {
        let first = request_words(1, Op::Interval(50_000_000));
        let second = request_words(2, Op::SitesOff(Pattern::new("book::*").unwrap()));
        for cut in 0..=REQUEST_WORDS {
            let words = Recorder::new(RING_FIRST);
            let mut server = Server::default();
            put(&words, 0, first);
            if answered {
                let found = server.look(&words)[0];
                server.answer(&words, &found, Outcome::Done, 1, 0);
            }
            let half = (0..).zip(second).take(cut);
            half.for_each(|(offset, word)| words.store(first_word(0) + offset, word));
            let found = server.look(&words);
            let whole = |request: &[u64; REQUEST_WORDS]| {
                (0..REQUEST_WORDS).all(|at| read_one(&words, first_word(0) + at).unwrap() == request[at])
            };
            let wanted = match () {
                () if whole(&second) => vec![Op::decode(&second)],
                () if whole(&first) && !answered => vec![Op::decode(&first)],
                () => vec![],
            };
            let ops = |found: &[Request]| found.iter().map(|request| request.op).collect::<Vec<_>>();
            assert_eq!(ops(&found), wanted, "cut at word {cut}");
            let mine = ask(&words, 0, Op::Reset);
            let found = server.look(&words);
            assert_eq!(ops(&found), [Some(Op::Reset)], "behind a cut at word {cut}");
            server.answer(&words, &found[0], Outcome::Done, 9, 1);
            assert_eq!(reply_to(&words, 0, &mine).unwrap().unwrap().record, 9);
        }
    }
}

/// The program may die in the middle of writing a reply. The viewer must then see neither this reply nor the reply to
/// the previous request.
#[test]
fn an_answer_cut_off_at_any_word_is_none() {
    let words = Recorder::new(RING_FIRST);
    let mut server = Server::default();
    ask(&words, 0, Op::Reset);
    let before = server.look(&words)[0];
    server.answer(&words, &before, Outcome::Done, 7, 1);
    let mine = ask(&words, 0, Op::Reset);
    let answered = words.stores();
    let found = server.look(&words)[0];
    server.answer(&words, &found, Outcome::Refused, 8, 2);
    let mut heard = 0;
    let all = words.stores();
    words
        .prefixes(|cut, left| {
            if cut >= answered
                && let Some(reply) = reply_to(left, 0, &mine)?
            {
                heard += 1;
                assert_eq!(
                    (reply.outcome, reply.record, reply.reset_epoch),
                    (Outcome::Refused, 8, 2),
                    "cut after {cut} of {all}"
                );
            }
            Ok::<(), FormatError>(())
        })
        .unwrap();
    assert!((1..REPLY_WORDS).contains(&heard), "heard after {heard} stores");
}

mod model {
    //! A test under loom: a viewer sends two requests, and the program replies. No request is carried out twice, and the
    //! viewer never accepts a wrong or incomplete reply.

    use crate::ring::tests::model::LoomWords;
    use tickscope_testkit::model::check;

    use super::*;

    /// The words of slot 0 that these requests and replies use. All other words stay zero.
    #[derive(Clone)]
    struct LoomSlot(LoomWords);

    fn place(index: usize) -> Option<usize> {
        match index.checked_sub(FIRST)? {
            offset @ 0..=2 => Some(offset),
            offset if offset == CRC_AT => Some(3),
            offset if offset == REQUEST_WORDS => Some(4),
            offset if offset == REQUEST_WORDS + 1 => Some(5),
            offset if offset == REQUEST_WORDS + 2 => Some(6),
            offset if offset == REQUEST_WORDS + 4 => Some(7),
            offset if offset == REQUEST_WORDS + CRC_AT => Some(8),
            _ => None,
        }
    }

    impl ReadWords for LoomSlot {
        fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError> {
            for (offset, word) in out.iter_mut().enumerate() {
                *word = place(first + offset).map_or(Ok(0), |at| read_one(&self.0, at))?;
            }
            Ok(())
        }

        fn fence_acquire(&self) {
            self.0.fence_acquire();
        }
    }

    impl Words for LoomSlot {
        fn store(&self, index: usize, value: u64) {
            if let Some(at) = place(index) {
                self.0.store(at, value);
            }
        }

        fn store_release(&self, index: usize, value: u64) {
            if let Some(at) = place(index) {
                self.0.store_release(at, value);
            }
        }

        fn fence_release(&self) {
            self.0.fence_release();
        }
    }

    /// Sends two requests, and reads the reply to the second one. The viewer yields before it reads, so the program may
    /// be preempted in the middle of writing the reply. `bound` is the maximum number of preemptions.
    fn asks_twice(bound: usize) {
        check(Some(bound), || {
            let slot = LoomSlot(LoomWords::new(9));
            let program = slot.clone();
            let thread = loom::thread::spawn(move || {
                let mut server = Server::default();
                let mut done = Vec::new();
                for _ in 0..2 {
                    for request in server.look(&program) {
                        done.push((request.sequence, request.op));
                        server.answer(&program, &request, Outcome::Done, 100 + request.sequence, 0);
                    }
                }
                done
            });
            let mut asked = Vec::new();
            let mut last = [0; REQUEST_WORDS];
            for op in [Op::Reset, Op::UndoReset] {
                let request = request_words(asked.len() as u64 + 1, op);
                put(&slot, 0, request);
                asked.push((request[0], Some(op)));
                last = request;
            }
            loom::thread::yield_now();
            if let Some(reply) = reply_to(&slot, 0, &last).unwrap() {
                assert_eq!((reply.sequence, reply.record), (last[0], 100 + last[0]));
            }
            let done = thread.join().unwrap();
            assert!(done.iter().all(|one| asked.contains(one)), "{done:?}");
            assert!(done.windows(2).all(|two| two[0].0 < two[1].0), "{done:?}");
        });
    }

    #[test]
    fn each_request_is_done_once_and_answered_to_its_asker() {
        asks_twice(1);
    }

    #[test]
    #[ignore = "takes seconds: .ci/nightly mutations"]
    fn each_request_is_done_once_whenever_both_are_preempted() {
        asks_twice(2);
    }
}
