//! Runs all inputs that are stored for the fuzzer through the fuzzer's own targets.

use std::fs;
use std::path::Path;

use crate::targets;

/// An input, and where it is stored: a file, and the line if the file contains several inputs.
struct Input {
    place: String,
    bytes: Vec<u8>,
}

/// Returns the inputs of a packed corpus: a text file with one input per line, in hexadecimal.
fn unpack(path: &Path) -> Vec<Input> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let digit = |digit: u8, place: &str| {
        let value = char::from(digit).to_digit(16);
        value.unwrap_or_else(|| {
            panic!(
                "{place}: found {:?}, wanted hexadecimal digits",
                char::from(digit)
            )
        })
    };
    let input = |(number, line): (usize, &str)| {
        let place = format!("{}:{}", path.display(), number + 1);
        let (pairs, rest) = line.as_bytes().as_chunks::<2>();
        assert!(rest.is_empty(), "{place}: half a byte at the end");
        let byte = |&[high, low]: &[u8; 2]| (digit(high, &place) << 4 | digit(low, &place)) as u8;
        let bytes = pairs.iter().map(byte).collect();
        Input { place, bytes }
    };
    text.lines().enumerate().map(input).collect()
}

/// Returns the inputs that once made this target fail.
fn regressions(folder: &Path, target: &str) -> Vec<Input> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(&format!("{target}-"))
    });
    paths.sort();
    let input = |path: &std::path::PathBuf| Input {
        place: path.display().to_string(),
        bytes: fs::read(path).unwrap(),
    };
    paths.iter().map(input).collect()
}

#[test]
fn corpus_and_regressions_break_nothing() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let mut count = 0;
    for target in &targets::ALL {
        // The target `file` takes the same inputs as `open`, but reads them from a real file.
        let name = match target.name == "file" {
            true => "open",
            false => target.name,
        };
        let mut inputs = unpack(&fuzz.join("corpus").join(format!("{name}.hex")));
        assert!(!inputs.is_empty(), "{} has no corpus", target.name);
        inputs.extend(regressions(&fuzz.join("regressions"), name));
        for input in &inputs {
            // If the target panics, this prints where the input is stored, after the panic message.
            let place = NamedOnPanic(&input.place);
            target.check(&input.bytes);
            std::mem::forget(place);
            count += 1;
        }
    }
    println!("{count} inputs of the fuzzer: 0 panics, 0 allocations beyond 4 times the limit");
}

/// When dropped, prints where an input is stored. That happens only if the target panics.
struct NamedOnPanic<'a>(&'a str);

impl Drop for NamedOnPanic<'_> {
    fn drop(&mut self) {
        eprintln!("that was {}", self.0);
    }
}
