//! tickscope for programs in C and C++: the functions that `include/tickscope.h` declares and describes.
//!
//! - `site`: scopes and counters
//! - `session`: start and end of publishing
//! - `control`: functions that control a running program
//! - `functions`: the hooks that functions compiled with `-finstrument-functions` call
//! - `name`, `names`: names of functions, from the compiler's strings and from symbol tables
//! - `text`: conversion of strings
//!
//! On systems other than Linux, the collector measures nothing. There the library is empty, and the header's macros and
//! functions do nothing.

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
