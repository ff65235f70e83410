//! This crate is empty. The feature `enable` of tickscope depends on it, in the exact version of tickscope. Its
//! manifest has `links = "tickscope"`, so cargo refuses a program with two versions of tickscope that measure. Each of
//! them would have its own call trees, ring and publisher, and would miss the counts of the other. Libraries without
//! `enable` may depend on any version.
