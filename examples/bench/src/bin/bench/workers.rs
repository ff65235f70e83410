//! Threads that run the same task at the same time. They live for the whole measurement, and so keep their nodes, warm
//! caches and learned rates.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};

#[derive(Debug)]
pub(crate) struct Workers<T> {
    tasks: Vec<Sender<T>>,
    times: Receiver<f64>,
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

    /// Runs a task on all threads. Returns the mean of their times in nanoseconds, or NaN if a thread has panicked.
    pub(crate) fn run(&self, task: T) -> f64 {
        for tasks in &self.tasks {
            // A thread that has ended sends no time, which makes the result NaN.
            _ = tasks.send(task);
        }
        let times = self.tasks.iter().map(|_| self.times.recv().unwrap_or(f64::NAN));
        times.sum::<f64>() / self.tasks.len() as f64
    }
}

impl<T> Drop for Workers<T> {
    fn drop(&mut self) {
        self.tasks.clear();
        for thread in self.threads.drain(..) {
            // The message of a panic has already been printed.
            _ = thread.join();
        }
    }
}

fn work<T>(tasks: &Receiver<T>, barrier: &Barrier, times: &Sender<f64>, run: fn(T) -> f64) {
    while let Ok(task) = tasks.recv() {
        barrier.wait();
        _ = times.send(run(task));
    }
}
