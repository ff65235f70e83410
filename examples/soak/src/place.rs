//! The directory of a run, with the rings and with what viewers and commands write. It is removed after the run.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Memory, if there is such a directory: rings that are written 50 times a second need no disk.
const MEMORY: &str = "/dev/shm";

/// Files older than this have no reader any more.
const STALE: Duration = Duration::from_secs(10);

/// The directory is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Place(PathBuf);

impl Place {
    /// Makes the directory.
    ///
    /// # Errors
    /// The system's error, with the directory.
    pub(crate) fn new() -> Result<Self, String> {
        let memory = Path::new(MEMORY);
        let parent = if memory.is_dir() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        };
        let place = Self(parent.join(format!("tickscope-soak-{}", std::process::id())));
        for directory in [place.rings(), place.written()] {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
            made.map_err(|error| format!("mkdir {}: {error}", directory.display()))?;
        }
        Ok(place)
    }

    /// Returns the directory of the rings.
    pub(crate) fn rings(&self) -> PathBuf {
        self.0.join("rings")
    }

    /// Returns the directory in which viewers and commands write.
    pub(crate) fn written(&self) -> PathBuf {
        self.0.join("written")
    }

    /// Removes old reports and recordings, and returns how many.
    pub(crate) fn tidy(&self) -> u64 {
        let files = fs::read_dir(self.written()).into_iter().flatten().flatten();
        let stale = files.filter(|file| {
            let changed = file.metadata().and_then(|facts| facts.modified());
            changed.is_ok_and(|changed| {
                SystemTime::now()
                    .duration_since(changed)
                    .is_ok_and(|age| age > STALE)
            })
        });
        stale.filter(|file| fs::remove_file(file.path()).is_ok()).count() as u64
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Another process may already have removed it.
        _ = fs::remove_dir_all(&self.0);
    }
}
