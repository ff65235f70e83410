//! What keeps a scope on its thread, and what the compiler says where a program would move it to another.

use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// A scope that is open at an `.await` makes the whole future one that cannot be sent to another thread. The compiler then
/// shows the innermost type that is not `Send`, which is `dyn` of this trait; so its name says what to do.
#[allow(non_camel_case_types, reason = "it is a sentence, for the compiler's message")]
pub(crate) trait a_scope_stays_on_its_thread_measure_what_awaits_with_future_or_profile {}

/// Neither `Send` nor `Sync`.
#[derive(Debug)]
pub(crate) struct OwnThread(
    PhantomData<dyn a_scope_stays_on_its_thread_measure_what_awaits_with_future_or_profile>,
);

impl OwnThread {
    pub(crate) const HERE: Self = Self(PhantomData);
}

// What a `dyn` alone is not.
impl Unpin for OwnThread {}
impl UnwindSafe for OwnThread {}
impl RefUnwindSafe for OwnThread {}
