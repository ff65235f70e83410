//! The messages of pprof's `profile.proto` that this crate writes, with field numbers from the published schema.

use super::wire::messages;

/// Id of the one mapping: the program, whose names are all resolved.
pub(super) const MAPPING: u64 = 1;

/// Converts to the signed integers of the format.
pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

messages! {
    /// Strings are indices into `string_table`; ids are not zero.
    Profile {
        1 => sample_type: Vec<ValueType>,
        2 => sample: Vec<Sample>,
        3 => mapping: Vec<Mapping>,
        4 => location: Vec<Location>,
        5 => function: Vec<Function>,
        6 => string_table: Vec<String>,
        /// Time when the profile began, in nanoseconds since the Unix epoch.
        9 => time_nanos: i64,
        10 => duration_nanos: i64,
        11 => period_type: Option<ValueType>,
        12 => period: i64,
        13 => comment: Vec<i64>,
        /// Type of the value that readers show first.
        14 => default_sample_type: i64,
    }

    ValueType {
        1 => r#type: i64,
        2 => unit: i64,
    }

    Sample {
        /// Locations, the innermost first.
        1 => location_id: Vec<u64>,
        /// One value for each sample type.
        2 => value: Vec<i64>,
        3 => label: Vec<Label>,
    }

    /// A string or a number, not both.
    Label {
        1 => key: i64,
        2 => str: i64,
        3 => num: i64,
    }

    Mapping {
        1 => id: u64,
        5 => filename: i64,
        7 => has_functions: bool,
        8 => has_filenames: bool,
        9 => has_line_numbers: bool,
    }

    Location {
        1 => id: u64,
        2 => mapping_id: u64,
        4 => line: Vec<Line>,
    }

    Line {
        1 => function_id: u64,
        2 => line: i64,
    }

    Function {
        1 => id: u64,
        2 => name: i64,
        3 => system_name: i64,
        4 => filename: i64,
        5 => start_line: i64,
    }
}
