//! Which program is meant: from what was typed to a file.

mod broken;
mod looked;
mod program;

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use tickscope_format::file::header::Header;
use tickscope_format::file::list::{self, Listed};
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::file::places;
use tickscope_report::archive;
use tickscope_report::form::Form;

use crate::args::TargetArgs;
use crate::command::output::{about, printable};
use crate::container;
use crate::near::nearest;

pub use broken::runs_on;
pub use looked::{check_dir, with_denied};

/// What was typed, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The only one that runs.
    Only,
    /// By name.
    Name(String),
    /// By process id.
    Pid(u32),
    /// By path.
    File(PathBuf),
    /// The one that `tickscope run` started: what it passed on, and the process id of the command itself.
    Started {
        /// What was passed in the environment.
        token: u64,
        /// The command's own process id.
        pid: u32,
    },
}

/// A target that was found.
#[derive(Debug)]
pub enum Found {
    /// A ring, of a program that runs or has ended.
    Ring(Box<RingFile>, Liveness),
    /// A kept snapshot.
    Kept(PathBuf),
}

/// Why there is no target: what is there, and the command that opens it.
#[derive(Debug)]
pub struct NoTarget {
    /// What is wanted and not there, in one line.
    pub lead: String,
    /// The whole message, at most four lines: that, and what is there.
    pub message: String,
    /// Whether it may still come: nobody of that name is there yet.
    pub may_come: bool,
}

impl NoTarget {
    /// One of which there is no more to say than what is wanted and not there.
    pub fn new(message: String, may_come: bool) -> Self {
        Self {
            lead: message.clone(),
            message,
            may_come,
        }
    }
}

impl fmt::Display for NoTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NoTarget {}

/// Endings by which an argument is a path though it has no `/`.
const PATH_ENDINGS: [&str; 4] = ["ring", "tks", "json", "html"];

// === impl Wanted ===

impl Wanted {
    /// Understands what was typed.
    pub fn of(args: &TargetArgs) -> Self {
        if let Some(pid) = args.pid {
            return Self::Pid(pid);
        }
        let Some(text) = args.target.as_deref() else {
            return Self::Only;
        };
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

    /// Whether a program that starts anew is this target again.
    pub fn follows_restarts(&self) -> bool {
        matches!(self, Self::Only | Self::Name(_))
    }

    fn fits(&self, ring: &RingFile) -> bool {
        let header = ring.header();
        match self {
            Self::Only => true,
            Self::Name(name) => header.name == *name,
            Self::Pid(pid) => header.pid == *pid,
            Self::File(path) => ring.path() == path,
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
            Self::Started { .. } => write!(f, "scopes: nothing came from the started program"),
        }
    }
}

/// True where the program that wrote a ring runs.
pub fn is_live(liveness: &Liveness) -> bool {
    matches!(liveness, Liveness::Running | Liveness::Stale { .. })
}

/// Another ring of the same process: it makes one where somebody has destroyed this.
pub fn successor_of(old: &RingFile, dir: Option<&Path>) -> Option<(RingFile, Liveness)> {
    let mut dirs = places::places(dir);
    // Where the old one is, above all: whoever names a path need not name its directory.
    dirs.extend(old.path().parent().map(Path::to_path_buf));
    let old = old.header();
    let process = |header: &Header| (header.pid, header.start_time, header.boot_id);
    let rings = list::list(&dirs)
        .into_iter()
        .filter_map(|listed| listed.ring.ok());
    let mut others = rings.filter(|(ring, liveness)| {
        let new = ring.header();
        is_live(liveness) && process(new) == process(old) && new.name == old.name && new.nonce != old.nonce
    });
    others.next()
}

/// One program a line: what to type for it, and how it does.
pub fn line_of(ring: &RingFile, liveness: &Liveness) -> String {
    let header = ring.header();
    let state = match liveness {
        Liveness::Running => "running",
        Liveness::Stale { .. } => "stale",
        Liveness::Exited { .. } => "exited",
        Liveness::Crashed { .. } => "crashed",
    };
    format!("{} (pid {}, {state})", printable(&header.name), header.pid)
}

/// Finds the target. Of finished programs the newest is taken, and only where none runs; a target that is not
/// named is one that runs.
///
/// # Errors
/// [`NoTarget`] with what is there, or why a file cannot be opened or the directory not be looked into.
pub fn find(wanted: &Wanted, dir: Option<&Path>) -> anyhow::Result<Found> {
    // A program that was started may be about to make it.
    if !matches!(wanted, Wanted::Started { .. }) {
        check_dir(dir)?;
    }
    if let Wanted::File(path) = wanted {
        return open_file(path, dir);
    }
    let found = find_program(wanted, dir);
    // No program of this name runs, but it could be started.
    if let Wanted::Name(name) = wanted
        && found.as_ref().is_err_and(is_none)
        && program::is_program(Path::new(name))
    {
        return program::running(Path::new(name), dir, true);
    }
    found
}

/// There is none of that name.
fn is_none(error: &anyhow::Error) -> bool {
    error.downcast_ref::<NoTarget>().is_some_and(|none| none.may_come)
}

fn find_program(wanted: &Wanted, dir: Option<&Path>) -> anyhow::Result<Found> {
    let places = places::places(dir);
    let mut listed = list::list(&places);
    let found = if let Wanted::Pid(pid) = wanted {
        listed.extend(list::list(&container::places_of(*pid)));
        let broken = broken::of_pid(*pid, &listed);
        let found = choose(wanted, listed, |ring| {
            wanted.fits(ring) || container::is_inside(*pid, ring)
        });
        found.map_err(|none| broken.filter(|_| none.may_come).unwrap_or(none))
    } else {
        choose(wanted, listed, |ring| wanted.fits(ring))
    };
    found.map_err(|none| looked::add_denied(none, &places).into())
}

/// All rings that fit, in the order of the list.
pub fn all(wanted: &Wanted, dir: Option<&Path>) -> Vec<RingFile> {
    let readable = list::list(&places::places(dir))
        .into_iter()
        .filter_map(|listed| listed.ring.ok());
    readable
        .map(|(ring, _)| ring)
        .filter(|ring| wanted.fits(ring))
        .collect()
}

fn open_file(path: &Path, dir: Option<&Path>) -> anyhow::Result<Found> {
    looked::check_file(path)?;
    if archive::is_archive(path) {
        return Ok(Found::Kept(path.to_path_buf()));
    }
    let ring = match RingFile::open(path) {
        Err(_) if program::is_program(path) => return program::running(path, dir, false),
        Err(error) => return Err(anyhow!(closed_form(path).unwrap_or_else(|| about(path, &error)))),
        Ok(ring) => ring,
    };
    let liveness = ring.liveness().map_err(|error| anyhow!(about(path, &error)))?;
    Ok(Found::Ring(Box::new(ring), liveness))
}

/// That a report of a form that cannot be opened was named, as its ending says.
fn closed_form(path: &Path) -> Option<String> {
    let form = Form::of_file(path)?;
    let known = [Form::Html, Form::Tks];
    (!known.contains(&form)).then(|| {
        format!(
            "{}: reports as .{} cannot be opened again; those as .html can, and .tks",
            path.display(),
            form.ending()
        )
    })
}

fn choose(wanted: &Wanted, listed: Vec<Listed>, fits: impl Fn(&RingFile) -> bool) -> Result<Found, NoTarget> {
    let mut readable: Vec<(RingFile, Liveness)> =
        listed.into_iter().filter_map(|listed| listed.ring.ok()).collect();
    // One file may be seen by two paths.
    let mut seen = Vec::new();
    readable.retain(|(ring, _)| {
        let new = !seen.contains(&ring.header().nonce);
        seen.push(ring.header().nonce);
        new
    });
    let (mut fitting, others): (Vec<_>, Vec<_>) = readable.into_iter().partition(|(ring, _)| fits(ring));
    let live = fitting.iter().filter(|(_, liveness)| is_live(liveness)).count();
    if let Wanted::Started { pid, .. } = wanted {
        // The command itself before what it started in turn; among those, whoever came first.
        fitting.sort_by_key(|(ring, _)| (ring.header().pid != *pid, ring.header().started_unix_ns));
    } else if live > 1 {
        return Err(several(wanted, &fitting));
    } else if *wanted == Wanted::Only && live == 0 {
        return Err(none(wanted, &fitting));
    }
    // `list` puts the living first and then the newest.
    match fitting.into_iter().next() {
        Some((ring, liveness)) => Ok(Found::Ring(Box::new(ring), liveness)),
        None => Err(none(wanted, &others)),
    }
}

fn several(wanted: &Wanted, fitting: &[(RingFile, Liveness)]) -> NoTarget {
    let live: Vec<&(RingFile, Liveness)> = fitting.iter().filter(|(_, liveness)| is_live(liveness)).collect();
    let one_pid = live
        .iter()
        .all(|(ring, _)| ring.header().pid == live[0].0.header().pid);
    // Two rings of one process are told apart by their files alone.
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

/// That a name is also that of a file, which is meant only by its path; nothing where there is none.
fn file_of(wanted: &Wanted) -> String {
    if let Wanted::Name(name) = wanted
        && Path::new(name).is_file()
    {
        return format!(" (there is a file of that name: ./{})", printable(name));
    }
    String::new()
}

/// Whose name is close to the one that was given.
fn meant(wanted: &Wanted, there: &[(RingFile, Liveness)]) -> String {
    let Wanted::Name(name) = wanted else {
        return String::new();
    };
    let names = there.iter().map(|(ring, _)| ring.header().name.as_str());
    match nearest(name, names) {
        Some(near) => format!(" (did you mean {}?)", printable(near)),
        None => String::new(),
    }
}

fn none(wanted: &Wanted, there: &[(RingFile, Liveness)]) -> NoTarget {
    let lead = if *wanted == Wanted::Only {
        "no program runs that carries tickscope".to_string()
    } else {
        format!("no {wanted}{}{}", file_of(wanted), meant(wanted, there))
    };
    let message = if let Wanted::Started { .. } = wanted {
        // Whatever else is there was not asked for.
        lead.clone()
    } else if there.is_empty() {
        format!(
            "{lead}, and none has ended here lately\n  start one that calls tickscope::start(), or: \
             tickscope run -- CMD\n  to look around: tickscope demo"
        )
    } else {
        let lines: Vec<String> = there
            .iter()
            .take(2)
            .map(|(ring, liveness)| {
                format!("  tickscope {}   {}", ring.header().pid, line_of(ring, liveness))
            })
            .collect();
        let there_is = match there.len() {
            1 => "there is".to_string(),
            2 => "there are".to_string(),
            all => format!("there are {all} (tickscope list), the first two"),
        };
        format!("{lead}; {there_is}:\n{}", lines.join("\n"))
    };
    NoTarget {
        message,
        lead: format!("{lead}."),
        may_come: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(text: &str) -> Wanted {
        Wanted::of(&TargetArgs {
            target: Some(text.into()),
            ..TargetArgs::default()
        })
    }

    #[test]
    fn what_is_typed_is_a_path_a_pid_or_a_name() {
        assert_eq!(wanted("./x"), Wanted::File("./x".into()));
        assert_eq!(wanted("run.tks"), Wanted::File("run.tks".into()));
        assert_eq!(wanted("a.ring"), Wanted::File("a.ring".into()));
        assert_eq!(wanted("a.json"), Wanted::File("a.json".into()));
        assert_eq!(wanted("a.html"), Wanted::File("a.html".into()));
        assert_eq!(wanted("4711"), Wanted::Pid(4711));
        assert_eq!(wanted("a.txt"), Wanted::Name("a.txt".into()));
        assert_eq!(wanted("99999999999999"), Wanted::Name("99999999999999".into()));
        assert_eq!(Wanted::of(&TargetArgs::default()), Wanted::Only);
        assert_eq!(
            Wanted::of(&TargetArgs {
                pid: Some(7),
                ..TargetArgs::default()
            }),
            Wanted::Pid(7)
        );
    }
}
