//! Fuzz targets that process hostile input, and the properties that must hold for any input. The fuzzer and a normal test
//! (`shared-format/testkit/tests/hostile`) run the same functions.

mod decode;
mod derive;
mod document;
mod follow;
mod input;
mod open;
mod scratch;
mod series;
pub(crate) mod slots;

use crate::counting::most_allocated;

pub(crate) struct Target {
    pub(crate) name: &'static str,
    run: fn(&[u8]),
    /// Memory in bytes that the target should need at most for an input of `n` bytes: `limit.0 + limit.1 * n`.
    limit: (usize, usize),
}

pub(crate) const ALL: [Target; 7] = [
    // bincode reserves memory for a list before it reads the list: up to eight times the section's bytes, or 64 KiB.
    Target {
        name: "decode",
        run: decode::run,
        limit: (1 << 20, 64),
    },
    // A report page contains about 100 kB of scripts, and is assembled from pieces.
    Target {
        name: "derive",
        run: derive::run,
        limit: (4 << 20, 1024),
    },
    // A record takes at most half of a ring, and the ring has 64 KiB here.
    Target {
        name: "open",
        run: open::run,
        limit: (1 << 20, 64),
    },
    Target {
        name: "file",
        run: open::run_file,
        limit: (1 << 20, 64),
    },
    Target {
        name: "slots",
        run: slots::run,
        limit: (64 << 10, 64),
    },
    // Deflated data grows at most a thousandfold when it is decompressed.
    Target {
        name: "series",
        run: series::run,
        limit: (2 << 20, 1100),
    },
    Target {
        name: "document",
        run: document::run,
        limit: (4 << 20, 1024),
    },
];

impl Target {
    /// Runs the target. Panics if its memory exceeds four times the limit.
    pub(crate) fn check(&self, input: &[u8]) {
        let (most, ()) = most_allocated(|| (self.run)(input));
        let limit = self.limit.0 + self.limit.1 * input.len();
        assert!(
            most <= 4 * limit,
            "{}: {} bytes of input made it take {most}, wanted at most 4 times {limit}",
            self.name,
            input.len()
        );
    }
}
