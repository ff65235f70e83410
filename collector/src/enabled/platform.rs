//! The interface to the machine and the system: clocks, atomics, system calls.

pub(crate) mod clock;
pub(crate) mod off_cpu;
pub(crate) mod os;
pub(crate) mod sync;
pub(crate) mod waiting_call;
