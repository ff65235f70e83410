//! Runs models under loom.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "for tests alone"
)]

#[path = "model/mutation.rs"]
pub mod mutation;

use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    /// Whether this thread is running a model. All threads of a model are coroutines on one thread.
    static RUNS: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread is running a model.
pub fn runs() -> bool {
    RUNS.get()
}

/// Runs a model in all interleavings with at most `bound` preemptions, or in all interleavings if `bound` is `None`.
#[allow(dead_code, reason = "the collector's models start in another way")]
pub fn check(bound: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let model: Arc<Model> = Arc::new(model);
    // An `early` mutation must first find out which word it loads early.
    if mutation::learns() {
        executions(bound, Some(100), &model);
        mutation::has_learned();
    }
    report(bound, executions(bound, None, &model));
}

/// Prints how many executions were tried.
pub fn report(bound: Option<usize>, count: usize) {
    let name = std::thread::current().name().unwrap_or_default().to_string();
    let bound = bound.map_or("complete".into(), |bound| format!("at most {bound} preemptions"));
    println!("{name}: {count} executions, {bound}");
}

/// A model. It is not a type parameter, because loom would be compiled for each model.
pub type Model = dyn Fn() + Send + Sync;

/// Runs a model, and returns the number of executions. `most` limits that number; `None` means all executions.
pub fn executions(bound: Option<usize>, most: Option<usize>, model: &Arc<Model>) -> usize {
    /// Resets `RUNS` when it is dropped, even if the model panics.
    struct Over;
    impl Drop for Over {
        fn drop(&mut self) {
            RUNS.set(false);
        }
    }
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = bound;
    builder.max_branches = 20_000;
    if let Some(most) = most {
        (builder.checkpoint_interval, builder.max_permutations) = (1, Some(most + 1));
    }
    let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let (model, counted) = (Arc::clone(model), Arc::clone(&count));
    let _over = Over;
    RUNS.set(true);
    builder.check(move || {
        mutation::begin();
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        model();
    });
    count.load(std::sync::atomic::Ordering::Relaxed)
}
