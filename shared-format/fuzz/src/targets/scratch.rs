//! A file for each thread, for targets that read files. It is made on first use and removed when the thread ends.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A thread's directory, and the file in that directory.
pub(crate) struct Scratch {
    dir: PathBuf,
    path: PathBuf,
    file: File,
}

impl Scratch {
    fn new() -> Self {
        let thread = format!("{:?}", std::thread::current().id());
        let number: String = thread.chars().filter(char::is_ascii_digit).collect();
        let dir = std::env::temp_dir().join(format!("tickscope-hostile-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("hostile");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        let file = options.open(&path).unwrap();
        Self { dir, path, file }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the content of the file with these bytes.
    pub(crate) fn hold(&self, bytes: &[u8]) {
        self.file.set_len(bytes.len() as u64).unwrap();
        self.file.write_all_at(bytes, 0).unwrap();
    }

    pub(crate) fn put(&self, bytes: &[u8], at: u64) {
        self.file.write_all_at(bytes, at).unwrap();
    }

    pub(crate) fn set_len(&self, length: u64) {
        self.file.set_len(length).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Calls `work` with the file of this thread.
pub(crate) fn with<T>(work: impl FnOnce(&Scratch) -> T) -> T {
    thread_local!(static SCRATCH: RefCell<Option<Scratch>> = const { RefCell::new(None) });
    SCRATCH.with_borrow_mut(|scratch| work(scratch.get_or_insert_with(Scratch::new)))
}
