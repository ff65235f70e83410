//! The executable and the libraries that are loaded: where they are in memory, and which files they are of.

use std::ffi::{CStr, OsStr, c_void};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tickscope_format::snapshot::BUILD_ID_MAX;

/// The type of the note that holds the build id, `NT_GNU_BUILD_ID`, and the name of its owner.
const BUILD_ID: u32 = 3;
const OWNER: &[u8] = b"GNU\0";

/// What was loaded from one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Loaded {
    /// What the loader has added to the addresses of the linker.
    pub(crate) base: usize,
    segments: Vec<Range<usize>>,
    /// As the loader calls it; empty for the executable.
    name: PathBuf,
    pub(crate) build_id: Vec<u8>,
}

impl Loaded {
    /// Whether an address is in it.
    pub(crate) fn holds(&self, address: usize) -> bool {
        self.segments.iter().any(|segment| segment.contains(&address))
    }

    /// Returns a path by which this process can open the file, also if it was removed.
    pub(crate) fn file(&self) -> &Path {
        match self.name.as_os_str().is_empty() {
            true => Path::new("/proc/self/exe"),
            false => &self.name,
        }
    }

    /// Returns where the file is.
    pub(crate) fn path(&self) -> PathBuf {
        let file = self.file();
        std::fs::read_link(file).unwrap_or_else(|_| file.to_path_buf())
    }
}

/// Returns all that is loaded now.
pub(crate) fn loaded() -> Vec<Loaded> {
    let mut all: Vec<Loaded> = Vec::new();
    // SAFETY: the callback gets the list, which lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut all).cast()) };
    all
}

/// Runs for each file.
unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, all: *mut c_void) -> i32 {
    // SAFETY: the loader passes a valid description.
    let info = unsafe { &*info };
    // SAFETY: this is the list that `loaded` passes, which nothing else uses meanwhile.
    let all = unsafe { &mut *all.cast::<Vec<Loaded>>() };
    let base = info.dlpi_addr as usize;
    let mut loaded = Loaded {
        base,
        ..Loaded::default()
    };
    if !info.dlpi_name.is_null() {
        // SAFETY: the name is zero-terminated.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) };
        loaded.name = OsStr::from_bytes(name.to_bytes()).into();
    }
    let first = info.dlpi_phdr;
    for index in 0..usize::from(info.dlpi_phnum) {
        // SAFETY: the loader says where the headers are and how many.
        let Some(header) = (unsafe { first.wrapping_add(index).as_ref() }) else {
            continue;
        };
        let from = base.wrapping_add(header.p_vaddr as usize);
        let length = header.p_memsz as usize;
        if header.p_type == libc::PT_LOAD {
            loaded.segments.push(from..from.saturating_add(length));
        } else if header.p_type == libc::PT_NOTE && loaded.build_id.is_empty() {
            #[allow(
                clippy::disallowed_methods,
                reason = "notes are constants, and no memory that is shared"
            )]
            // SAFETY: a segment of notes lies in one that is loaded, and the file stays loaded during the call.
            let notes = unsafe { std::slice::from_raw_parts(from as *const u8, length) };
            loaded.build_id = build_id(notes).unwrap_or_default().to_vec();
        }
    }
    all.push(loaded);
    0
}

/// The build id among notes, if there is one: each is three lengths and kinds, the owner's name, and the text, in words of 4 bytes.
fn build_id(mut notes: &[u8]) -> Option<&[u8]> {
    loop {
        let word = |at: usize| Some(u32::from_ne_bytes(*notes.get(at..)?.first_chunk()?));
        let (name, text, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let text_at = name.checked_next_multiple_of(4)?.checked_add(12)?;
        let found = notes.get(text_at..)?.get(..text)?;
        if kind == BUILD_ID && notes.get(12..)?.get(..name)? == OWNER {
            return Some(found).filter(|found| found.len() <= BUILD_ID_MAX);
        }
        notes = notes.get(text_at.checked_add(text.checked_next_multiple_of(4)?)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_code_is_in_the_executable() {
        let own = loaded()
            .into_iter()
            .find(|loaded| loaded.holds(add as *const () as usize))
            .unwrap();
        assert_eq!(own.path(), std::env::current_exe().unwrap());
        let libc = loaded()
            .into_iter()
            .find(|loaded| loaded.holds(libc::getpid as *const () as usize));
        assert!(libc.is_some_and(|libc| libc == own || libc.file().is_file()));
    }

    #[test]
    fn a_build_id_is_found_behind_other_notes() {
        let note = |kind: u32, owner: &[u8], text: &[u8]| {
            let mut bytes = Vec::new();
            for word in [owner.len() as u32, text.len() as u32, kind] {
                bytes.extend(word.to_ne_bytes());
            }
            for part in [owner, text] {
                bytes.extend(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
            bytes
        };
        let id = [1, 2, 3, 4, 5];
        let notes = [
            note(1, OWNER, b"abi"),
            note(BUILD_ID, b"Go\0", b"x"),
            note(BUILD_ID, OWNER, &id),
        ]
        .concat();
        assert_eq!(build_id(&notes), Some(&id[..]));
        for end in 0..notes.len() - 3 {
            assert_eq!(build_id(&notes[..end]), None, "cut at {end}");
        }
    }
}
