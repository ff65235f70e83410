//! Tasks: profiled futures that are polled by an executor. The time from each wake to the next poll is measured.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::enabled::future::{Profiled, profile_future};
use crate::enabled::platform::sync::{AtomicU64, Ordering};
use crate::enabled::record::current_thread;
use crate::enabled::record::labelled_sites::{self, Label};
use crate::enabled::record::site::Site;
use crate::enabled::record::site_name::Labelled;
use crate::enabled::runtime::config;

/// A profiled future that is the root of a task. It polls the inner future with a waker of its own, which notes the
/// time of the wake and then calls the executor's waker. It therefore works with every executor.
#[must_use = "futures do nothing unless they are awaited or polled"]
pub struct Task<F> {
    future: Profiled<F>,
    /// Created at the first poll, and again if the executor passes a different waker.
    wake: Option<NotedWake>,
}

/// The waker that is passed to the future, and its data.
struct NotedWake {
    noted: Arc<Noted>,
    waker: Waker,
}

struct Noted {
    /// The tick of the first wake since the last poll; 0 if there was none.
    woken: AtomicU64,
    executor: Waker,
}

/// Turns a future into the root of a task, and profiles it under `name`. The time from each wake of the task to the next
/// poll is measured, and is shown as SCHED in the Tasks view. The task works with every executor. Latencies, cancelled
/// calls and calls in flight are measured in the same way as with [`future!`](crate::future!).
///
/// Long delays mean that the executor is busy with other tasks, or that a poll blocks it. The first poll has no delay,
/// because it is not known when the task was spawned. Each wake and each poll costs about 20 ns, and each task costs one
/// allocation.
///
/// ```
/// # fn spawn<F: Future<Output = usize> + Send + 'static>(future: F) -> F { future }
/// let task = spawn(tickscope::task("import", async { 7 }));
/// # let mut task = std::pin::pin!(task);
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert_eq!(task.as_mut().poll(&mut context), std::task::Poll::Ready(7));
/// ```
///
/// For an `async fn`, write `#[profile(task)]` instead.
#[track_caller]
pub fn task<F: IntoFuture>(name: &'static str, future: F) -> impl Future<Output = F::Output> {
    profile_task(labelled_sites::of(Labelled::Task, Label::new(Some(name))), future)
}

/// Profiles a future that is the root of a task.
pub fn profile_task<F: IntoFuture>(site: &'static Site, future: F) -> Task<F::IntoFuture> {
    Task {
        future: profile_future(site, future),
        wake: None,
    }
}

impl<F: Future> Future for Task<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: nothing is moved out of the pinned value here.
        let this = unsafe { self.get_unchecked_mut() };
        let may_count = this.future.may_count();
        // SAFETY: the future is pinned together with `self`, and nothing moves it out of `self`.
        let future = unsafe { Pin::new_unchecked(&mut this.future) };
        if !may_count {
            return future.poll(context);
        }
        let wake = this.wake.take();
        let wake = wake.filter(|wake| wake.noted.executor.will_wake(context.waker()));
        let wake = this
            .wake
            .insert(wake.unwrap_or_else(|| NotedWake::of(context.waker())));
        let delay = wake.noted.delay();
        future.poll_after(delay, &mut Context::from_waker(&wake.waker))
    }
}

impl NotedWake {
    #[cold]
    fn of(executor: &Waker) -> Self {
        let _own = current_thread::own_work();
        let noted = Arc::new(Noted {
            woken: AtomicU64::new(0),
            executor: executor.clone(),
        });
        Self {
            waker: Waker::from(Arc::clone(&noted)),
            noted,
        }
    }
}

impl Noted {
    fn note(&self) {
        if self.woken.load(Ordering::Relaxed) == 0 {
            let now = config::now().max(1);
            // Only the first of several wakes counts. If two come at the same time, either of them may count.
            self.woken.store(now, Ordering::Relaxed);
        }
    }

    /// Returns the ticks since the first wake, and forgets the wake. Returns `None` if there was no wake since the last
    /// poll.
    fn delay(&self) -> Option<u64> {
        let is_woken = self.woken.load(Ordering::Relaxed) != 0;
        is_woken.then(|| {
            let woken = self.woken.swap(0, Ordering::Relaxed);
            config::now().saturating_sub(woken)
        })
    }
}

impl Wake for Noted {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.note();
        self.executor.wake_by_ref();
    }
}

impl<F> fmt::Debug for Task<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("name", &self.future.name())
            .finish_non_exhaustive()
    }
}
