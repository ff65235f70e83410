//! An executor: threads that poll tasks. A task is a future that no other future awaits.
//!
//! A task that is ready to be polled waits in a queue. A thread takes the first task and polls it. If the future is
//! pending, its waker puts the task back into the queue later. Any thread may poll any task.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// The tasks that are ready to be polled, and the number of all tasks.
#[derive(Default)]
pub(crate) struct Executor {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    ready: VecDeque<Arc<Task>>,
    /// The number of tasks that have not ended yet.
    alive: usize,
    /// Whether no more tasks will come from outside. Tasks may still spawn others.
    closed: bool,
}

struct Task {
    /// The future, or `None` once it has completed.
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    /// Whether the task is in the queue, so that waking it several times queues it only once.
    queued: AtomicBool,
    executor: Arc<Executor>,
}

impl Executor {
    /// Spawns a future as a task.
    pub(crate) fn spawn(self: &Arc<Self>, future: impl Future<Output = ()> + Send + 'static) {
        let alive = Alive::new(Arc::clone(self));
        let future = async move {
            let _alive = alive;
            future.await;
        };
        let task = Task {
            future: Mutex::new(Some(Box::pin(future))),
            queued: AtomicBool::new(false),
            executor: Arc::clone(self),
        };
        Arc::new(task).wake();
    }

    /// Polls tasks on the calling thread, until the executor is closed and all tasks have ended.
    pub(crate) fn run(&self) {
        while let Some(task) = self.next() {
            task.poll();
        }
    }

    /// Lets the threads end when all tasks have ended.
    pub(crate) fn close(&self) {
        self.change(|queue| queue.closed = true);
        self.changed.notify_all();
    }

    /// Waits for a task that is ready to be polled. Returns `None` once the executor is closed and all tasks have ended.
    fn next(&self) -> Option<Arc<Task>> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let mut queue = self
            .changed
            .wait_while(queue, |queue| {
                queue.ready.is_empty() && !(queue.closed && queue.alive == 0)
            })
            .unwrap_or_else(PoisonError::into_inner);
        queue.ready.pop_front()
    }

    fn change<R>(&self, change: impl FnOnce(&mut Queue) -> R) -> R {
        change(&mut self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Task {
    fn poll(self: Arc<Self>) {
        // A wake after this store queues the task again, because this poll may not see the event that caused the wake.
        // If another thread then takes the task, it blocks on the lock below until this poll has ended.
        self.queued.store(false, Ordering::Release);
        let mut slot = self.future.lock().unwrap_or_else(PoisonError::into_inner);
        let waker = Waker::from(Arc::clone(&self));
        let polled = slot
            .as_mut()
            .map(|future| future.as_mut().poll(&mut Context::from_waker(&waker)));
        if polled == Some(Poll::Ready(())) {
            *slot = None;
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            let executor = Arc::clone(&self.executor);
            executor.change(|queue| queue.ready.push_back(self));
            executor.changed.notify_one();
        }
    }
}

/// Counts a task as alive for as long as its future exists: until the future completes, or a panic drops it.
struct Alive(Arc<Executor>);

impl Alive {
    fn new(executor: Arc<Executor>) -> Self {
        executor.change(|queue| queue.alive += 1);
        Self(executor)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        let ended = self.0.change(|queue| {
            queue.alive -= 1;
            queue.closed && queue.alive == 0
        });
        if ended {
            self.0.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicU64;
    use std::thread;

    use super::*;

    /// Runs all tasks of an executor to completion, on two threads.
    fn finish(executor: &Arc<Executor>) {
        executor.close();
        thread::scope(|scope| {
            scope.spawn(|| executor.run());
            scope.spawn(|| executor.run());
        });
    }

    #[test]
    fn tasks_that_wake_themselves_and_spawn_others_all_end() {
        let executor = Arc::new(Executor::default());
        let polls = Arc::new(AtomicU64::new(0));
        for _ in 0..100 {
            let (inner, polls) = (Arc::clone(&executor), Arc::clone(&polls));
            executor.spawn(async move {
                let mut left = 50;
                poll_fn(|context| {
                    polls.fetch_add(1, Ordering::Relaxed);
                    left -= 1;
                    // Wakes twice, to test that a second wake does no harm.
                    context.waker().wake_by_ref();
                    context.waker().wake_by_ref();
                    if left == 0 { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
                let polls = Arc::clone(&polls);
                inner.spawn(async move {
                    polls.fetch_add(1, Ordering::Relaxed);
                });
            });
        }
        finish(&executor);
        assert_eq!(polls.load(Ordering::Relaxed), 100 * 51);
        assert_eq!(Arc::strong_count(&executor), 1, "no task is left");
    }
}
