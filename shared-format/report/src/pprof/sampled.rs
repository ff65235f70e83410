//! Samples of the program counter, each with its source line.

use std::collections::HashMap;

use tickscope_analysis::code::{Located, Scope, located};
use tickscope_format::addresses::{Addresses, Frame};
use tickscope_format::snapshot::Snapshot;

use super::message::{Function, Line, Location, MAPPING, Profile, Sample, signed};
use super::strings::Strings;
use crate::names::in_one_line;

/// Name of a function without a name.
const UNNAMED: &str = "(unnamed)";

/// The profile's tables, to which functions and locations are added.
struct Tables<'a> {
    profile: &'a mut Profile,
    strings: &'a mut Strings,
    /// Ids of functions by name and file.
    functions: HashMap<(i64, i64), u64>,
}

/// Returns the samples, and adds their sample type, functions and locations to the tables.
pub(super) fn samples(
    snapshot: &Snapshot,
    addresses: &Addresses,
    profile: &mut Profile,
    strings: &mut Strings,
) -> Vec<Sample> {
    let zeros = profile.sample_type.len();
    profile
        .sample_type
        .push(strings.value_type("sampled", "nanoseconds"));
    let mut tables = Tables {
        profile,
        strings,
        functions: HashMap::new(),
    };
    let samples = located(snapshot, addresses).map(|located| {
        let mut value = vec![0; zeros];
        value.push(signed(located.sample.cpu_ns));
        Sample {
            location_id: tables.stack(&located),
            value,
            ..Sample::default()
        }
    });
    samples.collect()
}

impl Tables<'_> {
    /// Returns the locations of a sample: the called functions, innermost first, then the scope's own function.
    fn stack(&mut self, located: &Located<'_>) -> Vec<u64> {
        let inlined = located
            .called
            .split_last()
            .into_iter()
            .flat_map(|(_, inlined)| inlined);
        let mut lines: Vec<Line> = inlined.map(|frame| self.line(frame)).collect();
        lines.extend(located.callee().map(|callee| self.line(&callee)));
        // The first locations belong to the sites, in the same order, so a site has the same index as its location.
        let scope = match located.scope {
            Scope::Site(site) => self.profile.location.get(site as usize),
            Scope::Outside | Scope::Measuring => None,
        };
        let scope = scope.and_then(|scope| Some((scope.id, scope.line.first()?.function_id)));
        let mut stack = Vec::new();
        match (scope, located.own_line()) {
            (Some((_, function_id)), Some(own)) => {
                // Tools open the source file at this path. It comes from the debug information, because only that has the full
                // path.
                let filename = self.strings.number(&in_one_line(&own.file, ""));
                let function = self.profile.function.get_mut(function_id as usize - 1);
                function
                    .into_iter()
                    .for_each(|function| function.filename = filename);
                lines.push(Line {
                    function_id,
                    line: own.line.into(),
                });
            }
            (Some((id, _)), None) => stack.push(id),
            (None, _) => {}
        }
        if !lines.is_empty() {
            stack.insert(0, self.location(lines));
        }
        stack
    }

    /// Adds a location and returns its id. In a location with several lines, all functions except the last are inlined.
    fn location(&mut self, line: Vec<Line>) -> u64 {
        let id = self.profile.location.len() as u64 + 1;
        self.profile.location.push(Location {
            id,
            mapping_id: MAPPING,
            line,
        });
        id
    }

    fn line(&mut self, frame: &Frame) -> Line {
        let name = self.strings.number(&in_one_line(&frame.full_name(), UNNAMED));
        let filename = self.strings.number(&in_one_line(&frame.file, ""));
        let list = &mut self.profile.function;
        let next = list.len() as u64 + 1;
        let function_id = *self.functions.entry((name, filename)).or_insert(next);
        if function_id == next {
            list.push(Function {
                id: next,
                name,
                system_name: name,
                filename,
                start_line: 0,
            });
        }
        Line {
            function_id,
            line: frame.line.into(),
        }
    }
}
