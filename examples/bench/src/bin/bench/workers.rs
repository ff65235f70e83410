//! Threads that run the same task at the same time. They live for the whole measurement, and so keep their nodes, warm
//! caches and learned rates.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};

#[derive(Debug)]
pub(crate) struct Workers<T> {
    tasks: Vec<Sender<T>>,
    times: Receiver<thread::Result<f64>>,
    threads: Vec<JoinHandle<()>>,
}

impl<T: Copy + Send + 'static> Workers<T> {
    /// Starts this many threads. `run` executes a task and returns how many nanoseconds it took.
    pub(crate) fn start(count: usize, run: fn(T) -> f64) -> Self {
        let barrier = Arc::new(Barrier::new(count));
        let (time_sender, times) = mpsc::channel();
        let (tasks, threads) = (0..count)
            .map(|_| {
                let (task_sender, tasks) = mpsc::channel();
                let (barrier, time_sender) = (Arc::clone(&barrier), time_sender.clone());
                let work = move || work(&tasks, &barrier, &time_sender, run);
                (task_sender, thread::spawn(work))
            })
            .unzip();
        Self {
            tasks,
            times,
            threads,
        }
    }

    /// Runs a task on all threads. Returns the mean of their times in nanoseconds. A panic of one of them goes on here.
    pub(crate) fn run(&self, task: T) -> f64 {
        for tasks in &self.tasks {
            _ = tasks.send(task);
        }
        let times = self.tasks.iter().map(|_| {
            let time = self.times.recv().unwrap_or(Ok(f64::NAN));
            time.unwrap_or_else(|panic| resume_unwind(panic))
        });
        times.sum::<f64>() / self.tasks.len() as f64
    }
}

impl<T> Drop for Workers<T> {
    fn drop(&mut self) {
        self.tasks.clear();
        for thread in self.threads.drain(..) {
            _ = thread.join();
        }
    }
}

fn work<T>(tasks: &Receiver<T>, barrier: &Barrier, times: &Sender<thread::Result<f64>>, run: fn(T) -> f64) {
    while let Ok(task) = tasks.recv() {
        barrier.wait();
        _ = times.send(catch_unwind(AssertUnwindSafe(|| run(task))));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

    #[test]
    #[should_panic(expected = "on purpose")]
    fn a_panic_of_one_thread_ends_the_run() {
        let workers = Workers::start(2, |()| {
            assert!(HAS_PANICKED.swap(true, Ordering::Relaxed), "on purpose");
            1.0
        });
        workers.run(());
    }
}
