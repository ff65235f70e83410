//! Names of programs, which are used in file names and on command lines.

use tickscope_format::file::header::NAME_BYTES_MAX;

/// Turns a name into a valid one, which matches `[A-Za-z0-9._-]{1,64}` and does not consist of digits alone (which
/// would look like a process id). Adds a warning if the name was changed.
pub(crate) fn mend(name: &str, warnings: &mut Vec<String>) -> String {
    let is_other = |c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c);
    let mut mended = name.replace(is_other, "-");
    mended.truncate(NAME_BYTES_MAX);
    if mended.is_empty() {
        mended = "program".into();
    }
    if mended.bytes().all(|byte| byte.is_ascii_digit()) {
        mended.truncate(NAME_BYTES_MAX - 1);
        mended.insert(0, 'p');
    }
    // A leading dot would hide the file, and a name that consists only of dots cannot be used.
    if mended.starts_with('.') {
        mended.replace_range(..1, "-");
    }
    if mended != name {
        warnings.push(format!(
            "the name \"{}\" was changed to \"{mended}\"; allowed: 1 to 64 of A-Z a-z 0-9 . _ - and not digits \
             alone",
            name.escape_debug(),
        ));
    }
    mended
}

/// Returns the corrected name of the executable.
pub(crate) fn of_executable() -> String {
    let path = std::env::current_exe().ok();
    let name = path
        .as_deref()
        .and_then(|path| path.file_name())
        .map(|name| name.to_string_lossy().into_owned());
    mend(&name.unwrap_or_default(), &mut Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_mended_and_it_is_said() {
        for (given, taken) in [
            ("order-book", "order-book"),
            ("a b/c", "a-b-c"),
            ("", "program"),
            ("123", "p123"),
            (".hidden", "-hidden"),
            ("größe", "gr--e"),
            (&"x".repeat(99), &"x".repeat(64)),
            (&"7".repeat(70), &format!("p{}", "7".repeat(63))),
        ] {
            let mut warnings = Vec::new();
            assert_eq!(mend(given, &mut warnings), taken);
            assert_eq!(warnings.is_empty(), given == taken, "{warnings:?}");
        }
    }
}
