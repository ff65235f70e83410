//! The sites of locks and of named tasks. Locks with the same name that are created at the same place in the source share one
//! site for each kind of wait. It is made at the first wait of that kind. Tasks with the same name and place share one site,
//! which is made along with the first of these tasks. Looking up a site takes no lock and does not use the allocator.

use std::panic::Location;

use crate::enabled::record::arena::{Made, Ref};
use crate::enabled::record::site::Site;
use crate::enabled::record::site_name::Labelled;

/// Maximum number of sites. Locks and tasks beyond that share one site for each kind.
const SITES_MAX: usize = 2048;

/// Number of slots in the table. At most half of them are in use.
const SLOTS: usize = 2 * SITES_MAX;

static SITES: Made<Site, SITES_MAX> = Made::none();

/// Hash table of sites by kind, name and place in the source, with open addressing and linear probing.
static TABLE: [Ref<Site>; SLOTS] = [const { Ref::none() }; SLOTS];

/// The sites that all locks and tasks beyond the maximum share, by kind.
static OTHERS: [Site; 5] = [
    others(Labelled::Mutex),
    others(Labelled::Read),
    others(Labelled::Write),
    others(Labelled::Condvar),
    others(Labelled::Task),
];

/// The label of a lock or a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label {
    pub(crate) name: Option<&'static str>,
    /// The place in the source where the lock or the task was created.
    pub(crate) place: &'static Location<'static>,
}

impl Label {
    /// Returns a label with the place of the caller in the source, and with a name if there is one.
    #[track_caller]
    pub(crate) const fn new(name: Option<&'static str>) -> Self {
        Self {
            name,
            place: Location::caller(),
        }
    }
}

/// Returns the site for waits of this kind on a lock, or the site of a task.
pub(crate) fn of(kind: Labelled, label: Label) -> &'static Site {
    let Label { name, place } = label;
    let (file, line) = (place.file(), place.line());
    let mut made = None;
    let mut at = hash(kind, label) % SLOTS;
    for _ in 0..SLOTS {
        let slot = &TABLE[at];
        let found = slot.get_acquire().or_else(|| {
            // Another thread may take the slot first. The new site then goes into the next free slot, or is never used.
            made = made.or_else(|| SITES.keep(Site::labelled(kind, name, file, line)));
            made.map(|site| slot.set_first(site))
        });
        match found {
            Some(site) if site.is_labelled(kind, name, file, line) => return site,
            Some(_) => at = (at + 1) % SLOTS,
            None => break,
        }
    }
    &OTHERS[kind as usize]
}

const fn others(kind: Labelled) -> Site {
    Site::labelled(kind, Some("(others)"), "", 0)
}

/// Hashes a label by FNV-1a.
fn hash(kind: Labelled, Label { name, place }: Label) -> usize {
    let line = place.line().to_ne_bytes();
    let name = name.unwrap_or_default().bytes();
    let file = place.file().bytes().rev().take(16);
    let bytes = line.into_iter().chain([kind as u8]).chain(name).chain(file);
    let mixed = bytes.fold(0xcbf2_9ce4_8422_2325, |mixed: u64, byte| {
        (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (mixed >> 20) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_at_one_place_is_one_site_and_too_many_share_one() {
        let here = Location::caller();
        let label = |name| Label { name, place: here };
        let one = of(Labelled::Mutex, label(Some("one")));
        assert!(std::ptr::eq(one, of(Labelled::Mutex, label(Some("one")))));
        assert!(!std::ptr::eq(one, of(Labelled::Read, label(Some("one")))));
        assert!(!std::ptr::eq(one, of(Labelled::Mutex, label(None))));
        assert_eq!(one.describe().name, "[lock] one");
        assert_eq!(one.describe().line, here.line());
        let name = |number| &*format!("lock {number}").leak();
        // Threads that use the same locks at the same time find the same sites.
        let names: Vec<&'static str> = (0..100).map(name).collect();
        let all = || -> Vec<usize> {
            let site = |&name| std::ptr::from_ref(of(Labelled::Mutex, label(Some(name)))).addr();
            names.iter().map(site).collect()
        };
        let found = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(all));
            threads.map(|thread| thread.join().unwrap())
        });
        assert!(found.iter().all(|sites| *sites == found[0]));
        for number in 0..SITES_MAX {
            of(Labelled::Write, label(Some(name(number))));
        }
        let beyond = of(Labelled::Write, label(Some("beyond")));
        assert_eq!(beyond.describe().name, "[lock] (others) (write)");
        let late = of(Labelled::Condvar, label(Some("late")));
        assert_eq!(late.describe().name, "[condvar] (others)");
        assert!(std::ptr::eq(one, of(Labelled::Mutex, label(Some("one")))));
    }
}
