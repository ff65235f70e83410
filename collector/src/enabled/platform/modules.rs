//! The executable and the loaded libraries: their addresses in memory, and their files.

use std::ffi::{CStr, OsStr, c_void};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use tickscope_format::snapshot::BUILD_ID_MAX;

/// Type of the note that holds the build id, `NT_GNU_BUILD_ID`.
const BUILD_ID: u32 = 3;
/// Owner of the note that holds the build id.
const OWNER: &[u8] = b"GNU\0";

/// Kind of the note that lets copies of this library find each other. The text of the note consists of the distance
/// from the text to [`IN_USE`], and the version.
const COPY: u32 = 1;
/// Owner of the note that lets copies of this library find each other.
const COPY_OWNER: &[u8] = b"tickscope\0";

/// 1 once this copy of the library is in use; 0 before.
static IN_USE: AtomicU32 = AtomicU32::new(0);

std::arch::global_asm!(
    ".pushsection .note.tickscope,\"a\",%note",
    ".balign 4",
    ".long 10",
    ".long 2f - 1f",
    ".long 1",
    ".asciz \"tickscope\"",
    ".balign 4",
    "1:",
    ".long {in_use} - .",
    concat!(".ascii \"", env!("CARGO_PKG_VERSION"), "\""),
    "2:",
    ".balign 4",
    ".popsection",
    in_use = sym IN_USE,
);

#[cfg(target_pointer_width = "64")]
type Header = libc::Elf64_Phdr;
#[cfg(target_pointer_width = "32")]
type Header = libc::Elf32_Phdr;

/// Another loaded copy of this library that is in use as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OtherCopy {
    /// The executable or library that contains the copy.
    pub(crate) file: PathBuf,
    pub(crate) version: String,
}

/// Sets [`IN_USE`], so that other copies can see that this copy is in use.
pub(crate) fn note_use() {
    IN_USE.store(1, Ordering::Relaxed);
}

/// Returns the other copies of this library that are in use. Allocates only if there are other copies.
pub(crate) fn other_copies() -> Vec<OtherCopy> {
    let mut all: Vec<OtherCopy> = Vec::new();
    // SAFETY: the callback gets the list, which lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(add_copies), (&raw mut all).cast()) };
    all
}

/// Adds the copies in one loaded file. The loader calls this for each file.
unsafe extern "C" fn add_copies(info: *mut libc::dl_phdr_info, _: usize, all: *mut c_void) -> i32 {
    // SAFETY: the loader passes a valid description.
    let info = unsafe { &*info };
    // SAFETY: `all` is the list that `other_copies` passes, and no other code uses it meanwhile.
    let all = unsafe { &mut *all.cast::<Vec<OtherCopy>>() };
    let headers = || headers(info);
    for header in headers().filter(|header| header.p_type == libc::PT_NOTE) {
        for note in Notes(bytes_of(info, header)) {
            if (note.kind, note.owner) != (COPY, COPY_OWNER) {
                continue;
            }
            let Some((distance, version)) = note.text.split_first_chunk() else {
                continue;
            };
            let from = note.text.as_ptr().addr();
            let word = from.wrapping_add_signed(i32::from_ne_bytes(*distance) as isize);
            let is_loaded = headers().any(|header| {
                header.p_type == libc::PT_LOAD && range_of(info, header).contains(&word) && word % 4 == 0
            });
            if !is_loaded || word == (&raw const IN_USE).addr() {
                continue;
            }
            let word = std::ptr::with_exposed_provenance::<AtomicU32>(word);
            // SAFETY: according to its note, this word of the loaded file is an `AtomicU32`.
            if unsafe { &*word }.load(Ordering::Relaxed) != 0 {
                all.push(OtherCopy {
                    file: path_of(file_of(&name_of(info))),
                    version: String::from_utf8_lossy(version).into_owned(),
                });
            }
        }
    }
    0
}

/// Returns the library that contains this code, or `None` if the executable contains it.
pub(crate) fn own_library() -> Option<PathBuf> {
    let own = Loaded::holding((&raw const IN_USE).addr())?;
    (!own.name.as_os_str().is_empty()).then(|| own.path())
}

/// The executable or a library, as loaded into memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Loaded {
    /// Difference between addresses in memory and addresses in the file.
    pub(crate) base: usize,
    segments: Vec<Range<usize>>,
    /// Name of the file, as given by the loader; empty for the executable.
    pub(crate) name: PathBuf,
    pub(crate) build_id: Vec<u8>,
}

impl Loaded {
    /// Returns the executable or library that contains an address.
    pub(crate) fn holding(address: usize) -> Option<Self> {
        loaded().into_iter().find(|loaded| loaded.holds(address))
    }

    /// Returns whether an address is in one of the segments.
    pub(crate) fn holds(&self, address: usize) -> bool {
        self.segments.iter().any(|segment| segment.contains(&address))
    }

    /// Returns a path under which this process can open the file. For the executable, this works even if the file was
    /// removed.
    pub(crate) fn file(&self) -> &Path {
        file_of(&self.name)
    }

    /// Returns the path of the file itself, even where [`Self::file`] returns a link to it.
    pub(crate) fn path(&self) -> PathBuf {
        path_of(self.file())
    }
}

/// Returns a path under which this process can open the file that the loader calls `name`.
fn file_of(name: &Path) -> &Path {
    match name.as_os_str().is_empty() {
        true => Path::new("/proc/self/exe"),
        false => name,
    }
}

/// Returns the target if `file` is a link such as `/proc/self/exe`, or else `file`.
fn path_of(file: &Path) -> PathBuf {
    std::fs::read_link(file).unwrap_or_else(|_| file.to_path_buf())
}

/// Returns the executable and all libraries that are loaded now.
pub(crate) fn loaded() -> Vec<Loaded> {
    let mut all: Vec<Loaded> = Vec::new();
    // SAFETY: the callback gets the list, which lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut all).cast()) };
    all
}

/// Returns how many files have been loaded and unloaded so far. The number changes whenever [`loaded`] does.
pub(crate) fn changes() -> u64 {
    let mut changes = 0;
    // SAFETY: the callback gets the number, which lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(tell_changes), (&raw mut changes).cast()) };
    changes
}

/// Tells the number of changes. The loader calls this for the first file only, because the result is not 0.
unsafe extern "C" fn tell_changes(info: *mut libc::dl_phdr_info, _: usize, changes: *mut c_void) -> i32 {
    // SAFETY: the loader passes a valid description.
    let info = unsafe { &*info };
    // SAFETY: `changes` is the number that `changes` passes, and no other code uses it meanwhile.
    unsafe { *changes.cast::<u64>() = info.dlpi_adds.wrapping_add(info.dlpi_subs) };
    1
}

/// Adds one loaded file. The loader calls this for each file.
unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, all: *mut c_void) -> i32 {
    // SAFETY: the loader passes a valid description.
    let info = unsafe { &*info };
    // SAFETY: `all` is the list that `loaded` passes, and no other code uses it meanwhile.
    let all = unsafe { &mut *all.cast::<Vec<Loaded>>() };
    let mut loaded = Loaded {
        base: info.dlpi_addr as usize,
        name: name_of(info),
        ..Loaded::default()
    };
    for header in headers(info) {
        if header.p_type == libc::PT_LOAD {
            loaded.segments.push(range_of(info, header));
        } else if header.p_type == libc::PT_NOTE && loaded.build_id.is_empty() {
            loaded.build_id = build_id(bytes_of(info, header)).unwrap_or_default().to_vec();
        }
    }
    all.push(loaded);
    0
}

/// Returns the name of a file, as given by the loader; empty for the executable.
fn name_of(info: &libc::dl_phdr_info) -> PathBuf {
    // SAFETY: `getauxval` has no preconditions.
    let executable = unsafe { libc::getauxval(libc::AT_PHDR) } as usize;
    // glibc gives the executable no name. musl gives it a name that may not be a valid path from the current directory.
    if info.dlpi_name.is_null() || info.dlpi_phdr.addr() == executable {
        return PathBuf::new();
    }
    // SAFETY: the name is null-terminated.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) };
    OsStr::from_bytes(name.to_bytes()).into()
}

fn headers(info: &libc::dl_phdr_info) -> impl Iterator<Item = &Header> {
    (0..usize::from(info.dlpi_phnum)).filter_map(|index| {
        // SAFETY: the loader has passed the address and the number of the headers.
        unsafe { info.dlpi_phdr.wrapping_add(index).as_ref() }
    })
}

/// Returns the range of addresses of a segment in memory.
fn range_of(info: &libc::dl_phdr_info, header: &Header) -> Range<usize> {
    let from = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
    from..from.saturating_add(header.p_memsz as usize)
}

/// Returns the bytes of a segment that contains notes.
fn bytes_of<'a>(info: &'a libc::dl_phdr_info, header: &Header) -> &'a [u8] {
    let range = range_of(info, header);
    #[allow(
        clippy::disallowed_methods,
        reason = "notes are constants, and no memory that is shared"
    )]
    // SAFETY: a segment of notes is inside a loaded segment, and the file stays loaded while the loader describes it.
    unsafe {
        std::slice::from_raw_parts(range.start as *const u8, range.len())
    }
}

/// A note: its kind, its owner, and its text.
struct Note<'a> {
    kind: u32,
    owner: &'a [u8],
    text: &'a [u8],
}

/// A sequence of notes. Each note consists of the length of its owner, the length of its text, its kind, the owner, and
/// the text. Owner and text are padded to 4 bytes.
struct Notes<'a>(&'a [u8]);

impl<'a> Iterator for Notes<'a> {
    type Item = Note<'a>;

    fn next(&mut self) -> Option<Note<'a>> {
        let notes = self.0;
        let word = |at: usize| Some(u32::from_ne_bytes(*notes.get(at..)?.first_chunk()?));
        let (name, text, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let text_at = name.checked_next_multiple_of(4)?.checked_add(12)?;
        let note = Note {
            kind,
            owner: notes.get(12..)?.get(..name)?,
            text: notes.get(text_at..)?.get(..text)?,
        };
        let end = text_at.checked_add(text.checked_next_multiple_of(4)?)?;
        self.0 = notes.get(end..).unwrap_or_default();
        Some(note)
    }
}

/// Returns the build id in the notes, if there is one.
fn build_id(notes: &[u8]) -> Option<&[u8]> {
    let found = Notes(notes).find(|note| (note.kind, note.owner) == (BUILD_ID, OWNER))?;
    Some(found.text).filter(|text| text.len() <= BUILD_ID_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_code_is_in_the_executable() {
        let own = Loaded::holding(add as *const () as usize).unwrap();
        assert_eq!(own.path(), std::env::current_exe().unwrap());
        let libc = Loaded::holding(libc::getpid as *const () as usize);
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
