//! A database: threads that answer queries, with connections from a pool.

mod pool;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use crate::random::mixed;
use crate::spawn::{Threads, spawn_named};
use crate::tasks::answer::{Reply, answer};

use self::pool::Pool;

/// The number of threads that answer queries, and of connections.
const THREADS: usize = 2;
/// Time that the disk takes for each query, and additional time for each of the query's rows.
const SEEK: Duration = Duration::from_micros(900);
const ROW: Duration = Duration::from_micros(2);

/// A query: the index of the first row, and the number of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    pub(crate) first: u32,
    pub(crate) rows: u32,
}

/// Handle through which tasks query the database. The database's threads end when the last handle is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    jobs: Sender<(Query, Reply<Vec<u64>>)>,
    waiting: Arc<AtomicUsize>,
}

/// Data that the threads share.
struct Server {
    jobs: Mutex<Receiver<(Query, Reply<Vec<u64>>)>>,
    waiting: Arc<AtomicUsize>,
    pool: Pool,
}

impl Database {
    /// Starts the threads and adds them to `threads`.
    ///
    /// # Panics
    /// If the system cannot start a thread.
    pub(crate) fn start<'scope>(scope: &'scope Scope<'scope, '_>, threads: &mut Threads<'scope>) -> Self {
        let (jobs, receiver) = mpsc::channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let server = Arc::new(Server {
            jobs: Mutex::new(receiver),
            waiting: Arc::clone(&waiting),
            pool: Pool::new(THREADS),
        });
        for index in 0..THREADS {
            let server = Arc::clone(&server);
            threads.push(spawn_named(scope, format!("database-{index}"), move || {
                server.run()
            }));
        }
        Self { jobs, waiting }
    }

    /// Requests rows, and waits until a thread has read them.
    pub(crate) async fn rows(&self, query: Query) -> Vec<u64> {
        let (reply, rows) = answer();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // If the threads have ended, the reply is dropped, and the result is empty.
        _ = self.jobs.send((query, reply));
        tickscope::wait!("answer", rows).await.unwrap_or_default()
    }
}

impl Server {
    /// Answers queries until the last [`Database`] is dropped.
    fn run(&self) {
        while let Some((query, reply)) = self.next() {
            let waiting = self.waiting.fetch_sub(1, Ordering::Relaxed) - 1;
            reply.send(self.query(query, waiting));
        }
    }

    fn next(&self) -> Option<(Query, Reply<Vec<u64>>)> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.recv().ok()
    }

    /// Answers a query. `waiting` is the number of other queries in the queue.
    #[tickscope::profile]
    fn query(&self, query: Query, waiting: usize) -> Vec<u64> {
        tickscope::gauge!("queue", waiting);
        let connection = self.pool.take();
        connection.read_disk(SEEK + ROW * query.rows);
        self.pool.give_back(connection);
        let rows = (query.first..).take(query.rows as usize);
        let rows: Vec<u64> = rows.map(|row| mixed(u64::from(row))).collect();
        tickscope::value!("rows", rows.len());
        rows
    }
}
