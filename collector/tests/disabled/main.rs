//! The library in builds that do not measure: macros still return their values. The other tests of such builds are in
//! `check.sh` in this folder.

#![cfg(not(all(feature = "enable", target_os = "linux", not(tickscope_unsupported))))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod locks {
    use tickscope::sync;
    include!("../it/locks/interface.rs");
}

#[test]
fn values_pass_through_and_nothing_is_measured() {
    let session = tickscope::start("disabled");
    let mut evaluated = 0u64;
    let mut next = || {
        evaluated += 1;
        evaluated
    };
    assert_eq!(tickscope::time!("first", next()), 1);
    tickscope::count!("second", next());
    assert_eq!(evaluated, 2, "each value once");
    let status = if cfg!(feature = "enable") {
        tickscope::Status::Unsupported
    } else {
        tickscope::Status::Off
    };
    assert_eq!(session.status(), status);
    assert_eq!((session.path(), tickscope::snapshot().calls()), (None, 0));
}

#[test]
fn spans_and_events_are_disabled() {
    tickscope_tracing::subscriber().count_events().init().unwrap();
    assert!(tracing::info_span!("span").is_disabled());
    assert!(!tracing::enabled!(tracing::Level::ERROR));
    let most = tracing::level_filters::LevelFilter::current();
    assert_eq!(most, tracing::level_filters::LevelFilter::OFF);
}

#[test]
fn locks_are_those_of_std() {
    locks::all();
    static NAMED: tickscope::sync::Mutex<u8> = tickscope::sync::named_mutex("cache", 1);
    let of_std: &std::sync::Mutex<u8> = &NAMED;
    assert_eq!(*of_std.lock().unwrap(), 1);
    let of_std: std::sync::RwLock<u8> = tickscope::sync::named_rwlock("prices", 2);
    assert_eq!(*of_std.read().unwrap(), 2);
    let of_std: std::sync::Condvar = tickscope::sync::named_condvar("changed");
    of_std.notify_one();
}
