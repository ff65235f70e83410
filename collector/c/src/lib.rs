//! The profiler tickscope for programs in C and C++: the functions that `include/tickscope.h` declares and describes.
//!
//! `site` has scopes and counters, `session` the start and end of publishing, `control` the functions for a running program,
//! `text` the conversion of texts. Functions that were compiled with `-finstrument-functions` call `functions`, and `names` finds
//! their names.
//!
//! On systems other than Linux, where the collector measures nothing, the library is empty, and the header leaves
//! nothing in a program.

#[cfg(all(target_os = "linux", not(tickscope_unsupported)))]
mod control;
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(tickscope_unsupported)))]
mod functions;
#[cfg(all(target_os = "linux", not(tickscope_unsupported)))]
mod name;
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(tickscope_unsupported)))]
mod names;
#[cfg(all(target_os = "linux", not(tickscope_unsupported)))]
mod session;
#[cfg(all(target_os = "linux", not(tickscope_unsupported)))]
mod site;
#[cfg(all(target_os = "linux", not(tickscope_unsupported)))]
mod text;
