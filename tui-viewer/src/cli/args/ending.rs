//! Files whose names end in what says nothing here: refused before something else is written than was meant.

use std::path::Path;

use tickscope_report::form::Form;

/// Whether a form is known: it was given, the file's name says it, or the name has no ending at all.
///
/// # Errors
/// That the ending says no form, which endings do, and how to choose one nevertheless.
pub(super) fn check(file: Option<&Path>, is_known: bool, endings: &str) -> Result<(), String> {
    let Some(file) = file.filter(|file| !is_known && file.extension().is_some()) else {
        return Ok(());
    };
    Err(format!(
        "{}: this ending says no form; give one of {endings}, or choose the form with -f",
        file.display()
    ))
}

/// Whether a report's form is known.
///
/// # Errors
/// What to name the file, or to say beside it.
pub(crate) fn check_report(file: Option<&Path>, format: Option<Form>) -> Result<(), String> {
    let is_known = format.is_some() || file.and_then(Form::of_file).is_some();
    check(file, is_known, &Form::endings())
}

/// Whether a file may hold a snapshot or a recording: only by `.tks`, or without any ending.
///
/// # Errors
/// Which ending is wanted.
pub(crate) fn check_kept(file: &Path) -> Result<(), String> {
    match file.extension() {
        Some(ending) if !ending.eq_ignore_ascii_case("tks") => Err(format!(
            "{}: what is kept here is no text but opens again by its ending .tks; wanted {}, or for another form: \
             tickscope report -o {}",
            file.display(),
            file.with_extension("tks").display(),
            file.display(),
        )),
        _ => Ok(()),
    }
}
