//! The banner: a line that explains any state other than plain LIVE, with its cause and the suggested next step.

use tickscope_format::Snapshot;
use tickscope_programs::clock_time::{clock_time, seconds};
use tickscope_programs::status::{Mark, Pipe, Status};

use crate::app::state::App;
use crate::app::threads::ThreadChoice;
use crate::text::cells::{cut_end, safe, width};
use crate::text::glyphs::Glyphs;

/// Minimum number of screen lines for the banner that is shown until the first key press.
const ROOM_FOR_FIRST_LOOK: u16 = 20;

/// Minimum width at which the banner of a recording explains each key separately.
const ROOM_FOR_ALL_KEYS: u16 = 110;

impl App {
    /// Returns the word for the state, and the shape that is shown with it. If the screen is frozen or shows the past,
    /// this takes precedence over the state of the program.
    pub(crate) fn face(&self) -> (&'static str, Mark) {
        if self.playback.is_past() {
            ("PAST", Mark::Frozen)
        } else if self.playback.stands_still() {
            ("FROZEN", Mark::Frozen)
        } else if self.playback.recorded_ns(&self.program).is_some() {
            ("RECORDED", self.program.status.mark())
        } else {
            (self.program.status.word(), self.program.status.mark())
        }
    }

    /// Returns the clock time to show with the state: when the state began, or when the snapshot on screen was
    /// captured. Returns `None` for states without a time, such as LIVE.
    pub(crate) fn face_time(&self) -> Option<String> {
        let clock = |unix_ns| clock_time(unix_ns, self.screen.utc_offset);
        let at = |unix_ns| format!("at {}", clock(unix_ns));
        let shown = self.shown().map(|shown| at(shown.capture.unix_ns));
        if self.playback.is_past() {
            return self.past_time();
        }
        if self.playback.stands_still() {
            return shown;
        }
        match self.program.status {
            Status::Stale { since_unix_ns } | Status::Piped(Pipe::Silent { since_unix_ns }) => {
                Some(format!("since {}", clock(since_unix_ns)))
            }
            Status::Exited { unix_ns } => Some(at(unix_ns)),
            Status::Crashed { unix_ns } => unix_ns.map(at),
            Status::Kept | Status::Piped(Pipe::Closed) => shown,
            Status::Waiting { .. } | Status::Live | Status::Broken { .. } | Status::Piped(Pipe::Flowing) => {
                None
            }
        }
    }

    /// Whether no key has been pressed yet, and there is room to explain the screen.
    pub(crate) fn is_first_look(&self) -> bool {
        self.screen.last_key.is_none()
            && self.derived.data.is_some()
            && self.screen.size.height >= ROOM_FOR_FIRST_LOOK
    }

    /// Returns the text of the banner, if there is data on screen and its state needs an explanation.
    pub(crate) fn banner(&self) -> Option<String> {
        let shown = self.shown()?;
        // Each text has at most about 60 characters, so that it is quick to read even on wide screens.
        if let Some(recorded) = self.recording_banner() {
            return Some(recorded);
        }
        let text = match &self.program.status {
            _ if self.playback.is_past() => "A moment of the past: , . go back and forth, L goes on.",
            Status::Exited { .. } | Status::Crashed { .. } if self.playback.stands_still() => {
                "Meanwhile the program has ended; p shows its last state."
            }
            _ if self.playback.stands_still() => "The program runs on; p lets the screen follow it again.",
            Status::Live | Status::Piped(Pipe::Flowing) => {
                return self
                    .thread_gone(shown)
                    .or_else(|| switched_off(shown))
                    .or_else(|| self.warning(shown));
            }
            Status::Stale { .. } => "No new snapshot: stopped, or short of CPU. Waiting.",
            Status::Exited { .. } if self.program.is_together() => {
                "All have ended; new programs will be added. d writes a report, s keeps this."
            }
            Status::Exited { .. } => "The program has ended. d writes a report, s keeps this.",
            Status::Crashed { .. } => "It was killed or crashed. s keeps its newest record.",
            Status::Piped(Pipe::Silent { .. }) => "No data: the program or the connection is stuck.",
            Status::Piped(Pipe::Closed) => "The stream has ended: , . go back, s keeps this.",
            Status::Kept => "A kept snapshot, no program behind it. d: report.",
            Status::Waiting { why } if why.is_empty() => "Waiting for the program.",
            Status::Waiting { why } | Status::Broken { why } => why,
        };
        // The banner has one line. A longer text is shown in full only while there is no data.
        text.lines().next().map(str::to_string)
    }

    /// Returns the banner of a recording: its length, the position of the moment on screen, and the keys that move in it.
    fn recording_banner(&self) -> Option<String> {
        let long = seconds(self.playback.recorded_ns(&self.program)?);
        let wide = self.screen.size.width >= ROOM_FOR_ALL_KEYS;
        let keys = match wide {
            true => ", . go back and forth, ( ) by 5 s, { } to its ends. d: report.",
            false => ", . ( ) { } go back and forth.",
        };
        Some(match self.playback.since_begin_ns(&self.program).map(seconds) {
            Some(at) if wide => format!("At {at} of a recording of {long}: {keys}"),
            Some(at) => format!("At {at} of {long}: {keys}"),
            None => format!("A recording of {long}: {keys}"),
        })
    }

    /// Returns the program's warning to its user, until Escape marks it as read.
    fn warning(&self, shown: &Snapshot) -> Option<String> {
        let warnings = &shown.process.warnings;
        let first = warnings.first().filter(|_| !self.program.warnings_seen)?;
        let more = match warnings.len() {
            1 => String::new(),
            all => format!(" (and {} more)", all - 1),
        };
        let more = format!("{more}  Esc: seen");
        // The warning may be cut, because the report has all of it. The number of other warnings and the hint about
        // Escape are shown only here, so they are kept.
        let room = usize::from(self.screen.size.width).saturating_sub(width(&more) + 4);
        let first = cut_end(
            &safe(first, self.screen.ascii),
            room,
            Glyphs::of(self.screen.ascii).cut,
        )
        .into_owned();
        Some(format!("{first}{more}"))
    }

    fn thread_gone(&self, shown: &Snapshot) -> Option<String> {
        if let ThreadChoice::One { name, .. } = &self.query.threads
            && self.query.threads.thread(shown).is_none()
        {
            return Some(format!(
                "There is no thread {name} any more. a shows all threads."
            ));
        }
        None
    }
}

/// Returns the reason for an empty list while measuring is off.
fn switched_off(shown: &Snapshot) -> Option<String> {
    (!shown.capture.mode.traits().is_counting)
        .then(|| "Measuring is off: nothing is counted. e lists the modes.".into())
}
