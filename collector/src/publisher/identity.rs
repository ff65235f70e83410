//! Who the program is, as its ring says in its header.

use tickscope_format::file::header::{Header, NAME_BYTES_MAX};
use tickscope_format::layout::{FORMAT_MAJOR, FORMAT_MINOR};

use crate::process;
use crate::settings::Settings;

/// Who the program is, for the header of its ring.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) name: String,
    pub(crate) run_token: u64,
}

// === impl Identity ===

impl Identity {
    pub(super) fn header(&self, settings: &Settings) -> Header {
        debug_assert!(self.name.len() <= NAME_BYTES_MAX);
        Header {
            name: self.name.clone(),
            pid: std::process::id(),
            start_time: start_time(),
            boot_id: tickscope_format::os::boot_id(),
            uid: tickscope_format::os::user_id(),
            nonce: tickscope_format::os::random(),
            run_token: self.run_token,
            started_unix_ns: process::fixed().started_unix_ns,
            ring_words: settings.ring_bytes / 8,
            coarse_words: settings.ring_bytes / 8,
            control: settings.control,
            version: (FORMAT_MAJOR, FORMAT_MINOR),
        }
    }
}

/// When the kernel started this process, in its own ticks since boot: field 22 of `stat`, behind the name,
/// which may hold anything.
fn start_time() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    behind_name
        .split(' ')
        .nth(19)
        .and_then(|field| field.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_who_we_are() {
        assert!(start_time() > 0);
    }
}
