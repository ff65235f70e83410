//! Thread names for a snapshot of several processes. The names of threads in live processes include the process id, so that they
//! differ. Threads with the same name in ended processes share one name.

/// Replaces the process id in names of threads whose process has ended.
const ENDED: &str = "ended";

/// Returns the name of a thread in a running process, such as `worker-1 (4711)`.
pub fn of_process(thread: &str, pid: u32) -> String {
    format!("{thread} ({pid})")
}

/// Returns the name shared by all threads with this name whose processes have ended, such as `worker-1 (ended)`.
pub fn of_ended(thread: &str) -> String {
    format!("{thread} ({ENDED})")
}

/// Returns the name that a thread gets when its process ends; `None` if `name` contains no process id.
pub fn after_end(name: &str) -> Option<String> {
    let (thread, pid) = name.strip_suffix(')')?.rsplit_once(" (")?;
    let is_pid = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    is_pid.then(|| of_ended(thread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_that_after_the_end_of_its_process() {
        let got = after_end(&of_process("pool (2)", 4711));
        assert_eq!(got, Some(of_ended("pool (2)")));
        for other in ["main", "main (x)", "main ()", "main (1", &of_ended("main")] {
            assert_eq!(after_end(other), None, "{other}");
        }
    }
}
