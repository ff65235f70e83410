//! A table of the functions that report their own calls, keyed by address. Looking up a function takes no lock and does not use
//! the allocator.

use tickscope_format::snapshot;

use crate::enabled::platform::sync::{AtomicU64, Ordering};
use crate::enabled::record::arena::{Made, Ref};
use crate::enabled::record::site::Site;

/// Maximum number of functions. Calls of any functions beyond that are counted only as dropped.
const FUNCTIONS_MAX: usize = 65_536;

/// Number of slots in the table. At most half of them are in use.
const SLOTS: usize = 2 * FUNCTIONS_MAX;

/// Value of [`Function::to_return`] before the return address has been searched for. No stack is this large.
const NOWHERE: u64 = u64::MAX;

/// A function that reports its calls.
#[derive(Debug)]
pub(crate) struct Function {
    address: u64,
    /// Distance in bytes from the stack pointer, when the function reports a call, up to the return address on the stack. This is
    /// where the last search found the return address; [`NOWHERE`] before the first search.
    pub(crate) to_return: AtomicU64,
    pub(crate) site: Site,
}

static FUNCTIONS: Made<Function, FUNCTIONS_MAX> = Made::none();

/// Hash table of functions by address, with open addressing and linear probing.
static TABLE: [Ref<Function>; SLOTS] = [const { Ref::none() }; SLOTS];

#[inline(always)]
fn first_slot(address: u64) -> usize {
    (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - SLOTS.ilog2())) as usize
}

/// Returns the function at an address, if it is known.
#[inline(always)]
pub(crate) fn find(address: u64) -> Option<&'static Function> {
    let mut at = first_slot(address);
    loop {
        let function = TABLE[at % SLOTS].get_acquire()?;
        if function.address == address {
            return Some(function);
        }
        at += 1;
    }
}

/// Returns the function at an address, and adds it to the table if it is new. Returns `None` if the table is full.
#[cold]
pub(crate) fn meet(address: u64, describe: fn(u64) -> snapshot::Site) -> Option<&'static Function> {
    if let Some(known) = find(address) {
        return Some(known);
    }
    let made = FUNCTIONS.keep(Function {
        address,
        to_return: AtomicU64::new(NOWHERE),
        site: Site::of_function(address, describe),
    })?;
    let mut at = first_slot(address);
    // The loop terminates, because at least half of the slots are free.
    loop {
        let there = TABLE[at % SLOTS].set_first(made);
        if there.address == address {
            return Some(there);
        }
        at += 1;
    }
}

impl Function {
    #[inline(always)]
    pub(crate) fn to_return(&self) -> u64 {
        self.to_return.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(address: u64) -> snapshot::Site {
        snapshot::Site {
            name: format!("f{address}"),
            ..snapshot::Site::default()
        }
    }

    #[test]
    fn a_function_is_found_by_its_address_from_all_threads() {
        let addresses = || (1..2000_u64).map(|number| number << 4);
        let of_thread = || addresses().map(|at| std::ptr::from_ref(meet(at, describe).unwrap()).addr());
        std::thread::scope(|threads| {
            let all: Vec<_> = (0..4)
                .map(|_| threads.spawn(move || of_thread().collect::<Vec<_>>()))
                .collect();
            let mut all = all.into_iter().map(|thread| thread.join().unwrap());
            let first = all.next().unwrap();
            assert!(all.all(|other| other == first));
        });
        assert!(find(8).is_none());
        for at in addresses() {
            let found = find(at).unwrap();
            assert_eq!(found.address, at);
            assert_eq!(found.site.describe().name, format!("f{at}"));
        }
    }
}
