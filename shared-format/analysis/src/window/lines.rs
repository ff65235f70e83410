//! Samples of the program counter in a window: those since it began.

use std::collections::HashMap;

use tickscope_format::snapshot::{Lines, Module, NO_MODULE, Sampled};

/// Takes what was sampled before. A record of the coarse ring has no samples.
pub(super) fn take(lines: &mut Lines, then: &Lines) {
    let number = |module: &Module| lines.modules.iter().position(|now| now == module);
    let modules: Vec<Option<usize>> = then.modules.iter().map(number).collect();
    let mut before: HashMap<_, _> = then
        .samples
        .iter()
        .filter_map(|sample| {
            let module = match sample.module {
                NO_MODULE => NO_MODULE,
                module => modules[module as usize]? as u32,
            };
            Some(((sample.site, module, sample.address), sample))
        })
        .collect();
    for sample in &mut lines.samples {
        if let Some(then) = before.remove(&(sample.site, sample.module, sample.address)) {
            Sampled {
                samples: sample.samples,
                cpu_ns: sample.cpu_ns,
            } = sample.sampled().without(then.sampled());
        }
    }
    lines.samples.retain(|sample| sample.samples > 0);
    lines.lost = lines.lost.without(then.lost);
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::LineSample;

    use super::*;

    #[test]
    fn what_was_sampled_before_is_taken_by_place() {
        let module = |path: &str| Module {
            path: path.into(),
            build_id: Vec::new(),
        };
        let sample = |module, address, samples| LineSample {
            site: 0,
            module,
            address,
            samples,
            cpu_ns: samples * 1_000,
        };
        let then = Lines {
            modules: vec![module("app")],
            samples: vec![sample(0, 0x10, 3), sample(0, 0x20, 5), sample(NO_MODULE, 0x10, 1)],
            lost: Sampled {
                samples: 2,
                cpu_ns: 20,
            },
            ..Lines::default()
        };
        let mut now = Lines {
            modules: vec![module("libc"), module("app")],
            samples: vec![
                sample(0, 0x10, 4),
                sample(1, 0x10, 3),
                sample(1, 0x20, 9),
                sample(NO_MODULE, 0x10, 3),
            ],
            lost: Sampled {
                samples: 3,
                cpu_ns: 50,
            },
            ..Lines::default()
        };
        take(&mut now, &then);
        assert_eq!(
            now.samples,
            [sample(0, 0x10, 4), sample(1, 0x20, 4), sample(NO_MODULE, 0x10, 2)]
        );
        assert_eq!(
            now.lost,
            Sampled {
                samples: 1,
                cpu_ns: 30
            }
        );
    }
}
