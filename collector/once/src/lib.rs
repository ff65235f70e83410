//! This crate is empty. The feature `enable` of tickscope brings it, in the exact version of tickscope, and its manifest has
//! `links = "tickscope"`: cargo refuses a program with two versions of tickscope that measure. Each would have call trees, a ring and a
//! publisher of its own, and each would miss what the other counts. Libraries without `enable` may depend on any version.
