//! `tickscope list`: lists programs that contain tickscope, running and ended, and recordings in the working directory.

use std::path::{Path, PathBuf};

use serde_json::json;
use tickscope_command::console;
use tickscope_command::console::{about, advised, printable, say};
use tickscope_format::codec;
use tickscope_format::file::list;
use tickscope_format::file::list::Listed;
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::file::places;
use tickscope_format::file::{clean, learned};
use tickscope_programs::clock_time::clock_time;
use tickscope_programs::kept_files::{KeptFile, kept_in};
use tickscope_programs::local_time;
use tickscope_programs::status::{since_unix_ns, state_of};
use tickscope_programs::target;
use tickscope_programs::target::wanted::is_live;

/// Prints the list. With `clean`, first removes the files of ended programs from the listed directories.
///
/// # Errors
/// Standard output cannot be written.
pub fn run(dir: Option<&Path>, as_json: bool, clean: bool) -> anyhow::Result<u8> {
    target::check_dir(dir)?;
    let places = places::chosen(dir);
    if clean {
        say(&removed(&places));
    }
    let listed = list::list(&places);
    let (kept, more) = kept_in(Path::new("."));
    let text = if as_json {
        json_text(&listed, &kept, &places)
    } else {
        text(&listed, &kept, more, &places)
    };
    console::write(&text)?;
    Ok(console::DONE)
}

/// Removes the files of ended programs from these directories. Returns a message that says how many were removed from each.
fn removed(places: &[PathBuf]) -> String {
    let (mut all, mut parts) = (0, Vec::new());
    for place in places {
        let here = clean::clean(place, 0, None).len() + learned::remove_all(place).len();
        all += here;
        parts.push(format!("{here} from {}", place.display()));
    }
    let files = if all == 1 { "file" } else { "files" };
    format!("removed {all} {files} of ended programs: {}", parts.join(", "))
}

fn text(listed: &[Listed], kept: &[KeptFile], more: usize, places: &[PathBuf]) -> String {
    let looked_in = printable(&target::with_denied(places).join(", "));
    let mut out = String::new();
    if listed.is_empty() {
        out = format!(
            "no program with tickscope, running or ended (looked in {looked_in})\n  tickscope demo   shows what it looks like\n"
        );
        if kept.is_empty() {
            return out;
        }
    }
    let offset = local_time::utc_offset_s();
    out += &format!(
        "{:<24} {:>8}  {:<8} {:<14} FILE\n",
        "NAME", "PID", "STATE", "SINCE"
    );
    for Listed { path, ring } in listed {
        match ring {
            Ok((ring, liveness)) => {
                let header = ring.header();
                let state = state_of(liveness).as_str();
                let since = clock_time(since_unix_ns(header.started_unix_ns, liveness), offset);
                let (name, pid) = (printable(&header.name), header.pid);
                let path = printable(&path.display().to_string());
                let copies = printable(&copies_text(ring, liveness));
                out += &format!("{name:<24} {pid:>8}  {state:<8} {since:<14} {path}{copies}\n");
            }
            Err(error) => {
                let why = printable(&about(path, error));
                out += &format!("{:<24} {:>8}  {:<8} {why}\n", "?", "-", "broken");
            }
        }
    }
    for file in kept {
        let since = clock_time(file.to_unix_ns, offset);
        let (name, pid) = (printable(&file.name), file.pid);
        let path = printable(&file.path.display().to_string());
        out += &format!("{name:<24} {pid:>8}  {:<8} {since:<14} {path}\n", "kept");
    }
    if more > 0 {
        out += &format!("and {more} older .tks files in this directory\n");
    }
    if !listed.is_empty() {
        out += &format!("looked in {looked_in}\n");
    }
    out
}

/// Describes which library the ring's collector is part of, and which other files in the process contain a collector too.
fn copies_text(ring: &RingFile, liveness: &Liveness) -> String {
    let library = &ring.header().library;
    let own = match library.is_empty() {
        true => String::new(),
        false => format!("  of {library}"),
    };
    let others = copies(ring, liveness);
    match others.is_empty() {
        true => own,
        false => format!("{own}  beside {}", others.join(", ")),
    }
}

/// Returns the files in a running process that contain further copies of the collector.
fn copies(ring: &RingFile, liveness: &Liveness) -> Vec<String> {
    if !is_live(liveness) {
        return Vec::new();
    }
    let newest = ring.newest().and_then(|record| codec::copies(&record.payload));
    newest.unwrap_or_default()
}

fn json_text(listed: &[Listed], kept: &[KeptFile], places: &[PathBuf]) -> String {
    let programs: Vec<serde_json::Value> = listed
        .iter()
        .map(|Listed { path, ring }| match ring {
            Ok((ring, liveness)) => {
                let header = ring.header();
                json!({
                    "name": header.name,
                    "pid": header.pid,
                    "state": state_of(liveness).as_str(),
                    "live": is_live(liveness),
                    "started_unix_ns": header.started_unix_ns,
                    "since_unix_ns": since_unix_ns(header.started_unix_ns, liveness),
                    "uid": header.uid,
                    "format": format!("{}.{}", header.version.0, header.version.1),
                    "path": path.display().to_string(),
                    "library": Some(&header.library).filter(|library| !library.is_empty()),
                    "copies": copies(ring, liveness),
                })
            }
            Err(error) => json!({ "path": path.display().to_string(), "error": advised(error) }),
        })
        .collect();
    let kept: Vec<serde_json::Value> = kept
        .iter()
        .map(|file| {
            json!({
                "name": file.name,
                "pid": file.pid,
                "records": file.records,
                "from_unix_ns": file.from_unix_ns,
                "to_unix_ns": file.to_unix_ns,
                "path": file.path.display().to_string(),
            })
        })
        .collect();
    let looked_in: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    let all = json!({ "tickscope": 1, "programs": programs, "kept": kept, "looked_in": looked_in });
    let text = format!("{all:#}\n");
    // Non-ASCII characters that could harm a terminal are escaped. In JSON they occur only inside strings, where an escape
    // stands for the same character.
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() || printable(c.encode_utf8(&mut [0; 4])).starts_with(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out += &format!("\\u{unit:04x}");
            }
        }
    }
    out
}
