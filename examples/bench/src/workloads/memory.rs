//! Functions that spend their time waiting for memory: their data is far larger than a core's caches, and no prefetcher
//! can predict their next address. They compute the same numbers in every run.
//!
//! Each function needs the result of the previous one, so that a core cannot run two of them at the same time.

use std::sync::LazyLock;

use super::work;
use crate::{Probe, probe};

/// Number of slots in the hash table, a power of two. They take up 128 MiB.
const SLOTS: usize = 1 << 23;
/// Number of keys in the hash table.
const KEYS: u64 = 1 << 22;
/// Number of elements in the linked list, each in its own cache line. They take up 128 MiB.
const LINKS: usize = 1 << 21;
/// Number of elements in the array that is read at random, a power of two. They take up 128 MiB.
const NUMBERS: usize = 1 << 24;

/// Number of look-ups, steps and reads per call.
const LOOK_UPS: u64 = 2;
const STEPS: u64 = 3;
const READS: u64 = 8;

static TABLE: LazyLock<Vec<Slot>> = LazyLock::new(table);
static LIST: LazyLock<Vec<Link>> = LazyLock::new(list);
static ARRAY: LazyLock<Vec<u64>> = LazyLock::new(|| (0..NUMBERS as u64).map(scattered).collect());

/// A slot of the hash table; free if the key is 0.
#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u64,
    value: u64,
}

/// An element of the linked list, as large as a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Link {
    next: u32,
    value: u64,
}

/// Scrambles a number, so that similar numbers give unrelated results (the finalizer of MurmurHash3).
#[inline(always)]
fn scattered(number: u64) -> u64 {
    let x = (number ^ number >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let x = (x ^ x >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ x >> 33
}

/// Returns the key with this index. No key is 0.
#[inline(always)]
fn key(number: u64) -> u64 {
    scattered(number % KEYS + 1)
}

fn table() -> Vec<Slot> {
    let mut slots = vec![Slot { key: 0, value: 0 }; SLOTS];
    for number in 0..KEYS {
        let key = key(number);
        let mut at = key as usize % SLOTS;
        while slots[at].key != 0 {
            at = (at + 1) % SLOTS;
        }
        slots[at] = Slot { key, value: number };
    }
    slots
}

/// Links all elements into one cycle, in random order (Sattolo's shuffle).
fn list() -> Vec<Link> {
    let mut order: Vec<u32> = (0..LINKS as u32).collect();
    for last in (1..LINKS).rev() {
        order.swap(last, (scattered(last as u64) % last as u64) as usize);
    }
    let links = order.iter().zip(0..);
    links.map(|(&next, value)| Link { next, value }).collect()
}

/// Looks up two keys in a hash table. The chains of loads for them are independent of each other.
#[inline(never)]
fn look_up<P: Probe>(table: &[Slot], state: u64) -> u64 {
    probe!(P, "look_up");
    (0..LOOK_UPS).fold(state, |sum, number| {
        let key = key(state.wrapping_add(number));
        let mut at = key as usize % SLOTS;
        while table[at].key != key {
            at = (at + 1) % SLOTS;
        }
        sum.wrapping_add(scattered(table[at].value))
    })
}

/// Follows a linked list. Each load depends on the previous one.
#[inline(never)]
fn follow<P: Probe>(list: &[Link], state: u64) -> u64 {
    probe!(P, "follow");
    let mut at = state as usize % LINKS;
    let mut sum = state;
    for _ in 0..STEPS {
        let link = &list[at];
        sum = sum.wrapping_add(scattered(link.value));
        at = link.next as usize;
    }
    sum
}

/// Reads elements at random positions. The loads are independent of each other.
#[inline(never)]
fn gather<P: Probe>(array: &[u64], state: u64) -> u64 {
    probe!(P, "gather");
    (0..READS).fold(state, |sum, number| {
        let at = scattered(state.wrapping_add(number)) as usize % NUMBERS;
        sum.wrapping_add(array[at])
    })
}

/// Computes without reading any memory.
#[inline(never)]
fn mix<P: Probe>(state: u64) -> u64 {
    probe!(P, "mix");
    work(100, state)
}

/// Calls `look_up`, `follow`, `gather` and `mix` in turn.
#[inline(never)]
pub fn memory<P: Probe>(scopes: u64) {
    let (table, list, array) = (&*TABLE, &*LIST, &*ARRAY);
    let turn = |state: u64, number| {
        let state = look_up::<P>(table, state ^ number);
        let state = follow::<P>(list, state);
        let state = gather::<P>(array, state);
        mix::<P>(state)
    };
    std::hint::black_box((0..scopes / 4).fold(1, turn));
}
