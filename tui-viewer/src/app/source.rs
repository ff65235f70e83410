//! Source code of the function in the Function view: lines with samples, and lines on which scopes begin.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use tickscope_analysis::code::{Code, Scope, code};
use tickscope_analysis::names;
use tickscope_analysis::sampled_rows::{with_sampled_rows, with_unscaled_rows};
use tickscope_format::Snapshot;
use tickscope_format::addresses::Addresses;
use tickscope_format::snapshot::{Module, Sampled};

use crate::app::data::Data;
use crate::source::code_reader::{FoundCode, Unknown};

/// The source pane, and what is known about the code of the program.
#[derive(Debug, Default)]
pub(crate) struct SourceView {
    /// Whether the user wants the pane; `None` if that depends on the size of the screen.
    pub(crate) wanted: Option<bool>,
    /// Key of the function, and the first line shown, if the user chose that line.
    pub(crate) first: Option<(u64, u32)>,
    /// Whether this viewer has asked the program to sample.
    pub(crate) has_asked: bool,
    /// Known code of the program.
    pub(crate) known: KnownCode,
}

/// The lines of a source file, or the reason why they are missing.
type FileLines = Result<Rc<[String]>, String>;

/// Known code of a program.
#[derive(Debug, Default)]
pub(crate) struct KnownCode {
    /// Id of the process that the code belongs to; 0 for a process on another system.
    pid: u32,
    asked: HashMap<Module, HashSet<u64>>,
    addresses: Addresses,
    /// Source files; `None` while a file is being read.
    files: HashMap<String, Option<FileLines>>,
    /// Reasons why part of a module is unknown, by the path of the module.
    problems: BTreeMap<String, String>,
    /// Number that increases whenever the known code changes.
    revision: u64,
}

/// A function that is not measured itself, but was called by one that is.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    /// Name from the debug information.
    pub(crate) name: String,
    /// Shortened name that is still distinct from the other names in the list.
    pub(crate) short: String,
    /// Samples in the function.
    pub(crate) sampled: Sampled,
}

/// The source of a function.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Key of the function.
    pub(crate) key: u64,
    /// Path of the file: the path in the debug information, else the path that the program reports.
    pub(crate) file: String,
    /// Line at which the function begins; 0 if it is not known.
    line: u32,
    /// Text of the file; `None` while it is being read.
    pub(crate) text: Option<FileLines>,
    /// All samples of the function.
    pub(crate) all: Sampled,
    /// Samples of all functions.
    pub(crate) of_program: Sampled,
    /// Samples by line.
    pub(crate) sampled: BTreeMap<u32, Sampled>,
    /// Unmeasured functions that this function called, those with the most samples first.
    pub(crate) called: Vec<Called>,
    /// Total time in ns of the functions whose scope begins in this file, by the line on which it begins.
    pub(crate) scopes: BTreeMap<u32, u64>,
    /// Reasons why parts of modules are unknown, for the modules that contain samples of the function.
    pub(crate) problems: Vec<String>,
}

impl SourceView {
    /// Returns the number of the first line to show in a pane that is `lines` lines high.
    pub(crate) fn first(&self, source: &Source, lines: u16) -> u32 {
        let first = match self.first {
            Some((key, first)) if key == source.key => first,
            Some(_) | None => source.first(lines),
        };
        first.clamp(
            1,
            source
                .last()
                .saturating_sub(u32::from(lines))
                .saturating_add(1)
                .max(1),
        )
    }
}

impl Source {
    /// Returns the source of a function with this key.
    pub(crate) fn of(data: &Data, key: u64, known: &KnownCode) -> Option<Self> {
        let function = data.around.as_ref()?.neighbours.function;
        let functions = &data.tree.functions;
        let of_function = functions.get(function);
        let snapshot = &data.snapshot;
        let codes = code(snapshot, &known.addresses);
        let add = |mut sum: Sampled, code: &Code| {
            sum.add(code.all);
            sum
        };
        let of_program = codes.iter().fold(Sampled::default(), add);
        let is_own_site = |site: u32| functions.of_site.get(site as usize) == Some(&function);
        let is_own = |code: &&Code| matches!(code.scope, Scope::Site(site) if is_own_site(site));
        let own: Vec<&Code> = codes.iter().filter(is_own).collect();
        // The file with the hottest line is shown. The code of a function rarely comes from more than one file.
        let lines = || own.iter().flat_map(|code| &code.lines);
        let hottest = lines().max_by_key(|(_, _, sampled)| sampled.cpu_ns);
        let file = hottest.map_or(&of_function.file, |(file, _, _)| file).clone();
        let mut sampled: BTreeMap<u32, Sampled> = BTreeMap::new();
        for (_, line, more) in lines().filter(|(of, _, _)| *of == file) {
            sampled.entry(*line).or_default().add(*more);
        }
        let mut called: BTreeMap<&str, Sampled> = BTreeMap::new();
        for (name, more) in own.iter().flat_map(|code| &code.called) {
            called.entry(name).or_default().add(*more);
        }
        let names: Vec<&str> = called.keys().copied().collect();
        let short = names::without_arguments_of(&names);
        let with_short = called.into_iter().zip(short);
        let mut called: Vec<Called> = with_short
            .map(|((name, sampled), short)| Called {
                name: name.to_owned(),
                short,
                sampled,
            })
            .collect();
        called.sort_by_key(|called| std::cmp::Reverse(called.sampled.cpu_ns));
        let here = data.hot().iter().filter(|row| {
            let other = functions.get(row.function);
            row.tally.is_none() && !other.is_group && other.file == of_function.file && other.line > 0
        });
        let scopes = here.map(|row| (functions.get(row.function).line, row.total_ns));
        let samples = snapshot.lines.samples.iter();
        let modules: BTreeSet<u32> = samples
            .filter(|sample| matches!(Scope::of(snapshot, sample), Scope::Site(site) if is_own_site(site)))
            .map(|sample| sample.module)
            .collect();
        let problems = modules.into_iter().filter_map(|module| {
            let module = snapshot.lines.modules.get(module as usize)?;
            known.problems.get(&module.path).cloned()
        });
        Some(Self {
            key,
            line: of_function.line,
            text: known.files.get(&file).cloned().flatten(),
            all: own.into_iter().fold(Sampled::default(), add),
            of_program,
            sampled,
            called,
            scopes: scopes.collect(),
            problems: problems.collect(),
            file,
        })
    }

    /// Returns the last line that can be shown.
    pub(crate) fn last(&self) -> u32 {
        let of_text = match &self.text {
            Some(Ok(lines)) => lines.len() as u32,
            Some(Err(_)) | None => 0,
        };
        let of_samples = self.sampled.keys().next_back().copied().unwrap_or(0);
        of_text.max(of_samples)
    }

    /// Returns the text of a line; empty if it is not known.
    pub(crate) fn text_of(&self, line: u32) -> &str {
        let lines = self.text.as_ref().and_then(|text| text.as_ref().ok());
        lines
            .and_then(|lines| lines.get(line as usize - 1))
            .map_or("", String::as_str)
    }

    /// Returns the first line to show. This is the line above the function if the hottest line then fits into the pane as
    /// well, otherwise a line half a pane above the hottest line.
    fn first(&self, lines: u16) -> u32 {
        let hottest = self.sampled.iter().max_by_key(|(_, sampled)| sampled.cpu_ns);
        let hottest = hottest.map_or(self.line, |(&line, _)| line);
        let head = self.line.saturating_sub(1);
        match (head..head.saturating_add(lines.into())).contains(&hottest) {
            true => head,
            false => hottest.saturating_sub(u32::from(lines) / 2),
        }
    }
}

type AddRows = for<'a> fn(&'a Snapshot, &Addresses) -> Cow<'a, Snapshot>;

impl KnownCode {
    /// Returns the snapshot with additional rows for functions that were sampled but not counted, as far as they are known.
    pub(crate) fn with_rows(&self, snapshot: Rc<Snapshot>) -> Rc<Snapshot> {
        self.added(snapshot, with_sampled_rows)
    }

    /// Like [`with_rows`](Self::with_rows), for snapshots that are subtracted from each other.
    pub(crate) fn with_unscaled_rows(&self, snapshot: Rc<Snapshot>) -> Rc<Snapshot> {
        self.added(snapshot, with_unscaled_rows)
    }

    fn added(&self, snapshot: Rc<Snapshot>, add: AddRows) -> Rc<Snapshot> {
        match self.addresses.is_empty() {
            true => snapshot,
            false => match add(&snapshot, &self.addresses) {
                Cow::Owned(with) => Rc::new(with),
                Cow::Borrowed(_) => snapshot,
            },
        }
    }

    /// Returns a number that changes whenever the known code changes.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns [`Self::revision`], or 0 as long as no address has been named.
    pub(crate) fn named(&self) -> u64 {
        match self.addresses.is_empty() {
            true => 0,
            false => self.revision,
        }
    }

    /// Stores the answer to a request for code.
    pub(crate) fn take(&mut self, found: FoundCode) {
        match found {
            FoundCode::Addresses {
                pid,
                frames,
                problems,
            } if pid == self.pid => {
                for (module, address, frames) in frames {
                    self.addresses.insert(&module, address, frames);
                }
                self.problems = problems;
            }
            FoundCode::File { pid, file, lines } if pid == self.pid => {
                self.files.insert(file, Some(lines.map(Rc::from)));
            }
            // The answer is about another program.
            FoundCode::Addresses { .. } | FoundCode::File { .. } => return,
        }
        self.revision += 1;
    }

    /// Returns a request for the addresses in a snapshot's samples that are neither known nor requested yet; `None` if
    /// there are none. `pid` is the id of the process, or 0 for a process on another system.
    pub(crate) fn addresses_of(&mut self, snapshot: &Snapshot, pid: u32) -> Option<Unknown> {
        self.be_of(pid);
        let lines = &snapshot.lines;
        let mut addresses = Vec::new();
        for sample in &lines.samples {
            let Some(module) = lines.modules.get(sample.module as usize) else {
                continue;
            };
            // At ten snapshots a second, nearly all addresses are already known, so a module is cloned only for a new address.
            let was_asked = |asked: &HashSet<u64>| asked.contains(&sample.address);
            if !self.asked.get(module).is_some_and(was_asked)
                && self.addresses.looked_up(module, sample.address).is_none()
            {
                self.asked
                    .entry(module.clone())
                    .or_default()
                    .insert(sample.address);
                addresses.push((module.clone(), sample.address));
            }
        }
        (!addresses.is_empty()).then_some(Unknown::Addresses { pid, addresses })
    }

    /// Adds addresses that have already been named. `pid` is the id of the process, or 0 for a process on another system.
    pub(crate) fn take_named(&mut self, pid: u32, addresses: Addresses) {
        self.be_of(pid);
        self.addresses.extend(addresses);
        self.revision += 1;
    }

    /// Discards the known code if it belongs to another process.
    fn be_of(&mut self, pid: u32) {
        if pid != self.pid {
            *self = Self {
                pid,
                revision: self.revision + 1,
                ..Self::default()
            };
        }
    }

    /// Returns a request for a source file; `None` if it was requested before.
    pub(crate) fn file(&mut self, file: &str) -> Option<Unknown> {
        let Entry::Vacant(vacant) = self.files.entry(file.to_owned()) else {
            return None;
        };
        vacant.insert(None);
        Some(Unknown::File {
            pid: self.pid,
            file: file.to_owned(),
        })
    }
}
