//! The header page: which program wrote the file, and where the file's parts begin. The page never changes once the file has a
//! name.

use std::fmt::Display;

use crate::checksum::checksum;
use crate::error::{FormatError, check_features, check_version, damaged};
use crate::layout::{
    FORMAT_MAJOR, FORMAT_MINOR, KNOWN_FEATURES, PAGE_WORDS, RING_FIRST, RING_MAGIC, RING_WORDS_RANGE, WORD,
    header as at, state,
};
use crate::ring::Region;
use crate::ring::growing::Growing;

/// Maximum length of a program's name in the header, in bytes.
pub const NAME_BYTES_MAX: usize = at::NAME_WORDS * WORD;

/// Maximum length of a library's path in the header, in bytes.
pub const LIBRARY_BYTES_MAX: usize = at::LIBRARY_WORDS * WORD;

/// Contents of the header page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The program's name.
    pub name: String,
    /// Process id, in the program's PID namespace.
    pub pid: u32,
    /// Start time of the process, in the kernel's clock ticks since boot.
    pub start_time: u64,
    /// Id of the boot during which the file was created.
    pub boot_id: [u64; 2],
    /// User id of the program.
    pub uid: u32,
    /// Random number, which is also in the file's name.
    pub nonce: u64,
    /// Token that `tickscope run` passed in the environment; 0 if there was none.
    pub run_token: u64,
    /// Time at which the collector started, in nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// Size of the ring in words, a power of two.
    pub ring_words: u64,
    /// Maximum size of the coarse ring in words, a power of two; 0 if there is no coarse ring.
    pub coarse_words: u64,
    /// Whether the program accepts requests.
    pub control: bool,
    /// Path of the library that contains the collector; empty if it is part of the executable. If the path is longer
    /// than [`LIBRARY_BYTES_MAX`] bytes, only the end of it is kept.
    pub library: String,
    /// Major and minor format version.
    pub version: (u32, u32),
}

impl Header {
    /// Returns the length of a new file in bytes. The coarse ring is added at the end later.
    pub fn file_bytes(&self) -> u64 {
        (RING_FIRST as u64 + self.ring_words) * WORD as u64
    }

    /// Returns the length of the file in bytes once the coarse ring has grown to this many words.
    pub fn file_bytes_with(&self, coarse_words: u64) -> u64 {
        self.file_bytes() + coarse_words * WORD as u64
    }

    /// Returns the region of the file that the ring occupies.
    pub fn region(&self) -> Region {
        Region {
            first: RING_FIRST,
            words: self.ring_words,
            intent: state::INTENT,
            latest: state::LATEST,
        }
    }

    /// Returns the region of the coarse ring, or `None` if the file has no coarse ring.
    pub fn coarse(&self) -> Option<Growing> {
        let most = Region {
            first: RING_FIRST + self.ring_words as usize,
            words: self.coarse_words,
            intent: state::COARSE_INTENT,
            latest: state::COARSE_LATEST,
        };
        (self.coarse_words != 0).then_some(Growing {
            most,
            size: state::COARSE_WORDS,
        })
    }

    /// Encodes the page as words.
    pub fn encode(&self) -> [u64; PAGE_WORDS] {
        let mut page = [0; PAGE_WORDS];
        page[at::MAGIC] = RING_MAGIC;
        page[at::VERSION] = u64::from(FORMAT_MAJOR) << 32 | u64::from(FORMAT_MINOR);
        page[at::FILE_BYTES] = self.file_bytes();
        page[at::PID] = u64::from(self.pid);
        page[at::START_TIME] = self.start_time;
        page[at::BOOT_ID..at::BOOT_ID + 2].copy_from_slice(&self.boot_id);
        page[at::UID] = u64::from(self.uid);
        page[at::NONCE] = self.nonce;
        page[at::RUN_TOKEN] = self.run_token;
        page[at::STARTED_UNIX_NS] = self.started_unix_ns;
        page[at::RING_FIRST] = RING_FIRST as u64;
        page[at::RING_WORDS] = self.ring_words;
        if let Some(coarse) = self.coarse() {
            page[at::COARSE_FIRST] = coarse.most.first as u64;
            page[at::COARSE_WORDS] = coarse.most.words;
        }
        page[at::NO_CONTROL] = u64::from(!self.control);
        let mut put = |text: &[u8], bytes: usize, first: usize| {
            page[bytes] = text.len() as u64;
            for (index, &byte) in text.iter().enumerate() {
                page[first + index / WORD] |= u64::from(byte) << (index % WORD * 8);
            }
        };
        let name = &self.name.as_bytes()[..self.name.len().min(NAME_BYTES_MAX)];
        put(name, at::NAME_BYTES, at::NAME);
        let library = self.library.as_bytes();
        let cut = library.len().saturating_sub(LIBRARY_BYTES_MAX);
        put(&library[cut..], at::LIBRARY_BYTES, at::LIBRARY);
        page[at::CRC] = checksum(&page[..at::CRC], &[]);
        page
    }

    /// Decodes a header page. `file_bytes` is the actual length of the file.
    ///
    /// # Errors
    /// The first fault found. What identifies a ring file, such as its magic number and version, is checked before
    /// anything else.
    pub fn decode(page: &[u64; PAGE_WORDS], file_bytes: u64) -> Result<Self, FormatError> {
        if page[at::MAGIC] != RING_MAGIC {
            let found = page[at::MAGIC].to_le_bytes().escape_ascii().to_string();
            return Err(FormatError::NotOurs {
                found: format!("\"{found}\""),
                wanted: "\"TICKRING\"".into(),
            });
        }
        let version = check_version(page[at::VERSION])?;
        let check = |is_right: bool, what: &'static str, word: usize, wanted: &dyn Display| match is_right {
            true => Ok(()),
            false => Err(damaged(what, (word * WORD) as u64, page[word], wanted)),
        };
        let sum = checksum(&page[..at::CRC], &[]);
        check(page[at::CRC] == sum, "header checksum", at::CRC, &sum)?;
        check_features(page[at::FEATURES], KNOWN_FEATURES)?;
        let fits = |words: u64| RING_WORDS_RANGE.contains(&words) && words.is_power_of_two();
        let (ring_words, coarse_words) = (page[at::RING_WORDS], page[at::COARSE_WORDS]);
        check(fits(ring_words), "ring size", at::RING_WORDS, &"a power of two")?;
        let is_first = page[at::RING_FIRST] == RING_FIRST as u64;
        check(is_first, "ring offset", at::RING_FIRST, &RING_FIRST)?;
        // In files of older versions, which have no coarse ring, these fields are zero.
        if coarse_words != 0 {
            let fits = fits(coarse_words);
            check(fits, "coarse ring size", at::COARSE_WORDS, &"a power of two")?;
            let behind = RING_FIRST as u64 + ring_words;
            let is_behind = page[at::COARSE_FIRST] == behind;
            check(is_behind, "coarse ring offset", at::COARSE_FIRST, &behind)?;
        }
        let text = |what: &'static str, bytes: usize, first: usize, most: usize| {
            let length = page[bytes] as usize;
            check(length <= most, what, bytes, &format!("at most {most}"))?;
            let text = (0..length).map(|i| (page[first + i / WORD] >> (i % WORD * 8)) as u8);
            Ok::<_, FormatError>(String::from_utf8_lossy(&text.collect::<Vec<u8>>()).into_owned())
        };
        let what = "length of the library's path";
        let header = Self {
            name: text("name length", at::NAME_BYTES, at::NAME, NAME_BYTES_MAX)?,
            pid: page[at::PID] as u32,
            start_time: page[at::START_TIME],
            boot_id: [page[at::BOOT_ID], page[at::BOOT_ID + 1]],
            uid: page[at::UID] as u32,
            nonce: page[at::NONCE],
            run_token: page[at::RUN_TOKEN],
            started_unix_ns: page[at::STARTED_UNIX_NS],
            ring_words,
            coarse_words,
            control: page[at::NO_CONTROL] == 0,
            // In files of older versions, the length is zero.
            library: text(what, at::LIBRARY_BYTES, at::LIBRARY, LIBRARY_BYTES_MAX)?,
            version,
        };
        if file_bytes < header.file_bytes() {
            return Err(FormatError::Truncated {
                found: file_bytes,
                wanted: header.file_bytes(),
            });
        }
        Ok(header)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn example() -> Header {
        Header {
            name: "order-book".into(),
            pid: 41873,
            start_time: 99,
            boot_id: [1, 2],
            uid: crate::os::user_id(),
            nonce: 0xabcd,
            run_token: 0,
            started_unix_ns: 5,
            ring_words: *RING_WORDS_RANGE.start(),
            coarse_words: 2 * RING_WORDS_RANGE.start(),
            control: true,
            library: "/usr/lib/libplugin.so".into(),
            version: (FORMAT_MAJOR, FORMAT_MINOR),
        }
    }

    #[test]
    fn a_header_comes_back_as_it_was() {
        let header = example();
        let read = |header: &Header| Header::decode(&header.encode(), header.file_bytes());
        assert_eq!(read(&header).unwrap(), header);
        let longer = Header {
            library: format!("/{}/lib.so", "x".repeat(LIBRARY_BYTES_MAX)),
            ..header
        };
        let kept = read(&longer).unwrap().library;
        assert_eq!(kept.len(), LIBRARY_BYTES_MAX);
        assert!(longer.library.ends_with(&kept));
    }

    #[test]
    fn a_header_from_before_the_coarse_ring_has_none() {
        let header = Header {
            coarse_words: 0,
            ..example()
        };
        let mut page = header.encode();
        assert_eq!((page[at::COARSE_FIRST], page[at::COARSE_WORDS]), (0, 0));
        page[at::VERSION] = u64::from(FORMAT_MAJOR) << 32;
        page[at::CRC] = checksum(&page[..at::CRC], &[]);
        let read = Header::decode(&page, header.file_bytes()).unwrap();
        assert_eq!((read.coarse_words, read.version), (0, (FORMAT_MAJOR, 0)));
    }

    /// A program may die while it is creating its file, so a header that is only partly written must be invalid.
    #[test]
    fn a_header_cut_off_at_any_word_is_none() {
        let header = example();
        let whole = header.encode();
        for cut in 0..PAGE_WORDS {
            let mut page = whole;
            page[cut..].fill(0);
            let read = Header::decode(&page, header.file_bytes());
            assert_eq!(read.is_ok(), page == whole, "cut after {cut} words");
        }
    }

    #[test]
    fn each_refusal_says_what_was_found() {
        let header = example();
        let mut other = header.encode();
        other[at::VERSION] = 3 << 32 | 1;
        let mut needing = header.encode();
        needing[at::FEATURES] |= 0x400;
        needing[at::CRC] = checksum(&needing[..at::CRC], &[]);
        let mut random = header.encode();
        random[0] = u64::from_le_bytes(*b"\x7fELF\x02\x01\x01\x00");
        let mut odd = header.encode();
        odd[at::COARSE_WORDS] = 12_345;
        odd[at::CRC] = checksum(&odd[..at::CRC], &[]);
        for (page, bytes, says) in [
            (
                other,
                header.file_bytes(),
                "ring format 3.1, this tickscope reads 1.x; use the tickscope that wrote it, or update",
            ),
            (random, header.file_bytes(), "\\x7fELF"),
            (
                odd,
                header.file_bytes(),
                "damaged: coarse ring size at byte 200: found 12345, wanted a power of two",
            ),
            (header.encode(), 5000, "truncated: 5000 bytes, wanted "),
            (
                needing,
                header.file_bytes(),
                "needs format features 0x400 that this tickscope does not know; update tickscope",
            ),
        ] {
            let error = Header::decode(&page, bytes).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
