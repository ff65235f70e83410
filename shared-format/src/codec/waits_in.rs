//! The section of wait names: names, samples by row and name, and the state of each thread.

use bincode::{Decode, Encode};

use crate::snapshot::WaitsIn;

#[derive(Encode)]
pub(super) struct WaitsInOut<'a>(&'a [String], &'a [(u32, u32, u64)], &'a [(u32, u32)]);

#[derive(Decode)]
pub(super) struct WaitsInIn(Vec<String>, Vec<(u32, u32, u64)>, Vec<(u32, u32)>);

impl<'a> WaitsInOut<'a> {
    pub(super) fn new(waits_in: &'a WaitsIn) -> Self {
        Self(&waits_in.names, &waits_in.samples, &waits_in.now)
    }
}

impl WaitsInIn {
    pub(super) fn waits_in(self) -> WaitsIn {
        let Self(names, samples, now) = self;
        WaitsIn { names, samples, now }
    }
}
