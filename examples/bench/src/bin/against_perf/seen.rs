//! Finds the functions to which perf's samples belong, from the symbols of the binaries and the output of `perf script`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;

use object::{Object, ObjectSymbol, SymbolKind};

use crate::Outcome;
use crate::names::{demangled, key};

/// Part of the symbols of the collector's own code. Reports leave this code out of the program's functions.
const COLLECTOR: &str = "9tickscope7enabled";

/// Directory where distributions install separate debug information, organised by build id.
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";

/// The functions of a binary or a library.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    /// For each address, the keys of all symbols there, and the size of the largest of them in bytes.
    at: BTreeMap<u64, (BTreeSet<String>, u64)>,
    of_symbol: HashMap<String, u64>,
}

impl Symbols {
    /// Reads the functions of a file, and those in its separate debug information if the distribution's package is installed.
    pub(crate) fn read(file: &str) -> Outcome<Self> {
        let bytes = fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        let object = object::File::parse(&*bytes)?;
        let mut symbols = Self::default();
        symbols.add_all(object.symbols().chain(object.dynamic_symbols()))?;
        let id = object.build_id()?.unwrap_or_default().iter();
        let id: String = id.map(|byte| format!("{byte:02x}")).collect();
        if let Some((folder, rest)) = id.split_at_checked(2)
            && let Ok(bytes) = fs::read(format!("{DEBUG_FILES}/{folder}/{rest}.debug"))
        {
            symbols.add_all(object::File::parse(&*bytes)?.symbols())?;
        }
        Ok(symbols)
    }

    fn add_all<'a, S: ObjectSymbol<'a>>(&mut self, symbols: impl Iterator<Item = S>) -> Outcome<()> {
        for symbol in symbols.filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition()) {
            self.add(symbol.name()?, symbol.address(), symbol.size());
        }
        Ok(())
    }

    pub(crate) fn add(&mut self, name: &str, address: u64, size: u64) {
        let (keys, largest) = self.at.entry(address).or_default();
        keys.insert(key(&demangled(name)));
        *largest = size.max(*largest);
        self.of_symbol.insert(name.to_owned(), address);
    }

    /// Returns the keys of the function that contains an address.
    pub(crate) fn at(&self, address: u64) -> Option<&BTreeSet<String>> {
        let (begin, (keys, size)) = self.at.range(..=address).next_back()?;
        (address - begin < *size).then_some(keys)
    }

    /// Returns the keys of all symbols that share an address with `symbol`, a name from perf's output. If the symbol is
    /// unknown, returns only its own key.
    pub(crate) fn keys_of(&self, symbol: &str) -> BTreeSet<String> {
        let address = self.of_symbol.get(symbol);
        match address.and_then(|address| self.at.get(address)) {
            Some((keys, _)) => keys.clone(),
            None => BTreeSet::from([key(&demangled(symbol))]),
        }
    }
}

/// The functions of several files, by file path.
pub(crate) type Files = HashMap<String, Symbols>;

/// The samples of one or more perf runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// perf's samples, counted by the keys of their functions.
    pub(crate) samples: BTreeMap<BTreeSet<String>, u64>,
    /// Samples in the kernel with no user code on the stack.
    pub(crate) without_user: u64,
}

impl Seen {
    /// Parses the output of `perf script -F pid,ip,sym,dso` for all processes of the machine. Each sample is a line with the
    /// process id, then one line per frame (innermost first), then an empty line. Only the first process with a sample in
    /// `binary` counts; without one the result is an error. Samples of the collector's own code do not count. Reads the symbols of
    /// each file that is not yet in `files`.
    pub(crate) fn of(text: &str, binary: &str, files: &mut Files) -> Outcome<Self> {
        let mut seen = Self::default();
        let samples = || {
            let samples = text
                .split("\n\n")
                .filter_map(|sample| sample.trim().split_once('\n'));
            samples.map(|(pid, frames)| (pid.trim(), frames))
        };
        let in_binary = format!(" ({binary})");
        let process = samples().find(|(_, frames)| frames.contains(&in_binary));
        let (process, _) = process.ok_or_else(|| format!("perf has no sample in {binary}"))?;
        let is_counted = |(pid, frames): &(&str, &str)| *pid == process && !frames.contains(COLLECTOR);
        for (_, frames) in samples().filter(is_counted) {
            match frames.lines().find_map(user_code) {
                Some((symbol, file)) => *seen.samples.entry(keys_of(symbol, file, files)).or_default() += 1,
                None => seen.without_user += 1,
            }
        }
        Ok(seen)
    }

    /// Adds the samples of another run.
    pub(crate) fn add(&mut self, other: &Self) {
        for (keys, samples) in &other.samples {
            *self.samples.entry(keys.clone()).or_default() += samples;
        }
        self.without_user += other.without_user;
    }

    /// Returns the share of samples in the function with these keys, from 0 to 1.
    pub(crate) fn share(&self, keys: &BTreeSet<String>) -> f64 {
        let of = self.samples.iter().filter(|(of, _)| !of.is_disjoint(keys));
        let all: u64 = self.samples.values().sum();
        of.map(|(_, samples)| samples).sum::<u64>() as f64 / all.max(1) as f64
    }
}

/// Returns the symbol and the file of a frame, or `None` for a frame in the kernel. Kernel addresses have the highest bit set.
fn user_code(frame: &str) -> Option<(&str, &str)> {
    let (address, rest) = frame.trim().split_once(' ')?;
    let is_kernel = u64::from_str_radix(address, 16).ok()? >> 63 == 1;
    let (symbol, file) = rest.rsplit_once(" (").unwrap_or((rest, ""));
    (!is_kernel).then_some((symbol, file.trim_end_matches(')')))
}

fn keys_of(symbol: &str, file: &str, files: &mut Files) -> BTreeSet<String> {
    if symbol == "[unknown]" {
        return BTreeSet::from([format!("({})", file.rsplit('/').next().unwrap_or(file))]);
    }
    if !files.contains_key(file) {
        // Code that the kernel provides, such as the vDSO, belongs to no file.
        files.insert(file.to_owned(), Symbols::read(file).unwrap_or_default());
    }
    files[file].keys_of(symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn samples_count_to_the_user_code_that_they_are_for() {
        let mut symbols = Symbols::default();
        symbols.add("_ZN3app3run17h0123456789abcdefE", 0x10, 16);
        symbols.add("same", 0x10, 8);
        assert_eq!(symbols.at(0x1f), Some(&set(&["app::run", "same"])));
        assert_eq!(symbols.at(0x20), None);
        let text = " 3 \n\t 14 same (/bash)\n\n\
                     7 \n\tffffffff81587a8e vfs_read ([kernel.kallsyms])\n\t 1f59 __GI___libc_read (/none/libc.so.6)\n\n\
                     7 \n\t 14 same (/app)\n\t 99 _ZN3app4main17h0123456789abcdefE (/app)\n\n\
                     7 \n\t ffffffff81587a8e do_exit ([kernel.kallsyms])\n\n\
                     8 \n\t 14 same (/app)\n\n\
                     7 \n\t 20 _RNvNtCs1_9tickscope7enabled5scope5enter (/app)\n\n\
                     7 \n\t 5 [unknown] ([vdso])\n\n";
        let seen = Seen::of(text, "/app", &mut Files::from([("/app".into(), symbols)])).unwrap();
        let samples = [
            (set(&["read"]), 1),
            (set(&["app::run", "same"]), 1),
            (set(&["([vdso])"]), 1),
        ];
        assert_eq!(seen.samples, BTreeMap::from(samples));
        assert_eq!(seen.without_user, 1);
        assert!(Seen::of(text, "/other", &mut Files::new()).is_err());
        let mut twice = seen.clone();
        twice.add(&seen);
        assert_eq!((twice.share(&set(&["same"])), twice.without_user), (1.0 / 3.0, 2));
    }
}
