//! Models of the table of sampled blocks, whose entries change while a capture reads them.

use super::leaked;
use crate::enabled::platform::sync::modelled;
use crate::enabled::record::live_blocks::Table;

/// Returns a table that has one group of one entry, and contains one block.
fn small() -> &'static Table<1, 1> {
    let table: &'static Table<1, 1> = leaked();
    table.put(0x1000, 10, 1);
    table
}

/// Checks that a capture sees no block, or one with its own bytes and its own owner.
fn check(table: &'static Table<1, 1>) {
    for (_, owner, bytes) in table.read() {
        assert!(matches!((owner, bytes), (1, 10) | (2, 20)), "{owner} has {bytes}");
    }
}

/// A block is freed while a capture reads, and another block takes its entry.
#[test]
fn a_block_is_read_with_its_own_bytes_or_not_at_all() {
    let table = small();
    modelled::check(Some(3), move || {
        let owner = modelled::spawn(move || {
            let taken = table.take(0x1000).unwrap();
            assert_eq!((taken.owner, taken.bytes), (1, 10));
            table.put(0x2000, 20, 2);
        });
        check(table);
        owner.join().unwrap();
        assert!(table.read().map(|(_, owner, bytes)| (owner, bytes)).eq([(2, 20)]));
    });
}

/// A block was freed by a different allocator, so it is still in the table when its address belongs to another block.
#[test]
fn an_address_that_was_never_taken_out_has_its_newest_block() {
    let table = small();
    modelled::check(Some(3), move || {
        let owner = modelled::spawn(move || table.put(0x1000, 20, 2));
        check(table);
        owner.join().unwrap();
        assert!(table.read().map(|(_, owner, bytes)| (owner, bytes)).eq([(2, 20)]));
    });
}

/// A thread puts a block into an entry while another thread takes its own block out of the same entry. Whatever the
/// order, the other thread gets its own block.
#[test]
fn a_place_that_is_left_serves_another_thread() {
    let table = small();
    modelled::check(None, move || {
        let other = modelled::spawn(move || table.put(0x2000, 20, 2));
        let taken = table.take(0x1000).unwrap();
        assert_eq!((taken.owner, taken.bytes), (1, 10));
        other.join().unwrap();
        let left: Vec<_> = table.read().map(|(_, owner, bytes)| (owner, bytes)).collect();
        assert!(left.is_empty() || left == [(2, 20)], "{left:?}");
    });
}
