//! Atomics that behave like std's outside of a loom model, and like loom's inside one.
//!
//! loom's atomics can live neither in statics nor in zeroed pages, so each word here is a std atomic. For each word
//! that a model's threads share, the model keeps a separate loom atomic, initialised with the value of the word. A
//! model never stores into the words themselves, so every execution begins with the same values, in statics and in
//! pages.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::panic::Location;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use super::Ordering;
use tickscope_testkit::model::{self, mutation};

/// loom's atomic for one word.
type Word = Rc<loom::sync::atomic::AtomicU64>;

/// Facts about a word.
#[derive(Clone)]
struct Facts {
    /// The value at the beginning of each execution.
    begins: u64,
    /// The threads that store into the word.
    writer: Users,
    /// The threads that load or store the word.
    users: Users,
}

/// The threads that use a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Users {
    None,
    One(usize),
    Many,
}

#[derive(Default)]
struct Model {
    /// Facts known before the first execution. They do not change while loom explores.
    known: BTreeMap<usize, Facts>,
    /// Facts known now, which become `known` in the next execution.
    learned: BTreeMap<usize, Facts>,
    /// loom's atomics in this execution, one for each word that several threads use and at least one of them writes.
    /// loom requires them to exist before the second thread is started.
    shared: HashMap<usize, Word>,
    /// The last value stored in this execution into each word that is not in `shared`. If a word in `shared` has only
    /// one writer, this is the last value that the writer stored.
    own: HashMap<usize, u64>,
    /// Pages, keyed by their length. Each execution reuses the pages of the previous execution.
    pages: HashMap<usize, Vec<NonNull<c_void>>>,
    /// Number of pages of each length that this execution has taken so far.
    taken: HashMap<usize, usize>,
}

thread_local! {
    static MODEL: RefCell<Model> = RefCell::default();
    /// Whether this execution has learned a fact that should have been known when it began, so that the model has to
    /// run again.
    static IS_NEW: Cell<bool> = const { Cell::new(false) };
    /// Whether a spawned thread runs before the thread that spawned it continues.
    static SPAWNED_FIRST: Cell<bool> = const { Cell::new(false) };
}

/// Runs a model, as [`model::check`] does, in both orders of [`spawn`].
pub(crate) fn check(bound: Option<usize>, body: impl Fn() + Send + Sync + 'static) {
    let body: Arc<model::Model> = Arc::new(body);
    for first in [false, true] {
        SPAWNED_FIRST.set(first);
        check_one_way(bound, Arc::clone(&body));
    }
}

/// Starts a thread of a model. The order in which the two threads continue decides which interleavings loom finds,
/// because loom remembers only one access of each word. So [`check`] tries both orders.
pub(crate) fn spawn<T: 'static>(body: impl FnOnce() -> T + 'static) -> loom::thread::JoinHandle<T> {
    let thread = loom::thread::spawn(body);
    if SPAWNED_FIRST.get() {
        loom::thread::yield_now();
    }
    thread
}

fn check_one_way(bound: Option<usize>, body: Arc<model::Model>) {
    MODEL.take();
    let body: Arc<model::Model> = Arc::new(move || {
        MODEL.with_borrow_mut(Model::begin);
        body();
        MODEL.with_borrow_mut(|model| model.shared.clear());
    });
    // Most facts are learned in the first executions, and a few in rare interleavings that come later. So the first
    // executions are repeated until they learn nothing new, and only then do all executions run.
    let mut most = Some(100);
    loop {
        IS_NEW.set(false);
        MODEL.with_borrow_mut(|model| model.known = model.learned.clone());
        let count = model::executions(bound, most, &body);
        if IS_NEW.get() {
            continue;
        }
        if mutation::learns() {
            mutation::has_learned();
        } else if most == Some(count) {
            most = None;
        } else {
            return model::report(bound, count);
        }
    }
}

/// Returns how many times this execution has taken pages.
pub(crate) fn pages_taken() -> usize {
    MODEL.with_borrow(|model| model.taken.values().sum())
}

/// Returns zeroed pages. A model gets the pages of its previous execution again.
pub(crate) fn map_zeroed(bytes: usize) -> Option<NonNull<c_void>> {
    if !model::runs() {
        return crate::enabled::platform::os::map_zeroed(bytes);
    }
    MODEL.with_borrow_mut(|model| {
        let taken = model.taken.entry(bytes).or_default();
        let pages = model.pages.entry(bytes).or_default();
        if pages.len() == *taken {
            pages.push(crate::enabled::platform::os::map_zeroed(bytes)?);
        }
        *taken += 1;
        Some(pages[*taken - 1])
    })
}

impl Model {
    fn begin(&mut self) {
        self.own.clear();
        self.taken.clear();
        let shared = self.known.iter().filter(|(_, facts)| facts.is_shared());
        let word = |begins| Rc::new(loom::sync::atomic::AtomicU64::new(begins));
        self.shared = shared
            .map(|(&address, facts)| (address, word(facts.begins)))
            .collect();
    }

    /// Records that a thread uses the word at an address.
    fn learn(&mut self, address: usize, begins: u64, writes: bool) {
        let facts = self.learned.entry(address).or_insert(Facts {
            begins,
            writer: Users::None,
            users: Users::None,
        });
        let before = (facts.writer, facts.is_shared());
        facts.users = facts.users.and_this();
        if writes {
            facts.writer = facts.writer.and_this();
        }
        if before != (facts.writer, facts.is_shared()) {
            IS_NEW.set(true);
        }
    }

    /// Returns loom's atomic for a word if this access needs it. If the running thread is the only writer of the word,
    /// it knows the value and does not load it through loom. Such a load would only make loom forget another thread's
    /// load, because loom remembers only one access of each word.
    fn shared(&self, address: usize, writes: bool) -> Option<Word> {
        let word = self.shared.get(&address)?;
        let writer = self.known.get(&address).map(|facts| facts.writer);
        let is_own = writer == Some(Users::None.and_this());
        (writes || !is_own).then(|| Rc::clone(word))
    }

    fn own(&mut self, address: usize) -> &mut u64 {
        let begins = self.learned.get(&address).map_or(0, |facts| facts.begins);
        self.own.entry(address).or_insert(begins)
    }
}

impl Facts {
    fn is_shared(&self) -> bool {
        self.users == Users::Many && self.writer != Users::None
    }
}

impl Users {
    /// Adds the running thread.
    fn and_this(self) -> Self {
        let name = format!("{:?}", loom::thread::current().id());
        let number = name.trim_matches(|c: char| !c.is_ascii_digit());
        let this = Self::One(number.parse().unwrap());
        if self == Self::None || self == this {
            this
        } else {
            Self::Many
        }
    }
}

/// Runs an operation on the word at an address, and returns the old value.
fn with(
    (address, begins): (usize, u64),
    writes: bool,
    shared: impl FnOnce(&loom::sync::atomic::AtomicU64) -> u64,
    own: impl FnOnce(u64) -> u64,
) -> u64 {
    // loom may switch to another thread in the middle of an access, so `MODEL` must not be borrowed during the access.
    let word = MODEL.with_borrow_mut(|model| {
        model.learn(address, begins, writes);
        model.shared(address, writes)
    });
    let before = word.map(|word| shared(&word));
    MODEL.with_borrow_mut(|model| {
        let place = model.own(address);
        let before = before.unwrap_or(*place);
        if writes {
            *place = own(before);
        }
        before
    })
}

fn load(at: &Location<'_>, (address, begins): (usize, u64), ordering: Ordering) -> u64 {
    mutation::load(at, address, |address, weak| {
        let ordering = if weak { Ordering::Relaxed } else { ordering };
        with(
            (address, begins),
            false,
            |word| word.load(ordering),
            |value| value,
        )
    })
}

fn store(at: &'static Location<'static>, word: (usize, u64), value: u64, ordering: Ordering) {
    mutation::act(at, move |weak| {
        let ordering = if weak { Ordering::Relaxed } else { ordering };
        let shared = |word: &loom::sync::atomic::AtomicU64| {
            word.store(value, ordering);
            value
        };
        with(word, true, shared, |_| value);
    });
}

/// An atomic operation that reads and writes a word.
#[derive(Clone, Copy)]
enum Change {
    To(u64),
    By(u64),
    IfIs(u64, u64, Ordering),
}

/// Reads and writes a word atomically. Returns the old value, as an error if it was not the expected value.
fn change(
    at: &'static Location<'static>,
    word: (usize, u64),
    change: Change,
    ordering: Ordering,
) -> Result<u64, u64> {
    mutation::around(at, || {
        let weak = mutation::is_weak(at);
        let weakened = |ordering| if weak { Ordering::Relaxed } else { ordering };
        let ordering = weakened(ordering);
        let shared = |word: &loom::sync::atomic::AtomicU64| match change {
            Change::To(new) => word.swap(new, ordering),
            Change::By(more) => word.fetch_add(more, ordering),
            Change::IfIs(is, new, otherwise) => word
                .compare_exchange(is, new, ordering, weakened(otherwise))
                .unwrap_or_else(|found| found),
        };
        let own = |value: u64| match change {
            Change::To(new) => new,
            Change::By(more) => value.wrapping_add(more),
            Change::IfIs(is, new, _) if value == is => new,
            Change::IfIs(..) => value,
        };
        let before = with(word, true, shared, own);
        match change {
            Change::IfIs(is, ..) if before != is => Err(before),
            Change::To(_) | Change::By(_) | Change::IfIs(..) => Ok(before),
        }
    })
}

/// Lets other threads continue.
pub(crate) fn spin_loop() {
    if model::runs() {
        loom::hint::spin_loop();
    } else {
        std::hint::spin_loop();
    }
}

/// Like std's `fence`. In a model, a mutation can leave the fence out.
#[track_caller]
#[inline]
pub(crate) fn fence(ordering: Ordering) {
    if !model::runs() {
        return std::sync::atomic::fence(ordering);
    }
    mutation::act(Location::caller(), move |weak| {
        if !weak {
            loom::sync::atomic::fence(ordering);
        }
    });
}

macro_rules! number {
    ($name:ident, $type:ty) => {
        #[repr(transparent)]
        #[derive(Debug, Default)]
        pub(crate) struct $name(std::sync::atomic::$name);

        #[allow(dead_code, reason = "not every operation is used on every type")]
        impl $name {
            pub(crate) const fn new(value: $type) -> Self {
                Self(std::sync::atomic::$name::new(value))
            }

            fn word(&self) -> (usize, u64) {
                let begins = self.0.load(Ordering::Relaxed);
                (std::ptr::from_ref(self).addr(), begins.into())
            }

            #[track_caller]
            #[inline]
            pub(crate) fn load(&self, ordering: Ordering) -> $type {
                if !model::runs() {
                    return self.0.load(ordering);
                }
                load(Location::caller(), self.word(), ordering) as $type
            }

            #[track_caller]
            #[inline]
            pub(crate) fn store(&self, value: $type, ordering: Ordering) {
                if !model::runs() {
                    return self.0.store(value, ordering);
                }
                store(Location::caller(), self.word(), value.into(), ordering);
            }

            #[track_caller]
            pub(crate) fn swap(&self, value: $type, ordering: Ordering) -> $type {
                if !model::runs() {
                    return self.0.swap(value, ordering);
                }
                let to = Change::To(value.into());
                Self::number(change(Location::caller(), self.word(), to, ordering)).unwrap_or_default()
            }

            #[track_caller]
            pub(crate) fn fetch_add(&self, value: $type, ordering: Ordering) -> $type {
                if !model::runs() {
                    return self.0.fetch_add(value, ordering);
                }
                let by = Change::By(value.into());
                Self::number(change(Location::caller(), self.word(), by, ordering)).unwrap_or_default()
            }

            #[track_caller]
            pub(crate) fn compare_exchange(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                if !model::runs() {
                    return self.0.compare_exchange(current, new, success, failure);
                }
                let if_is = Change::IfIs(current.into(), new.into(), failure);
                Self::number(change(Location::caller(), self.word(), if_is, success))
            }

            fn number(result: Result<u64, u64>) -> Result<$type, $type> {
                result
                    .map(|value| value as $type)
                    .map_err(|value| value as $type)
            }
        }
    };
}

number!(AtomicU16, u16);
number!(AtomicU32, u32);
number!(AtomicU64, u64);

#[repr(transparent)]
#[derive(Debug)]
pub(crate) struct AtomicPtr<T>(std::sync::atomic::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    pub(crate) const fn new(pointer: *mut T) -> Self {
        Self(std::sync::atomic::AtomicPtr::new(pointer))
    }

    fn word(&self) -> (usize, u64) {
        let begins = self.0.load(Ordering::Relaxed).expose_provenance();
        (std::ptr::from_ref(self).addr(), begins as u64)
    }

    #[track_caller]
    #[inline]
    pub(crate) fn load(&self, ordering: Ordering) -> *mut T {
        if !model::runs() {
            return self.0.load(ordering);
        }
        pointer(load(Location::caller(), self.word(), ordering))
    }

    #[track_caller]
    #[inline]
    pub(crate) fn store(&self, value: *mut T, ordering: Ordering) {
        if !model::runs() {
            return self.0.store(value, ordering);
        }
        let value = value.expose_provenance() as u64;
        store(Location::caller(), self.word(), value, ordering);
    }

    #[track_caller]
    pub(crate) fn compare_exchange_weak(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        if !model::runs() {
            return self.0.compare_exchange_weak(current, new, success, failure);
        }
        let if_is = Change::IfIs(
            current.expose_provenance() as u64,
            new.expose_provenance() as u64,
            failure,
        );
        let result = change(Location::caller(), self.word(), if_is, success);
        result.map(pointer).map_err(pointer)
    }
}

fn pointer<T>(address: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(address as usize)
}
