//! The section of samples of the program counter.

use super::section::{Section, refuse};
use crate::snapshot::{BUILD_ID_MAX, Lines, NO_MODULE, SampledIn};

pub(super) const LINES: Section = Section {
    id: 30,
    write: |s, out| {
        let is_there = out.is_fine && !s.lines.is_empty();
        out.put_small_if(is_there, &s.lines)
    },
    read: |to, body| body.read_small().map(|lines| to.snapshot.lines = lines),
    check: |s| {
        let found = fault(&s.lines, s.nodes.len(), s.threads.len());
        refuse("samples of the code", found, "consistent samples")
    },
};

/// Returns the first inconsistency, if any, in the samples of a snapshot with `rows` rows and `threads` threads.
fn fault(lines: &Lines, rows: usize, threads: usize) -> Option<&'static str> {
    let is_there = |inside| match inside {
        SampledIn::Row(row) => (row as usize) < rows,
        SampledIn::Thread(thread) => (thread as usize) < threads,
        SampledIn::Measuring => true,
    };
    let is_module = |module: u32| module == NO_MODULE || (module as usize) < lines.modules.len();
    let mut modules = lines.modules.iter();
    if modules.any(|module| module.build_id.len() > BUILD_ID_MAX) {
        return Some("a build id that is too long");
    }
    let mut samples = lines.samples.iter();
    if !samples.all(|sample| is_there(sample.inside) && is_module(sample.module)) {
        return Some("a row, a thread or a module that does not exist");
    }
    let rises = lines.samples.is_sorted_by(|a, b| a.place() < b.place());
    (!rises).then_some("places out of order")
}

#[cfg(test)]
mod tests {
    use crate::codec::decode;
    use crate::codec::tests::{encoded, refuses};
    use crate::fixture;
    use crate::snapshot::{BUILD_ID_MAX, SampledIn, Snapshot};

    /// Returns the `inside` field of the last sample that was taken inside `place`.
    fn inside(s: &mut Snapshot, place: SampledIn) -> &mut SampledIn {
        let mut samples = s.lines.samples.iter_mut();
        &mut samples.rfind(|sample| sample.inside == place).unwrap().inside
    }

    #[test]
    fn samples_that_no_program_takes_are_refused() {
        let sound = fixture::sampled();
        assert_eq!(decode(&encoded(&sound)).unwrap(), sound);
        refuses(
            "samples of the code",
            &sound,
            &[
                |s| s.lines.samples.reverse(),
                |s| s.lines.samples.insert(0, s.lines.samples[0]),
                |s| *inside(s, SampledIn::Row(2)) = SampledIn::Row(s.nodes.len() as u32),
                |s| *inside(s, SampledIn::Thread(0)) = SampledIn::Thread(s.threads.len() as u32),
                |s| s.lines.samples[0].module = s.lines.modules.len() as u32,
                |s| s.lines.modules[0].build_id = vec![0; BUILD_ID_MAX + 1],
            ],
        );
    }
}
