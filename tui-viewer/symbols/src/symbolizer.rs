//! Finds the functions, including inlined ones, and the source lines for a program's code addresses. They are read from
//! the program's files.
//!
//! A file is used only if it is the very file that the program has loaded. This is checked with the build id, if the
//! file has one. The debug information may be in a separate file, as distributions ship it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use object::{Object, ObjectSection, ObjectSymbol, ReadCache};
use tickscope_format::addresses::{ADDRESSES_MAX, Addresses, Frame};
use tickscope_format::codec;
use tickscope_format::snapshot::{Lines, Module};

use crate::function_name::async_bodies::{async_bodies, name_of_body};
use crate::function_name::{Name, rust_path};

/// Directory in which distributions install debug information.
const DEBUG_FILES: &str = "/usr/lib/debug";

/// Debug information for the modules in which a program was sampled.
pub struct Symbols {
    /// Process id of the program, which may have ended.
    pid: u32,
    modules: HashMap<Module, Known>,
}

/// Names of the sampled code in a recording. Each address is looked up only once.
#[derive(Debug)]
pub struct Names {
    symbols: Symbols,
    known: Addresses,
}

/// Debug information of one module.
#[derive(Default)]
struct Known {
    loader: Option<Loader>,
    /// Functions of the vDSO, if the module is the vDSO.
    vdso: Vec<(Range<u64>, String)>,
    /// Names of the module's async bodies, keyed by their paths in symbols.
    async_bodies: HashMap<String, String>,
    /// Says why functions or lines are missing.
    problem: Option<String>,
}

impl Symbols {
    /// Returns an empty table for a process.
    pub fn of(pid: u32) -> Self {
        Self {
            pid,
            modules: HashMap::new(),
        }
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Looks up the addresses of samples that are not yet in `known`.
    pub fn new_in(&mut self, lines: &Lines, known: &Addresses) -> Addresses {
        let mut new = Addresses::default();
        for sample in &lines.samples {
            if let Some(module) = lines.modules.get(sample.module as usize)
                && known.looked_up(module, sample.address).is_none()
                && new.looked_up(module, sample.address).is_none()
            {
                new.insert(module, sample.address, self.frames(module, sample.address));
            }
        }
        new
    }

    /// Finds the frames at an address, innermost first. The first call for a module reads the module's file.
    pub fn frames(&mut self, module: &Module, address: u64) -> Vec<Frame> {
        let known = self.modules.entry(module.clone());
        let known = known.or_insert_with(|| Known::of(module, self.pid));
        let (mut frames, has_lines) = known.loader.as_ref().map_or_else(
            || (known.in_vdso(address).into_iter().collect(), true),
            |loader| frames(loader, &known.async_bodies, address),
        );
        // Every program contains debug information for the standard library. Only a function without lines shows that
        // the program's own debug information is missing.
        if !has_lines
            && let Some(function) = frames.last().filter(|frame| !frame.function.is_empty())
            && known.problem.is_none()
        {
            known.problem = Some(format!(
                "{}: {} and others have no debug information, so their lines are not known; build them with debug = 1",
                module.path, function.function
            ));
        }
        let file = module.path.rsplit('/').next();
        if file.is_some_and(|file| file.starts_with("libc.so")) {
            frames.iter_mut().for_each(in_public);
        }
        frames
    }

    /// For each file whose functions or lines are missing, returns a sentence that says why. The keys are the files'
    /// paths.
    pub fn problems(&self) -> BTreeMap<String, String> {
        let problems = self
            .modules
            .iter()
            .filter_map(|(module, known)| Some((module.path.clone(), known.problem.clone()?)));
        problems.collect()
    }
}

impl fmt::Debug for Symbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symbols")
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}

impl Names {
    /// Returns an empty table of names for a process.
    pub fn of(pid: u32) -> Self {
        Self {
            symbols: Symbols::of(pid),
            known: Addresses::default(),
        }
    }

    /// Names the code at the sampled addresses of a record, except for addresses that an earlier record already had.
    pub fn new_in(&mut self, payload: &[u8]) -> Addresses {
        // A damaged record counts as empty here, and is reported when it is written.
        self.new_of(&codec::lines(payload).unwrap_or_default())
    }

    fn new_of(&mut self, lines: &Lines) -> Addresses {
        if self.known.len() >= ADDRESSES_MAX {
            return Addresses::default();
        }
        let new = self.symbols.new_in(lines, &self.known);
        self.known.extend(new.clone());
        new
    }

    /// Returns the names of all code looked up so far, including the code of these samples.
    pub fn with(&mut self, lines: &Lines) -> &Addresses {
        self.new_of(lines);
        &self.known
    }
}

/// Returns the frames at an address, innermost first, and whether debug information has the name or the line of the
/// outermost function. Either is enough: line tables alone name few functions, and code generated by the compiler
/// belongs to no line.
fn frames(loader: &Loader, async_bodies: &HashMap<String, String>, address: u64) -> (Vec<Frame>, bool) {
    let mut frames = Vec::new();
    let mut has_place = false;
    if let Ok(mut found) = loader.find_frames(address) {
        while let Ok(Some(frame)) = found.next() {
            let name = frame.function.as_ref().and_then(|name| name.raw_name().ok());
            has_place = frame.location.is_some();
            let (file, line) = frame
                .location
                .map_or((None, None), |place| (place.file, place.line));
            frames.push(Frame {
                file: file.unwrap_or_default().to_owned(),
                line: line.unwrap_or(0),
                ..name.map_or_else(Frame::default, |name| named(&name, async_bodies))
            });
        }
    }
    // If debug information does not name the function, the symbol that contains the address does.
    let has_name = |frame: &Frame| !frame.function.is_empty() && !is_closure_alone(frame);
    let outermost_is_named = frames.last().is_some_and(has_name);
    if !outermost_is_named && let Some(symbol) = loader.find_symbol(address) {
        let named = named(symbol, async_bodies);
        match frames.last_mut() {
            Some(frame) => (frame.module, frame.function) = (named.module, named.function),
            None => frames.push(named),
        }
    }
    // With line tables alone, only the number of an inlined closure is known. It gets the name of the function that it
    // was inlined into.
    for at in (1..frames.len()).rev() {
        if is_closure_alone(&frames[at - 1]) {
            let Frame { module, function, .. } = frames[at].clone();
            (frames[at - 1].module, frames[at - 1].function) = (module, function);
        }
    }
    (frames, outermost_is_named || has_place)
}

/// Whether a frame is a closure whose enclosing function is unknown.
fn is_closure_alone(frame: &Frame) -> bool {
    frame.module.is_empty() && frame.function.starts_with('{')
}

/// Gives a function of the C library its public name: `read`, not `__GI___libc_read`.
fn in_public(frame: &mut Frame) {
    let name = frame.function.as_str();
    let name = name.strip_prefix("__GI_").unwrap_or(name);
    let name = name.strip_prefix("__libc_").unwrap_or(name);
    let public = name.trim_start_matches('_');
    if !public.is_empty() {
        frame.function = public.to_owned();
    }
}

/// Returns a frame for a symbol, with its function named in the same way as functions that are counted.
fn named(symbol: &str, async_bodies: &HashMap<String, String>) -> Frame {
    let body = |path: &str| async_bodies.get(path).map(String::as_str);
    let Name { module, name, .. } = Name::of(symbol, rust_path(symbol).as_deref(), &body);
    Frame {
        function: name_of_body(&name, true),
        module,
        ..Frame::default()
    }
}

impl Known {
    /// Finds the file of a module, and its debug information. `pid` is the process id of the program, which may have ended.
    fn of(module: &Module, pid: u32) -> Self {
        let told = |why: &str| Some(format!("{}: {why}", module.path));
        let nothing = |why: &str| Self {
            problem: told(why),
            ..Self::default()
        };
        // Code that the kernel provides has no file.
        if !module.path.starts_with('/') {
            return Self {
                vdso: vdso(module).unwrap_or_default(),
                ..Self::default()
            };
        }
        let path = Path::new(&module.path);
        let candidates = [
            path.to_path_buf(),
            PathBuf::from(format!("/proc/{pid}/root{}", module.path)),
            PathBuf::from(format!("/proc/{pid}/exe")),
        ];
        let there: Vec<PathBuf> = candidates.into_iter().filter(|path| path.is_file()).collect();
        let Some(file) = there.iter().find(|file| is_it(file, module)) else {
            // Only candidates with the module's path count here. The last candidate is the program's executable, which
            // exists for every module.
            return nothing(match there.iter().any(|file| file.ends_with(&module.path[1..])) {
                false => "the file is not there, so its functions and lines are not known",
                true => {
                    "the file was replaced after the program began, so its functions and lines are not known"
                }
            });
        };
        let is_whole = has_debug_info(file);
        let debug_file = if is_whole { None } else { debug_file(path, module) };
        let problem = match is_whole || debug_file.is_some() {
            true => None,
            false => told("no debug information, so its lines are not known; build it with debug = 1"),
        };
        let file = debug_file.as_ref().unwrap_or(file);
        let names = |file: &object::File<'_, &ReadCache<File>>| {
            let names = file.section_by_name(".debug_str")?;
            Some(async_bodies(&names.uncompressed_data().ok()?))
        };
        match Loader::new(file) {
            Ok(loader) => Self {
                loader: Some(loader),
                async_bodies: read(file, names).unwrap_or_default(),
                problem,
                ..Self::default()
            },
            Err(error) => nothing(&error.to_string()),
        }
    }

    /// Returns the function of the vDSO at an address.
    fn in_vdso(&self, address: u64) -> Option<Frame> {
        let (_, name) = self.vdso.iter().find(|(range, _)| range.contains(&address))?;
        Some(Frame {
            function: name.clone(),
            ..Frame::default()
        })
    }
}

/// Returns the functions of the vDSO if `module` is the vDSO of the running kernel.
fn vdso(module: &Module) -> Option<Vec<(Range<u64>, String)>> {
    let image = vdso_image()?;
    let file = object::File::parse(&*image).ok()?;
    if module.build_id.is_empty() || file.build_id().ok()?? != module.build_id {
        return None;
    }
    // The vDSO has a second, weak symbol for each function. As in the C library, underscores are not part of the names.
    let functions = file.dynamic_symbols().filter(|symbol| !symbol.is_weak());
    let named = functions.filter_map(|symbol| {
        let range = symbol.address()..symbol.address() + symbol.size();
        Some((range, symbol.name().ok()?.trim_start_matches('_').to_owned()))
    });
    Some(named.collect())
}

/// Reads the vDSO from this process. The kernel maps the same code into all processes of this kind.
fn vdso_image() -> Option<Vec<u8>> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
    let (begin, end) = line.split_once(' ')?.0.split_once('-')?;
    let begin = u64::from_str_radix(begin, 16).ok()?;
    let length = u64::from_str_radix(end, 16).ok()?.checked_sub(begin)?;
    let mut image = vec![0; usize::try_from(length).ok()?];
    File::open("/proc/self/mem")
        .ok()?
        .read_exact_at(&mut image, begin)
        .ok()?;
    Some(image)
}

/// Reads a part of an object file. Returns `None` if the file is not an object file.
fn read<T>(path: &Path, part: impl FnOnce(&object::File<'_, &ReadCache<File>>) -> Option<T>) -> Option<T> {
    let cache = ReadCache::new(File::open(path).ok()?);
    part(&object::File::parse(&cache).ok()?)
}

/// Returns whether the module was loaded from this file. Without a build id, only the path is compared.
fn is_it(path: &Path, module: &Module) -> bool {
    let id = || read(path, |file| file.build_id().ok().flatten().map(<[u8]>::to_vec));
    module.build_id.is_empty() && path == Path::new(&module.path)
        || !module.build_id.is_empty() && id().is_some_and(|id| id == module.build_id)
}

fn has_debug_info(path: &Path) -> bool {
    read(path, |file| file.section_by_name(".debug_info").map(|_| ())).is_some()
}

/// Finds the separate file with this file's debug information, by the build id or by the file name in `.gnu_debuglink`.
fn debug_file(path: &Path, module: &Module) -> Option<PathBuf> {
    let mut candidates = Vec::new();
    if let Some((first, rest)) = module.build_id.split_first() {
        let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
        candidates.push(PathBuf::from(format!(
            "{DEBUG_FILES}/.build-id/{first:02x}/{rest}.debug"
        )));
    }
    let link = read(path, |file| {
        let (name, _) = file.gnu_debuglink().ok().flatten()?;
        Some(String::from_utf8_lossy(name).into_owned())
    });
    if let (Some(name), Some(folder)) = (link, path.parent()) {
        candidates.push(folder.join(&name));
        candidates.push(folder.join(".debug").join(&name));
        let below = folder.strip_prefix("/").unwrap_or(folder);
        candidates.push(Path::new(DEBUG_FILES).join(below).join(&name));
    }
    let is_of_it =
        |file: &PathBuf| has_debug_info(file) && (module.build_id.is_empty() || is_it(file, module));
    candidates.into_iter().find(is_of_it)
}

#[cfg(test)]
mod tests;
