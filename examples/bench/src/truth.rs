//! True shares of CPU time: `perf record` samples a program 1000 times a second.
//!
//! A sample counts for the innermost named function on the stack, even if that was inlined. If a named function calls
//! other code, such as the standard library, the C library or the kernel, the samples in that code count for the named
//! function. Inlined functions are found through the program's debug information. perf unwinds the stack with the
//! unwind tables for exceptions, so the code needs no frame pointers.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use addr2line::Loader;
use object::{Object, ObjectSegment};

/// Text that the program prints before its load address.
const LOADED_AT: &str = "loaded at ";

/// A function with a scope.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Name of the scope.
    pub name: &'static str,
    /// Last part of the function's name in the source code.
    pub symbol: &'static str,
}

impl Function {
    /// Makes a function whose scope has the same name as the function itself.
    pub const fn new(name: &'static str) -> Self {
        Self { name, symbol: name }
    }
}

/// perf's samples, grouped by function.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// Number of samples in each function, by the name of its scope.
    pub looks: BTreeMap<&'static str, u64>,
    /// Number of samples outside all named functions.
    pub elsewhere: u64,
}

impl Truth {
    /// Returns the number of samples in named functions.
    pub fn all(&self) -> u64 {
        self.looks.values().sum()
    }

    /// Returns a function's share of the samples in all named functions, from 0 to 1.
    pub fn share(&self, name: &str) -> f64 {
        let looks = self.looks.get(name).copied().unwrap_or(0);
        looks as f64 / self.all().max(1) as f64
    }

    /// Returns the standard error of a function's share, assuming that the samples are independent.
    pub fn error(&self, name: &str) -> f64 {
        let share = self.share(name);
        (share * (1.0 - share) / self.all().max(1) as f64).sqrt()
    }

    /// Adds the samples of another recording.
    pub fn add(&mut self, other: &Self) {
        for (name, looks) in &other.looks {
            *self.looks.entry(name).or_default() += looks;
        }
        self.elsewhere += other.elsewhere;
    }
}

/// Reason why there are no true shares.
#[derive(Debug)]
pub enum NoTruth {
    /// perf is missing or not permitted. The text includes perf's message.
    NoPerf(String),
    /// Another error occurred.
    Failed(String),
}

/// Prints the address at which this program is loaded, for the process that records it. A program must call this first
/// if it is to be recorded.
///
/// # Errors
/// An error if the kernel does not provide the address.
#[expect(clippy::print_stdout, reason = "the process that records this one reads it")]
pub fn say_where_loaded() -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let maps = fs::read_to_string("/proc/self/maps").map_err(|error| error.to_string())?;
    let first = maps.lines().find(|line| Path::new(path_of(line)) == program);
    let address = first.and_then(|line| line.split('-').next());
    println!("{LOADED_AT}{}", address.ok_or("this program is mapped nowhere")?);
    Ok(())
}

/// Returns the path in a line of `/proc/self/maps`. The path begins at the line's first slash.
fn path_of(line: &str) -> &str {
    line.find('/').map_or("", |begin| &line[begin..])
}

/// Records a program with these arguments until it ends.
///
/// # Errors
/// An error if there is no perf, it is not permitted, or the program fails.
pub fn record<S: AsRef<OsStr>>(
    program: &Path,
    arguments: &[S],
    functions: &[Function],
) -> Result<Truth, NoTruth> {
    let failed = |error: String| NoTruth::Failed(format!("{}: {error}", program.display()));
    let directory = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
    let data = directory.path().join("perf");
    let output = Command::new("perf")
        .args("record -e cpu-clock -F 1000 --call-graph dwarf -o".split(' '))
        .arg(&data)
        .arg("--")
        .arg(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    let output = output.map_err(|error| NoTruth::NoPerf(format!("perf cannot be run: {error}")))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let Some(address) = said.lines().find_map(|line| line.strip_prefix(LOADED_AT)) else {
        let error = String::from_utf8_lossy(&output.stderr);
        // Without permission, perf does not even start the program.
        let line = error.lines().find(|line| !line.trim().is_empty());
        let line = line.unwrap_or("nothing");
        return Err(NoTruth::NoPerf(format!("perf does not record, it says: {line}")));
    };
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let address = u64::from_str_radix(address, 16).map_err(|error| failed(error.to_string()))?;
    let stacks = Command::new("perf")
        .args(["script", "--no-inline", "-F", "ip,sym,dso", "-i"])
        .arg(&data)
        .output();
    let stacks = stacks.map_err(|error| failed(error.to_string()))?;
    if !stacks.status.success() {
        return Err(failed(String::from_utf8_lossy(&stacks.stderr).into_owned()));
    }
    let program = program.canonicalize();
    let program = program.map_err(|error| failed(error.to_string()))?;
    let symbols = Symbols::new(&program, address, functions).map_err(failed)?;
    Ok(symbols.count(&String::from_utf8_lossy(&stacks.stdout)))
}

/// Finds the named function at an address in a program.
struct Symbols<'a> {
    loader: Loader,
    /// Address at which the beginning of the program's file is loaded.
    loaded_at: u64,
    /// Segments of the program: address, file offset, and length in bytes.
    segments: Vec<(u64, u64, u64)>,
    /// Path of the program in parentheses, as perf prints it.
    place: String,
    functions: &'a [Function],
}

impl<'a> Symbols<'a> {
    fn new(program: &Path, loaded_at: u64, functions: &'a [Function]) -> Result<Self, String> {
        let loader = Loader::new(program).map_err(|error| error.to_string())?;
        let bytes = fs::read(program).map_err(|error| error.to_string())?;
        let object = object::File::parse(&*bytes).map_err(|error| error.to_string())?;
        let segments = object.segments().map(|segment| {
            let (begin, length) = segment.file_range();
            (segment.address(), begin, length)
        });
        Ok(Self {
            loader,
            loaded_at,
            segments: segments.collect(),
            place: format!("({})", program.display()),
            functions,
        })
    }

    /// Counts the samples in the output of `perf script`. Each sample is one line per frame, innermost first, followed
    /// by an empty line.
    fn count(&self, text: &str) -> Truth {
        let mut truth = Truth::default();
        let mut known = BTreeMap::new();
        for look in text.split("\n\n").filter(|look| !look.trim().is_empty()) {
            let frames = look.lines().filter(|line| !line.trim().is_empty()).enumerate();
            let mut own = frames.filter(|(_, frame)| frame.ends_with(&self.place));
            let found = own.find_map(|(depth, frame)| {
                let address = u64::from_str_radix(frame.split_whitespace().next()?, 16).ok()?;
                // In a caller's frame, the address is a return address, which lies after the call.
                let address = if depth == 0 { address } else { address - 1 };
                *known.entry(address).or_insert_with(|| self.function_at(address))
            });
            match found {
                Some(name) => *truth.looks.entry(name).or_default() += 1,
                None => truth.elsewhere += 1,
            }
        }
        truth
    }

    /// Returns the innermost named function at an address.
    fn function_at(&self, address: u64) -> Option<&'static str> {
        let address = self.address_in_program(address)?;
        let mut frames = self.loader.find_frames(address).ok()?;
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.as_ref();
            let name = function.and_then(|function| function.raw_name().ok());
            if let Some(found) = name.and_then(|name| self.named(&name)) {
                return Some(found);
            }
        }
        None
    }

    /// Converts an address in perf's output to one that can be looked up in the program's debug information. perf
    /// prints the offset in the file. Older versions print the address in the process.
    fn address_in_program(&self, address: u64) -> Option<u64> {
        if address >= self.loaded_at {
            return Some(address - self.loaded_at + self.loader.relative_address_base());
        }
        let holds = |segment: &&(u64, u64, u64)| (segment.1..segment.1 + segment.2).contains(&address);
        let &(begin, in_file, _) = self.segments.iter().find(holds)?;
        Some(address - in_file + begin)
    }

    fn named(&self, raw: &str) -> Option<&'static str> {
        let name = format!("{:#}", rustc_demangle::demangle(raw));
        let last = last_part(&name);
        let known = self.functions.iter().find(|function| function.symbol == last);
        known.map(|function| function.name)
    }
}

/// Returns the last part of a path, without generic arguments: `work` of `<demo::Frame<S>>::work::<demo::Plain>`.
fn last_part(name: &str) -> &str {
    let mut name = name;
    if name.ends_with('>') {
        let mut open = 0;
        let begin = name.char_indices().rev().find(|&(_, letter)| {
            open += i32::from(letter == '>') - i32::from(letter == '<');
            open == 0
        });
        name = &name[..begin.map_or(0, |(at, _)| at)];
        name = name.trim_end_matches("::");
    }
    name.rsplit("::").next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_of_a_name_has_no_generic_arguments() {
        for (name, last) in [
            ("work", "work"),
            ("work<demo::Plain, &demo::Scene>", "work"),
            ("<demo::Frame<S>>::work::<demo::Plain>", "work"),
            ("demo::work", "work"),
            ("demo::work::{closure#0}", "{closure#0}"),
        ] {
            assert_eq!(last_part(name), last, "{name}");
        }
    }

    #[test]
    fn the_path_of_a_mapping_may_have_spaces() {
        let line = "55d0-55d1 r--p 00000000 fe:00 131 /a b/c";
        assert_eq!(path_of(line), "/a b/c");
        assert_eq!(path_of("7ffd-7ffe rw-p 00000000 00:00 0"), "");
    }

    #[test]
    fn shares_are_those_of_named_functions() {
        let mut truth = Truth {
            looks: BTreeMap::from([("one", 1), ("three", 3)]),
            elsewhere: 6,
        };
        truth.add(&truth.clone());
        assert_eq!((truth.all(), truth.elsewhere), (8, 12));
        assert_eq!(truth.share("three"), 0.75);
        assert!((truth.error("three") - (0.75f64 * 0.25 / 8.0).sqrt()).abs() < 1e-12);
        assert_eq!(truth.share("none"), 0.0);
    }
}
