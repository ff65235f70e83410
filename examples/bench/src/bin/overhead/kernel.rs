//! What the kernel says about this process; 0 where it does not say.

use std::fs;

/// CPU nanoseconds of the publisher's thread.
pub(crate) fn publisher_cpu() -> f64 {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let publisher = tasks
        .map(|task| task.path())
        .find(|task| fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim_end() == "tickscope"));
    let text = publisher.and_then(|task| fs::read_to_string(task.join("schedstat")).ok());
    text.map_or(0.0, |text| number(&text, 0))
}

/// Bytes of memory of its own.
pub(crate) fn anonymous_bytes() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.map_or(0.0, |kib| 1024.0 * number(kib, 0))
}

/// Page faults, and voluntary and involuntary switches away from this thread so far.
pub(crate) fn thread() -> [f64; 3] {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map_or(0.0, |line| number(line, 0))
    };
    // Behind the name, which may hold blanks: state, seven numbers, faults.
    let stat = fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    let faults = stat
        .rsplit_once(')')
        .map_or(0.0, |(_, numbers)| number(numbers, 7));
    [
        faults,
        of("voluntary_ctxt_switches:"),
        of("nonvoluntary_ctxt_switches:"),
    ]
}

/// The busy processes of the machine, averaged over one, five and fifteen minutes.
pub(crate) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

fn number(text: &str, place: usize) -> f64 {
    let word = text.split_whitespace().nth(place);
    word.and_then(|word| word.parse().ok()).unwrap_or(0.0)
}
