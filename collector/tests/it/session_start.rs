//! How a session starts: under low resource limits, on unusual threads, and with settings that must be in force when
//! `start` returns.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::support::{
    self, Isolated, Resource, Says, calls_of, each_passes, has_exited, isolated_as_usual, limit, mapped,
    newest, publisher_of, quick, ring_of, test_name, wait_until,
};
use tickscope::{Builder, Mode, Over, Status};
use tickscope_testkit::suite::skip;

/// Starts a session while `resource` is limited to `most`, and returns the session's warnings.
fn start_under(resource: Resource, most: u64) -> String {
    let before = limit(resource, most);
    let session = Builder::new("limited").start();
    limit(resource, before);
    assert_eq!(session.status(), Status::Counting);
    tickscope::time!("work", ());
    assert_eq!(calls_of(&tickscope::snapshot(), "work"), 1);
    let warnings = session.warnings().join("\n");
    drop(session);
    // A session that starts once the limit is lifted must publish.
    drop(quick("later"));
    warnings
}

fn without_descriptors_or_memory_a_start_says_so_and_the_program_goes_on() {
    let make = |_| Isolated::as_usual(test_name!());
    each_passes(["descriptors", "memory"], make, |short_of| {
        let (warnings, error) = match short_of {
            "descriptors" => (start_under(libc::RLIMIT_NOFILE, 0), "(os error 24)"),
            _ => (
                start_under(libc::RLIMIT_AS, mapped() + (1 << 20)),
                "(os error 12)",
            ),
        };
        warnings.says([error, "nothing is published"]);
    });
}

unsafe extern "C" {
    fn pthread_setattr_default_np(attributes: *const libc::pthread_attr_t) -> libc::c_int;
}

/// The publisher's thread must not use the default stack size (`ulimit -s`), with which its stack could be too small.
fn a_small_limit_for_stacks_is_enough_for_the_publisher() {
    let done = isolated_as_usual!(|| {
        let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
        // SAFETY: the pointer is valid for writes.
        unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) };
        // SAFETY: `attributes` was initialised above.
        let result =
            unsafe { libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), libc::PTHREAD_STACK_MIN) };
        assert_eq!(result, 0);
        // SAFETY: `attributes` was initialised above.
        assert_eq!(unsafe { pthread_setattr_default_np(attributes.as_ptr()) }, 0);
        let session = quick("small");
        tickscope::time!("work", ());
        drop(tickscope::reset());
        drop(session);
    });
    assert!(has_exited(&done.ring()));
}

static HANDLED_BY: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

static STARTER: AtomicU64 = AtomicU64::new(0);

extern "C" fn handled(_: libc::c_int) {
    let tid = u64::from(crate::support::thread_id());
    let of = usize::from(tid != STARTER.load(Ordering::Relaxed));
    HANDLED_BY[of].fetch_add(1, Ordering::Relaxed);
}

fn a_start_on_a_real_time_idle_or_deaf_thread_makes_a_usual_publisher() {
    let policies = [
        libc::SCHED_FIFO,
        libc::SCHED_RR,
        libc::SCHED_IDLE,
        libc::SCHED_OTHER,
    ];
    let make = |_| Isolated::as_usual(test_name!());
    let all = each_passes(policies, make, |policy| {
        let real_time = matches!(policy, libc::SCHED_FIFO | libc::SCHED_RR);
        let may_be = || support::schedule(policy, i32::from(real_time));
        // An unprivileged thread can change to the idle policy, but cannot change back.
        if !(may_be() && support::schedule(libc::SCHED_OTHER, 0) && may_be()) {
            return support::tell("refused", "no rights to change how threads are scheduled");
        }
        let deaf = policy == libc::SCHED_OTHER;
        let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: the pointer is valid for writes.
        unsafe { libc::sigfillset(all.as_mut_ptr()) };
        let mask = |how| {
            // SAFETY: the set was filled above.
            let result = unsafe { libc::pthread_sigmask(how, all.as_ptr(), std::ptr::null_mut()) };
            assert_eq!(result, 0);
        };
        if deaf {
            mask(libc::SIG_BLOCK);
        }
        STARTER.store(u64::from(crate::support::thread_id()), Ordering::Relaxed);
        let session = quick("starts");
        let publisher = publisher_of(std::process::id());
        assert_eq!(support::policy_of(publisher), libc::SCHED_OTHER);
        assert_eq!(support::policy_of(0), policy);
        support::on_signal(libc::SIGUSR1, handled);
        let send = || {
            // SAFETY: the signal goes to this process, which has a handler for it.
            unsafe { libc::kill(std::process::id() as i32, libc::SIGUSR1) };
        };
        if !deaf {
            send();
            wait_until("a signal", || HANDLED_BY[0].load(Ordering::Relaxed) == 1);
            mask(libc::SIG_BLOCK);
        }
        // Now all threads block the signal.
        (0..1000).for_each(|_| send());
        assert_eq!(
            HANDLED_BY[0].load(Ordering::Relaxed),
            u64::from(!deaf),
            "its mask is as it was"
        );
        let before = HANDLED_BY[0].load(Ordering::Relaxed);
        mask(libc::SIG_UNBLOCK);
        wait_until("a signal", || HANDLED_BY[0].load(Ordering::Relaxed) > before);
        assert_eq!(HANDLED_BY[1].load(Ordering::Relaxed), 0, "by the publisher");
        assert_eq!(session.status(), Status::Publishing);
    });
    for (_, done) in all {
        if let Ok(why) = fs::read_to_string(done.place().join("refused")) {
            skip(why);
        }
    }
}

fn what_a_start_asks_for_is_in_force_when_it_returns() {
    let done = isolated_as_usual!(|| {
        let session = Builder::new("begins")
            .mode(Mode::Exact)
            .watch("work", Over::Duration(Duration::from_nanos(1)))
            .start();
        assert_eq!(session.status(), Status::Publishing);
        (0..4000).for_each(|_| tickscope::time!("work", ()));
        let first = newest(&ring_of(&session));
        assert_eq!((first.capture.mode.as_str(), first.watches.len()), ("exact", 1));
        tickscope::disable_sites("off").unwrap();
        tickscope::time!("off", ());
    });
    let newest = newest(&done.ring());
    assert_eq!((calls_of(&newest, "work"), calls_of(&newest, "off")), (4000, 0));
    let watched = &newest.watches[0].paths[0];
    assert_eq!(watched.slow.calls + watched.typical.calls, 4000);
}

/// The stack of the thread that calls `start` is too small for taking a snapshot.
fn a_start_on_a_small_stack_publishes() {
    let done = isolated_as_usual!(|| {
        let small = std::thread::Builder::new().stack_size(libc::PTHREAD_STACK_MIN.max(16 << 10));
        let started = small.spawn(|| {
            let session = tickscope::start("small");
            assert_eq!(session.status(), Status::Publishing);
            tickscope::time!("work", ());
        });
        started.unwrap().join().unwrap();
    });
    let ring = done.ring();
    assert!(has_exited(&ring));
    assert_eq!(calls_of(&newest(&ring), "work"), 1);
}

/// Warnings of `start` must be in every snapshot as well as in `Session::warnings`.
fn warnings_of_the_start_are_in_each_snapshot() {
    let test = Isolated::as_usual(test_name!())
        .env("TICKSCOPE_MAX_DEPTH", "deep")
        .env("TICKSCOPE_REPORT", "stderr");
    let done = test.succeeds(|| {
        let session = Builder::new("a b").try_start().unwrap();
        let warnings = session.warnings();
        assert_eq!(warnings.len(), 2, "each is said once: {warnings:?}");
        tickscope::time!("work", ());
    });
    let warnings = newest(&done.ring()).process.warnings.join("\n");
    for says in [
        "TICKSCOPE_MAX_DEPTH=deep",
        "\"a b\" was changed to \"a-b\"; allowed: 1 to 64 of A-Z a-z 0-9 . _ - and not digits alone",
    ] {
        assert!(
            warnings.contains(says) && done.stderr.contains(says),
            "{says}: {warnings}\n{}",
            done.stderr
        );
    }
}

/// A relative path must be made absolute at the start, because the program may change its working directory later.
fn a_relative_directory_is_looked_up_at_the_start() {
    std::env::set_current_dir(support::shared_place()).unwrap();
    let session = Builder::new("relative").dir("here").start();
    std::env::set_current_dir("/").unwrap();
    wait_until("it publishes", || session.status() == Status::Publishing);
    let path = session.path().unwrap();
    assert!(path.is_absolute(), "{}", path.display());
    assert!(path.starts_with(support::shared_place()), "{}", path.display());
}

crate::support::tests![
    own:
    a_start_on_a_small_stack_publishes,
    warnings_of_the_start_are_in_each_snapshot,
    without_descriptors_or_memory_a_start_says_so_and_the_program_goes_on,
    a_small_limit_for_stacks_is_enough_for_the_publisher,
    a_start_on_a_real_time_idle_or_deaf_thread_makes_a_usual_publisher,
    what_a_start_asks_for_is_in_force_when_it_returns;
    as_usual: a_relative_directory_is_looked_up_at_the_start;
];
