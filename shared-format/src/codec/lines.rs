//! The section of samples of the program counter.

use bincode::{Decode, Encode};

use crate::snapshot::{LineSample, Lines, LinesState, Module, Sampled};

#[derive(Encode)]
pub(super) struct LinesOut<'a>(LinesState, u32, &'a [Module], &'a [LineSample], Sampled);

#[derive(Decode)]
pub(super) struct LinesIn(LinesState, u32, Vec<Module>, Vec<LineSample>, Sampled);

impl<'a> LinesOut<'a> {
    pub(super) fn new(lines: &'a Lines) -> Self {
        Self(
            lines.state,
            lines.asked_hz,
            &lines.modules,
            &lines.samples,
            lines.lost,
        )
    }
}

impl LinesIn {
    pub(super) fn lines(self) -> Lines {
        let Self(state, asked_hz, modules, samples, lost) = self;
        Lines {
            state,
            asked_hz,
            modules,
            samples,
            lost,
        }
    }
}
