//! Finds the ring or file of the program that the user has named.

mod damaged_rings;
mod program;
mod search_paths;
pub(crate) mod stream;
pub mod wanted;

use std::collections::HashSet;
use std::path::Path;

use anyhow::anyhow;
pub use damaged_rings::{name_and_pid, runs_on};
pub use search_paths::{check_dir, with_denied};
use tickscope_command::console::{Misuse, about, printable};
use tickscope_command::did_you_mean::hint;
use tickscope_format::file::header::Header;
use tickscope_format::file::list;
use tickscope_format::file::list::Listed;
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::file::places;
use tickscope_report::archive;
use tickscope_report::form::Form;

use crate::container;
use crate::ring_reads::RunKey;
use crate::target::wanted::{Found, NoTarget, Wanted, is_live, line_of, readable, several};

/// Returns another live ring of the process that wrote `old`. A process whose ring was destroyed creates a new one.
pub fn successor_of(old: &RingFile, dir: Option<&Path>) -> Option<(RingFile, Liveness)> {
    // Search all directories, because the process may be unable to create its new ring in the old directory.
    let mut dirs = places::places(dir);
    // Also search the directory of the old ring. A ring that was opened by its path may be outside all the others.
    dirs.extend(old.path().parent().map(Path::to_path_buf));
    let old = old.header();
    let process = |header: &Header| (header.pid, header.start_time, header.boot_id);
    let mut others = readable(list::list(&dirs)).filter(|(ring, liveness)| {
        let new = ring.header();
        is_live(liveness)
            && process(new) == process(old)
            && (&new.name, &new.library) == (&old.name, &old.library)
            && new.nonce != old.nonce
    });
    others.next()
}

/// Finds the target. If no matching program is running, takes the most recent matching program that has ended. A target
/// without a name must be running.
///
/// # Errors
/// Returns [`NoTarget`] with a list of existing programs, or an error that says why a file or directory cannot be read.
pub fn find(wanted: &Wanted, dir: Option<&Path>) -> anyhow::Result<Found> {
    // A program that was just started may not have created the directory yet, so the directory may be missing.
    if !matches!(wanted, Wanted::Started { .. }) {
        check_dir(dir)?;
    }
    if let Wanted::File(path) = wanted {
        return open_file(path, dir);
    }
    if *wanted == Wanted::Stdin {
        return Ok(Found::Streamed(Box::new(stream::newest()?)));
    }
    if let Wanted::All(name) = wanted {
        return find_all(name, dir);
    }
    let found = find_program(wanted, dir);
    // No program with this name was found, but an executable file may have this name.
    if let Wanted::Name(name) = wanted
        && found.as_ref().is_err_and(NoTarget::may_come)
        && program::is_program(Path::new(name))
    {
        return program::running(Path::new(name), dir, true);
    }
    found
}

fn find_program(wanted: &Wanted, dir: Option<&Path>) -> anyhow::Result<Found> {
    let places = if matches!(wanted, Wanted::Started { .. }) {
        // Search all directories, because the token identifies the program's ring wherever it is.
        places::places(dir)
    } else {
        places::chosen(dir)
    };
    let mut listed = list::list(&places);
    let found = if let Wanted::Pid(pid) = wanted {
        listed.extend(list::list(&container::places_of(*pid)));
        let broken = damaged_rings::of_pid(*pid, &listed);
        let found = choose(wanted, listed, |ring| {
            wanted.fits(ring) || container::is_inside(*pid, ring)
        });
        found.map_err(|none| broken.filter(|_| none.may_come).unwrap_or(none))
    } else {
        choose(wanted, listed, |ring| wanted.fits(ring))
    };
    found.map_err(|none| search_paths::add_places(none, wanted, &places).into())
}

/// Returns the title under which all programs with this name are shown together.
pub fn title_of(name: &str) -> String {
    format!("all of {name}")
}

/// Checks a name given with `--all`, which stands for all programs with that name.
///
/// # Errors
/// Returns an error if the name is empty or would be taken for a process id, a path or standard input.
pub fn check_all(name: &str) -> anyhow::Result<()> {
    let of_one = Wanted::typed(name);
    let what = if name.is_empty() {
        "--all needs the name of the programs".to_string()
    } else if let Wanted::Name(_) = of_one {
        return Ok(());
    } else {
        format!("--all takes a name, and this is a {of_one}")
    };
    Err(Misuse(format!(
        "{what}: tickscope NAME --all; '*' means all running programs"
    ))
    .into())
}

/// Finds all running programs whose name matches `name`, in which `*` stands for any text.
fn find_all(name: &str, dir: Option<&Path>) -> anyhow::Result<Found> {
    check_all(name)?;
    let wanted = Wanted::All(name.into());
    let places = places::chosen(dir);
    let mut seen = HashSet::new();
    // Count each run only once: two paths may lead to the same file, and a process may have created several rings.
    let live = readable(list::list(&places))
        .filter(|(ring, liveness)| is_live(liveness) && seen.insert(RunKey::of(ring)));
    let (fitting, others): (Vec<_>, Vec<_>) = live.partition(|(ring, _)| wanted.fits(ring));
    if fitting.is_empty() {
        let none = none(&Wanted::Name(name.into()), &others);
        return Err(search_paths::add_places(none, &wanted, &places).into());
    }
    Ok(Found::Together(name.into(), fitting))
}

/// Returns all rings of a started program and of the programs that it started in turn, in the order of `list`.
pub fn all(wanted: &Wanted, dir: Option<&Path>) -> Vec<RingFile> {
    readable(list::list(&places::places(dir)))
        .map(|(ring, _)| ring)
        .filter(|ring| wanted.fits(ring))
        .collect()
}

fn open_file(path: &Path, dir: Option<&Path>) -> anyhow::Result<Found> {
    search_paths::check_file(path)?;
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

/// Returns an error message if the path names a report in a format that cannot be opened again; `None` for other files.
/// Only the file extension is checked.
fn closed_form(path: &Path) -> Option<String> {
    let form = Form::of_file(path)?;
    let known = [Form::Html, Form::Tks];
    (!known.contains(&form)).then(|| {
        format!(
            "{}: reports as .{} cannot be opened again; .html and .tks can",
            path.display(),
            form.ending()
        )
    })
}

fn choose(wanted: &Wanted, listed: Vec<Listed>, fits: impl Fn(&RingFile) -> bool) -> Result<Found, NoTarget> {
    // Two paths may lead to the same file.
    let mut seen = HashSet::new();
    let all = readable(listed).filter(|(ring, _)| seen.insert(ring.header().nonce));
    let (mut fitting, others): (Vec<_>, Vec<_>) = all.partition(|(ring, _)| fits(ring));
    let live = fitting.iter().filter(|(_, liveness)| is_live(liveness)).count();
    if let Wanted::Started { pid, .. } = wanted {
        // The started program comes first, followed by the programs that it started in turn, earliest first.
        fitting.sort_by_key(|(ring, _)| (ring.header().pid != *pid, ring.header().started_unix_ns));
    } else if live > 1 {
        return Err(several(wanted, &fitting));
    } else if *wanted == Wanted::Only && live == 0 {
        return Err(none(wanted, &fitting));
    }
    // `list` puts running programs before ended ones, and newer runs before older ones.
    match fitting.into_iter().next() {
        Some((ring, liveness)) => Ok(Found::Ring(Box::new(ring), liveness)),
        None => Err(none(wanted, &others)),
    }
}

/// Returns a hint that there is a file with the typed name, which can be opened by typing a path; empty if there is no such file.
fn file_of(wanted: &Wanted) -> String {
    if let Wanted::Name(name) = wanted
        && Path::new(name).is_file()
    {
        return format!(" (there is a file of that name: ./{})", printable(name));
    }
    String::new()
}

/// Returns a hint that suggests an existing program with a similar name; empty if there is none.
fn meant(wanted: &Wanted, there: &[(RingFile, Liveness)]) -> String {
    let Wanted::Name(name) = wanted else {
        return String::new();
    };
    let names = there.iter().map(|(ring, _)| ring.header().name.as_str());
    hint(name, &names.collect::<Vec<_>>())
}

fn none(wanted: &Wanted, there: &[(RingFile, Liveness)]) -> NoTarget {
    let lead = if *wanted == Wanted::Only {
        "no program with tickscope runs".to_string()
    } else {
        format!("no {wanted}{}{}", file_of(wanted), meant(wanted, there))
    };
    let message = if let Wanted::Started { .. } = wanted {
        // The user has just started this program, so a list of other programs would not help.
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
