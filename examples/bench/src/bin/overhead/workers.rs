//! Threads that run a case at the same time. They live for the whole measurement, so their nodes, caches and learned
//! rates stay.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};

use tickscope_bench::timing::{timed, timed_on_cpu};

use crate::cases::{Case, Clock};
use crate::modes::Mode;

/// What to run once.
type Task = (&'static Case, Mode);

/// Threads that run the same task at the same time.
#[derive(Debug)]
pub(crate) struct Workers {
    tasks: Vec<Sender<Task>>,
    times: Receiver<f64>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    pub(crate) fn start(count: usize) -> Self {
        let barrier = Arc::new(Barrier::new(count));
        let (time_sender, times) = mpsc::channel();
        let (tasks, threads) = (0..count)
            .map(|_| {
                let (task_sender, tasks) = mpsc::channel();
                let (barrier, time_sender) = (Arc::clone(&barrier), time_sender.clone());
                let work = move || work(&tasks, &barrier, &time_sender);
                (task_sender, thread::spawn(work))
            })
            .unzip();
        Self {
            tasks,
            times,
            threads,
        }
    }

    /// Returns the nanoseconds of one run, as the mean over the threads; NaN if one has panicked.
    pub(crate) fn run(&self, case: &'static Case, mode: Mode) -> f64 {
        for tasks in &self.tasks {
            // A thread that has ended gives no time, which is noticed below.
            _ = tasks.send((case, mode));
        }
        let times = self.tasks.iter().map(|_| self.times.recv().unwrap_or(f64::NAN));
        times.sum::<f64>() / self.tasks.len() as f64
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.tasks.clear();
        for thread in self.threads.drain(..) {
            // The message of a panic has already been printed.
            _ = thread.join();
        }
    }
}

fn work(tasks: &Receiver<Task>, barrier: &Barrier, times: &Sender<f64>) {
    while let Ok((case, mode)) = tasks.recv() {
        barrier.wait();
        let run = || case.run(mode);
        _ = times.send(match case.clock {
            Clock::Wall => timed(run),
            Clock::Cpu => timed_on_cpu(run),
        });
    }
}
