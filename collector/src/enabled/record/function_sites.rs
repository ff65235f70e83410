//! The sites of the program's functions, and the state of their sleds.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tickscope_format::function_table::{PollFunction, SledKind};
use tickscope_format::snapshot::FunctionChoice;

use crate::enabled::platform::sleds::{self, Refusal, Sled, Trampolines};
use crate::enabled::record::calls_by_future::Future;
use crate::enabled::record::leaving::Leaving;
use crate::enabled::record::mode_switch;
use crate::enabled::record::site::Site;

#[derive(Debug)]
struct Functions {
    /// The last entry is not a function of the program. It is used to measure the cost of a call.
    by_number: Box<[Function]>,
    /// The sleds of each function are adjacent.
    sleds: Box<[Sled]>,
    trampolines: Trampolines,
    choice: FunctionChoice,
}

/// `polls` and the first four fields of `site`, which events read, are in one cache line.
#[repr(C, align(32))]
#[derive(Debug)]
pub(crate) struct Function {
    /// How the function polls an async body, if it polls one.
    polls: Option<PolledBy>,
    site: Site,
    /// Whether the function belongs to a package of the program's own workspace.
    is_own: bool,
    /// Range of the function's sleds in [`Functions::sleds`].
    sleds: Range<usize>,
    /// Which of the function's sleds are on, as the number of a [`Sleds`] variant.
    state: AtomicU8,
}

const _: () = assert!(size_of::<Option<PolledBy>>() == 16);

/// How a function polls an async body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PolledBy {
    /// Number of the first function with the same name and source line. All such functions poll futures of the same type.
    pub(crate) first: u32,
    /// In which argument the function gets its future, and where the future stores its state.
    pub(crate) of: PollFunction,
}

impl PolledBy {
    /// Returns the address of a future's state byte. It says at which await the body is suspended, or that the body has finished.
    pub(crate) fn state_place(self, future: Future) -> u64 {
        future.address.wrapping_add(self.of.state_offset.into())
    }
}

/// Which of a function's sleds are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Sleds {
    None,
    /// Only the sleds at the function's returns and tail calls.
    Ends,
    All,
}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// Why sleds can no longer be switched. Once this is set, the sleds stay as they are, and only the states of the sites decide
/// which functions are counted.
static REFUSED: OnceLock<Refusal> = OnceLock::new();

/// The functions whose end sleds still have to be switched off.
static LEAVING: Mutex<Leaving> = Mutex::new(Leaving::none());

/// Why no functions are known, although they were requested.
static MISSING: OnceLock<String> = OnceLock::new();

/// Sets the functions, in the order of their numbers, and their sleds in the same order. Must be called only once.
///
/// # Safety
/// The sleds must come from the compiler's map of this executable or library. See [`sleds::switch`] for the trampolines.
pub(crate) unsafe fn set(
    mut functions: Vec<Function>,
    sleds: Vec<Sled>,
    trampolines: Trampolines,
    choice: FunctionChoice,
) {
    let mut from = 0;
    for (number, function) in (0..).zip(&mut functions) {
        let own = sleds[from..].iter().take_while(|sled| sled.number == number);
        function.sleds = from..from + own.count();
        from = function.sleds.end;
    }
    let calibration = Site::named("(calibration)", module_path!(), file!(), line!());
    functions.push(Function::new(calibration, None, false));
    let _ = FUNCTIONS.set(Functions {
        by_number: functions.into(),
        sleds: sleds.into(),
        trampolines,
        choice,
    });
}

#[inline(always)]
fn function(number: u32) -> Option<&'static Function> {
    FUNCTIONS.get()?.by_number.get(number as usize)
}

/// Returns the site of the function with this number.
#[inline(always)]
pub(crate) fn get(number: u32) -> Option<&'static Site> {
    function(number).map(|function| &function.site)
}

/// Returns the site of the function with this number, and which futures it polls, if it polls any.
#[inline(always)]
pub(crate) fn polling(number: u32) -> Option<(&'static Site, PolledBy)> {
    let function = function(number)?;
    Some((&function.site, function.polls?))
}

pub(crate) fn is_own(number: u32) -> bool {
    function(number).is_some_and(|function| function.is_own)
}

/// Returns the number of a site's function.
pub(crate) fn number_of(site: &'static Site) -> Option<u32> {
    let all = FUNCTIONS.get()?.of_program();
    let first = std::ptr::from_ref(&all.first()?.site).addr();
    let number = std::ptr::from_ref(site).addr().wrapping_sub(first) / size_of::<Function>();
    (number < all.len()).then_some(number as u32)
}

/// Returns the number and the site of the function that is used to measure the cost of a call, and the trampolines.
pub(crate) fn to_measure() -> Option<(u32, &'static Site, Trampolines)> {
    let functions = FUNCTIONS.get()?;
    let (calibration, all) = functions.by_number.split_last()?;
    Some((all.len() as u32, &calibration.site, functions.trampolines))
}

/// Returns which functions were to be counted when the program started; `None` if the functions are not known.
pub(crate) fn choice() -> Option<&'static FunctionChoice> {
    FUNCTIONS.get().map(|functions| &functions.choice)
}

/// Returns the sites of all functions.
pub(crate) fn all() -> impl ExactSizeIterator<Item = &'static Site> {
    let all = FUNCTIONS.get().map_or(&[][..], Functions::of_program);
    all.iter().map(|function| &function.site)
}

/// Records why the functions are not known, although they were requested.
pub(crate) fn note_missing(why: String) {
    let _ = MISSING.set(why);
}

/// Returns a sentence for the user that says why functions are not counted as requested; `None` if they are.
pub(crate) fn warning() -> Option<String> {
    if let Some(why) = MISSING.get() {
        return Some(format!("functions are not counted: {why}"));
    }
    let why = match REFUSED.get()? {
        Refusal::Protected => "this system does not let a program change its code (W^X)",
        Refusal::NoBarrier => "this system has no membarrier for changed code",
    };
    Some(format!(
        "{why}: functions that were switched off at the start stay off; name the functions that you need with --only"
    ))
}

/// Returns the reason why sleds cannot be switched, if the system has refused to switch them.
pub(crate) fn refused() -> Option<Refusal> {
    REFUSED.get().copied()
}

/// The number of all functions, and of the functions whose sleds are on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) known: u32,
    pub(crate) on: u32,
}

/// Counts the functions, and the functions whose sleds are on. Returns `None` if the functions are not known.
pub(crate) fn counts() -> Option<Counts> {
    let all = FUNCTIONS.get()?.of_program();
    let is_on = |function: &&Function| {
        function.state.load(Ordering::Relaxed) == Sleds::All as u8 && !function.site.is_ruled_off()
    };
    Some(Counts {
        known: all.len() as u32,
        on: all.iter().filter(is_on).count() as u32,
    })
}

/// Number of a function that polls futures, whose first byte is their state, in tests.
#[cfg(test)]
pub(crate) const POLLS: u32 = 8;

/// Sets eight functions and [`POLLS`], without sleds. Their states change as if they had sleds.
#[cfg(test)]
pub(crate) fn set_for_tests() {
    let site = || Site::named("f", "m", "f.rs", 1);
    let mut functions: Vec<_> = (0..POLLS).map(|_| Function::new(site(), None, true)).collect();
    let polled = PolledBy {
        first: POLLS,
        of: PollFunction {
            argument: 0,
            state_offset: 0,
        },
    };
    let polls = site();
    polls.note_future();
    functions.push(Function::new(polls, Some(polled), true));
    let (trampolines, choice) = (Trampolines::default(), FunctionChoice::default());
    // SAFETY: there are no sleds.
    unsafe { set(functions, Vec::new(), trampolines, choice) };
}

#[cfg(test)]
pub(crate) fn sleds_of(number: u32) -> Sleds {
    let state = function(number).unwrap().state.load(Ordering::Relaxed);
    [Sleds::None, Sleds::Ends, Sleds::All][state as usize]
}

/// Returns the time until [`follow`] should check again which end sleds can be switched off; `None` if no end sleds are waiting
/// for that.
pub(crate) fn ends_wait() -> Option<Duration> {
    let leaving = LEAVING.lock().unwrap_or_else(PoisonError::into_inner);
    leaving.rest(Instant::now()).filter(|_| REFUSED.get().is_none())
}

/// Switches the sleds on for functions that are to be counted, and off for all others. The sleds at a function's returns and tail
/// calls stay on as long as calls of the function are open. `alone` says that no other threads are running yet.
pub(crate) fn follow(alone: bool) {
    let Some(functions) = FUNCTIONS.get() else { return };
    if REFUSED.get().is_some() {
        return;
    }
    let mut leaving = LEAVING.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut on, mut off) = (Vec::new(), Vec::new());
    let counts = mode_switch::newest().mode.traits().is_counting;
    for (number, Function { site, state, .. }) in (0..).zip(functions.of_program()) {
        let state = state.load(Ordering::Relaxed);
        match counts && !site.is_ruled_off() {
            true if state != Sleds::All as u8 => on.push(number),
            false if state == Sleds::All as u8 => off.push(number),
            _ => {}
        }
    }
    let done = functions.switch(&off, |kind| !kind.is_end(), false, alone)
        && functions.switch(&on, |_| true, true, alone);
    if !done {
        return;
    }
    functions.note(&on, Sleds::All);
    functions.note(&off, Sleds::Ends);
    on.iter().for_each(|number| leaving.forget(*number));
    off.iter().for_each(|number| leaving.begin(*number));
    let ended = leaving.ended(number_of);
    if functions.switch(&ended, SledKind::is_end, false, alone) {
        functions.note(&ended, Sleds::None);
    }
    if sleds::went_through_kernel() {
        let _ = REFUSED.set(Refusal::Protected);
    }
}

impl Function {
    pub(crate) fn new(site: Site, polls: Option<PolledBy>, is_own: bool) -> Self {
        Self {
            polls,
            site,
            is_own,
            sleds: 0..0,
            state: AtomicU8::new(Sleds::None as u8),
        }
    }
}

impl Functions {
    fn of_program(&self) -> &[Function] {
        self.by_number.split_last().map_or(&[], |(_, all)| all)
    }

    /// Switches the sleds of these functions, but only sleds of the kinds that `is_wanted` accepts. Returns false if the system
    /// refuses.
    fn switch(&self, numbers: &[u32], is_wanted: fn(SledKind) -> bool, on: bool, alone: bool) -> bool {
        let all = numbers
            .iter()
            .flat_map(|number| &self.sleds[self.by_number[*number as usize].sleds.clone()]);
        let mut sleds: Vec<Sled> = all.filter(|sled| is_wanted(sled.kind)).copied().collect();
        sleds.sort_unstable_by_key(|sled| sled.at);
        // SAFETY: `set` was given these sleds and trampolines, and its caller guarantees that they are valid.
        let switched = unsafe { sleds::switch(&sleds, on, &self.trampolines, alone) };
        switched.map_err(|why| REFUSED.set(why)).is_ok()
    }

    fn note(&self, numbers: &[u32], state: Sleds) {
        for number in numbers {
            let function = &self.by_number[*number as usize];
            function.state.store(state as u8, Ordering::Relaxed);
        }
    }
}

/// Switches the sleds of all functions at once, including functions that are not to be counted. Does not record the new state, so
/// [`follow`] does not undo it. This function is for tests of switching. Returns the number of sleds switched.
pub fn switch_all(on: bool) -> usize {
    let Some(functions) = FUNCTIONS.get() else {
        return 0;
    };
    let mut sleds = functions.sleds.to_vec();
    sleds.sort_unstable_by_key(|sled| sled.at);
    // SAFETY: `set` was given these sleds and trampolines, and its caller guarantees that they are valid.
    unsafe { sleds::switch(&sleds, on, &functions.trampolines, false) }.unwrap_or(0)
}
