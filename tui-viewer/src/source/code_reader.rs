//! Reads functions and source lines from a program's files. This happens on a separate thread, because reading debug
//! information is slow.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::{fmt, io, thread};

use tickscope_format::addresses::Frame;
use tickscope_format::snapshot::Module;
use tickscope_symbols::symbolizer::Symbols;

use crate::source::source_files::{self, read_source};

/// A request for functions or source lines that are not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// Find the functions and source lines of addresses in a process's modules.
    Addresses {
        /// Id of the process, which may have ended.
        pid: u32,
        /// Module and address of each sampled position.
        addresses: Vec<(Module, u64)>,
    },
    /// Read a source file, given its path as reported by the program or its debug information.
    File {
        /// Id of the process, which may have ended.
        pid: u32,
        file: String,
    },
}

/// Answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FoundCode {
    /// The frames of each address, innermost first.
    Addresses {
        /// Process to which the addresses belong.
        pid: u32,
        /// Module, address and frames of each sampled position.
        frames: Vec<(Module, u64, Vec<Frame>)>,
        /// Reasons for missing information, by the path of the module.
        problems: BTreeMap<String, String>,
    },
    /// The lines of a source file.
    File {
        /// Path exactly as it was requested.
        pid: u32,
        /// Path as it was requested.
        file: String,
        /// Lines of the file, or the reason why they are missing.
        lines: Result<Vec<String>, String>,
    },
}

/// A thread that reads code, and the number of requests that it has not answered yet. The first request starts the
/// thread.
#[derive(Default)]
pub(crate) struct CodeReader {
    thread: Option<(Sender<Unknown>, Receiver<FoundCode>)>,
    owed: usize,
}

impl fmt::Debug for CodeReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeReader")
            .field("owed", &self.owed)
            .finish_non_exhaustive()
    }
}

impl CodeReader {
    /// Sends a request to the thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn ask(&mut self, unknown: Unknown) -> io::Result<()> {
        if self.thread.is_none() {
            let (ask, unknown) = mpsc::channel();
            let (found, answer) = mpsc::channel();
            thread::Builder::new()
                .name("code-reader".into())
                .spawn(move || answer_all(&unknown, &found))?;
            self.thread = Some((ask, answer));
        }
        if let Some((ask, _)) = &self.thread
            && ask.send(unknown).is_ok()
        {
            self.owed += 1;
        }
        Ok(())
    }

    /// Returns the next answer, if one has arrived.
    pub(crate) fn take(&mut self) -> Option<FoundCode> {
        let (_, answer) = self.thread.as_ref()?;
        let found = answer.try_recv().ok()?;
        self.owed -= 1;
        Some(found)
    }

    /// Returns whether answers are outstanding.
    pub(crate) fn is_busy(&self) -> bool {
        self.owed > 0
    }
}

/// Answers requests until the `CodeReader` is dropped.
fn answer_all(unknown: &Receiver<Unknown>, found: &Sender<FoundCode>) {
    let mut symbols = Symbols::of(0);
    while let Ok(unknown) = unknown.recv() {
        let answer = match unknown {
            Unknown::Addresses { pid, addresses } => {
                if symbols.pid() != pid {
                    symbols = Symbols::of(pid);
                }
                let frames = addresses.into_iter().map(|(module, address)| {
                    let frames = symbols.frames(&module, address);
                    (module, address, frames)
                });
                FoundCode::Addresses {
                    pid,
                    frames: frames.collect(),
                    problems: symbols.problems(),
                }
            }
            Unknown::File { pid, file } => FoundCode::File {
                pid,
                lines: lines(&file, pid),
                file,
            },
        };
        if found.send(answer).is_err() {
            return;
        }
    }
}

fn lines(file: &str, pid: u32) -> Result<Vec<String>, String> {
    if let Some(text) = source_files::of_demo(file, pid) {
        return Ok(text.lines().map(str::to_owned).collect());
    }
    let path = source_files::find(file, &source_files::places(Some(pid)))?;
    let text = read_source(&path).ok_or_else(|| format!("{} cannot be read", path.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_found_or_it_says_why() {
        let mut reader = CodeReader::default();
        assert!(!reader.is_busy() && reader.take().is_none());
        let pid = std::process::id();
        for file in [file!(), "no/such/file.rs"] {
            let file = file.to_owned();
            reader.ask(Unknown::File { pid, file }).unwrap();
        }
        let module = Module {
            path: "/no/such/library.so".into(),
            build_id: vec![1],
        };
        let addresses = vec![(module.clone(), 7)];
        reader.ask(Unknown::Addresses { pid, addresses }).unwrap();
        let mut next = || {
            loop {
                match reader.take() {
                    Some(found) => return found,
                    None => thread::yield_now(),
                }
            }
        };
        let FoundCode::File { lines, .. } = next() else {
            panic!()
        };
        assert!(include_str!("code_reader.rs").lines().eq(lines.unwrap().iter()));
        let FoundCode::File { lines, .. } = next() else {
            panic!()
        };
        assert!(lines.unwrap_err().starts_with("no no/such/file.rs in "));
        let FoundCode::Addresses { frames, problems, .. } = next() else {
            panic!()
        };
        assert_eq!(frames, [(module, 7, Vec::new())]);
        let problem = &problems["/no/such/library.so"];
        assert!(problem.contains("the file is not there"), "{problem}");
        assert!(!reader.is_busy());
    }
}
