//! Connections to an imaginary disk, and the lock that guards them.

use std::sync::PoisonError;
use std::thread;
use std::time::Duration;

use tickscope::sync::{Mutex, named_mutex};

/// Time until a ping is answered.
const PING: Duration = Duration::from_millis(25);
/// Number of times that a connection is used between two pings.
const USES_A_PING: u32 = 200;

/// Connections that are not in use.
#[derive(Debug)]
pub(crate) struct Pool {
    idle: Mutex<Vec<Connection>>,
}

/// A connection. Using it takes time, during which the thread sleeps.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    uses: u32,
}

impl Pool {
    /// Makes a pool of this many connections: one for each thread that will take one.
    pub(crate) fn new(connections: usize) -> Self {
        let idle = (0..connections).map(|_| Connection::default()).collect();
        Self {
            idle: named_mutex("pool", idle),
        }
    }

    /// Takes a connection, and from time to time pings its other end first. The lock is held during the ping, so all
    /// other threads that want a connection have to wait. tickscope shows this fault as *made others wait*.
    #[tickscope::profile]
    pub(crate) fn take(&self) -> Connection {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut connection = idle.pop().unwrap_or_default();
        if connection.uses >= USES_A_PING {
            connection.ping();
        }
        connection.uses += 1;
        connection
    }

    /// Takes a connection back.
    pub(crate) fn give_back(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(connection);
    }
}

impl Connection {
    /// Simulates reading from the disk or writing to it: sleeps for `time`.
    #[tickscope::profile(group = "disk")]
    pub(crate) fn read_disk(&self, time: Duration) {
        thread::sleep(time);
    }

    /// Checks that the other end still answers.
    #[tickscope::profile]
    fn ping(&mut self) {
        thread::sleep(PING);
        self.uses = 0;
    }
}
