//! Refuses files whose endings determine no form, before a file is written in the wrong form.

use std::path::Path;

/// Checks that the form is known: from an option or from the ending of the file. A name without ending is accepted.
///
/// # Errors
/// The ending determines no form; the message names endings that do, and the option.
pub(super) fn check(file: Option<&Path>, is_known: bool, endings: &str) -> Result<(), String> {
    let Some(file) = file.filter(|file| !is_known && file.extension().is_some()) else {
        return Ok(());
    };
    Err(format!(
        "{}: this ending names no form; give one of {endings}, or choose the form with -f",
        file.display()
    ))
}
