//! A small service, a shop: clients, a cache, a database, and typical faults of such programs.
//!
//! Each frame of the ray tracer sends some clients. A client is a task ([`executor`]) and makes one request
//! ([`requests`]). The outside world (a disk, a bank) is simulated by waiting.
//!
//! [`executor`]: crate::tasks::executor
//!
//! Faults and other facts that tickscope can show:
//!
//! - Orders wait for the bank, so most calls in flight at any moment are orders (see the view Tasks).
//! - The lock of the connection pool is held during a ping, and other threads wait for it ([`database`]).
//! - The cache drops entries that most requests need, which makes a later request slow ([`cache`], [`catalogue`]).
//! - An invoice blocks a thread of the executor ([`requests`]).
//! - Some clients leave before they get an answer, so calls are cancelled.
//!
//! [`database`]: crate::database

mod cache;
mod catalogue;
mod requests;
mod store;

use std::hint::black_box;
use std::sync::Arc;
use std::thread::Scope;
use std::time::Duration;

use crate::database::Database;
use crate::random::Random;
use crate::spawn::{Threads, spawn_named};
use crate::tasks::executor::Executor;
use crate::tasks::patience::within;

use self::cache::Cache;
use self::requests::{Found, Request};
use self::store::Store;

/// The number of clients that each frame sends, and the time from one client to the next.
const CLIENTS_A_FRAME: u64 = 40;
const CLIENT_GAP: Duration = Duration::from_micros(2_400);
/// One client in `CLIENTS_A_LEAVER` leaves early, after `PATIENCE`.
const CLIENTS_A_LEAVER: u32 = 25;
const PATIENCE: Duration = Duration::from_millis(2);
/// The number of threads that poll tasks.
const EXECUTOR_THREADS: usize = 2;

/// A running shop. After it is dropped, its threads end as soon as the clients that are already there have been served.
pub(crate) struct Shop {
    executor: Arc<Executor>,
    store: Arc<Store>,
}

impl Shop {
    /// Starts a shop and adds its threads to `threads`.
    ///
    /// # Panics
    /// If the system cannot start a thread.
    pub(crate) fn start<'scope>(scope: &'scope Scope<'scope, '_>, threads: &mut Threads<'scope>) -> Self {
        let shop = Self {
            executor: Arc::default(),
            store: Arc::new(Store {
                cache: Cache::new(),
                database: Database::start(scope, threads),
                timer: Arc::default(),
            }),
        };
        for index in 0..EXECUTOR_THREADS {
            let executor = Arc::clone(&shop.executor);
            threads.push(spawn_named(scope, format!("executor-{index}"), move || {
                executor.run()
            }));
        }
        let timer = Arc::clone(&shop.store.timer);
        threads.push(spawn_named(scope, "timer".to_owned(), move || timer.run()));
        shop
    }

    /// Sends the clients of a frame, one after another.
    pub(crate) fn clients(&self, frame: u64) {
        let executor = Arc::clone(&self.executor);
        let store = Arc::clone(&self.store);
        self.executor.spawn(async move {
            let mut random = Random::new(frame);
            for _ in 0..CLIENTS_A_FRAME {
                let request = Request::draw(&mut random);
                let patience = random.one_in(CLIENTS_A_LEAVER).then_some(PATIENCE);
                executor.spawn(serve(Arc::clone(&store), request, patience));
                store.timer.sleep(CLIENT_GAP).await;
            }
        });
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        // All sleeps end now, so the tasks end soon. The last task drops the last `Database`, whose threads then end.
        self.store.timer.close();
        self.executor.close();
    }
}

/// Serves one client, who may leave before the answer comes.
#[tickscope::profile(task)]
async fn serve(store: Arc<Store>, request: Request, patience: Option<Duration>) {
    let answer = answer(&store, request);
    let found = match patience {
        Some(patience) => within(store.timer.sleep(patience), answer).await,
        None => Some(answer.await),
    };
    black_box(found.map(|found| found.page()));
}

async fn answer(store: &Store, request: Request) -> Found {
    match request {
        Request::Browse { section, item } => requests::browse(store, section, item).await,
        Request::Search { first, matches } => requests::search(store, first, matches).await,
        Request::Order { item, bank } => requests::order(store, item, bank).await,
        Request::Invoice { item } => requests::invoice(item).await,
    }
}
