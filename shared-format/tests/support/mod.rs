//! What the tests of ring files share.

use tickscope_format::file::header::Header;
use tickscope_format::os;

/// The header of a program that is not running, for a ring of 1 MiB and up to 4 MiB of history.
pub(crate) fn header(name: &str) -> Header {
    Header {
        name: name.into(),
        pid: 1,
        start_time: 1,
        boot_id: [1, 2],
        uid: os::user_id(),
        nonce: 7,
        run_token: 0,
        started_unix_ns: 1,
        ring_words: (1 << 20) / 8,
        coarse_words: (4 << 20) / 8,
        control: true,
        version: (1, 1),
    }
}
