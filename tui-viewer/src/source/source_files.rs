//! Finds and reads the source files of a program.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tickscope_analysis::code::located;
use tickscope_format::Snapshot;
use tickscope_report::SourceCode;

/// Maximum size of a source file, in bytes. Larger files are not read.
const SOURCE_BYTES_MAX: u64 = 16 << 20;

/// Returns the text of one of the demo's source files as it was at compile time, because the file itself may be missing
/// or may have changed since. Returns `None` if the demo has no such file, or if the process does not run this
/// executable.
pub(crate) fn of_demo(file: &str, pid: u32) -> Option<&'static str> {
    let text = tickscope_demo::source(file)?;
    let of = |process: &str| fs::metadata(format!("/proc/{process}/exe")).ok();
    let (own, its) = (of("self")?, of(&pid.to_string())?);
    (own.dev() == its.dev() && own.ino() == its.ino()).then_some(text)
}

/// Returns the directories to search for a program's source files, in search order. The executable's directory comes
/// first, because the user's current directory may belong to another project that has files with the same names.
pub(crate) fn places(pid: Option<u32>) -> Vec<PathBuf> {
    let of_it = |what: &str| fs::read_link(format!("/proc/{}/{what}", pid?)).ok();
    let executable = of_it("exe").and_then(|exe| Some(exe.parent()?.to_path_buf()));
    [executable, of_it("cwd"), std::env::current_dir().ok()]
        .into_iter()
        .flatten()
        .collect()
}

/// Finds a source file. A relative path may be relative to one of `places` or to any directory above it.
///
/// # Errors
/// The file does not exist. The message contains the file's name and the places that were searched.
pub(crate) fn find(file: &str, places: &[PathBuf]) -> Result<PathBuf, String> {
    if file.is_empty() {
        return Err("the program does not say where its source is".into());
    }
    let path = Path::new(file);
    let mut looked = Vec::new();
    for place in places {
        if let Some(found) = place.ancestors().map(|dir| dir.join(path)).find(|p| p.is_file()) {
            return Ok(found);
        }
        let place = place.display().to_string();
        if !looked.contains(&place) {
            looked.push(place);
        }
    }
    // If there are no places, the loop above has not tried the absolute path.
    if path.is_absolute() {
        return match path.is_file() {
            true => Ok(path.to_path_buf()),
            false => Err(format!("no file {file} here")),
        };
    }
    Err(format!(
        "no {file} in {} or above",
        if looked.is_empty() {
            "any place".into()
        } else {
            looked.join(", ")
        }
    ))
}

/// Reads the text of a source file. Returns `None` if it is not a regular file, or too large.
pub(crate) fn read_source(path: &Path) -> Option<String> {
    let length = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
    (length <= SOURCE_BYTES_MAX)
        .then(|| fs::read(path).ok())?
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads the text of all source lines in which the snapshot has samples.
pub(crate) fn read_texts(snapshot: &Snapshot, code: &mut SourceCode) {
    let mut files: HashMap<&str, Option<String>> = HashMap::new();
    let own = located(snapshot, &code.addresses).filter_map(|located| located.own_line());
    for frame in own {
        let text = files.entry(&frame.file).or_insert_with(|| {
            let of_demo = of_demo(&frame.file, snapshot.process.pid);
            of_demo.map_or_else(
                || read_source(Path::new(&frame.file)),
                |text| Some(text.to_owned()),
            )
        });
        let text = text
            .as_ref()
            .and_then(|text| text.lines().nth(frame.line as usize - 1));
        if let Some(text) = text {
            code.texts
                .insert((frame.file.clone(), frame.line), text.trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_demo_brings_its_files_and_only_it_does() {
        let file = "/nowhere/tui-viewer/demo/src/tracer.rs";
        let text = of_demo(file, std::process::id()).unwrap();
        assert!(text.contains("fn aim"));
        assert_eq!(of_demo("/nowhere/src/tracer.rs", std::process::id()), None);
        let mut cat = Command::new("cat");
        let mut other = cat.stdin(Stdio::piped()).spawn().unwrap();
        let its = of_demo(file, other.id());
        drop(other.stdin.take());
        other.wait().unwrap();
        assert_eq!(its, None, "another program");
    }

    #[test]
    fn files_are_found_from_below_and_named_where_they_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        fs::create_dir_all(project.join("target/debug")).unwrap();
        fs::create_dir_all(project.join("src")).unwrap();
        fs::write(project.join("src/main.rs"), "").unwrap();
        let places = [project.join("target/debug")];
        assert_eq!(find("src/main.rs", &places), Ok(project.join("src/main.rs")));
        let whole = project.join("src/main.rs").display().to_string();
        assert_eq!(find(&whole, &[]), Ok(project.join("src/main.rs")));
        let why = find("src/other.rs", &places).unwrap_err();
        assert!(why.contains("no src/other.rs in "), "{why}");
        assert!(why.contains("target/debug"), "{why}");
        assert!(find("src", &places).is_err(), "a directory is no source");
        assert!(
            find("", &places)
                .unwrap_err()
                .contains("the program does not say where its source is")
        );
        let why = |file: &str, places: &[PathBuf]| find(file, places).unwrap_err();
        assert_eq!(why("/no/such/file.rs", &places), "no file /no/such/file.rs here");
        assert_eq!(why("src/main.rs", &[]), "no src/main.rs in any place or above");
    }
}
