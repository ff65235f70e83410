//! The messages of pprof's `profile.proto` that this crate writes, with field numbers from the published schema.

use super::wire::messages;

/// Id of the only mapping, which stands for the whole program. Tools need not look up any names in it, because all are known.
pub(super) const MAPPING: u64 = 1;

/// Returns the value as a signed integer, as the format requires. A value that is too large becomes the maximum.
pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

messages! {
    /// The root message. Strings are indices into `string_table`, and no id is 0.
    Profile {
        1 => sample_type: Vec<ValueType>,
        2 => sample: Vec<Sample>,
        3 => mapping: Vec<Mapping>,
        4 => location: Vec<Location>,
        5 => function: Vec<Function>,
        6 => string_table: Vec<String>,
        /// Start of the profile, in nanoseconds since the Unix epoch.
        9 => time_nanos: i64,
        10 => duration_nanos: i64,
        11 => period_type: Option<ValueType>,
        12 => period: i64,
        13 => comment: Vec<i64>,
        /// Sample type that tools show first.
        14 => default_sample_type: i64,
    }

    ValueType {
        1 => r#type: i64,
        2 => unit: i64,
    }

    Sample {
        /// Ids of the locations, innermost first.
        1 => location_id: Vec<u64>,
        /// One value for each sample type.
        2 => value: Vec<i64>,
        3 => label: Vec<Label>,
    }

    /// A label is either a string or a number.
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
