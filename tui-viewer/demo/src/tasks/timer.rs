//! Sleeping for tasks: futures that complete later, and the thread that wakes the waiting tasks.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// All futures that sleep.
#[derive(Debug, Default)]
pub(crate) struct Timer {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Wakers, keyed by the time at which they are due, and by a number that distinguishes those due at the same time.
    sleeping: BTreeMap<(Instant, u64), Waker>,
    next_number: u64,
    /// Whether the timer is closed, in which case futures no longer wait.
    closed: bool,
}

/// A future that is ready at a set time, or immediately if the timer is closed.
#[derive(Debug)]
pub(crate) struct Sleep {
    timer: Arc<Timer>,
    until: Instant,
    /// Key of the future in `sleeping`; `None` until the future has been polled and has to wait.
    key: Option<(Instant, u64)>,
}

impl Timer {
    /// Returns a future that is ready after this time.
    pub(crate) fn sleep(self: &Arc<Self>, time: Duration) -> Sleep {
        Sleep {
            timer: Arc::clone(self),
            until: Instant::now() + time,
            key: None,
        }
    }

    /// Wakes tasks when their time has come, until the timer is closed.
    pub(crate) fn run(&self) {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let later = state.sleeping.split_off(&(now, u64::MAX));
            let due = std::mem::replace(&mut state.sleeping, later);
            if !due.is_empty() {
                drop(state);
                due.into_values().for_each(Waker::wake);
                state = self.lock();
                continue;
            }
            if state.closed {
                return;
            }
            state = match state.sleeping.keys().next() {
                Some(&(first, _)) => {
                    let rest = first.saturating_duration_since(now);
                    let waited = self.changed.wait_timeout(state, rest);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Ends all sleeps immediately, even those that begin later, so that the service can end without waiting for them.
    pub(crate) fn close(&self) {
        let sleeping = {
            let mut state = self.lock();
            state.closed = true;
            std::mem::take(&mut state.sleeping)
        };
        sleeping.into_values().for_each(Waker::wake);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut state = this.timer.lock();
        if state.closed || Instant::now() >= this.until {
            return Poll::Ready(());
        }
        let key = *this.key.get_or_insert_with(|| {
            state.next_number += 1;
            (this.until, state.next_number)
        });
        let is_first = state.sleeping.keys().next().is_none_or(|first| key < *first);
        state.sleeping.insert(key, context.waker().clone());
        drop(state);
        if is_first {
            this.timer.changed.notify_one();
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            // Releases the lock before dropping the waker: it may hold the last reference to a task, whose drop locks again.
            let _waker = self.timer.lock().sleeping.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn poll(sleep: &mut Sleep) -> Poll<()> {
        Pin::new(sleep).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_sleep_that_is_dropped_leaves_nothing() {
        let timer = Arc::new(Timer::default());
        let mut sleeps = [timer.sleep(HOUR), timer.sleep(HOUR)];
        for sleep in &mut sleeps {
            assert_eq!(poll(sleep), Poll::Pending);
            assert_eq!(
                poll(sleep),
                Poll::Pending,
                "a second poll waits in the same place"
            );
        }
        assert_eq!(timer.lock().sleeping.len(), 2);
        drop(sleeps);
        assert_eq!(timer.lock().sleeping.len(), 0);
    }

    #[test]
    fn closing_ends_the_sleeps_of_before_and_of_later() {
        let timer = Arc::new(Timer::default());
        let (mut before, mut later) = (timer.sleep(HOUR), timer.sleep(HOUR));
        assert_eq!(poll(&mut before), Poll::Pending);
        let running = Arc::clone(&timer);
        let thread = std::thread::spawn(move || running.run());
        timer.close();
        thread.join().unwrap();
        assert_eq!(poll(&mut before), Poll::Ready(()));
        assert_eq!(poll(&mut later), Poll::Ready(()));
    }
}
