//! The interface to the machine and the system: clocks, atomics, system calls.

pub(crate) mod clock;
pub(crate) mod clock_drain;
pub(crate) mod cpu_timer;
pub(crate) mod descriptors;
pub(crate) mod end_signals;
#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
pub(crate) mod image;
pub(crate) mod modules;
pub(crate) mod off_cpu;
pub(crate) mod os;
pub(crate) mod patience;
pub(crate) mod signals;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
pub(crate) mod sleds;
pub(crate) mod sync;
pub(crate) mod threads;
pub(crate) mod unwinder;
pub(crate) mod waiting_call;
