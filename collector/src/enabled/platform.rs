//! The interface to the machine and the system: clocks, atomics, system calls.

pub(crate) mod clock;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
pub(crate) mod image;
pub(crate) mod off_cpu;
pub(crate) mod os;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
pub(crate) mod sleds;
pub(crate) mod sync;
pub(crate) mod waiting_call;
