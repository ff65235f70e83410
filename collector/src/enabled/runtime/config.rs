//! The configuration of the process: the clock, the limits and the start time. It is decided when the first scope is entered or
//! the first session is started, and never changes afterwards. This module also detects forked children.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use tickscope_format::snapshot::Mode;

use crate::enabled::platform::clock::Chosen;
use crate::enabled::platform::modules;
use crate::enabled::platform::off_cpu;
use crate::enabled::platform::{descriptors, os};
use crate::enabled::record::mode_switch;
use crate::enabled::record::registry;
use crate::enabled::record::tree::Path;
use crate::enabled::record::waits::{self, ClockInUse};
use crate::enabled::runtime::clock_rate::{ClockRate, Moment};
use crate::enabled::runtime::settings::{AutoStart, Settings};
use crate::types::{Clock, Threads};

/// `Copy`, so that it has nothing on the heap: the first scope copies it, perhaps inside of an allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config {
    /// The clock in use.
    pub(crate) chosen: Chosen,
    /// The requested clock.
    pub(crate) asked: Clock,
    /// The requested longest gap; `None` for no limit.
    max_gap: Option<Duration>,
    pub(crate) max_gap_ticks: u64,
    pub(crate) max_depth: u32,
    pub(crate) max_nodes: u32,
    pub(crate) max_process_nodes: u32,
    pub(crate) threads: Threads,
    /// Whether time off the CPU is measured separately from work.
    pub(crate) waits: bool,
    /// Whether this was requested.
    asked_waits: bool,
    /// The value of `TICKSCOPE`.
    pub(crate) auto_start: Option<AutoStart>,
    /// Whether `TICKSCOPE=off` is set.
    pub(crate) off: bool,
    /// The token that `tickscope run` uses to find this program; 0 if there is none.
    pub(crate) run_token: u64,
    /// The wall-clock time at the start.
    pub(crate) started_unix_ns: u64,
    /// The time of the monotonic clock at the start.
    pub(crate) started_ns: u64,
}

static CONFIG: OnceLock<Config> = OnceLock::new();

/// The provisional configuration before `main`, which is based on the environment alone. A session that starts before the first
/// scope may still change it.
static FOR_NOW: OnceLock<Config> = OnceLock::new();

/// Whether this process was forked while the configuration was provisional. Such a child decides its configuration from scratch.
static BEGINS_ANEW: AtomicBool = AtomicBool::new(false);

/// Function that the first scope calls, once, if the configuration was provisional.
static AT_FIRST_SCOPE: OnceLock<fn()> = OnceLock::new();
static IS_FIRST_SCOPE: AtomicBool = AtomicBool::new(false);

/// The configuration of a child that was forked while another thread was deciding the configuration. That thread does not exist
/// in the child, so its decision would never be completed there.
static CONFIG_IN_CHILD: OnceLock<Config> = OnceLock::new();

thread_local! {
    /// Whether this thread is deciding the configuration now.
    static DECIDING: Cell<bool> = const { Cell::new(false) };
}

/// Number of ticks per second. The value becomes more accurate as the program runs.
pub(crate) static CLOCK_RATE: ClockRate = ClockRate::new();

static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// Id of the process that decided the configuration; 0 until then. It is used to detect forks that bypass `pthread_atfork`.
static PID: AtomicU32 = AtomicU32::new(0);

/// Runs in each forked child. Only loads and stores atomics.
extern "C" fn note_fork() {
    if !children_begin_anew() {
        note_forked_child();
    }
}

/// Notes that this process is a forked child, which measures nothing.
pub(crate) fn note_forked_child() {
    IN_CHILD.store(true, Ordering::Relaxed);
}

/// Returns the configuration. If it has not been decided yet, decides it from the environment alone. Does not allocate.
pub(crate) fn get() -> &'static Config {
    match CONFIG.get().or_else(for_now) {
        Some(config) => config,
        None => settle(),
    }
}

/// Decides a provisional configuration from the environment. It is used until [`settle`] or [`decide_with`] is called. The first
/// scope calls `at_first_scope`, possibly from inside the program's allocator.
pub(crate) fn decide_for_now(at_first_scope: fn()) {
    if !is_settled() && !is_forked_child() {
        PID.store(std::process::id(), Ordering::Relaxed);
        FOR_NOW.get_or_init(by_environment);
        AT_FIRST_SCOPE.get_or_init(|| at_first_scope);
        IS_FIRST_SCOPE.store(true, Ordering::Relaxed);
    }
}

fn for_now() -> Option<&'static Config> {
    FOR_NOW.get().filter(|_| !begins_anew())
}

/// Returns whether a child that is forked now decides the configuration itself. This is the case while the
/// configuration is provisional, or if this process is such a child that has not decided yet.
pub(crate) fn children_begin_anew() -> bool {
    FOR_NOW.get().is_some() && !is_settled() && !IN_CHILD.load(Ordering::Relaxed)
}

/// In a forked child, discards the provisional configuration.
pub(crate) fn begin_anew() {
    BEGINS_ANEW.store(true, Ordering::Relaxed);
    PID.store(0, Ordering::Relaxed);
}

/// Returns whether this process is a forked child that has discarded the provisional configuration.
pub(crate) fn begins_anew() -> bool {
    BEGINS_ANEW.load(Ordering::Relaxed)
}

/// Makes the configuration final and returns it. At the first scope, also calls the function that was passed to
/// [`decide_for_now`].
pub(crate) fn settle() -> &'static Config {
    let config = get_or_decide(|| for_now().copied().unwrap_or_else(by_environment));
    if IS_FIRST_SCOPE.load(Ordering::Relaxed)
        && IS_FIRST_SCOPE.swap(false, Ordering::Relaxed)
        && let Some(at_first_scope) = AT_FIRST_SCOPE.get()
    {
        at_first_scope();
    }
    config
}

/// Returns whether the configuration is final.
pub(crate) fn is_settled() -> bool {
    CONFIG.get().is_some()
}

fn by_environment() -> Config {
    decide(&Settings::default().with_environment())
}

fn get_or_decide(decide: impl FnOnce() -> Config) -> &'static Config {
    CONFIG.get().unwrap_or_else(|| {
        let decided_first = PID.compare_exchange(0, std::process::id(), Ordering::Relaxed, Ordering::Relaxed);
        let place = if decided_first.is_err() && is_forked_child() {
            IN_CHILD.store(true, Ordering::Relaxed);
            &CONFIG_IN_CHILD
        } else {
            &CONFIG
        };
        let before = DECIDING.replace(true);
        let config = os::keeping_errno(|| place.get_or_init(decide));
        DECIDING.set(before);
        config
    })
}

/// Returns whether this thread is in the middle of deciding the configuration. This is the case in a signal handler that
/// interrupted the decision, and in a custom clock that the decision reads. Code that runs there must not call [`get`], because
/// the thread would wait for itself.
pub(crate) fn is_being_decided() -> bool {
    DECIDING.get()
}

/// Decides the configuration from these settings. If it has been decided before, adds a warning for each setting that differs
/// from the one in force.
pub(crate) fn decide_with(settings: &Settings, warnings: &mut Vec<String>) -> &'static Config {
    IS_FIRST_SCOPE.store(false, Ordering::Relaxed);
    let config = get_or_decide(|| decide(settings));
    let number = |number: u32| number.to_string();
    let in_force_and_asked = [
        (
            "clock",
            [config.asked, settings.clock].map(|clock| clock.source().as_str().to_owned()),
        ),
        (
            "threads",
            [config.threads, settings.threads].map(|threads| format!("{threads:?}")),
        ),
        ("max_depth", [config.max_depth, settings.max_depth].map(number)),
        ("max_nodes", [config.max_nodes, settings.max_nodes].map(number)),
        (
            "max_process_nodes",
            [config.max_process_nodes, settings.max_process_nodes].map(number),
        ),
        (
            "max_gap",
            [config.max_gap, settings.max_gap].map(|gap| format!("{:?}", gap.unwrap_or_default())),
        ),
        (
            "waits",
            [config.asked_waits, settings.waits].map(|wanted| wanted.to_string()),
        ),
    ];
    for (name, [in_force, asked]) in in_force_and_asked {
        if in_force != asked {
            warnings.push(format!(
                "{name} is {in_force} since the first scope; {asked} comes too late: start the session before the first \
                 scope"
            ));
        }
    }
    config
}

fn decide(settings: &Settings) -> Config {
    os::around_forks(None, None, Some(note_fork));
    modules::note_use();
    descriptors::note_standard();
    let auto_start = Settings::auto_start();
    let chosen = settings.clock.choose();
    CLOCK_RATE.begin(Moment::now(chosen.clock));
    // Nothing has been counted yet, so there is no thread for which the alarm must be raised.
    mode_switch::note(
        settings.mode.unwrap_or(Mode::USUAL),
        settings.histogram.unwrap_or(true),
        chosen.clock.now(),
    );
    // Measuring the rate takes time, so the rate is measured only if there is a limit.
    let max_gap_ticks = match settings.max_gap {
        Some(_) => settings.max_gap_ticks(CLOCK_RATE.ticks_per_second(chosen.clock)),
        None => settings.max_gap_ticks(1.0),
    };
    // The ticks of a custom clock may have nothing to do with CPU time, so off-CPU time is not measured with such a clock.
    let wants_waits = settings.waits && !matches!(chosen.clock, Clock::Custom(..));
    if wants_waits {
        off_cpu::find_areas();
        waits::set_clock(ClockInUse { ticks_per_ns, now });
    }
    registry::set_most_nodes(settings.max_process_nodes);
    Config {
        chosen,
        asked: settings.clock,
        max_gap: settings.max_gap,
        max_gap_ticks,
        max_depth: settings.max_depth,
        max_nodes: settings.max_nodes,
        max_process_nodes: settings.max_process_nodes,
        threads: settings.threads,
        waits: wants_waits,
        asked_waits: settings.waits,
        auto_start,
        off: auto_start == Some(AutoStart::Off),
        run_token: Settings::run_token(),
        started_unix_ns: os::unix_ns(),
        started_ns: os::monotonic_ns(),
    }
}

/// Reads the clock in use.
#[inline]
pub(crate) fn now() -> u64 {
    get().chosen.clock.now()
}

/// Returns the path that events take in exact mode.
pub(crate) fn exact_path() -> Path {
    match get().chosen.clock {
        Clock::Tsc => Path::Fast,
        Clock::TscOrdered | Clock::Monotonic | Clock::Custom(..) => Path::Exact,
    }
}

/// Returns whether this process is a forked child. A child's locks may be held by threads that do not exist in the
/// child.
pub fn is_forked_child() -> bool {
    let decided_by = PID.load(Ordering::Relaxed);
    IN_CHILD.load(Ordering::Relaxed) || decided_by != 0 && decided_by != std::process::id()
}

/// Returns the number of ticks per nanosecond as known now, or `None` if it is too early to know.
fn ticks_per_ns() -> Option<f64> {
    let clock = CONFIG.get()?.chosen.clock;
    CLOCK_RATE
        .if_known(clock)
        .map(|ticks_per_second| ticks_per_second / 1e9)
}

/// Returns the number of ticks per second as known now.
pub(crate) fn ticks_per_second() -> f64 {
    CLOCK_RATE.ticks_per_second(get().chosen.clock)
}
