//! The public API, and the functions that macros call, in builds that measure nothing: without the feature `enable`, or
//! on a platform that is not supported. The API is complete, but nothing in it has any effect.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::own_thread::OwnThread;
use crate::types::{
    Clock, Destination, DumpError, Format, Mode, Over, SitesError, StartError, Status, Threads, WatchError,
};

/// The warning of a session on a platform that is not supported.
const UNSUPPORTED: &str = "nothing is measured: tickscope measures on Linux, and this program was built for another platform, \
    or with --cfg tickscope_unsupported; build it for Linux without that flag";

/// Items to which the macros and `#[profile]` expand. They are not part of the public API and may change in any release.
pub mod private {
    use super::{OwnThread, Scope};
    pub use crate::amount::Literal;

    /// A site, which holds no data in this build.
    #[derive(Clone, Copy, Debug)]
    pub struct Site {
        _private: (),
    }

    impl Site {
        /// Returns an empty site.
        pub const fn named(_: &'static str, _: &'static str, _: &'static str, _: u32) -> Self {
            Self { _private: () }
        }

        /// Returns an empty site.
        pub const fn enclosing(_: fn() -> &'static str, _: &'static str, _: &'static str, _: u32) -> Self {
            Self { _private: () }
        }

        /// Returns the site unchanged.
        pub const fn in_group(self, _: &'static str) -> Self {
            self
        }

        /// Returns the site unchanged.
        pub const fn watched(self) -> Self {
            self
        }

        /// Returns the site unchanged.
        pub const fn counting(self) -> Self {
            self
        }

        /// Returns the site unchanged.
        pub const fn of_value(self) -> Self {
            self
        }

        /// Returns the site unchanged.
        pub const fn of_gauge(self) -> Self {
            self
        }

        /// Returns the site unchanged.
        pub const fn naming_await(self) -> Self {
            self
        }
    }

    /// Returns an empty guard.
    #[inline(always)]
    pub fn enter(_: &'static Site) -> Scope {
        Scope {
            _own_thread: OwnThread::HERE,
        }
    }

    /// A function that does nothing. With the feature `enable`, the loader calls it before `main`.
    pub static BEFORE_MAIN: extern "C" fn() = nothing;

    extern "C" fn nothing() {}

    /// Returns the future unchanged.
    #[inline(always)]
    pub fn profile_future<F: IntoFuture>(_: &'static Site, future: F) -> impl Future<Output = F::Output> {
        future.into_future()
    }

    /// Returns the future unchanged.
    #[inline(always)]
    pub fn profile_task<F: IntoFuture>(_: &'static Site, future: F) -> impl Future<Output = F::Output> {
        future.into_future()
    }

    /// Counts nothing.
    #[inline(always)]
    pub fn count(_: &'static Site, _: u64) {}

    /// Ignores the number.
    #[inline(always)]
    pub fn value(_: &'static Site, _: u64) {}

    /// Ignores the level.
    #[inline(always)]
    pub fn gauge(_: &'static Site, _: i64) {}

    /// Ignores the note.
    #[inline(always)]
    pub fn note(_: &str, _: std::fmt::Arguments<'_>) {}

    /// Spans that measure nothing.
    pub mod spans {
        use super::Site;

        /// Whether anything is measured in this build.
        pub const IS_MEASURED: bool = false;

        /// Returns an empty site.
        pub fn site(_: &'static str, _: &'static str, _: &'static str, _: u32, _: bool) -> &'static Site {
            &Site { _private: () }
        }

        /// Returns 0, which means no span.
        #[inline(always)]
        pub fn begin(_: &'static Site, _: u32) -> u32 {
            0
        }

        /// Does nothing.
        #[inline(always)]
        pub fn hold(_: u32) {}

        /// Returns false, because no span is closed.
        #[inline(always)]
        pub fn release(_: u32) -> bool {
            false
        }

        /// Does nothing.
        #[inline(always)]
        pub fn enter(_: u32) {}

        /// Does nothing.
        #[inline(always)]
        pub fn exit(_: u32) {}

        /// Returns `None`.
        #[inline(always)]
        pub fn current() -> Option<(u32, u32)> {
            None
        }
    }
}

/// An empty guard.
#[derive(Debug)]
#[must_use = "the scope ends at once if its guard is not kept"]
pub struct Scope {
    _own_thread: OwnThread,
}

/// An empty guard.
#[derive(Debug)]
#[must_use = "the pause ends at once if its guard is not kept"]
pub struct Pause {
    _of_this_thread: std::marker::PhantomData<*mut ()>,
}

/// A session that publishes nothing.
#[derive(Debug)]
#[must_use = "publishing ends when the session is dropped"]
pub struct Session {
    _private: (),
}

/// An empty snapshot.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    _private: (),
}

/// Settings that have no effect.
#[derive(Clone, Debug)]
#[must_use = "nothing starts before `start`"]
pub struct Builder {
    _private: (),
}

impl Drop for Scope {
    // `Scope` has a destructor, as with the feature `enable`, so that `drop(scope)` causes no warning.
    #[inline(always)]
    fn drop(&mut self) {}
}

impl Drop for Pause {
    #[inline(always)]
    fn drop(&mut self) {}
}

impl Session {
    /// Returns [`Status::Off`] without the feature `enable`, and [`Status::Unsupported`] on a platform that is not
    /// supported.
    pub fn status(&self) -> Status {
        if cfg!(feature = "enable") {
            Status::Unsupported
        } else {
            Status::Off
        }
    }

    /// Returns no paths, because this build does not look for other copies.
    pub fn other_copies(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns a warning on a platform that is not supported. Without the feature `enable`, returns no warnings.
    pub fn warnings(&self) -> Vec<String> {
        match self.status() {
            Status::Unsupported => vec![UNSUPPORTED.to_owned()],
            Status::Publishing | Status::Counting | Status::Off => Vec::new(),
        }
    }

    /// Returns `None`.
    pub fn path(&self) -> Option<PathBuf> {
        None
    }
}

impl Drop for Session {
    #[inline(always)]
    fn drop(&mut self) {}
}

impl Snapshot {
    /// Returns 0.
    pub fn calls(&self) -> u64 {
        0
    }

    /// Returns 0.
    pub fn measured_ticks(&self) -> u64 {
        0
    }

    /// Returns zeros, because nothing is measured here.
    pub fn function<N: FunctionName>(&self, name: N) -> FunctionNumbers {
        let _ = name.as_name();
        FunctionNumbers::default()
    }
}

/// What a snapshot says about the functions of a given name. Everything is zero in this build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionNumbers {
    /// Always 0.
    pub sites: usize,
    /// Always 0.
    pub calls: u64,
    /// Always zero.
    pub self_time: Duration,
    /// Always zero.
    pub total_time: Duration,
}

/// The name of a function. With the feature `report`, strings implement this trait.
#[diagnostic::on_unimplemented(
    message = "`Snapshot::function` needs the feature `report` of tickscope",
    label = "this call needs `report`",
    note = "in Cargo.toml: tickscope = {{ .., features = [\"report\"] }}"
)]
pub trait FunctionName {
    /// Returns the name.
    fn as_name(&self) -> &str;
}

#[cfg(feature = "report")]
impl FunctionName for &str {
    fn as_name(&self) -> &str {
        self
    }
}

#[cfg(feature = "report")]
impl FunctionName for &String {
    fn as_name(&self) -> &str {
        self
    }
}

/// Declares setters. Each ignores its value and returns the builder unchanged.
macro_rules! setters {
    ($($name:ident: $type:ty),* $(,)?) => {
        $(
            #[doc = concat!("Does nothing, because nothing is measured here (`", stringify!($name), "`).")]
            pub fn $name(self, _: $type) -> Self {
                self
            }
        )*
    };
}

impl Builder {
    /// Configures a session that publishes nothing.
    pub fn new(_: impl Into<String>) -> Self {
        Self { _private: () }
    }

    setters! {
        interval: Duration,
        ring_bytes: u64,
        dir: impl Into<PathBuf>,
        mode: Mode,
        histogram: bool,
        clock: Clock,
        threads: Threads,
        max_depth: u32,
        max_nodes: u32,
        max_process_nodes: u32,
        max_gap: Duration,
        report_at_exit: Destination,
        log_every: Duration,
        allow_remote_control: bool,
        waits: bool,
        lines: bool,
        end_within: Duration,
        end_on_signals: bool,
    }

    /// Does nothing, because nothing is measured here.
    pub fn watch(self, _: impl Into<String>, _: Over) -> Self {
        self
    }

    /// Starts a session that publishes nothing.
    pub fn start(self) -> Session {
        Session { _private: () }
    }

    /// Starts a session that publishes nothing.
    ///
    /// # Errors
    /// Never.
    pub fn try_start(self) -> Result<Session, StartError> {
        Ok(self.start())
    }
}

/// Starts a session that publishes nothing, because nothing is measured here.
pub fn start(name: impl Into<String>) -> Session {
    Builder::new(name).start()
}

/// Returns the future unchanged.
pub fn task<F: IntoFuture>(_: &'static str, future: F) -> impl Future<Output = F::Output> {
    future.into_future()
}

/// Does nothing.
pub fn pause() -> Pause {
    Pause {
        _of_this_thread: std::marker::PhantomData,
    }
}

/// Returns an empty snapshot.
pub fn reset() -> Snapshot {
    Snapshot::default()
}

/// Does nothing.
pub fn request_reset() {}

/// Returns an empty snapshot.
pub fn snapshot() -> Snapshot {
    Snapshot::default()
}

/// Writes nothing, because there is nothing to report, and returns the path as given.
///
/// # Errors
/// Never.
pub fn dump(path: impl AsRef<Path>, _: Format) -> Result<PathBuf, DumpError> {
    Ok(path.as_ref().to_path_buf())
}

/// Does nothing.
pub fn set_mode(_: Mode) {}

/// Returns [`Mode::Off`].
pub fn mode() -> Mode {
    Mode::Off
}

/// Does nothing.
pub fn set_histogram(_: bool) {}

/// Does nothing, because there are no sites, and returns 0.
///
/// # Errors
/// Never.
pub fn disable_sites(_: &str) -> Result<usize, SitesError> {
    Ok(0)
}

/// Does nothing, because there are no sites, and returns 0.
///
/// # Errors
/// Never.
pub fn enable_sites(_: &str) -> Result<usize, SitesError> {
    Ok(0)
}

/// Does nothing, because nothing is measured here.
///
/// # Errors
/// Never.
pub fn watch(_: &str, _: Over) -> Result<(), WatchError> {
    Ok(())
}

/// Does nothing, because nothing is measured here.
///
/// # Errors
/// Never.
pub fn unwatch(_: &str) -> Result<(), WatchError> {
    Ok(())
}

/// Counts no allocation.
pub(crate) mod allocations {
    #[inline(always)]
    pub(crate) fn allocated(_: *mut u8, _: usize) {}

    #[inline(always)]
    pub(crate) fn freed(_: *mut u8, _: usize) {}

    #[derive(Debug)]
    pub(crate) struct Resized;

    #[inline(always)]
    pub(crate) fn resize(_: *mut u8) -> Resized {
        Resized
    }

    #[inline(always)]
    pub(crate) fn resized(_: *mut u8, _: usize, _: usize) {}

    #[inline(always)]
    pub(crate) fn not_resized(_: *mut u8, _: Resized) {}
}

/// Locks. In this build, they are the types of [`std::sync`].
pub mod sync {
    pub use std::sync::{
        Condvar, LockResult, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        TryLockError, TryLockResult, WaitTimeoutResult,
    };

    /// Creates a mutex. The name has no effect, because nothing is measured here.
    #[inline(always)]
    pub const fn named_mutex<T>(_: &'static str, value: T) -> Mutex<T> {
        Mutex::new(value)
    }

    /// Creates a reader-writer lock. The name has no effect, because nothing is measured here.
    #[inline(always)]
    pub const fn named_rwlock<T>(_: &'static str, value: T) -> RwLock<T> {
        RwLock::new(value)
    }

    /// Creates a condition variable. The name has no effect, because nothing is measured here.
    #[inline(always)]
    pub const fn named_condvar(_: &'static str) -> Condvar {
        Condvar::new()
    }
}

/// Chooses which threads are measured. In this build, none are.
pub mod thread {
    /// Does nothing.
    pub fn include() {}

    /// Does nothing.
    pub fn exclude() {}
}
