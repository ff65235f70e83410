//! Refuses output files with an unknown extension, instead of writing them in the wrong format.

use std::path::Path;

/// Checks that the output format is known. `is_known` says whether an option or the file extension determines it. A
/// name without an extension is accepted.
///
/// # Errors
/// The file extension is unknown. The message lists the known extensions and mentions `-f`.
pub(super) fn check(file: Option<&Path>, is_known: bool, endings: &str) -> Result<(), String> {
    let Some(file) = file.filter(|file| !is_known && file.extension().is_some()) else {
        return Ok(());
    };
    Err(format!(
        "{}: this ending names no form; give one of {endings}, or choose the form with -f",
        file.display()
    ))
}
