//! A service in small, a shop: clients, tasks, a cache, a database, and what goes wrong in such programs.
//!
//! Each frame of the ray tracer brings some clients. A client is a task ([`executor`]) and asks for one thing
//! ([`requests`]). What stands for the outside (a disk, a bank) is time that passes.
//!
//! What there is to find:
//!
//! - Orders wait for the bank, so they are what is in flight at any moment (view Tasks).
//! - The lock of the connections is held during a ping, and others wait for it ([`pool`]).
//! - The cache forgets what most requests need, and then one of them is slow ([`cache`], [`catalogue`]).
//! - An invoice blocks its executor ([`requests`]).
//! - Some clients do not wait for their answer, so calls are cancelled.

mod answer;
mod cache;
mod catalogue;
mod database;
mod executor;
mod patience;
mod pool;
mod random;
mod requests;
mod shop;
mod timer;

use std::hint::black_box;
use std::sync::Arc;
use std::thread::Scope;
use std::time::Duration;

use crate::spawn::{Threads, spawn_named};

use self::cache::Cache;
use self::database::Database;
use self::executor::Executor;
use self::patience::within;
use self::random::Random;
use self::requests::{Found, Request};
use self::shop::Shop;

/// The number of clients that a frame brings, and the time from one to the next.
const CLIENTS_A_FRAME: u64 = 40;
const CLIENT_GAP: Duration = Duration::from_micros(2_400);
/// One client in so many leaves soon, and that is when.
const CLIENTS_A_LEAVER: u32 = 25;
const PATIENCE: Duration = Duration::from_millis(2);
/// The number of threads that poll tasks.
const EXECUTOR_THREADS: usize = 2;

/// A running service. Dropping it ends its threads, after the clients that are there.
#[derive(Debug)]
pub(crate) struct Service {
    executor: Arc<Executor>,
    shop: Arc<Shop>,
}

impl Service {
    /// Starts a service and adds its threads to `threads`.
    ///
    /// # Panics
    /// If the system cannot start a thread.
    pub(crate) fn start<'scope>(scope: &'scope Scope<'scope, '_>, threads: &mut Threads<'scope>) -> Self {
        let service = Self {
            executor: Arc::default(),
            shop: Arc::new(Shop {
                cache: Cache::new(),
                database: Database::start(scope, threads),
                timer: Arc::default(),
            }),
        };
        for index in 0..EXECUTOR_THREADS {
            let executor = Arc::clone(&service.executor);
            threads.push(spawn_named(scope, format!("executor-{index}"), move || {
                executor.run()
            }));
        }
        let timer = Arc::clone(&service.shop.timer);
        threads.push(spawn_named(scope, "timer".to_owned(), move || timer.run()));
        service
    }

    /// Lets the clients of a frame come, one after another.
    pub(crate) fn clients(&self, frame: u64) {
        let executor = Arc::clone(&self.executor);
        let shop = Arc::clone(&self.shop);
        self.executor.spawn(async move {
            let mut random = Random::new(frame);
            for _ in 0..CLIENTS_A_FRAME {
                let request = Request::draw(&mut random);
                let patience = random.one_in(CLIENTS_A_LEAVER).then_some(PATIENCE);
                executor.spawn(serve(Arc::clone(&shop), request, patience));
                shop.timer.sleep(CLIENT_GAP).await;
            }
        });
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // All sleeps end now, so the tasks end soon. With the last of them goes the last `Database`, and its threads end.
        self.shop.timer.close();
        self.executor.close();
    }
}

/// Serves one client, who may leave before the answer is there.
#[tickscope::profile(task)]
async fn serve(shop: Arc<Shop>, request: Request, patience: Option<Duration>) {
    let answer = answer(&shop, request);
    let found = match patience {
        Some(patience) => within(shop.timer.sleep(patience), answer).await,
        None => Some(answer.await),
    };
    black_box(found.map(|found| found.page()));
}

async fn answer(shop: &Shop, request: Request) -> Found {
    match request {
        Request::Browse { section, item } => requests::browse(shop, section, item).await,
        Request::Search { first, matches } => requests::search(shop, first, matches).await,
        Request::Order { item, bank } => requests::order(shop, item, bank).await,
        Request::Invoice { item } => requests::invoice(item).await,
    }
}
