//! This crate is empty. With its feature `enable`, tickscope depends on this crate in exactly its own version. The
//! manifest of this crate has `links = "tickscope"`, so cargo refuses to build a program with two versions of tickscope
//! that both measure. Each version would have its own call trees, ring and publisher, and would not see what the other
//! one counts. Libraries that do not turn on `enable` may depend on any version.
