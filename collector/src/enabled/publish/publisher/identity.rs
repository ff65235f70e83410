//! The identity of the program in the header of its ring.

use tickscope_format::file::header::{Header, NAME_BYTES_MAX};
use tickscope_format::layout::{FORMAT_MAJOR, FORMAT_MINOR};

use crate::enabled::runtime::settings::Settings;
use crate::enabled::runtime::{config, copies};

/// Returns the header of the ring of this program, which publishes under the name `name`.
pub(super) fn header(name: &str, settings: &Settings) -> Header {
    copies::look();
    debug_assert!(name.len() <= NAME_BYTES_MAX);
    let config = config::get();
    Header {
        name: name.to_owned(),
        pid: std::process::id(),
        start_time: tickscope_format::os::start_time("self").unwrap_or(0),
        boot_id: tickscope_format::os::boot_id(),
        uid: tickscope_format::os::user_id(),
        nonce: tickscope_format::os::random(),
        run_token: config.run_token,
        started_unix_ns: config.started_unix_ns,
        ring_words: settings.ring_bytes / 8,
        coarse_words: settings.ring_bytes / 8,
        control: settings.allow_remote_control,
        library: copies::own_library(),
        version: (FORMAT_MAJOR, FORMAT_MINOR),
    }
}
