//! A site: the static descriptor of a place in the source that opens scopes or counts something. A site is identified by its
//! address.

use std::fmt::{self, Write};

use tickscope_format::snapshot;

use crate::enabled::platform::os;
use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering};
use crate::enabled::record::arena::Ref;
use crate::enabled::record::site_name::{Labelled, Name, ShortText};

/// A place in the source. The macros make one for each call site. The fields that events read come first.
#[repr(C)]
#[derive(Debug)]
pub struct Site {
    /// Whether the site's scopes are counted, as a [`SiteState`].
    state: AtomicU32,
    /// Not 0 if the site's scopes are polls of futures; [`LATE`] if some of them were counted before this was known.
    future: AtomicU32,
    /// The slot of the watch on the site's calls, plus 1; 0 if they are not watched.
    watch: AtomicU32,
    /// In adaptive mode: the largest rate for which any thread has timed enough calls. With rate `r`, one in 2^r calls is timed.
    rate: AtomicU32,
    /// Monotonic time, in ns, of the last known moment at which the site was disabled; 0 if there is none. It is updated when a
    /// rule or the budget is applied to a disabled site.
    off_until_ns: AtomicU64,
    name: Name,
    module: &'static str,
    file: &'static str,
    line: u32,
    group: &'static str,
    pub(crate) kind: SiteKind,
    /// Whether the site only gives a name to an await.
    pub(crate) names_await: bool,
    /// Not 0 if the site is in the list of known sites, or is about to be added to it.
    claimed: AtomicU32,
    /// Whether the site is disabled unless a rule enables it.
    is_off_by_default: bool,
    /// Whether the site's calls are watched unless a rule or a viewer decides otherwise.
    pub(crate) wants_watch: bool,
    /// Decision of rules and the budget: 0, or one of [`RULED_OFF`], [`RULED_ON`] and [`OVER_BUDGET`].
    ruled_off: AtomicU32,
    /// The next site in the list of known sites, which was met before this one.
    pub(crate) next: Ref<Site>,
}

/// Value of `future` for a site that was treated as a function's until its scopes turned out to be polls of futures.
const LATE: u32 = 2;

/// Number of sites whose `future` is [`LATE`].
static LATE_SITES: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// Returns the number of sites whose scopes turned out to be polls of futures only after some of them had been counted.
pub(crate) fn late_futures() -> u32 {
    LATE_SITES.load(Ordering::Acquire)
}

/// A rule disables the site, or no rule enables a site that is off by default.
const RULED_OFF: u32 = 1;
/// A rule enables the site.
const RULED_ON: u32 = 2;
/// The budget disables the function.
const OVER_BUDGET: u32 = 4;

/// Kind of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SiteKind {
    /// Opens scopes.
    #[default]
    Scope,
    /// Adds up amounts.
    Counter,
    /// Adds up numbers and keeps their histogram.
    Value,
    /// Sets a level.
    Gauge,
}

/// Whether a site's scopes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum SiteState {
    /// No scope of the site has been met yet.
    New,
    Enabled,
    Disabled,
    /// The site's scopes are counted, and their calls are watched.
    Watched,
}

/// The sites of the rows that count all further calls once there are too many rows. Futures have a row of their own, because one
/// call of a future spans many polls.
pub(crate) static OVER_THE_LIMIT: [Site; 2] = [
    Site::named("(over the limit)", "", "", 0),
    Site::named("(futures over the limit)", "", "", 0).of_futures(),
];

impl SiteKind {
    /// Returns whether sites of this kind open no scopes.
    pub(crate) fn is_counter(self) -> bool {
        self != Self::Scope
    }

    /// Returns whether sites of this kind record the range of the numbers that they are given.
    pub(crate) fn keeps_numbers(self) -> bool {
        matches!(self, Self::Value | Self::Gauge)
    }
}

impl Site {
    /// Makes a site with a given name.
    pub const fn named(name: &'static str, module: &'static str, file: &'static str, line: u32) -> Self {
        Self::new(Name::Given(name), module, file, line)
    }

    /// Makes a site that is named after the enclosing function. `path` must return the type name of a function item that is
    /// declared in that function.
    pub const fn enclosing(
        path: fn() -> &'static str,
        module: &'static str,
        file: &'static str,
        line: u32,
    ) -> Self {
        Self::new(Name::Enclosing(path), module, file, line)
    }

    /// Makes the site of the function at this address. `describe` looks up the function's name when the site is shown.
    #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
    pub(crate) const fn of_function(address: u64, describe: fn(u64) -> snapshot::Site) -> Self {
        Self::new(Name::OfFunction(address, describe), "", "", 0)
    }

    /// Makes the site of a task, or of the waits for a lock. `file` and `line` say where the task or the lock was made.
    pub(crate) const fn labelled(
        kind: Labelled,
        name: Option<&'static str>,
        file: &'static str,
        line: u32,
    ) -> Self {
        Self::new(Name::WithLabel(kind, name), "", file, line)
    }

    const fn new(name: Name, module: &'static str, file: &'static str, line: u32) -> Self {
        Self {
            state: AtomicU32::new(SiteState::New as u32),
            future: AtomicU32::new(0),
            watch: AtomicU32::new(0),
            rate: AtomicU32::new(0),
            off_until_ns: AtomicU64::new(0),
            name,
            module,
            file,
            line,
            group: "",
            kind: SiteKind::Scope,
            names_await: false,
            claimed: AtomicU32::new(0),
            is_off_by_default: false,
            wants_watch: false,
            ruled_off: AtomicU32::new(0),
            next: Ref::none(),
        }
    }

    /// Disables the site unless a rule enables it.
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    pub(crate) fn off_by_default(mut self) -> Self {
        self.is_off_by_default = true;
        self.ruled_off = AtomicU32::new(RULED_OFF);
        self
    }

    /// Makes this a site whose calls are watched, unless a rule or a viewer decides otherwise.
    pub const fn watched(mut self) -> Self {
        self.wants_watch = true;
        self
    }

    /// Puts the site into a group.
    pub const fn in_group(mut self, group: &'static str) -> Self {
        self.group = group;
        self
    }

    /// Makes the site a counter.
    pub const fn counting(mut self) -> Self {
        self.kind = SiteKind::Counter;
        self
    }

    /// Returns whether [`Self::labelled`] made the site with these arguments.
    pub(crate) fn is_labelled(
        &self,
        kind: Labelled,
        name: Option<&'static str>,
        file: &'static str,
        line: u32,
    ) -> bool {
        matches!(self.name, Name::WithLabel(of, named) if of == kind && named == name)
            && (self.line, self.file) == (line, file)
    }

    /// Makes the site a value.
    pub const fn of_value(mut self) -> Self {
        self.kind = SiteKind::Value;
        self
    }

    /// Makes the site a gauge.
    pub const fn of_gauge(mut self) -> Self {
        self.kind = SiteKind::Gauge;
        self
    }

    /// Returns whether the site is a counter, a value or a gauge, which opens no scopes.
    pub(crate) fn is_counter(&self) -> bool {
        self.kind.is_counter()
    }

    /// Makes this a site that only gives a name to an await.
    pub const fn naming_await(mut self) -> Self {
        self.names_await = true;
        self
    }

    /// Makes this a site whose scopes are polls of futures.
    pub(crate) const fn of_futures(mut self) -> Self {
        self.future = AtomicU32::new(1);
        self
    }

    /// Notes that the scopes of the site are polls of futures.
    #[inline]
    pub(crate) fn note_future(&self) {
        if !self.is_future() {
            self.future.store(1, Ordering::Relaxed);
        }
    }

    /// Notes that the site's scopes are polls of futures, although some of them have already been counted as calls of a function.
    #[cold]
    pub(crate) fn note_late_future(&self) {
        if self.future.swap(LATE, Ordering::Relaxed) != LATE {
            LATE_SITES.fetch_add(1, Ordering::Release);
        }
    }

    /// Returns whether some of the site's scopes were counted before they were known to be polls of futures.
    pub(crate) fn is_late_future(&self) -> bool {
        self.future.load(Ordering::Relaxed) == LATE
    }

    /// Returns whether the scopes of the site are polls of futures.
    #[inline]
    pub(crate) fn is_future(&self) -> bool {
        self.future.load(Ordering::Relaxed) != 0
    }

    /// Returns whether the site is in this state.
    #[inline(always)]
    pub(crate) fn is(&self, state: SiteState) -> bool {
        self.state.load(Ordering::Relaxed) == state as u32
    }

    /// Returns whether the site has ever been disabled, by a rule, the budget or a mode.
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    pub(crate) fn was_ever_off(&self) -> bool {
        self.off_until_ns.load(Ordering::Relaxed) != 0
    }

    pub(crate) fn set_state(&self, state: SiteState) {
        if matches!(state, SiteState::Disabled) {
            let _ = self
                .off_until_ns
                .compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
        }
        self.state.store(state as u32, Ordering::Relaxed);
    }

    /// In adaptive mode: raises the site's rate to `rate` if it is lower, and returns the site's rate.
    #[inline(always)]
    pub(crate) fn enough(&self, rate: u64) -> u64 {
        let known = self.rate.load(Ordering::Relaxed).into();
        if rate > known {
            self.rate.store(rate as u32, Ordering::Relaxed);
        }
        rate.max(known)
    }

    /// Returns the slot of the watch on the site's calls; `None` if they are not watched.
    pub(crate) fn watch(&self) -> Option<u32> {
        self.watch.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Sets the slot of the watch on the site's calls; `None` ends the watch.
    pub(crate) fn set_watch(&self, watch: Option<u32>) {
        self.watch
            .store(watch.map_or(0, |watch| watch + 1), Ordering::Relaxed);
    }

    /// Returns true to only one caller, which must then add the site to the list of known sites.
    pub(crate) fn claim(&self) -> bool {
        self.claimed.swap(1, Ordering::SeqCst) == 0
    }

    /// Returns whether the site is in the list of known sites, or is about to be added to it.
    pub(crate) fn is_claimed(&self) -> bool {
        self.claimed.load(Ordering::Relaxed) != 0
    }

    /// Returns whether a rule or the budget disables the site.
    pub(crate) fn is_ruled_off(&self) -> bool {
        self.ruled_off.load(Ordering::Relaxed) & (RULED_OFF | OVER_BUDGET) != 0
    }

    /// Returns whether the site is enabled now, but was disabled at some moment after the monotonic time `ns`.
    pub(crate) fn was_off_since(&self, ns: u64) -> bool {
        !self.is_ruled_off() && self.off_until_ns.load(Ordering::Relaxed) > ns
    }

    /// If the site is disabled, records the current time as a moment at which it was disabled.
    fn note_off(&self) {
        if self.is_ruled_off() {
            self.off_until_ns.store(os::monotonic_ns(), Ordering::Relaxed);
        }
    }

    /// Applies a rule. The rule's decision replaces the budget's, so a site that the user enables no longer counts as over
    /// budget.
    pub(crate) fn set_ruled_off(&self, off: bool) {
        self.note_off();
        self.ruled_off
            .store(if off { RULED_OFF } else { RULED_ON }, Ordering::Relaxed);
    }

    /// Restores the state that the site had before any rule was applied.
    pub(crate) fn forget_rules(&self) {
        self.note_off();
        let off = if self.is_off_by_default { RULED_OFF } else { 0 };
        self.ruled_off.store(off, Ordering::Relaxed);
    }

    /// Returns whether the budget disables the site.
    pub(crate) fn is_over_budget(&self) -> bool {
        self.ruled_off.load(Ordering::Relaxed) == OVER_BUDGET
    }

    /// Returns whether the budget may disable the site.
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    pub(crate) fn may_go_over_budget(&self) -> bool {
        self.watch().is_none() && self.ruled_off.load(Ordering::Relaxed) == 0
    }

    /// Disables the site because of the budget, or enables it again. Returns false and changes nothing if a rule has decided the
    /// site's state, if the site already has the requested state, or if it is to be disabled while its calls are watched.
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    pub(crate) fn set_over_budget(&self, over: bool) -> bool {
        if over && self.watch().is_some() {
            return false;
        }
        let (from, to) = if over { (0, OVER_BUDGET) } else { (OVER_BUDGET, 0) };
        self.note_off();
        self.ruled_off
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Writes the site's path, `module::name`, without allocating.
    ///
    /// # Errors
    /// Fails if the path is too long, or if the name is looked up only when the site is shown.
    pub(crate) fn write_path(&self, out: &mut ShortText) -> fmt::Result {
        #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
        if let Name::OfFunction(..) = self.name {
            return Err(fmt::Error);
        }
        if !self.module.is_empty() {
            write!(out, "{}::", self.module)?;
        }
        self.name
            .write::<ShortText>(self.module, (self.file, self.line), out)
    }

    /// Returns the site as it appears in snapshots.
    pub(crate) fn describe(&self) -> snapshot::Site {
        #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
        if let Name::OfFunction(address, describe) = self.name {
            return describe(address);
        }
        let mut name = String::new();
        // Writing into a String does not fail.
        let _ = self
            .name
            .write::<String>(self.module, (self.file, self.line), &mut name);
        snapshot::Site {
            name,
            module: self.module.to_string(),
            file: self.file.to_string(),
            line: self.line,
            group: self.group.to_string(),
        }
    }
}
