//! The names of threads: "main" for the first thread, otherwise the kernel's name.

use std::sync::LazyLock;

/// Name of a thread that has not been given a name. For such a thread, the kernel reports the name of the process.
pub(crate) const UNNAMED: &str = "thread";

/// Returns the name of a thread that may still be running.
pub(crate) fn of_living(tid: u32) -> String {
    shown(tid, &read(&format!("/proc/self/task/{tid}/comm")))
}

/// Returns the name of a thread. `name` is the kernel's name for it, which ends with a zero byte.
pub(crate) fn of_kernel(tid: u32, name: &[u8; 16]) -> String {
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    shown(tid, &String::from_utf8_lossy(name))
}

fn shown(tid: u32, name: &str) -> String {
    static PROCESS: LazyLock<String> = LazyLock::new(|| read("/proc/self/comm"));
    if tid == std::process::id() {
        "main".into()
    } else if name.is_empty() || name == *PROCESS {
        UNNAMED.into()
    } else {
        name.into()
    }
}

fn read(path: &str) -> String {
    let name = tickscope_format::os::read_text(path).unwrap_or_default();
    name.trim_ascii_end().into()
}
