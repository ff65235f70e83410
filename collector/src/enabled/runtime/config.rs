//! What is settled once for the whole process, at the first scope or the first start: clock, limits, when it
//! began; and whether this is a forked child.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::enabled::platform::clock::Chosen;
use crate::enabled::platform::os;
use crate::enabled::record::mode_switch;
use crate::enabled::record::tree::Path;
use crate::enabled::runtime::clock_rate::{Moment, Rate};
use crate::enabled::runtime::settings::{Settings, Wish};
use crate::types::{Clock, Threads};

/// Clock, limits and beginnings.
#[derive(Debug)]
pub(crate) struct Fixed {
    /// The clock in force.
    pub(crate) chosen: Chosen,
    /// The clock that was asked for.
    pub(crate) asked: Clock,
    pub(crate) limit_ticks: u64,
    pub(crate) max_depth: u32,
    pub(crate) max_nodes: u32,
    pub(crate) max_process_nodes: u32,
    pub(crate) threads: Threads,
    /// What `TICKSCOPE` asks for.
    pub(crate) wish: Option<Wish>,
    /// `TICKSCOPE=off`.
    pub(crate) off: bool,
    /// What `tickscope run` passed, so that it finds its program; 0 for nothing.
    pub(crate) run_token: u64,
    /// The wall clock at the beginning.
    pub(crate) started_unix_ns: u64,
    /// The monotonic clock at the beginning.
    pub(crate) started_ns: u64,
}

static FIXED: OnceLock<Fixed> = OnceLock::new();

/// The same in a child that was forked while another thread settled it: that thread does not exist there.
static FIXED_IN_CHILD: OnceLock<Fixed> = OnceLock::new();

thread_local! {
    /// Whether this thread is settling it just now.
    static SETTLING: Cell<bool> = const { Cell::new(false) };
}

/// Ticks in a second, refined as the program runs.
pub(crate) static RATE: Rate = Rate::new();

static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// The process that settles it; 0 before. Not all ways to fork tell us.
static PID: AtomicU32 = AtomicU32::new(0);

extern "C" fn note_fork() {
    IN_CHILD.store(true, Ordering::Relaxed);
}

/// What was settled; settles it by the environment alone where nothing is yet. Does not allocate.
pub(crate) fn fixed() -> &'static Fixed {
    fixed_by(|| settle(&Settings::default().with_environment()))
}

fn fixed_by(settle: impl FnOnce() -> Fixed) -> &'static Fixed {
    FIXED.get().unwrap_or_else(|| {
        let nobody = PID.compare_exchange(0, std::process::id(), Ordering::Relaxed, Ordering::Relaxed);
        let place = if nobody.is_err() && is_forked_child() {
            IN_CHILD.store(true, Ordering::Relaxed);
            &FIXED_IN_CHILD
        } else {
            &FIXED
        };
        let before = SETTLING.replace(true);
        let fixed = os::keeping_errno(|| place.get_or_init(settle));
        SETTLING.set(before);
        fixed
    })
}

/// True inside the settling: in a signal handler that has interrupted it, or in the program's own clock. Whoever asks
/// there for what is to be settled would wait for itself.
pub(crate) fn is_settling() -> bool {
    SETTLING.get()
}

/// Settles clock and limits by these settings, or warns where something else was settled before.
pub(crate) fn fix(settings: &Settings, warnings: &mut Vec<String>) -> &'static Fixed {
    let fixed = fixed_by(|| settle(settings));
    if fixed.asked.source() != settings.clock.source() {
        warnings.push(format!(
            "the clock is {} since the first scope; {} comes too late: start the session before the first scope",
            fixed.asked.source().as_str(),
            settings.clock.source().as_str(),
        ));
    }
    if (fixed.max_depth, fixed.max_nodes) != (settings.max_depth, settings.max_nodes) {
        warnings.push(format!(
            "the limits are {} deep and {} nodes a thread since the first scope; other ones come too late: start \
             the session before the first scope",
            fixed.max_depth, fixed.max_nodes,
        ));
    }
    fixed
}

fn settle(settings: &Settings) -> Fixed {
    os::in_forked_children(note_fork);
    os::note_standard();
    let wish = Settings::wish();
    let chosen = settings.clock.choose();
    RATE.begin(Moment::now(chosen.clock));
    // Nothing counts before this is settled, so no thread needs to be told.
    mode_switch::note(
        settings.mode.unwrap_or_default().into(),
        settings.histogram.unwrap_or(true),
        chosen.clock.now(),
    );
    // Measuring the rate takes a moment: only for whom it matters now.
    let limit_ticks = match settings.absurd_limit {
        Some(_) => settings.limit_ticks(RATE.ticks_per_second(chosen.clock)),
        None => settings.limit_ticks(1.0),
    };
    Fixed {
        chosen,
        asked: settings.clock,
        limit_ticks,
        max_depth: settings.max_depth,
        max_nodes: settings.max_nodes,
        max_process_nodes: settings.max_process_nodes,
        threads: settings.threads,
        wish,
        off: wish == Some(Wish::Off),
        run_token: Settings::run_token(),
        started_unix_ns: os::unix_ns(),
        started_ns: os::monotonic_ns(),
    }
}

/// The clock in force, now.
#[inline]
pub(crate) fn now() -> u64 {
    fixed().chosen.clock.now()
}

/// How events are handled in exact mode.
pub(crate) fn exact_path() -> Path {
    match fixed().chosen.clock {
        Clock::Tsc => Path::Fast,
        Clock::TscOrdered | Clock::Monotonic | Clock::Custom(..) => Path::Exact,
    }
}

/// True in a child that was forked from the program: its locks may be held by threads it does not have.
pub(crate) fn is_forked_child() -> bool {
    let settled_by = PID.load(Ordering::Relaxed);
    IN_CHILD.load(Ordering::Relaxed) || settled_by != 0 && settled_by != std::process::id()
}

/// Ticks in a second as known now.
pub(crate) fn ticks_per_second() -> f64 {
    RATE.ticks_per_second(fixed().chosen.clock)
}
