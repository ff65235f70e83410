//! Numbers that the kernel reports about a process. If it does not report one, the number is 0.

use std::fs;

/// Returns the CPU time of the publisher's thread, in nanoseconds.
pub fn publisher_cpu() -> f64 {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let publisher = tasks
        .map(|task| task.path())
        .find(|task| fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim_end() == "tickscope"));
    let text = publisher.and_then(|task| fs::read_to_string(task.join("schedstat")).ok());
    text.map_or(0.0, |text| number(&text, 0))
}

/// Returns the size of this process's anonymous memory, in bytes.
pub fn anonymous_bytes() -> f64 {
    1024.0 * of_status("self", "RssAnon:")
}

/// Returns the number in the line of `/proc/WHOSE/status` that begins with `name`. `whose` is a process or a thread.
pub fn of_status(whose: &str, name: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{whose}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(0.0, |line| number(line, 0))
}

/// Returns how many minor page faults, voluntary context switches and involuntary context switches this thread has had so far.
pub fn thread() -> [f64; 3] {
    // The thread's name may contain spaces. After it come the state, six numbers, and then the minor faults.
    let stat = fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    let faults = stat
        .rsplit_once(')')
        .map_or(0.0, |(_, numbers)| number(numbers, 7));
    [
        faults,
        of_status("thread-self", "voluntary_ctxt_switches:"),
        of_status("thread-self", "nonvoluntary_ctxt_switches:"),
    ]
}

/// Returns the load averages of the machine over one, five and fifteen minutes.
pub fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

fn number(text: &str, place: usize) -> f64 {
    let word = text.split_whitespace().nth(place);
    word.and_then(|word| word.parse().ok()).unwrap_or(0.0)
}
