//! An executor: threads that take tasks from a queue, and a thread that wakes sleeping tasks.

use std::future::Future;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Task {
    /// Future of the task; `None` once the task has ended.
    future: Mutex<Option<Boxed>>,
}

/// Result of a task, and the waker of the future that waits for it. The result is `Err` if the task was dropped or
/// panicked.
struct Slot<T>(Mutex<(Option<Result<T, ()>>, Option<Waker>)>);

pub(crate) struct Handle<T> {
    task: Arc<Task>,
    slot: Arc<Slot<T>>,
}

/// Stores the result of a task, or `Err` if dropped before there is a result.
struct Teller<T>(Arc<Slot<T>>);

static QUEUE: Mutex<VecDeque<Arc<Task>>> = Mutex::new(VecDeque::new());
static MORE: Condvar = Condvar::new();
static SLEEPERS: Mutex<BTreeMap<(Instant, u64), Waker>> = Mutex::new(BTreeMap::new());
static EARLIER: Condvar = Condvar::new();
static NUMBER: AtomicU64 = AtomicU64::new(0);
static BUSY: AtomicU64 = AtomicU64::new(0);

pub(crate) fn start(workers: usize) {
    for _ in 0..workers {
        std::thread::spawn(|| {
            loop {
                let mut queue = QUEUE.lock().unwrap();
                let task = loop {
                    match queue.pop_front() {
                        Some(task) => break task,
                        None => queue = MORE.wait(queue).unwrap(),
                    }
                };
                BUSY.fetch_add(1, Ordering::SeqCst);
                drop(queue);
                task.poll();
                drop(task);
                BUSY.fetch_sub(1, Ordering::SeqCst);
            }
        });
    }
    std::thread::spawn(|| {
        let mut sleepers = SLEEPERS.lock().unwrap();
        loop {
            let now = Instant::now();
            let later = sleepers.split_off(&(now, u64::MAX));
            let due = std::mem::replace(&mut *sleepers, later);
            let next = sleepers
                .first_key_value()
                .map(|((at, _), _)| at.saturating_duration_since(now));
            if due.is_empty() {
                let rest = next.unwrap_or(Duration::from_secs(1));
                sleepers = EARLIER.wait_timeout(sleepers, rest).unwrap().0;
            } else {
                drop(sleepers);
                due.into_values().for_each(Waker::wake);
                sleepers = SLEEPERS.lock().unwrap();
            }
        }
    });
}

/// Waits until no task is queued or being polled.
pub(crate) fn settle() {
    while !QUEUE.lock().unwrap().is_empty() || BUSY.load(Ordering::SeqCst) > 0 {
        std::thread::yield_now();
    }
}

impl Task {
    fn poll(self: &Arc<Self>) {
        let mut future = self.future.lock().unwrap();
        let Some(running) = &mut *future else { return };
        let waker = Waker::from(Arc::clone(self));
        let polled = catch_unwind(AssertUnwindSafe(|| {
            running.as_mut().poll(&mut Context::from_waker(&waker))
        }));
        if !matches!(polled, Ok(Poll::Pending)) {
            *future = None;
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        QUEUE.lock().unwrap().push_back(self);
        MORE.notify_one();
    }
}

pub(crate) fn spawn<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Handle<T> {
    let slot = Arc::new(Slot(Mutex::new((None, None))));
    let teller = Teller(Arc::clone(&slot));
    let future = async move {
        let value = future.await;
        teller.tell(Ok(value));
    };
    let task = Arc::new(Task {
        future: Mutex::new(Some(Box::pin(future))),
    });
    Arc::clone(&task).wake();
    Handle { task, slot }
}

impl<T> Teller<T> {
    fn tell(&self, result: Result<T, ()>) {
        let mut slot = self.0.0.lock().unwrap();
        if slot.0.is_none() {
            slot.0 = Some(result);
            if let Some(waker) = slot.1.take() {
                waker.wake();
            }
        }
    }
}

impl<T> Drop for Teller<T> {
    fn drop(&mut self) {
        self.tell(Err(()));
    }
}

impl<T> Handle<T> {
    /// Drops the task's future.
    pub(crate) fn abort(&self) {
        let future = self.task.future.lock().unwrap().take();
        drop(future);
    }
}

impl<T> Future for Handle<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut slot = self.slot.0.lock().unwrap();
        match slot.0.take() {
            Some(result) => Poll::Ready(result.ok()),
            None => {
                slot.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

struct Unparked(std::thread::Thread);

impl Wake for Unparked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let waker = Waker::from(Arc::new(Unparked(std::thread::current())));
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        std::thread::park();
    }
}

struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

pub(crate) fn yield_now() -> impl Future<Output = ()> + Send {
    Yield(false)
}

struct Sleep {
    until: Instant,
    is_noted: bool,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.until {
            return Poll::Ready(());
        }
        if !std::mem::replace(&mut self.is_noted, true) {
            let number = NUMBER.fetch_add(1, Ordering::SeqCst);
            SLEEPERS
                .lock()
                .unwrap()
                .insert((self.until, number), context.waker().clone());
            EARLIER.notify_one();
        }
        Poll::Pending
    }
}

pub(crate) fn sleep(time: Duration) -> impl Future<Output = ()> + Send {
    Sleep {
        until: Instant::now() + time,
        is_noted: false,
    }
}
