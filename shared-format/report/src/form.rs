//! The forms of a report, in one table: names, file extensions, help, and writers.
//!
//! A form consists of a variant of [`Form`] and an entry in `TABLE`. The commands use this entry for the argument of `-f` and for
//! the text of `--help`. The collector uses it for the name of the Cargo feature that includes the form. The modules that write
//! forms do not use the table.

mod input;

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tickscope_format::FormatError;
use tickscope_format::snapshot::Snapshot;
use tickscope_format::snapshot_file;

use self::input::Input;
use crate::{ProcessState, callgrind, folded, html, text};
#[cfg(feature = "export")]
use crate::{json, pprof, speedscope};

pub use crate::form_options::FormOptions;

/// Size in bytes of the buffer for writing files.
const BUFFER_BYTES: usize = 256 << 10;

/// A form of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Plain text for people.
    #[default]
    Text,
    /// One HTML page that needs no network and contains its snapshot.
    Html,
    /// Everything in the snapshot as JSON, for programs.
    Json,
    /// Folded stacks, for flame graphs.
    Folded,
    /// A profile for speedscope.
    Speedscope,
    /// A gzipped `profile.proto`, for pprof.
    Pprof,
    /// A profile for `KCachegrind` and `callgrind_annotate`.
    Callgrind,
    /// The snapshot itself. All other forms can be made from it.
    Tks,
}

/// Entry of a form in the table.
struct Entry {
    form: Form,
    /// Argument of `-f`.
    name: &'static str,
    /// File extension, without the leading dot.
    ending: &'static str,
    /// Purpose of the form, as a sentence without its full stop.
    description: &'static str,
    /// Text for `tickscope report --help`, in lines at most 87 columns wide.
    help: &'static str,
    /// Feature of the crate `tickscope` that includes this form.
    feature: &'static str,
    /// Why the form cannot show numbers per call, and what to use instead; `None` if it can.
    refuses_per: Option<&'static str>,
    /// Why the form cannot show times in a chosen unit; `None` if it can.
    refuses_unit: Option<&'static str>,
    /// Why the form cannot show a measure other than time; `None` if it can.
    refuses_by: Option<&'static str>,
    /// Function that writes the form; `None` if it is not compiled in.
    write: Option<Writer>,
}

type Writer = fn(&Input<'_>, &mut dyn Write) -> io::Result<()>;

/// Wraps a writer that needs the feature `export`. Without that feature, it expands to `None`.
#[cfg(feature = "export")]
macro_rules! export {
    ($write:expr) => {
        Some($write)
    };
}
#[cfg(not(feature = "export"))]
macro_rules! export {
    ($write:expr) => {
        None
    };
}

const WHOLE_NUMBERS: Option<&str> = Some(
    "--per is for text, html and json; this form has whole nanoseconds and calls, which its readers add up",
);

const NANOSECONDS: Option<&str> = Some("--unit is for text; this form has nanoseconds alone: leave it out");

/// One entry for each form, in the order of the enum and of the help.
static TABLE: [Entry; 8] = [
    Entry {
        form: Form::Text,
        name: "text",
        ending: "txt",
        description: "For reading",
        help: "\
For reading; --view chooses a part. flat is gprof's flat profile; threads has each
thread's times and open scopes.",
        feature: "report",
        refuses_per: None,
        refuses_unit: None,
        refuses_by: None,
        write: Some(|input, out| out.write_all(text::report(input.snapshot, &input.options.text).as_bytes())),
    },
    Entry {
        form: Form::Html,
        name: "html",
        ending: "html",
        description: "One page with everything in it",
        help: "\
One page to look at and to send around: tree, icicle, hotspots, latencies, search;
needs no network, and carries the snapshot: tickscope FILE.html opens it again.
  tickscope report -o now.html",
        feature: "report",
        refuses_per: None,
        refuses_unit: NANOSECONDS,
        refuses_by: None,
        write: Some(|input, out| {
            // The page shows the chosen thread first, but also contains the other threads.
            let snapshot = input.without_small(Cow::Borrowed(input.snapshot));
            let page = html::page(&snapshot, input.options).map_err(io::Error::other)?;
            out.write_all(page.as_bytes())
        }),
    },
    Entry {
        form: Form::Json,
        name: "json",
        ending: "json",
        description: "For programs",
        help: "\
For programs: every fact, each thread apart, names as they are. It cannot be opened
again: keep a .tks file or a page for that.",
        feature: "export",
        refuses_per: None,
        refuses_unit: Some("--unit is for text; json has both, as total_ns and total_ticks: leave it out"),
        refuses_by: Some(
            "--by is for forms that show one measure; json has a member for each measure: leave it out",
        ),
        write: export!(|input, out| {
            let shown = input.shown();
            let text = &input.options.text;
            let addresses = &text.code.addresses;
            let document = json::of_part(&shown, text.per.as_ref(), text.state, &text.extent, addresses);
            out.write_all(document.as_bytes())
        }),
    },
    Entry {
        form: Form::Folded,
        name: "folded",
        ending: "folded",
        description: "Folded stacks, for flame graphs",
        help: "\
For flame graphs: path;path SELF-NANOSECONDS, all threads together; with --by the
path's own part of that measure.
  tickscope report -f folded | inferno-flamegraph --countname ns > now.svg",
        feature: "report",
        refuses_per: WHOLE_NUMBERS,
        refuses_unit: NANOSECONDS,
        refuses_by: None,
        write: Some(|input, mut out| folded::write(&input.by().of(&input.shown()), &mut out)),
    },
    Entry {
        form: Form::Speedscope,
        name: "speedscope",
        ending: "speedscope.json",
        description: "For speedscope",
        help: "\
For speedscope: a profile for each thread, the busiest first on the screen.
Callees are side by side, but not in the order of time.
  tickscope report -o now.speedscope.json && speedscope now.speedscope.json",
        feature: "export",
        refuses_per: WHOLE_NUMBERS,
        refuses_unit: NANOSECONDS,
        refuses_by: None,
        write: export!(|input, mut out| speedscope::write(&input.shown(), input.by(), &mut out)),
    },
    Entry {
        form: Form::Pprof,
        name: "pprof",
        ending: "pb.gz",
        description: "For pprof",
        help: "\
For pprof and other readers of profile.proto: values calls, time, and each other
measure that was counted; --by chooses the first. The tags thread and tid name the
thread. With samples of lines (tickscope lines on) there is also the value sampled:
pprof -sample_index=sampled -list FUNCTION shows it beside the source.
  tickscope report -o now.pb.gz && go tool pprof -http=: now.pb.gz",
        feature: "export",
        refuses_per: WHOLE_NUMBERS,
        refuses_unit: NANOSECONDS,
        refuses_by: None,
        write: export!(|input, mut out| pprof::write(
            &input.shown(),
            input.by(),
            input.addresses(),
            &mut out
        )),
    },
    Entry {
        form: Form::Callgrind,
        name: "callgrind",
        ending: "callgrind",
        description: "For KCachegrind and `callgrind_annotate`",
        help: "\
For callgrind_annotate and KCachegrind: events Ns, Calls, and each other measure that
was counted, the measure of --by first. All threads are below one function, named
[PROGRAM]. Inclusive costs count recursion once. With samples of lines (tickscope
lines on) there is also the event Sampled, which is shown beside the source.
  tickscope report -o callgrind.out.1 && callgrind_annotate callgrind.out.1",
        feature: "report",
        refuses_per: WHOLE_NUMBERS,
        refuses_unit: NANOSECONDS,
        refuses_by: None,
        write: Some(|input, mut out| {
            callgrind::write(&input.shown(), input.by(), input.addresses(), &mut out)
        }),
    },
    Entry {
        form: Form::Tks,
        name: "tks",
        ending: snapshot_file::ENDING,
        description: "The snapshot itself, to be opened again",
        help: "The snapshot itself, the smallest that can be opened again: tickscope FILE.tks.",
        feature: "report",
        refuses_per: Some(
            "a tks file has the numbers as measured; leave out --per, and use it when you open the file",
        ),
        refuses_unit: Some("--unit is for text; a tks file has ticks and their length: leave it out"),
        refuses_by: Some("a tks file has every measure; leave out --by, and use it when you open the file"),
        write: Some(|input, out| {
            let bytes = snapshot_file::bytes(&input.shown()).map_err(io::Error::other)?;
            out.write_all(&bytes)
        }),
    },
];

impl Form {
    /// All forms, in the order of the help.
    pub const ALL: [Self; TABLE.len()] = {
        let mut all = [Self::Text; TABLE.len()];
        let mut at = 0;
        while at < TABLE.len() {
            all[at] = TABLE[at].form;
            // `entry` uses the form as an index into `TABLE`.
            assert!(all[at] as usize == at);
            at += 1;
        }
        all
    };

    fn entry(self) -> &'static Entry {
        &TABLE[self as usize]
    }

    /// Returns the name of the form for `tickscope report -f`.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Returns the form with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }

    /// Returns the purpose of the form, as a sentence without its full stop.
    pub fn description(self) -> &'static str {
        self.entry().description
    }

    /// Returns the section about this form in `tickscope report --help`, in lines at most 87 columns wide.
    pub fn help(self) -> &'static str {
        self.entry().help
    }

    /// Returns the file extension that selects this form, without the leading dot.
    pub fn ending(self) -> &'static str {
        self.entry().ending
    }

    /// Returns the file extensions of all forms for messages, as in `.txt .html ...`.
    pub fn endings() -> String {
        Self::ALL.map(|form| format!(".{}", form.ending())).join(" ")
    }

    /// Returns the form that a file name selects, or `None` if it selects none.
    pub fn of_file(file: &Path) -> Option<Self> {
        let name = file.file_name()?.to_string_lossy().to_lowercase();
        // Valgrind names its files `callgrind.out.PID`, so their extension is a process id.
        if name.starts_with("callgrind.out") {
            return Some(Self::Callgrind);
        }
        let has_ending = |form: &Self| name.ends_with(&format!(".{}", form.ending()));
        // `now.speedscope.json` also ends in `.json`, so the longest matching extension is chosen.
        let named = Self::ALL.into_iter().filter(has_ending);
        named.max_by_key(|form| form.ending().len())
    }

    /// Returns whether the form is compiled in. Some forms need an optional library.
    pub fn is_built_in(self) -> bool {
        self.entry().write.is_some()
    }

    /// Returns the feature of the crate `tickscope` that includes this form.
    pub fn feature(self) -> &'static str {
        self.entry().feature
    }

    /// Checks that the form can show numbers per call of a function.
    ///
    /// # Errors
    /// If the form cannot show them, returns a message for users of `--per` that says why, and what to use instead.
    pub fn check_per(self) -> Result<(), &'static str> {
        self.entry().refuses_per.map_or(Ok(()), Err)
    }

    /// Checks that the form can show times in a chosen unit.
    ///
    /// # Errors
    /// If the form cannot show them, returns a message for users of `--unit`.
    pub fn check_unit(self) -> Result<(), &'static str> {
        self.entry().refuses_unit.map_or(Ok(()), Err)
    }

    /// Checks that the form can show a measure other than time.
    ///
    /// # Errors
    /// If the form cannot show one, returns a message for users of `--by`.
    pub fn check_by(self) -> Result<(), &'static str> {
        self.entry().refuses_by.map_or(Ok(()), Err)
    }

    /// Writes a snapshot in this form.
    ///
    /// # Errors
    /// Returns the error from writing to `out`, an error of kind `Unsupported` if the form is not compiled in, or an error of
    /// kind `Other` if the snapshot is larger than readers accept.
    pub fn write(self, snapshot: &Snapshot, options: &FormOptions, out: &mut dyn Write) -> io::Result<()> {
        match self.entry().write {
            Some(write) => write(&Input { snapshot, options }, out),
            None => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("this form needs the feature `{}` of tickscope", self.feature()),
            )),
        }
    }

    /// Writes a snapshot to a file that must not exist yet. If writing fails, the incomplete file is removed.
    ///
    /// # Errors
    /// Returns the system's error, most likely "File exists", or `Unsupported` if the form is not compiled in.
    pub fn write_new(self, path: &Path, snapshot: &Snapshot, state: ProcessState) -> Result<(), FormatError> {
        if self == Self::Tks {
            // `snapshot_file` has a better error for snapshots that are too large.
            return snapshot_file::write(path, snapshot);
        }
        let mut options = FormOptions::default();
        options.text.state = state;
        snapshot_file::write_new_by(path, |file| {
            let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
            self.write(snapshot, &options, &mut out)?;
            out.flush()
        })
    }
}

#[cfg(test)]
mod tests;
