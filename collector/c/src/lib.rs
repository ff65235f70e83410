//! The profiler tickscope for programs in C and C++: what `include/tickscope.h` declares. That file says what each function does.
//!
//! `site` has scopes and counters, `session` what begins and ends publishing, `control` what a program may do meanwhile, `text` how
//! texts come and go. `functions` is called by functions that were compiled with `-finstrument-functions`, and `names` tells what they
//! are called.
//!
//! Where the collector measures nothing (no Linux) the library is empty, and the header leaves nothing in a program.

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
