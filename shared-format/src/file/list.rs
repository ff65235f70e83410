//! Lists the rings that this process can see.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::FormatError;
use crate::file::open::{Liveness, RingFile};
use crate::file::places::{self, RING_ENDING};
use crate::os;

/// A file that is named like a ring.
#[derive(Debug)]
pub struct Listed {
    /// Path of the file.
    pub path: PathBuf,
    /// The ring, or the reason why the file is not one.
    pub ring: Result<(RingFile, Liveness), FormatError>,
}

/// Returns all files in these directories that are named like rings. The rings of live programs come first, then other
/// rings, then files that are not rings. Within each of the first two groups, newer rings come first. Directories that
/// are missing or unreadable are skipped. If a default directory belongs to another user, the directory itself is
/// listed, with an error.
pub fn list(places: &[PathBuf]) -> Vec<Listed> {
    let look_into = |place: &PathBuf| match places::check_owner(place) {
        Ok(()) => ring_paths(place).into_iter().map(look).collect(),
        Err(error) => vec![Listed {
            path: place.clone(),
            ring: Err(error),
        }],
    };
    let mut found: Vec<Listed> = places.iter().flat_map(look_into).collect();
    found.sort_by_key(|listed| match &listed.ring {
        Ok((ring, liveness)) => {
            let dead = matches!(liveness, Liveness::Exited { .. } | Liveness::Crashed { .. });
            (u8::from(dead), u64::MAX - ring.header().started_unix_ns)
        }
        Err(_) => (2, 0),
    });
    found
}

pub(super) fn ring_paths(place: &Path) -> Vec<PathBuf> {
    let mut paths = os::paths_in(place);
    paths.retain(|path| path.extension() == Some(OsStr::new(RING_ENDING)));
    paths.sort();
    paths
}

fn look(path: PathBuf) -> Listed {
    let ring = RingFile::open(&path).and_then(|ring| {
        let liveness = ring.liveness()?;
        Ok((ring, liveness))
    });
    Listed { path, ring }
}
