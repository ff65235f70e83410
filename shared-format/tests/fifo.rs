//! Runs alone in its process: a child that is being started holds the locks of other tests for a moment.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use tickscope_format::file::open::{RingFile, open_plain};

#[test]
fn a_fifo_is_refused_and_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fifo.ring");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let error = RingFile::open(&path).unwrap_err().to_string();
    assert!(error.contains("is a FIFO, wanted a plain file"), "{error}");
}

#[test]
fn a_fifo_put_there_between_look_and_opening_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    assert!(
        Command::new("mkfifo")
            .arg(path("fifo"))
            .status()
            .unwrap()
            .success()
    );
    std::fs::write(path("file"), "").unwrap();
    std::fs::hard_link(path("file"), path("it")).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0.. {
                // Each link replaces what is there at one go.
                let from = if turn % 2 == 0 { "fifo" } else { "file" };
                std::fs::hard_link(path(from), path("next")).unwrap();
                std::fs::rename(path("next"), path("it")).unwrap();
                // Renaming a link onto one of the same file does nothing.
                let _ = std::fs::remove_file(path("next"));
                if done.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        let mut exchanged = 0;
        let mut opened = 0;
        while exchanged < 20 || opened < 20 {
            match open_plain(&path("it"), true) {
                Ok(file) => {
                    assert!(file.metadata().unwrap().is_file());
                    opened += 1;
                }
                Err(error) => {
                    let told = "was exchanged while it was opened, wanted a plain file";
                    exchanged += u32::from(error.to_string().contains(told));
                }
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}
