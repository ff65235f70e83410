//! The target `slots`: the program's server reads what hostile viewers wrote, and viewers read what a hostile program replied.

use std::cell::RefCell;

use tickscope_format::FormatError;
use tickscope_format::layout::{RING_FIRST, slot};
use tickscope_format::slots::{self, Op, Outcome, Server, first_word};
use tickscope_format::snapshot::Site;
use tickscope_format::words::{ReadWords, Words};

use super::input::Input;
use super::open::checksum;

/// A slots page in plain memory.
pub(crate) struct Page(pub(crate) RefCell<Vec<u64>>);

impl ReadWords for Page {
    fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError> {
        out.copy_from_slice(&self.0.borrow()[first..first + out.len()]);
        Ok(())
    }

    fn fence_acquire(&self) {}
}

impl Words for Page {
    fn store(&self, index: usize, value: u64) {
        // The server writes into the slots page only.
        assert!((slot::FIRST..RING_FIRST).contains(&index));
        self.0.borrow_mut()[index] = value;
    }

    fn store_release(&self, index: usize, value: u64) {
        self.store(index, value);
    }

    fn fence_release(&self) {}
}

/// Plays the roles of the viewers and of the program, as the input directs.
pub(crate) fn run(input: &[u8]) {
    let mut input = Input(input);
    let page = Page(RefCell::new(vec![0; RING_FIRST]));
    let put = |at: usize, value: u64| page.0.borrow_mut()[at] = value;
    let mut server = Server::default();
    let mut answered: [Option<u64>; slot::COUNT] = [None; slot::COUNT];
    for _ in 0..64 {
        if input.is_empty() {
            break;
        }
        let index = input.below(slot::COUNT);
        let first = first_word(index);
        match input.byte() % 8 {
            // Any word of the slot changes.
            0 => put(first + input.below(slot::WORDS), input.number()),
            // Puts arbitrary words and a valid checksum into the request. The next arm does the same to the reply.
            1 => {
                for offset in 0..input.below(slot::REQUEST_WORDS) {
                    put(first + offset, input.number());
                }
                sign(&page, first);
            }
            2 => {
                for offset in 0..input.below(slot::REPLY_WORDS) {
                    put(first + slot::REQUEST_WORDS + offset, input.number());
                }
                sign(&page, first + slot::REQUEST_WORDS);
            }
            // Sends a request whose pattern consists of arbitrary bytes.
            3 => {
                put(first, answered[index].unwrap_or(0).wrapping_add(input.number()));
                put(first + 1, 6 + u64::from(input.byte() % 2));
                let text = input.bytes(96);
                put(first + 2, text.len() as u64);
                for (offset, chunk) in text.chunks(8).enumerate() {
                    put(first + 3 + offset, Input(chunk).word());
                }
                sign(&page, first);
            }
            // An honest viewer sends a request and reads its reply.
            4 => {
                let sequence = slots::next_sequence(&page, index).unwrap();
                let request = slots::request_words(sequence, Op::Interval(input.number()));
                for (offset, &word) in request.iter().enumerate() {
                    put(first + offset, word);
                }
                if let Some(reply) = slots::reply_to(&page, index, &request).unwrap() {
                    // The reply belongs to this request.
                    assert_eq!((reply.sequence, reply.crc), (sequence, request[15]));
                }
            }
            _ => look(&page, &mut server, &mut answered, input.byte()),
        }
    }
    look(&page, &mut server, &mut answered, 0);
    // The server accepts the next request in every state of the slot.
    let (first, sequence) = (first_word(1), answered[1].unwrap_or(0).wrapping_add(1));
    for (offset, word) in slots::request_words(sequence, Op::Reset).into_iter().enumerate() {
        put(first + offset, word);
    }
    let open = server.look(&page);
    assert!(
        open.iter()
            .any(|request| request.slot == 1 && request.op == Some(Op::Reset)),
        "a slot is closed for ever"
    );
}

fn sign(page: &Page, first: usize) {
    let mut words = page.0.borrow_mut();
    words[first + 15] = checksum(&words[first..first + 15], &[]);
}

fn look(page: &Page, server: &mut Server, answered: &mut [Option<u64>; slot::COUNT], outcome: u8) {
    let open = server.look(page);
    assert!(open.len() <= slot::COUNT);
    for request in open {
        assert_ne!(Some(request.sequence), answered[request.slot], "done twice");
        if let Some(Op::SitesOff(pattern) | Op::SitesOn(pattern) | Op::ForgetRule(pattern)) = request.op {
            let site = Site {
                name: "a::b<c>".into(),
                module: "x::yy::x".into(),
                ..Site::default()
            };
            pattern.matches(&site);
        }
        answered[request.slot] = Some(request.sequence);
        let outcomes = [
            Outcome::Done,
            Outcome::NothingToUndo,
            Outcome::Unknown,
            Outcome::Refused,
        ];
        server.answer(page, &request, outcomes[usize::from(outcome) % 4], 7, 3);
    }
    assert!(server.look(page).is_empty(), "an answered request is open");
}
