//! The table of strings. All messages refer to strings by their index.

use std::collections::HashMap;

use super::message::ValueType;

/// The strings and their indices. The first string is empty.
pub(super) struct Strings {
    pub(super) list: Vec<String>,
    known: HashMap<String, i64>,
}

impl Default for Strings {
    fn default() -> Self {
        Self {
            list: vec![String::new()],
            known: HashMap::from([(String::new(), 0)]),
        }
    }
}

impl Strings {
    /// Returns the index of a string. Adds the string if it is new.
    pub(super) fn number(&mut self, text: &str) -> i64 {
        if let Some(&number) = self.known.get(text) {
            return number;
        }
        let number = self.list.len() as i64;
        self.list.push(text.to_string());
        self.known.insert(text.to_string(), number);
        number
    }

    /// Returns a sample type with its unit.
    pub(super) fn value_type(&mut self, r#type: &str, unit: &str) -> ValueType {
        ValueType {
            r#type: self.number(r#type),
            unit: self.number(unit),
        }
    }
}
