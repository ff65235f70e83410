// Exercises the whole API of the locks. The file is compiled twice, with either std's or tickscope's locks as `sync`.

use std::collections::HashMap;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use sync::{
    Condvar, LockResult, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockError, TryLockResult, WaitTimeoutResult,
};

static NUMBER: Mutex<u32> = Mutex::new(5);
static WORDS: RwLock<Vec<&str>> = RwLock::new(Vec::new());
static CHANGED: Condvar = Condvar::new();
#[allow(clippy::declare_interior_mutable_const, reason = "each use is to be a lock of its own")]
const FRESH: Mutex<Option<Box<u8>>> = Mutex::new(None);

#[derive(Debug, Default)]
struct Shared {
    names: Mutex<HashMap<u32, String>>,
    sizes: RwLock<Vec<usize>>,
    changed: Condvar,
}

fn is<T: Send + Sync + UnwindSafe + RefUnwindSafe + Debug>(_: &T) {}

fn shared_guard<T: Sync>(_: &T) {}

fn value_of<'a>(lock: &'a Mutex<u32>) -> MutexGuard<'a, u32> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

fn panics(body: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(body)).is_err()
}

pub(super) fn all() {
    mutexes();
    poisoned_mutexes();
    rw_locks();
    condvars();
}

fn mutexes() {
    *NUMBER.lock().unwrap() += 1;
    assert_eq!(*value_of(&NUMBER), 6);
    let guard = NUMBER.lock().unwrap();
    shared_guard(&guard);
    assert_eq!((format!("{guard:?}"), guard.to_string()), ("6".into(), "6".into()));
    assert!(format!("{NUMBER:?}").contains("<locked>"));
    assert!(matches!(NUMBER.try_lock(), Err(TryLockError::WouldBlock)));
    drop(guard);
    assert_eq!(format!("{NUMBER:?}"), "Mutex { data: 6, poisoned: false, .. }");
    let attempt: TryLockResult<MutexGuard<'_, u32>> = NUMBER.try_lock();
    assert_eq!(*attempt.unwrap(), 6);
    let mut own = FRESH;
    *own.get_mut().unwrap() = Some(Box::new(7));
    let value: LockResult<Option<Box<u8>>> = own.into_inner();
    assert_eq!(value.unwrap(), Some(Box::new(7)));
    let made: Mutex<String> = String::from("made").into();
    assert_eq!(made.lock().unwrap().len(), 4);
    assert_eq!(Mutex::<u64>::default().into_inner().unwrap(), 0);
    // A mutex of an unsized type.
    let of_any: Arc<Mutex<dyn Debug + Send>> = Arc::new(Mutex::new([1, 2]));
    assert_eq!(format!("{:?}", &*of_any.lock().unwrap()), "[1, 2]");
    let of_slice: Box<Mutex<[u8]>> = Box::new(Mutex::new([1, 2, 3]));
    of_slice.lock().unwrap()[1] = 9;
    assert_eq!(of_slice.lock().unwrap().iter().sum::<u8>(), 13);
    let shared = Shared::default();
    is(&shared);
    shared.names.lock().unwrap().insert(1, "one".into());
    assert!(format!("{shared:?}").contains("Condvar") && shared.sizes.read().unwrap().is_empty());
    shared.changed.notify_one();
}

fn poisoned_mutexes() {
    let lock = Mutex::new(3);
    assert!(panics(|| {
        let _guard = lock.lock().unwrap();
        panic!("on purpose");
    }));
    assert!(lock.is_poisoned());
    let poisoned: PoisonError<MutexGuard<'_, i32>> = lock.lock().unwrap_err();
    assert_eq!(**poisoned.get_ref(), 3);
    *poisoned.into_inner() = 4;
    assert!(matches!(lock.try_lock(), Err(TryLockError::Poisoned(_))));
    lock.clear_poison();
    assert_eq!(*lock.lock().unwrap(), 4);
    let lock = Arc::new(RwLock::new(3));
    assert!(panics(|| {
        let _guard = lock.write().unwrap();
        panic!("on purpose");
    }));
    assert!(lock.is_poisoned() && lock.read().is_err() && lock.try_read().is_err());
    assert!(lock.write().is_err() && lock.try_write().is_err());
    assert_eq!(*lock.read().unwrap_or_else(PoisonError::into_inner), 3);
    lock.clear_poison();
    assert!(panics(|| {
        let _guard = lock.read().unwrap();
        panic!("on purpose");
    }));
    assert!(!lock.is_poisoned(), "a reader changes nothing");
}

fn rw_locks() {
    is(&WORDS);
    WORDS.write().unwrap().push("one");
    let first: RwLockReadGuard<'_, Vec<&str>> = WORDS.read().unwrap();
    let second = WORDS.try_read().unwrap();
    shared_guard(&first);
    assert_eq!((first.len(), format!("{second:?}")), (1, "[\"one\"]".into()));
    assert!(matches!(WORDS.try_write(), Err(TryLockError::WouldBlock)));
    drop((first, second));
    let mut guard: RwLockWriteGuard<'_, Vec<&str>> = WORDS.try_write().unwrap();
    guard.clear();
    assert!(matches!(WORDS.try_read(), Err(TryLockError::WouldBlock)));
    assert!(format!("{WORDS:?}").contains("<locked>"));
    drop(guard);
    let mut own = RwLock::from(4u8);
    *own.get_mut().unwrap() += 1;
    assert_eq!(own.read().unwrap().to_string(), "5");
    assert_eq!((own.into_inner().unwrap(), RwLock::<u8>::default().into_inner().unwrap()), (5, 0));
    let of_any: Arc<RwLock<dyn Fn(u8) -> u8 + Send + Sync>> = Arc::new(RwLock::new(|number| number + 1));
    assert_eq!(of_any.read().unwrap()(4), 5);
}

fn condvars() {
    is(&CHANGED);
    assert_eq!(format!("{CHANGED:?}"), "Condvar { .. }");
    let state = Arc::new((Mutex::new(0u32), Condvar::default()));
    let counts = {
        let state = Arc::clone(&state);
        std::thread::spawn(move || {
            for _ in 0..3 {
                *state.0.lock().unwrap() += 1;
                state.1.notify_one();
            }
            state.1.notify_all();
        })
    };
    let mut guard = state.0.lock().unwrap();
    while *guard < 1 {
        guard = state.1.wait(guard).unwrap();
    }
    guard = state.1.wait_while(guard, |count| *count < 2).unwrap();
    let long = Duration::from_secs(3600);
    let result: LockResult<(MutexGuard<'_, u32>, WaitTimeoutResult)> =
        state.1.wait_timeout_while(guard, long, |count| *count < 3);
    let (guard, waited) = result.unwrap();
    assert!(*guard == 3 && !waited.timed_out());
    drop(guard);
    counts.join().unwrap();
    let (guard, waited) = state.1.wait_timeout(state.0.lock().unwrap(), Duration::from_millis(1)).unwrap();
    // The wait may end spuriously.
    let _: bool = waited.timed_out();
    let (guard, waited) = state.1.wait_timeout_while(guard, Duration::from_millis(1), |_| true).unwrap();
    assert!(waited.timed_out());
    #[allow(deprecated, reason = "it is there")]
    let (guard, _in_time): (_, bool) = state.1.wait_timeout_ms(guard, 1).unwrap();
    assert_eq!(*guard, 3);
    drop(guard);
    // This thread poisons the mutex while the spawned thread waits.
    let woken = {
        let state = Arc::clone(&state);
        std::thread::spawn(move || {
            let guard = state.0.lock().unwrap_or_else(PoisonError::into_inner);
            state.1.wait_while(guard, |count| *count == 3).is_err()
        })
    };
    assert!(panics(|| {
        let mut guard = state.0.lock().unwrap();
        *guard = 4;
        state.1.notify_all();
        panic!("on purpose");
    }));
    // This is `false` if the spawned thread started too late to wait.
    let _: bool = woken.join().unwrap();
    assert!(state.0.is_poisoned());
}
