//! Helpers for the tests of ring files.

use tickscope_format::file::header::Header;
use tickscope_testkit::ring;

/// Returns the header of a program that is not running, for a ring of 1 MiB and a coarse ring of up to 4 MiB.
pub(crate) fn header(name: &str) -> Header {
    Header {
        pid: 1,
        nonce: 7,
        coarse_words: (4 << 20) / 8,
        version: (1, 1),
        ..ring::header(name)
    }
}
