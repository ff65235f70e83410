//! Time off the CPU, both waiting and ready, compared with the kernel's measurements for the thread.

use std::hint::black_box;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::support::{
    Isolated, check, checked, cpu_ns, each_passes, measured, pin, rows_named, test_name, wait_for, wait_until,
};
use tickscope::{Builder, Mode, Snapshot};
use tickscope_format::snapshot::Quantity::{self, Ready, UnplacedWaiting, Waiting};

/// Returns the CPU time of the calling thread.
pub(crate) fn cpu() -> Duration {
    Duration::from_nanos(cpu_ns(libc::CLOCK_THREAD_CPUTIME_ID))
}

/// Time off the CPU, according to the kernel's clocks.
#[derive(Clone, Copy, Debug, Default)]
struct Off {
    /// Time off the CPU inside the scope.
    inside: Duration,
    /// Time off the CPU inside the scope and right around it. The thread may also lose its CPU while the scope begins or ends.
    around: Duration,
}

/// Runs `body`, and returns the time that the thread spent off the CPU meanwhile.
fn off_cpu(body: impl FnOnce()) -> Duration {
    let (wall, on) = (Instant::now(), cpu());
    body();
    wall.elapsed().saturating_sub(cpu() - on)
}

impl Off {
    /// Runs `body` in a scope, and adds the time that it spent off the CPU.
    fn add(&mut self, scope: fn(&mut dyn FnMut()), body: impl Fn()) {
        let inside = &mut self.inside;
        self.around += off_cpu(|| scope(&mut || *inside += off_cpu(&body)));
    }
}

fn asleep(body: &mut dyn FnMut()) {
    tickscope::time!("sleep", body());
}

fn at_work(body: &mut dyn FnMut()) {
    tickscope::time!("work", body());
}

/// Keeps the CPU busy until this thread has used `time` of CPU time.
fn work(time: Duration) {
    let begin = cpu();
    while cpu() - begin < time {
        // The clock is read only rarely, because each read is a system call, after which the thread may lose its CPU.
        for number in 0..10_000 {
            black_box(number);
        }
    }
}

/// Returns the total of a quantity over all rows with this name, in ns.
pub(crate) fn of(snapshot: &Snapshot, name: &str, quantity: Quantity) -> u64 {
    snapshot.nanos(measured(snapshot, name, quantity))
}

pub(crate) fn self_ns(snapshot: &Snapshot, name: &str) -> u64 {
    let nanos = snapshot.self_nanos();
    rows_named(snapshot, name).map(|row| nanos[row as usize]).sum()
}

/// Returns the total of a quantity over all rows and outside of all scopes, in ns.
pub(crate) fn all(snapshot: &Snapshot, quantity: Quantity) -> u64 {
    let Some(column) = snapshot.measures.of(quantity) else {
        return 0;
    };
    let values = column.rows.iter().chain(&column.outside);
    snapshot.nanos(values.map(|&(_, value)| value).sum())
}

/// Checks that the time shown agrees with the kernel's time. The tolerance is 2 %, plus 20 us for each of the `asked`
/// times that the collector should have read the kernel's clock.
fn assert_near(shown_ns: u64, truth: Off, asked: u32) {
    let [inside, around] = [truth.inside, truth.around].map(|time| time.as_nanos() as u64);
    let error = around / 50 + 20_000 * u64::from(asked);
    assert!(
        inside.saturating_sub(error) <= shown_ns && shown_ns <= around + error,
        "{shown_ns} ns shown, {truth:?} by the kernel"
    );
}

const SLEEPS: u32 = 30;

fn a_sleep_is_waiting_and_work_is_none() {
    // Without rseq the collector reads the thread's CPU time more often.
    for tunables in ["", "glibc.pthread.rseq=0"] {
        for mode in ["exact", "adaptive"] {
            let test = Isolated::new(test_name!())
                .env("GLIBC_TUNABLES", tunables)
                .env("TICKSCOPE_MODE", mode);
            let done = test.run(|| {
                tickscope::time!("first", ());
                let (mut slept, mut preempted) = (Off::default(), Off::default());
                for _ in 0..SLEEPS {
                    slept.add(asleep, || std::thread::sleep(Duration::from_millis(3)));
                }
                preempted.add(at_work, || work(Duration::from_millis(60)));
                let snapshot = checked(tickscope::snapshot());
                assert!(snapshot.waits);
                let shown = of(&snapshot, "sleep", Waiting) + of(&snapshot, "sleep", Ready);
                assert_near(shown, slept, SLEEPS);
                let waiting = of(&snapshot, "sleep", Waiting);
                assert!(waiting >= 90_000_000, "asleep on a timer: {waiting} ns");
                let shown = of(&snapshot, "work", Waiting) + of(&snapshot, "work", Ready);
                assert_near(shown, preempted, 1);
                // The scheduler updates a thread's ready time with a slight delay, so part of it shows up as waiting.
                let waiting = of(&snapshot, "work", Waiting);
                let most = 1_000_000 + preempted.around.as_nanos() as u64 / 10;
                assert!(
                    waiting < most,
                    "it had nothing to wait for: {waiting} of {preempted:?}"
                );
            });
            assert!(done.status.success(), "{tunables} {mode}: {}", done.stderr);
        }
    }
}

/// Returns how long the calling thread has been ready but without a CPU, if the kernel reports it.
fn ready() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let ns = text.split(' ').nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(ns))
}

fn a_thread_without_a_cpu_is_ready() {
    // SAFETY: the call takes no argument and cannot fail.
    let cpu = unsafe { libc::sched_getcpu() } as usize;
    pin(cpu);
    let (stop, stopped) = mpsc::channel::<()>();
    let rival = std::thread::spawn(move || {
        pin(cpu);
        while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
            black_box(0);
        }
    });
    tickscope::time!("first", ());
    // The collector reads the scheduler's times for the first time during this work.
    work(Duration::from_millis(30));
    let mut off = Off::default();
    let before = ready();
    for _ in 0..10 {
        off.add(at_work, || work(Duration::from_millis(20)));
    }
    let after = ready();
    drop(stop);
    rival.join().unwrap();
    let snapshot = checked(tickscope::snapshot());
    assert_near(
        of(&snapshot, "work", Ready) + of(&snapshot, "work", Waiting),
        off,
        10,
    );
    assert!(off.inside > Duration::from_millis(20), "{off:?}");
    if let (Some(before), Some(after)) = (before, after) {
        // Time that the host steals from a virtual machine is not ready time in the guest.
        let taken = off.around.saturating_sub(after - before);
        let waiting = of(&snapshot, "work", Waiting);
        let most = taken + off.around / 50;
        assert!(
            u128::from(waiting) < most.as_nanos(),
            "{waiting} of {off:?}, at most {most:?}"
        );
    }
}

fn an_open_wait_is_shown_while_it_lasts() {
    let session = Builder::new("open").try_start().unwrap();
    let (send, receive) = mpsc::channel::<()>();
    let waiter = std::thread::spawn(move || {
        // These short calls come before the wait. They may delay the display of the wait, but only briefly.
        for _ in 0..1_000 {
            tickscope::time!("short", ());
        }
        tickscope::time!("recv", receive.recv().unwrap());
        tickscope::time!("after", ());
        tickscope::snapshot()
    });
    let mut shown = 0;
    wait_until("the wait to be shown", || {
        let snapshot = checked(tickscope::snapshot());
        let waiting = of(&snapshot, "recv", Waiting);
        assert!(waiting >= shown, "{shown} ns became {waiting}");
        shown = waiting;
        waiting > 50_000_000
    });
    // The mode changes in the middle of the wait.
    tickscope::set_mode(Mode::Adaptive);
    let since = Instant::now();
    let snapshot = wait_for("some more of it", || {
        let snapshot = tickscope::snapshot();
        (since.elapsed() > Duration::from_millis(50)).then_some(snapshot)
    });
    check(&snapshot);
    let (waiting, all) = (of(&snapshot, "recv", Waiting), self_ns(&snapshot, "recv"));
    assert!(waiting > all / 10 * 9, "{waiting} of {all} ns");
    send.send(()).unwrap();
    let snapshot = waiter.join().unwrap();
    check(&snapshot);
    let (waiting, all) = (
        of(&snapshot, "recv", Waiting) + of(&snapshot, "recv", Ready),
        self_ns(&snapshot, "recv"),
    );
    assert!(waiting > all / 10 * 9, "{waiting} of {all} ns at its end");
    drop(session);
}

fn all_time_off_the_cpu_is_placed_or_counted() {
    let mut inside = Duration::ZERO;
    let mut snapshot = None;
    let around = off_cpu(|| {
        tickscope::time!("first", ());
        inside = off_cpu(|| {
            for round in 0..300u64 {
                tickscope::time!("short", std::thread::sleep(Duration::from_micros(round % 40)));
                tickscope::time!("work", work(Duration::from_micros(round % 200)));
                if round % 10 == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            // The last gap between events is a long one, because time off the CPU in short gaps is counted only at the
            // next long gap.
            tickscope::time!("last", std::thread::sleep(Duration::from_millis(1)));
        });
        snapshot = Some(tickscope::snapshot());
    });
    let snapshot = snapshot.unwrap();
    check(&snapshot);
    let sum = [Waiting, Ready, UnplacedWaiting].map(|quantity| all(&snapshot, quantity));
    assert_near(sum.iter().sum(), Off { inside, around }, 300);
}

fn where_it_is_off_nothing_is_known_and_nobody_looks() {
    let ways = [
        ("TICKSCOPE_WAITS", "off"),
        ("TICKSCOPE_MODE", "sampled"),
        ("BY", "the program"),
    ];
    let make = |(name, value)| Isolated::new(test_name!()).env(name, value);
    each_passes(ways, make, |(name, _)| {
        let builder = Builder::new("off").interval(Duration::from_millis(10));
        let session = builder.waits(name != "BY").try_start().unwrap();
        // The sleep is long enough for the publisher to find out which system call the thread is in.
        tickscope::time!("sleep", std::thread::sleep(Duration::from_millis(500)));
        drop(session);
        let snapshot = checked(tickscope::snapshot());
        assert!(!snapshot.waits && snapshot.waits_in.is_empty());
        assert_eq!(all(&snapshot, Waiting), 0);
    });
}

crate::support::tests![
    own: where_it_is_off_nothing_is_known_and_nobody_looks;
    isolated:
    a_thread_without_a_cpu_is_ready,
    an_open_wait_is_shown_while_it_lasts,
    all_time_off_the_cpu_is_placed_or_counted;
    ignored:
    // Run only on request, because time that the host steals from a virtual machine also counts as time off the CPU.
    a_sleep_is_waiting_and_work_is_none;
];
