//! The code of each function in which the program counter was sampled: the sampled source lines, and the unmeasured functions
//! that it called.
//!
//! A sample consists of a scope and a code address. The debug information translates the address into frames: the function at
//! the address, and those into which the compiler has inlined it. The callers of the outermost frame are unknown. So if a sample
//! is in a function that was not inlined, no line of its caller is known, and the sample is only listed under the function's
//! name.

use std::collections::BTreeMap;

use tickscope_format::addresses::{Addresses, Frame};
use tickscope_format::snapshot::{LineSample, Module, Sampled, SampledIn, Site, Snapshot};

/// Where in the program a sample was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// In a scope of the site with this index.
    Site(u32),
    /// Outside any scope.
    Outside,
    /// In the collector's own code.
    Measuring,
}

impl Scope {
    /// Returns the scope in which a sample of a snapshot was taken.
    pub fn of(snapshot: &Snapshot, sample: &LineSample) -> Self {
        match sample.inside {
            SampledIn::Row(row) => Self::Site(snapshot.nodes.site[row as usize]),
            SampledIn::Thread(_) => Self::Outside,
            SampledIn::Measuring => Self::Measuring,
        }
    }
}

/// Samples taken in one scope, by source line and by called function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The scope to which all these samples belong.
    pub scope: Scope,
    /// All samples.
    pub all: Sampled,
    /// Samples by file and line of the scope's own code, sorted by file and line. A sample in an inlined function counts for the
    /// line that called it.
    pub lines: Vec<(String, u32, Sampled)>,
    /// Samples in unmeasured functions that the scope called, by the function's name, most CPU time first. Functions that were
    /// inlined are included; their samples are also in `lines`.
    pub called: Vec<(String, Sampled)>,
}

/// Sums for one [`Code`], while its samples are being added.
#[derive(Debug, Default)]
struct OfScope {
    all: Sampled,
    lines: BTreeMap<(String, u32), Sampled>,
    called: BTreeMap<String, Sampled>,
}

impl OfScope {
    fn code(self, scope: Scope) -> Code {
        let mut called: Vec<_> = self.called.into_iter().collect();
        called.sort_by_key(|(_, sampled)| std::cmp::Reverse(sampled.cpu_ns));
        let lines = self.lines.into_iter();
        Code {
            scope,
            all: self.all,
            lines: lines
                .map(|((file, line), sampled)| (file, line, sampled))
                .collect(),
            called,
        }
    }
}

/// Samples at one code address, with their frames.
#[derive(Clone, Copy, Debug)]
pub struct Located<'a> {
    /// The samples.
    pub sample: &'a LineSample,
    /// The scope of the samples.
    pub scope: Scope,
    /// The executable or library that contains the address, if any.
    pub module: Option<&'a Module>,
    /// Whether the code at the address is known: either its frames are, or it belongs to no file.
    pub is_looked_up: bool,
    /// Frame of the scope's own function; `None` if no frame belongs to that function.
    pub own: Option<&'a Frame>,
    /// Frames of the functions that the scope's function called at this address, innermost first. Either all of them were
    /// inlined into the scope's function, or they are a called function and the functions inlined into it.
    pub called: &'a [Frame],
}

impl<'a> Located<'a> {
    /// Returns the frame of the scope's own function, if its line is known.
    pub fn own_line(&self) -> Option<&'a Frame> {
        self.own.filter(|own| own.line > 0)
    }

    /// Returns the function that the scope's own function called, if any. A function without a name is named after its
    /// executable or library. Merged samples tell no function.
    pub fn callee(&self) -> Option<Frame> {
        match self.called.last() {
            Some(callee) if !callee.function.is_empty() => Some(Frame {
                module: match callee.module.is_empty() {
                    true => self.library().unwrap_or_default().into(),
                    false => callee.module.clone(),
                },
                ..callee.clone()
            }),
            None if self.own.is_some() || self.sample.is_merged() => None,
            Some(_) | None => Some(Frame {
                function: unnamed(self.module),
                ..Frame::default()
            }),
        }
    }

    /// Returns the name of the library that contains the code. In C, a function name is unique only within a library.
    fn library(&self) -> Option<&str> {
        let (name, _) = file_name(&self.module?.path).split_once(".so")?;
        Some(name)
    }
}

/// Returns the samples of a snapshot with their frames.
///
/// The frame of a scope's own function is found by the function's name. A scope inside a function has a name of its
/// own, so the innermost frame in the scope's source file is used instead. Functions with sleds are never inlined, so
/// if no frame has the function's name, only the outermost frame can be the body of an async function.
pub fn located<'a>(
    snapshot: &'a Snapshot,
    addresses: &'a Addresses,
) -> impl Iterator<Item = Located<'a>> + use<'a> {
    let lines = &snapshot.lines;
    let has_scopes = snapshot.functions.is_none();
    lines.samples.iter().map(move |sample| {
        let module = lines.modules.get(sample.module as usize);
        let frames = module.and_then(|module| addresses.looked_up(module, sample.address));
        let is_looked_up = frames.is_some() || module.is_none() && !sample.is_merged();
        let frames = frames.unwrap_or_default();
        let scope = match frames.last().is_some_and(is_collector) {
            true => Scope::Measuring,
            false => Scope::of(snapshot, sample),
        };
        let site = match scope {
            Scope::Outside | Scope::Measuring => None,
            Scope::Site(site) => Some(&snapshot.sites[site as usize]),
        };
        let own = site.and_then(|site| {
            let named = frames
                .iter()
                .rposition(|frame| is_function(frame, &site.name, site));
            named.or_else(|| match has_scopes {
                true => frames
                    .iter()
                    .position(|frame| frame.line > 0 && is_file(&frame.file, &site.file)),
                false => frames
                    .len()
                    .checked_sub(1)
                    .filter(|&last| is_body(&frames[last], site)),
            })
        });
        Located {
            sample,
            scope,
            module,
            is_looked_up,
            own: own.map(|own| &frames[own]),
            called: &frames[..own.unwrap_or(frames.len())],
        }
    })
}

/// Returns the code of all scopes that have samples, most CPU time first.
pub fn code(snapshot: &Snapshot, addresses: &Addresses) -> Vec<Code> {
    let mut of_scopes: BTreeMap<Scope, OfScope> = BTreeMap::new();
    for located in located(snapshot, addresses) {
        let of_scope = of_scopes.entry(located.scope).or_default();
        let sampled = located.sample.sampled();
        of_scope.all.add(sampled);
        if let Some(own) = located.own_line() {
            let place = (own.file.clone(), own.line);
            of_scope.lines.entry(place).or_default().add(sampled);
        }
        if let Some(callee) = located.callee() {
            of_scope.called.entry(callee.function).or_default().add(sampled);
        }
    }
    let all = of_scopes.into_iter();
    let mut codes: Vec<Code> = all.map(|(scope, of_scope)| of_scope.code(scope)).collect();
    codes.sort_by_key(|code| std::cmp::Reverse(code.all.cpu_ns));
    codes
}

/// Returns a stand-in for the name of an unnamed function, built from the name of its executable or library.
fn unnamed(module: Option<&Module>) -> String {
    module.map_or_else(
        || "(no file)".into(),
        |module| format!("({})", file_name(&module.path)),
    )
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns whether a frame belongs to the collector. This also catches samples in the collector's first instructions. Their
/// scope is a different one, because the thread is not yet marked as measuring at that point.
fn is_collector(frame: &Frame) -> bool {
    let crate_name = frame.module.split("::").next().unwrap_or_default();
    ["tickscope", "tickscope_format"].contains(&crate_name)
}

/// Returns whether a frame belongs to the function called `name` in the module of `site`. A missing module matches any other.
fn is_function(frame: &Frame, name: &str, site: &Site) -> bool {
    let is_module = frame.module.is_empty() || site.module.is_empty() || frame.module == site.module;
    is_module && !name.is_empty() && frame.function == name
}

/// Returns whether a frame is in the body of a site's async function. The compiler turns the body into a closure of the
/// function. The site has the name of the function, followed by `::{poll}` if it counts polls.
fn is_body(frame: &Frame, site: &Site) -> bool {
    let function = site.name.strip_suffix("::{poll}").unwrap_or(&site.name);
    is_function(frame, &format!("{function}::{{closure}}"), site)
}

/// Returns whether a path from debug information ends with the path of a site, which is relative to an unknown directory.
fn is_file(path: &str, of_site: &str) -> bool {
    !of_site.is_empty()
        && path
            .strip_suffix(of_site)
            .is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use tickscope_format::ids::SiteId;
    use tickscope_format::snapshot::{NO_MODULE, Site};

    use super::*;

    fn frame(function: &str, file: &str, line: u32) -> Frame {
        Frame {
            function: function.into(),
            module: String::new(),
            file: file.into(),
            line,
        }
    }

    #[test]
    fn lines_are_those_of_the_functions_file_and_what_it_called_has_its_name() {
        let mut snapshot = Snapshot::default();
        snapshot.sites.push(Site {
            name: "parse".into(),
            file: "src/parse.rs".into(),
            ..Site::default()
        });
        let parse = SampledIn::Row(snapshot.nodes.push(None, SiteId(0), 1, 1).0);
        let sample = |inside, module, address, samples| LineSample {
            inside,
            module,
            address,
            samples,
            cpu_ns: samples * 4_000_000,
        };
        snapshot.lines.modules.push(Module {
            path: "/usr/lib/libz.so.1".into(),
            ..Module::default()
        });
        snapshot.lines.samples = vec![
            sample(parse, 0, 1, 10),
            sample(parse, 0, 2, 5),
            sample(parse, 0, 3, 30),
            sample(parse, 0, 4, 1),
            sample(parse, 0, 6, 1),
            sample(parse, NO_MODULE, 9, 2),
            // Samples at several places, which were merged.
            sample(parse, NO_MODULE, 0, 7),
            sample(SampledIn::Measuring, 0, 5, 3),
            sample(SampledIn::Thread(0), 0, 5, 100),
        ];
        let parse = |line| frame("app::parse", "/home/x/app/src/parse.rs", line);
        let insert = frame("HashMap::insert", "/rust/map.rs", 7);
        let mut addresses = Addresses::default();
        let trampoline = Frame {
            module: "tickscope::functions".into(),
            ..frame("trampoline", "", 0)
        };
        let known = [
            (1, vec![parse(12)]),
            (
                2,
                vec![frame("write", "/rust/ptr.rs", 3), insert.clone(), parse(12)],
            ),
            // A callee in another file. It has the same name as the file of `parse`, but is in another directory.
            (3, vec![frame("memchr", "/libc/other_src/parse.rs", 80)]),
            (4, vec![Frame::default()]),
            (5, vec![frame("enter", "/tickscope/scope.rs", 1)]),
            (6, vec![trampoline]),
        ];
        for (address, frames) in known {
            addresses.insert(&snapshot.lines.modules[0], address, frames);
        }
        let of = |samples| Sampled {
            samples,
            cpu_ns: samples * 4_000_000,
        };
        let codes = code(&snapshot, &addresses);
        assert_eq!(
            codes
                .iter()
                .map(|code| (code.scope, code.all))
                .collect::<Vec<_>>(),
            [
                (Scope::Outside, of(100)),
                (Scope::Site(0), of(55)),
                (Scope::Measuring, of(4))
            ]
        );
        let parse = &codes[1];
        assert_eq!(parse.lines, [("/home/x/app/src/parse.rs".into(), 12, of(15))]);
        assert_eq!(
            parse.called,
            [
                ("memchr".into(), of(30)),
                ("HashMap::insert".into(), of(5)),
                ("(no file)".into(), of(2)),
                ("(libz.so.1)".into(), of(1)),
            ]
        );
        let got = &codes[2].called;
        assert_eq!(*got, [("enter".into(), of(3)), ("trampoline".into(), of(1))]);
    }
}
