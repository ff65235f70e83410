//! Steps of recording a program, from creating the file to printing the summary.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tickscope_command::console::{Misuse, about, say};
use tickscope_command::{console, output_file};
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::recording::Writer;
use tickscope_programs::clock_time::{now_unix_ns, running};
use tickscope_programs::status::state_of;
use tickscope_programs::target::wanted::is_live;
use tickscope_programs::{local_time, target};

use crate::cli::args::RecordArgs;
use crate::cli::commands::record::copier::{Copier, bytes, records};
use crate::cli::commands::status_line::StatusLine;
use crate::event_loop::saved_files;

/// Time between two checks for new records. It is far shorter than the publishing interval, and the ring has space for
/// many records.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

/// Time between two checks that the program is still running.
pub(crate) const LOOK_AROUND: Duration = Duration::from_millis(200);

/// How long to wait for the program to create a new ring after its ring was lost.
pub(crate) const SUCCESSOR: Duration = Duration::from_secs(1);

/// Why a recording ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The requested duration is over.
    Time,
    /// The user has stopped the recording.
    Interrupted,
    /// The program ended.
    Program(Liveness),
    /// The recording is a stream, and its reader has closed it.
    Reader,
}

/// Makes Ctrl-C, SIGTERM and SIGHUP (closing the terminal) set the returned flag instead of killing this process.
pub(in crate::cli::commands) fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Creates the file early, so that an error is reported before the recording begins.
pub(crate) fn create(args: &RecordArgs, stem: &str) -> anyhow::Result<Writer> {
    let path: PathBuf = match &args.output {
        Some(path) if path.as_os_str() == "-" => {
            let why = "the started program uses standard output; give -o FILE";
            return Err(Misuse(why.into()).into());
        }
        Some(path) => {
            output_file::check_kept(path).map_err(Misuse)?;
            output_file::check_folder(path)?;
            path.clone()
        }
        None => saved_files::for_recording(stem, now_unix_ns(), local_time::utc_offset_s()),
    };
    Writer::create(&path, args.force).map_err(|error| anyhow!(about(&path, &error)))
}

/// Copies records until the duration has passed, `stopped` returns true, the program ends, or the reader closes the stream.
pub(crate) fn copy(
    copier: &mut Copier,
    duration: Option<Duration>,
    progress: &mut StatusLine,
    mut stopped: impl FnMut() -> bool,
) -> anyhow::Result<End> {
    let begin = Instant::now();
    let mut look_around = begin;
    let mut liveness = Liveness::Running;
    loop {
        let mut copied = copier.copy();
        let stops = stopped();
        if copied.is_ok() && (stops || look_around <= Instant::now()) {
            look_around = Instant::now() + LOOK_AROUND;
            match copier.ring.liveness() {
                Ok(found) => liveness = found,
                Err(error) => copied = Err(anyhow!(about(copier.ring.path(), &error))),
            }
        }
        let is_lost = copied.is_err() || matches!(liveness, Liveness::Crashed { .. });
        if is_lost && let Some(ring) = successor(copier) {
            progress.clear();
            say(&format!(
                "{}: was lost; its next ring is recorded",
                copier.ring.path().display()
            ));
            copier.go_on_with(ring);
            liveness = Liveness::Running;
            continue;
        }
        let or_reader = |has_reader: bool, end: End| if has_reader { end } else { End::Reader };
        if !copied? {
            return Ok(End::Reader);
        }
        if !is_live(&liveness) {
            // Copies the records that the program published since the last check.
            return Ok(or_reader(copier.copy()?, End::Program(liveness)));
        }
        let left = duration.map(|duration| duration.saturating_sub(begin.elapsed()));
        if stops || left == Some(Duration::ZERO) {
            let end = if stops { End::Interrupted } else { End::Time };
            return Ok(or_reader(copier.last_moment()?, end));
        }
        let elapsed = begin.elapsed();
        progress.show(elapsed, || {
            format!(
                "{}  {}  {}  {}  (Ctrl-C ends it)",
                running(elapsed.as_nanos() as u64),
                records(copier.writer.records()),
                bytes(copier.writer.bytes()),
                state_of(&liveness).as_str(),
            )
        });
        thread::sleep(left.map_or(PAUSE, |left| left.min(PAUSE)));
    }
}

/// Waits for the program to create a new ring after its ring was lost. The program checks ten times a second whether
/// its ring still exists. Returns `None` if no new ring appears within [`SUCCESSOR`], or if the process has ended.
pub(crate) fn successor(copier: &Copier) -> Option<RingFile> {
    let process = PathBuf::from(format!("/proc/{}", copier.ring.header().pid));
    let begin = Instant::now();
    loop {
        if let Some((ring, _)) = target::successor_of(&copier.ring, None) {
            return Some(ring);
        }
        if begin.elapsed() > SUCCESSOR || !process.exists() {
            return None;
        }
        thread::sleep(PAUSE);
    }
}

/// Closes the file and prints a summary.
pub(crate) fn finish(copier: Copier, copied: anyhow::Result<End>) -> anyhow::Result<u8> {
    let summary = copier.summary();
    let some = copier.writer.records() > 0;
    let path = copier.writer.path().to_path_buf();
    let finished = copier.writer.finish();
    match copied {
        Err(error) if some => Err(error.context(format!("{summary} could be kept"))),
        Err(error) => Err(error),
        Ok(_) if !some => Err(anyhow!(
            "nothing was recorded: the program had not published anything"
        )),
        Ok(end) => {
            finished.with_context(|| format!("cannot write {}", path.display()))?;
            let why = match end {
                End::Time | End::Interrupted | End::Reader => "",
                End::Program(Liveness::Crashed { .. }) => "; the program crashed or was killed",
                End::Program(_) => "; the program has ended",
            };
            say(&format!("{summary}{why}"));
            Ok(console::DONE)
        }
    }
}
