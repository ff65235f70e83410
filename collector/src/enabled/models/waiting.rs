//! Models of threads that wait for a lock while other threads release it.

use crate::enabled::platform::sync::modelled;
use crate::enabled::record::waiters::Waiters;

/// Threads begin and stop waiting while two holders release the lock. Whatever the order, the holders together are
/// charged no more than the waiting time, and no waiter is left.
#[test]
fn holders_take_no_more_than_was_waited() {
    static WAITERS: Waiters = Waiters::new();
    modelled::check(Some(3), || {
        let one = modelled::spawn(|| {
            WAITERS.join(10);
            WAITERS.leave(40);
        });
        let holder = modelled::spawn(|| WAITERS.take(30));
        WAITERS.join(20);
        let taken = WAITERS.take(30);
        WAITERS.leave(35);
        one.join().unwrap();
        // The first thread waits until tick 40 at the latest, and the second until tick 35.
        let sum = taken + holder.join().unwrap();
        assert!(sum <= 30 + 15, "{sum}");
        assert!(!WAITERS.any());
    });
}

/// Two threads begin to wait at the same time. Neither discards the other's waiting time, and a later holder is not
/// charged for earlier waits.
#[test]
fn who_begins_to_wait_leaves_the_waits_of_others() {
    static WAITERS: Waiters = Waiters::new();
    modelled::check(None, || {
        let other = modelled::spawn(|| WAITERS.join(20));
        WAITERS.join(20);
        other.join().unwrap();
        assert_eq!(WAITERS.take(30), 2 * 10);
        WAITERS.leave(40);
        WAITERS.leave(40);
        assert!(!WAITERS.any());
        WAITERS.join(50);
        assert_eq!(WAITERS.take(60), 10);
    });
}
