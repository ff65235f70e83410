//! Code shared by the commands that give scripts and agents short answers: reads the target, and names it in the
//! commands that the answer suggests next.

use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_programs::sampled_code;
use tickscope_programs::target::wanted::{Found, Wanted, is_live};
use tickscope_report::Extent;
use tickscope_report::brief::{Next, Subject, shell_word};

use crate::cli::args::{MomentArgs, TargetArgs};
use crate::cli::commands::live_snapshot;
use crate::cli::commands::live_snapshot::{LiveSnapshot, Reader};
use crate::cli::commands::report::moment;

/// How the suggested next commands name the target, and whether it is a running program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) word: String,
    pub(super) is_live: bool,
}

/// What an answer is made from: the target's data, and how to name the target.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) live: LiveSnapshot,
    pub(super) extent: Extent,
    pub(super) notes: Vec<String>,
    pub(super) named: Named,
}

impl Named {
    pub(super) fn of(target: &TargetArgs, found: &Found) -> Self {
        match found {
            Found::Ring(ring, liveness) => Self::of_ring(target, ring, liveness),
            Found::Kept(path) => Self {
                word: path.display().to_string(),
                is_live: false,
            },
            // The next command needs a single program.
            Found::Together(name, rings) => Self {
                word: rings
                    .first()
                    .map_or(name.clone(), |(ring, _)| ring.header().pid.to_string()),
                is_live: true,
            },
            // A pipe cannot be read again, so the next commands read from a new one.
            Found::Streamed(_) => Self {
                word: "-".into(),
                is_live: false,
            },
        }
    }

    pub(super) fn of_ring(target: &TargetArgs, ring: &RingFile, liveness: &Liveness) -> Self {
        let is_live = is_live(liveness);
        // The name of an ended run may soon belong to another run, so the process id is used instead.
        let is_sure = is_live || !matches!(target.wanted(), Wanted::Name(_));
        let typed = target.target.clone().filter(|_| is_sure);
        Self {
            word: typed.unwrap_or_else(|| ring.header().pid.to_string()),
            is_live,
        }
    }

    /// Returns the suggested next commands for a shell. They include the directory that the user has chosen.
    pub(super) fn in_shell(&self, target: &TargetArgs) -> Next {
        let dir = target.dir.as_deref();
        let dir = dir.map(|dir| format!(" --dir {}", shell_word(&dir.to_string_lossy())));
        Next::Shell {
            target: shell_word(&self.word) + &dir.unwrap_or_default(),
            is_live: self.is_live,
        }
    }

    /// Returns the suggested next calls for a client of `tickscope mcp`.
    pub(super) fn in_tools(&self, may_watch: bool) -> Next {
        Next::Tools {
            target: self.word.clone(),
            is_live: self.is_live,
            may_watch,
        }
    }
}

impl Answered {
    pub(super) fn subject<'a>(&'a self, next: &'a Next) -> Subject<'a> {
        Subject {
            snapshot: &self.live.snapshot,
            state: self.live.state,
            when: self.extent.when.as_deref(),
            notes: &self.notes,
            next,
        }
    }

    pub(super) fn add_sampled_rows(&mut self) {
        sampled_code::read_code(&mut self.live.snapshot, std::mem::take(&mut self.live.addresses));
    }
}

/// Finds a target and reads the snapshot for the chosen time, with rows for sampled functions.
///
/// # Errors
/// There is no such target, it has no data for that time, or it cannot be read.
pub(super) fn read(target: &TargetArgs, when: &MomentArgs, reader: Reader) -> anyhow::Result<Answered> {
    let mut answered = read_counted(target, when, reader)?;
    answered.add_sampled_rows();
    Ok(answered)
}

/// Finds a target and reads the snapshot for the chosen time.
///
/// # Errors
/// There is no such target, it has no data for that time, or it cannot be read.
pub(super) fn read_counted(
    target: &TargetArgs,
    when: &MomentArgs,
    reader: Reader,
) -> anyhow::Result<Answered> {
    let wanted = target.wanted();
    let found = live_snapshot::find(target, reader, None)?;
    let (mut live, note) = live_snapshot::with_note(&found, &wanted)?;
    let extent = moment::choose(when, &found, &mut live)?;
    Ok(Answered {
        live,
        extent,
        notes: note.into_iter().collect(),
        named: Named::of(target, &found),
    })
}
