//! Async calls that end in all possible ways and move between threads. The program also counts its calls itself.

mod executor;

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use executor::{sleep, spawn, yield_now};

/// Number of calls of one function: begun, completed, and dropped before completion.
struct Account {
    name: &'static str,
    began: AtomicU64,
    ended: AtomicU64,
    cancelled: AtomicU64,
}

struct Call {
    account: &'static Account,
    is_ready: bool,
}

impl Account {
    const fn new(name: &'static str) -> Self {
        let [began, ended, cancelled] = [const { AtomicU64::new(0) }; 3];
        Self {
            name,
            began,
            ended,
            cancelled,
        }
    }

    fn call(&'static self) -> Call {
        self.began.fetch_add(1, Ordering::SeqCst);
        Call {
            account: self,
            is_ready: false,
        }
    }
}

impl Call {
    fn ready(mut self) {
        self.is_ready = true;
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let account = self.account;
        let over = if self.is_ready {
            &account.ended
        } else {
            &account.cancelled
        };
        over.fetch_add(1, Ordering::SeqCst);
    }
}

static LEAF: Account = Account::new("leaf");
static MIDDLE: Account = Account::new("middle");
static BOXED: Account = Account::new("boxed");
static TEXT: Account = Account::new("text");
static FALLS: Account = Account::new("falls");
static REQUEST: Account = Account::new("request");
static WAITS: Account = Account::new("waits");

#[cfg_attr(marked, tickscope::profile)]
async fn leaf(call: u64) -> u64 {
    let own = LEAF.call();
    for _ in 0..call % 4 {
        yield_now().await;
    }
    if call.is_multiple_of(5) {
        sleep(Duration::from_millis(3 + call % 3)).await;
    }
    own.ready();
    call
}

#[cfg_attr(marked, tickscope::profile)]
async fn middle(call: u64) -> u64 {
    let own = MIDDLE.call();
    let sum = leaf(call).await + leaf(call + 1).await;
    own.ready();
    sum
}

/// Returns a value that is too large for registers.
#[cfg_attr(marked, tickscope::profile)]
async fn text(call: u64) -> String {
    let own = TEXT.call();
    yield_now().await;
    own.ready();
    call.to_string()
}

#[cfg_attr(marked, tickscope::profile)]
async fn boxed(call: u64) -> u64 {
    let own = BOXED.call();
    let inner: Pin<Box<dyn Future<Output = u64> + Send>> = Box::pin(leaf(call));
    let sum = inner.await + text(call).await.len() as u64;
    own.ready();
    sum
}

#[cfg_attr(marked, tickscope::profile)]
async fn falls(call: u64) -> u64 {
    let own = FALLS.call();
    yield_now().await;
    assert!(call.is_multiple_of(2), "it falls");
    own.ready();
    call
}

/// Is never ready.
#[cfg_attr(marked, tickscope::profile)]
async fn waits(call: u64) -> u64 {
    let own = WAITS.call();
    std::future::pending::<()>().await;
    own.ready();
    call
}

/// Waits until one of two futures is ready, and then drops both.
async fn first(one: impl Future<Output = u64>, other: impl Future<Output = u64>) -> u64 {
    let (mut one, mut other) = (pin!(one), pin!(other));
    std::future::poll_fn(move |context| match one.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(value),
        Poll::Pending => other.as_mut().poll(context),
    })
    .await
}

#[cfg_attr(marked, tickscope::profile)]
async fn request(call: u64) -> u64 {
    let own = REQUEST.call();
    let value = match call % 7 {
        0 => middle(call).await,
        1 => boxed(call).await,
        2 => first(waits(call), leaf(call)).await,
        // The callee runs on other threads.
        3 => spawn(middle(call)).await.unwrap_or_default(),
        // The call may be polled on one thread and dropped on another.
        4 => {
            let task = spawn(waits(call));
            yield_now().await;
            task.abort();
            task.await.unwrap_or(3)
        }
        5 => spawn(falls(call / 7)).await.unwrap_or(5),
        // The call is never polled.
        _ => {
            drop(leaf(call));
            1
        }
    };
    own.ready();
    value
}

static ENDS: AtomicBool = AtomicBool::new(false);

fn main() {
    let until_input_ends = std::env::args().nth(1).is_some_and(|word| word == "until-input-ends");
    let calls = if until_input_ends { u64::MAX } else { 700 };
    if until_input_ends {
        std::thread::spawn(|| {
            let _ = std::io::stdin().lines().count();
            ENDS.store(true, Ordering::SeqCst);
        });
    }
    std::panic::set_hook(Box::new(|_| {}));
    executor::start(3);
    let clients: Vec<_> = (0..20)
        .map(|client| {
            spawn(async move {
                let mut sum = 0;
                for call in (client..calls).step_by(20) {
                    if ENDS.load(Ordering::SeqCst) {
                        break;
                    }
                    sum += request(call).await;
                }
                sum
            })
        })
        .collect();
    let sum: u64 = clients
        .into_iter()
        .map(|client| executor::block_on(client).unwrap())
        .sum();
    // Some calls remain in flight on this thread.
    let mut left = [waits(1), waits(2), waits(3)].map(Box::pin);
    for call in &mut left {
        let poll = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll.is_pending());
    }
    // A call whose body has panicked is over.
    let mut odd = Box::pin(falls(1));
    let mut context = Context::from_waker(Waker::noop());
    assert!(odd.as_mut().poll(&mut context).is_pending());
    let fell = std::panic::catch_unwind(AssertUnwindSafe(|| odd.as_mut().poll(&mut context).is_ready()));
    assert!(fell.is_err());
    executor::settle();
    println!("{sum}");
    for account in [&REQUEST, &MIDDLE, &BOXED, &TEXT, &LEAF, &FALLS, &WAITS] {
        let [began, ended, cancelled] =
            [&account.began, &account.ended, &account.cancelled].map(|value| value.load(Ordering::SeqCst));
        println!("{} {began} {ended} {cancelled}", account.name);
    }
    std::process::exit(0);
}
