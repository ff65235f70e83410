//! The target as the user typed it, and the ring or file that was found for it.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use tickscope_command::console::{Misuse, printable};
use tickscope_format::Snapshot;
use tickscope_format::addresses::Addresses;
use tickscope_format::file::list::Listed;
use tickscope_format::file::open::{Liveness, RingFile};

use crate::status::state_of;

/// Returns the listed rings that can be read.
pub(super) fn readable(listed: Vec<Listed>) -> impl Iterator<Item = (RingFile, Liveness)> {
    listed.into_iter().filter_map(|listed| listed.ring.ok())
}

/// Target that was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The only running program.
    Only,
    /// By name.
    Name(String),
    /// By process id.
    Pid(u32),
    /// By path.
    File(PathBuf),
    /// All running programs whose name matches this pattern, in which `*` stands for any text.
    All(String),
    /// Recording on standard input.
    Stdin,
    /// Program that `tickscope run` started.
    Started {
        /// Token that was passed to the program in its environment.
        token: u64,
        /// Process id of the started command itself.
        pid: u32,
    },
}

/// A target that was found.
#[derive(Debug)]
pub enum Found {
    /// The ring of a program that is running or has ended.
    Ring(Box<RingFile>, Liveness),
    /// The typed name, and the rings of all running programs with this name, which are shown together.
    Together(String, Vec<(RingFile, Liveness)>),
    /// A kept snapshot.
    Kept(PathBuf),
    /// The newest snapshot of a stream that has ended, and the functions and line numbers for its code addresses.
    Streamed(Box<(Snapshot, Addresses)>),
}

/// Error for a target that was not found. It lists existing programs, with the commands that open them.
#[derive(Debug)]
pub struct NoTarget {
    /// What is missing, in one line.
    pub lead: String,
    /// The whole message, at most four lines: what is missing, and which programs exist.
    pub message: String,
    /// Whether the target may still appear, for example because no program with that name exists yet.
    pub may_come: bool,
}

impl NoTarget {
    /// Returns an error whose message is the lead and nothing else.
    pub fn new(message: String, may_come: bool) -> Self {
        Self {
            lead: message.clone(),
            message,
            may_come,
        }
    }

    /// Returns whether this is a [`NoTarget`] error for a target that may still appear.
    pub fn may_come(error: &anyhow::Error) -> bool {
        error.downcast_ref::<Self>().is_some_and(|none| none.may_come)
    }
}

impl fmt::Display for NoTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NoTarget {}

/// Argument that stands for standard input.
const STDIN: &str = "-";

/// Endings that make an argument a path even without a `/`.
pub(crate) const PATH_ENDINGS: [&str; 4] = ["ring", "tks", "json", "html"];

impl Wanted {
    /// Interprets what the user typed: `-`, a path, a process id or a name.
    pub fn typed(text: &str) -> Self {
        if text == STDIN {
            return Self::Stdin;
        }
        let ending = Path::new(text)
            .extension()
            .and_then(OsStr::to_str)
            .unwrap_or_default();
        if text.contains('/') || PATH_ENDINGS.contains(&ending) {
            return Self::File(text.into());
        }
        match text.parse() {
            Ok(pid) if text.bytes().all(|byte| byte.is_ascii_digit()) => Self::Pid(pid),
            _ => Self::Name(text.to_string()),
        }
    }

    /// Returns whether this is `All` with a pattern that matches the name.
    pub fn names(&self, name: &str) -> bool {
        matches!(self, Self::All(wanted) if covers(wanted, name))
    }

    /// Describes one program of this target, in the singular even for `All`.
    pub fn one(&self) -> String {
        if let Self::All(name) = self {
            return format!("program called \"{}\"", printable(name));
        }
        self.to_string()
    }

    pub(crate) fn fits(&self, ring: &RingFile) -> bool {
        let header = ring.header();
        match self {
            Self::Only => true,
            Self::Name(name) => header.name == *name,
            Self::Pid(pid) => header.pid == *pid,
            Self::File(path) => ring.path() == path,
            Self::All(_) => self.names(&header.name),
            Self::Stdin => false,
            Self::Started { token, .. } => header.run_token == *token,
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Only => write!(f, "program"),
            Self::Name(name) => write!(f, "program called \"{}\"", printable(name)),
            Self::Pid(pid) => write!(f, "program with pid {pid}"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::All(name) => write!(f, "programs called \"{}\"", printable(name)),
            Self::Stdin => write!(f, "stream on standard input"),
            Self::Started { .. } => write!(f, "scopes: nothing came from the started program"),
        }
    }
}

/// Whether a pattern, in which each `*` stands for any text, matches a name.
fn covers(wanted: &str, name: &str) -> bool {
    let mut parts = wanted.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Whether the program that wrote a ring still runs.
pub fn is_live(liveness: &Liveness) -> bool {
    matches!(liveness, Liveness::Running | Liveness::Stale { .. })
}

/// Returns the error for a command that takes only one program but was given `--all`. `what` is the reason, such as "a
/// program is recorded while it runs".
pub fn one_alone(name: &str, what: &str) -> Misuse {
    Misuse(format!(
        "--all: {what}, one at a time: tickscope list shows the programs called {} with their process ids; report, top, stacks, sites and snapshot \
         take --all",
        printable(name)
    ))
}

/// Describes one program on a single line: its name, process id and state, and the library that writes the ring, if any.
pub fn line_of(ring: &RingFile, liveness: &Liveness) -> String {
    let header = ring.header();
    let state = state_of(liveness).as_str();
    let library = library_of(ring);
    let library = match library.is_empty() {
        true => library,
        false => format!(", in {}", printable(&library)),
    };
    format!(
        "{} (pid {}, {state}{library})",
        printable(&header.name),
        header.pid
    )
}

/// Returns the file name of the library whose collector writes a ring; empty if the executable's own collector writes it.
pub(crate) fn library_of(ring: &RingFile) -> String {
    let name = Path::new(&ring.header().library).file_name();
    name.unwrap_or_default().to_string_lossy().into_owned()
}

pub(crate) fn several(wanted: &Wanted, fitting: &[(RingFile, Liveness)]) -> NoTarget {
    let live: Vec<&(RingFile, Liveness)> = fitting.iter().filter(|(_, liveness)| is_live(liveness)).collect();
    let one_pid = live
        .iter()
        .all(|(ring, _)| ring.header().pid == live[0].0.header().pid);
    // If all rings belong to one process, only their paths tell them apart.
    let how = |ring: &RingFile| {
        if one_pid {
            ring.path().display().to_string()
        } else {
            ring.header().pid.to_string()
        }
    };
    let lines: Vec<String> = live
        .iter()
        .take(2)
        .map(|(ring, liveness)| format!("  tickscope {}   {}", how(ring), line_of(ring, liveness)))
        .collect();
    let more = match live.len() {
        2 => String::new(),
        all => format!("\n  and {} more: tickscope list", all - 2),
    };
    let what = if *wanted == Wanted::Only {
        "several programs run".to_string()
    } else {
        format!("there are {} live ones of the {wanted}", live.len())
    };
    NoTarget {
        message: format!("{what}; choose one:\n{}{more}", lines.join("\n")),
        lead: format!("{what}."),
        may_come: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (wanted, name) in [
            ("web", "web"),
            ("*", ""),
            ("*", "web"),
            ("w*b", "wb"),
            ("it-*", "it-3f2a"),
            ("*e*e", "eve"),
        ] {
            assert!(covers(wanted, name), "{wanted} {name}");
        }
        for (wanted, name) in [
            ("web", "webs"),
            ("", "web"),
            ("w*b", "web2"),
            ("a*a", "a"),
            ("*x*", "web"),
            ("*eb*eb", "web"),
        ] {
            assert!(!covers(wanted, name), "{wanted} {name}");
        }
    }

    #[test]
    fn what_is_typed_is_a_path_a_pid_or_a_name() {
        assert_eq!(Wanted::typed("./x"), Wanted::File("./x".into()));
        assert_eq!(Wanted::typed("run.tks"), Wanted::File("run.tks".into()));
        assert_eq!(Wanted::typed("a.ring"), Wanted::File("a.ring".into()));
        assert_eq!(Wanted::typed("a.json"), Wanted::File("a.json".into()));
        assert_eq!(Wanted::typed("a.html"), Wanted::File("a.html".into()));
        assert_eq!(Wanted::typed("-"), Wanted::Stdin);
        assert_eq!(Wanted::typed("4711"), Wanted::Pid(4711));
        assert_eq!(Wanted::typed("a.txt"), Wanted::Name("a.txt".into()));
        assert_eq!(
            Wanted::typed("99999999999999"),
            Wanted::Name("99999999999999".into())
        );
    }
}
