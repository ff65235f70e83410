//! Every input that the fuzzer keeps, through the fuzzer's own targets.

use std::fs;
use std::path::{Path, PathBuf};

use crate::targets;

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn corpus_and_regressions_break_nothing() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let regressions = files(&fuzz.join("regressions"));
    let mut told = 0;
    for target in &targets::ALL {
        // The same inputs, read from a real file.
        let name = if target.name == "file" {
            "open"
        } else {
            target.name
        };
        let corpus = files(&fuzz.join("corpus").join(name));
        assert!(!corpus.is_empty(), "{} has no corpus", target.name);
        let of_target = |path: &&PathBuf| {
            let found = path.file_name().unwrap().to_string_lossy();
            found.starts_with(&format!("{name}-"))
        };
        for path in corpus.iter().chain(regressions.iter().filter(of_target)) {
            let input = fs::read(path).unwrap();
            // Where it breaks, the panic's message is followed by this.
            let said = Said(path);
            target.check(&input);
            std::mem::forget(said);
            told += 1;
        }
    }
    println!("{told} files of the fuzzer: 0 panics, 0 allocations beyond 4 times the limit");
}

/// Names the file where the target panics.
struct Said<'a>(&'a Path);

impl Drop for Said<'_> {
    fn drop(&mut self) {
        eprintln!("that was {}", self.0.display());
    }
}
