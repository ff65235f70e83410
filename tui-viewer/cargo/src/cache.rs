//! Files that are created once per compiler and then kept: the collector, and the compiler options that add sleds.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::anyhow;

/// Folder of all kept files.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    dir: PathBuf,
}

impl Cache {
    /// Opens the user's cache.
    ///
    /// # Errors
    /// The environment does not say where the cache directory is, or that directory cannot be written to.
    pub(crate) fn open() -> anyhow::Result<Self> {
        let set = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        // A relative path must be ignored (XDG Base Directory Specification).
        let above = set("XDG_CACHE_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| set("HOME").map(|home| home.join(".cache")))
            .ok_or_else(|| {
                anyhow!(
                    "there is no place to keep the collector: neither HOME nor XDG_CACHE_HOME is set\n  set XDG_CACHE_HOME \
                     to a directory of your own"
                )
            })?;
        let dir = above.join("tickscope");
        let refused = |error: std::io::Error| {
            anyhow!(
                "cannot write {}: {error}\n  the collector is built there, once for each compiler; set XDG_CACHE_HOME to a \
                 directory that you may write to",
                dir.display()
            )
        };
        fs::create_dir_all(&dir).map_err(refused)?;
        tempfile::tempfile_in(&dir).map_err(refused)?;
        Ok(Self { dir })
    }

    /// Returns the path of an entry. `what` is its kind, and `facts` distinguish it from other entries of that kind.
    pub(crate) fn place(&self, what: &str, facts: impl Hash) -> PathBuf {
        self.dir.join(format!("{what}-{}", key(facts)))
    }

    /// Creates an entry unless it exists. If several processes want it at the same time, only one creates it. `make`
    /// fills a temporary folder, which is then renamed to `place`.
    ///
    /// # Errors
    /// `make` fails, or the system reports an error.
    pub(crate) fn make(
        &self,
        place: &Path,
        make: impl FnOnce(&Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if place.exists() {
            return Ok(());
        }
        let lock = File::create(with_ending(place, "lock"))?;
        // The lock is released when the file is closed, which also happens when the process ends.
        lock.lock()?;
        if place.exists() {
            return Ok(());
        }
        let partial = with_ending(place, "partial");
        // A process that was killed may have left this folder.
        if partial.exists() {
            fs::remove_dir_all(&partial)?;
        }
        fs::create_dir_all(&partial)?;
        let made = make(&partial).and_then(|()| Ok(fs::rename(&partial, place)?));
        if made.is_err() {
            let _ = fs::remove_dir_all(&partial);
        }
        made
    }
}

/// Returns a hash of the facts as a short name. Another release of this program may give the same facts another name.
pub(crate) fn key(facts: impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    facts.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn with_ending(place: &Path, ending: &str) -> PathBuf {
    let mut name = place.as_os_str().to_os_string();
    name.push(".");
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn of_many_at_once_one_makes_it_and_a_failure_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache {
            dir: dir.path().into(),
        };
        let place = cache.place("x", ("rustc", 1));
        assert_ne!(place, cache.place("x", ("rustc", 2)));
        let failed = cache.make(&place, |folder| {
            fs::write(folder.join("a"), "half")?;
            Err(anyhow!("no"))
        });
        assert!(failed.is_err() && !place.exists() && !with_ending(&place, "partial").exists());
        // Create the folder that a killed process would leave behind.
        fs::create_dir(with_ending(&place, "partial")).unwrap();
        fs::write(with_ending(&place, "partial").join("b"), "half").unwrap();
        let made = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    cache
                        .make(&place, |folder| {
                            made.fetch_add(1, Ordering::Relaxed);
                            Ok(fs::write(folder.join("a"), "whole")?)
                        })
                        .unwrap();
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
        assert_eq!(fs::read_to_string(place.join("a")).unwrap(), "whole");
        assert!(!place.join("b").exists());
    }
}
