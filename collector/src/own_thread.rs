//! Keeps a scope on its thread, and makes the compiler explain how to measure code that moves between threads.

use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// A future that holds an open scope across an `.await` is not `Send`. The compiler's error names the innermost type
/// that is not `Send`. That type is a `dyn` of this trait, so the trait's name tells the user what to do.
#[allow(
    non_camel_case_types,
    reason = "the compiler's message shows the name as a sentence"
)]
pub(crate) trait a_scope_stays_on_its_thread_measure_what_awaits_with_future_or_profile {}

/// A marker that is neither `Send` nor `Sync`.
#[derive(Debug)]
pub(crate) struct OwnThread(
    PhantomData<dyn a_scope_stays_on_its_thread_measure_what_awaits_with_future_or_profile>,
);

impl OwnThread {
    pub(crate) const HERE: Self = Self(PhantomData);
}

// A `dyn Trait` implements no auto traits, so the auto traits that do not concern threads are implemented here.
impl Unpin for OwnThread {}
impl UnwindSafe for OwnThread {}
impl RefUnwindSafe for OwnThread {}
