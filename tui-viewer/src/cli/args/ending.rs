//! Refuses files whose endings tell no form, before a file in the wrong form is written.

use std::path::Path;

/// Checks that a form is known: it was given, the file's name tells it, or the name has no ending at all.
///
/// # Errors
/// The ending tells no form; the message names endings that do, and the option.
pub(super) fn check(file: Option<&Path>, is_known: bool, endings: &str) -> Result<(), String> {
    let Some(file) = file.filter(|file| !is_known && file.extension().is_some()) else {
        return Ok(());
    };
    Err(format!(
        "{}: this ending names no form; give one of {endings}, or choose the form with -f",
        file.display()
    ))
}
