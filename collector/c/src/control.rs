//! Functions that control a running program: resets, reports, modes, which sites are enabled or watched, and which
//! threads are measured.

use std::ffi::{OsStr, c_char};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tickscope::__private::write_all;
use tickscope::{Format, Mode, Over, SitesError, Snapshot, thread};
use tickscope_format::snapshot_file;
#[cfg(feature = "report")]
use {tickscope::__private::form_of, tickscope_report::form::FormOptions};

use crate::text::{bytes_of, failed, of_c};

type Failure = Box<dyn std::error::Error>;

/// Returns 0, or records the error for `tickscope_error` and returns -1.
fn code<T>(done: Result<T, impl ToString>) -> i32 {
    match done {
        Ok(_) => 0,
        Err(error) => failed(&error),
    }
}

/// Sets all counters to zero before it returns.
#[unsafe(no_mangle)]
extern "C" fn tickscope_reset() {
    drop(tickscope::reset());
}

/// Requests a reset of all counters, and returns immediately.
#[unsafe(no_mangle)]
extern "C" fn tickscope_request_reset() {
    tickscope::request_reset();
}

/// Writes a report to a new file.
#[unsafe(no_mangle)]
extern "C" fn tickscope_dump(path: *const c_char, format: i32) -> i32 {
    let path = Path::new(OsStr::from_bytes(bytes_of(path)));
    code(format_of(format).and_then(|format| Ok(tickscope::dump(path, format)?)))
}

/// Writes a report to an open file.
#[unsafe(no_mangle)]
extern "C" fn tickscope_dump_to(descriptor: i32, format: i32) -> i32 {
    code(format_of(format).and_then(|format| write_to(descriptor, format)))
}

fn write_to(descriptor: i32, format: Format) -> Result<(), Failure> {
    if descriptor < 0 {
        return Err(format!("no dump: {descriptor} is not a descriptor; wanted an open file").into());
    }
    // SAFETY: the header requires that the descriptor stays open during the call.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    let written = borrowed.try_clone_to_owned().and_then(|file| {
        // The time spent writing must not be charged to any scope.
        let _pause = tickscope::pause();
        write_all(file.as_raw_fd(), &report(&tickscope::snapshot(), format)?, -1)
    });
    written.map_err(|error| format!("no dump: descriptor {descriptor}: {error}").into())
}

#[cfg(feature = "report")]
fn report(snapshot: &Snapshot, format: Format) -> io::Result<Vec<u8>> {
    if format == Format::Tks {
        return snapshot_file::bytes(snapshot).map_err(io::Error::other);
    }
    let mut bytes = Vec::new();
    form_of(format).write(snapshot, &FormOptions::default(), &mut bytes)?;
    Ok(bytes)
}

/// Encodes a `.tks` file, the only format that is available without the feature `report`. `tickscope report` converts
/// it to all other formats.
#[cfg(not(feature = "report"))]
fn report(snapshot: &Snapshot, format: Format) -> io::Result<Vec<u8>> {
    if format != Format::Tks {
        return Err(io::Error::other(
            "this form needs the feature `report` of tickscope-c; wanted TICKSCOPE_TKS",
        ));
    }
    snapshot_file::bytes(snapshot).map_err(io::Error::other)
}

fn format_of(code: i32) -> Result<Format, Failure> {
    Ok(match code {
        0 => Format::Tks,
        1 => Format::Text,
        2 => Format::Html,
        3 => Format::Folded,
        4 => Format::Callgrind,
        5 => Format::Json,
        // 6 is reserved: older versions used it for another format.
        7 => Format::Speedscope,
        8 => Format::Pprof,
        _ => {
            let wanted = "wanted one of enum tickscope_format";
            return Err(format!("no dump: there is no form {code}; {wanted}").into());
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn tickscope_set_mode(mode: i32) -> i32 {
    tickscope::set_mode(match mode {
        0 => Mode::Adaptive,
        1 => Mode::Exact,
        2 => Mode::Sampled,
        3 => Mode::Off,
        _ => {
            return failed(&format!(
                "there is no mode {mode}; wanted one of enum tickscope_mode"
            ));
        }
    });
    0
}

/// Returns the number of sites that matched a pattern, or records the error for `tickscope_error` and returns -1.
fn count(matched: Result<usize, SitesError>) -> i32 {
    match matched {
        Ok(count) => i32::try_from(count).unwrap_or(i32::MAX),
        Err(error) => failed(&error),
    }
}

#[unsafe(no_mangle)]
extern "C" fn tickscope_enable(pattern: *const c_char) -> i32 {
    count(tickscope::enable_sites(&of_c(pattern)))
}

#[unsafe(no_mangle)]
extern "C" fn tickscope_disable(pattern: *const c_char) -> i32 {
    count(tickscope::disable_sites(&of_c(pattern)))
}

/// Keeps slow calls of the functions that match a pattern, to compare them with typical calls.
#[unsafe(no_mangle)]
extern "C" fn tickscope_watch(pattern: *const c_char) -> i32 {
    code(tickscope::watch(&of_c(pattern), Over::Tail))
}

/// Starts counting on the calling thread.
#[unsafe(no_mangle)]
extern "C" fn tickscope_include_thread() {
    thread::include();
}

/// Stops counting on the calling thread.
#[unsafe(no_mangle)]
extern "C" fn tickscope_exclude_thread() {
    thread::exclude();
}
