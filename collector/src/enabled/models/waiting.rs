//! A model of threads that wait for a lock while others give it back.

use crate::enabled::platform::sync::modelled;
use crate::enabled::record::waiters::Waiters;

/// A thread begins and ceases to wait while two holders give the lock back. They take no more than was waited, whichever
/// comes first, and nobody is left.
#[test]
fn holders_take_no_more_than_was_waited() {
    modelled::check(Some(2), || {
        let waiters: &'static Waiters = Box::leak(Box::new(Waiters::new()));
        let waiter = modelled::spawn(move || {
            waiters.join(10);
            waiters.leave(40);
        });
        let holder = modelled::spawn(move || waiters.take(30));
        let taken = waiters.take(35);
        waiter.join().unwrap();
        let sum = taken + holder.join().unwrap();
        assert!(sum <= 30, "{sum}");
        assert!(!waiters.any());
    });
}

/// Two threads begin to wait at once: the one that comes first does not take away what the other has waited, and nothing of
/// what was waited before is left for a later holder.
#[test]
fn who_begins_to_wait_leaves_the_waits_of_others() {
    modelled::check(Some(2), || {
        let waiters: &'static Waiters = Box::leak(Box::new(Waiters::new()));
        let other = modelled::spawn(move || waiters.join(20));
        waiters.join(20);
        other.join().unwrap();
        assert_eq!(waiters.take(30), 2 * 10);
        waiters.leave(40);
        waiters.leave(40);
        assert!(!waiters.any());
        waiters.join(50);
        assert_eq!(waiters.take(60), 10);
    });
}
