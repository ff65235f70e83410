//! Rings that cannot be read: finds out whether the programs that wrote them are still running and will create new ones.

use std::io::Read;
use std::path::Path;

use tickscope_command::console::{about, printable};
use tickscope_format::file::header::Header;
use tickscope_format::file::list::Listed;
use tickscope_format::file::open::open_plain;
use tickscope_format::layout::{RING_MAGIC, WORD, header as at};
use tickscope_format::os;

use crate::target::wanted::NoTarget;

/// Number of header words up to and including the boot id, which is the last field that identifies the process.
const WHO: usize = at::BOOT_ID + 2;

/// Whether the process that wrote a ring still runs.
pub fn runs_on(header: &Header) -> bool {
    header.boot_id == os::boot_id() && os::start_time(header.pid) == Some(header.start_time)
}

/// Returns the error for a process whose rings cannot be read; `None` if `listed` has no unreadable ring of the process.
pub(super) fn of_pid(pid: u32, listed: &[Listed]) -> Option<NoTarget> {
    let (path, error) = listed.iter().find_map(|listed| {
        let error = listed.ring.as_ref().err()?;
        let (_, of) = name_and_pid(&listed.path)?;
        (of == pid).then_some((&listed.path, error))
    })?;
    let found = about(path, error);
    let wrote = who(path);
    let then = match os::start_time(pid) {
        Some(started) if wrote == Some((started, os::boot_id())) => {
            "the process runs on and makes another within a minute: try again then".to_string()
        }
        Some(_) if wrote.is_none() => {
            format!("process {pid} makes another within a minute, if this one is its own: try again then")
        }
        _ => "its program has ended: try another".to_string(),
    };
    let lead = format!("no program with pid {pid} has a ring that can be read");
    Some(NoTarget {
        message: printable(&format!("{lead}; {found}; {then}")),
        lead: format!("{lead}; {then}."),
        may_come: true,
    })
}

/// Returns the program name and the process id that are part of a ring's file name, `NAME.PID.NONCE.ring`.
pub fn name_and_pid(path: &Path) -> Option<(String, u32)> {
    let name = path.file_name()?.to_str()?;
    let mut parts = name.rsplitn(4, '.').skip(2);
    let pid = parts.next()?.parse().ok()?;
    Some((parts.next()?.to_owned(), pid))
}

/// Reads the process start time and the boot id from the first words of a file. Returns `None` if the file is not a
/// ring, is too short or cannot be read.
fn who(path: &Path) -> Option<(u64, [u64; 2])> {
    let mut bytes = [0; WHO * WORD];
    open_plain(path, false).ok()?.read_exact(&mut bytes).ok()?;
    let (words, _) = bytes.as_chunks::<WORD>();
    let word = |index: usize| u64::from_le_bytes(words[index]);
    let boot = [word(at::BOOT_ID), word(at::BOOT_ID + 1)];
    (word(at::MAGIC) == RING_MAGIC).then(|| (word(at::START_TIME), boot))
}
