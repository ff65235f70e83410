//! Finds the threads that `--thread` selects.

use tickscope_command::console::{Misuse, printable};
use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;

/// Number of existing threads that the error names if no thread matches.
const NAMED: usize = 8;

/// Returns the threads with this name, and the thread with this id.
pub(super) fn find(snapshot: &Snapshot, wanted: &str) -> Result<Vec<ThreadId>, Misuse> {
    let chosen = named(snapshot, wanted);
    if chosen.is_empty() {
        return Err(none(snapshot, wanted));
    }
    Ok(chosen)
}

/// Like [`find`], but the list may be empty.
pub(super) fn named(snapshot: &Snapshot, wanted: &str) -> Vec<ThreadId> {
    // Id 0 stands for the sums of finished threads, so it selects no thread.
    let tid = wanted.parse().ok().filter(|&tid: &u32| tid > 0);
    let threads = (0..).map(ThreadId).zip(&snapshot.threads);
    threads
        .filter(|(_, thread)| thread.name == wanted || tid == Some(thread.tid))
        .map(|(id, _)| id)
        .collect()
}

fn none(snapshot: &Snapshot, wanted: &str) -> Misuse {
    let threads = &snapshot.threads;
    let mut there: Vec<String> = threads
        .iter()
        .take(NAMED)
        .map(|thread| match thread.tid {
            0 => format!("{} (finished)", printable(&thread.name)),
            tid => format!("{} ({tid})", printable(&thread.name)),
        })
        .collect();
    match threads.len() {
        0 => there.push("no thread has entered a scope".into()),
        all if all > NAMED => there.push(format!("and {} more", all - NAMED)),
        _ => {}
    }
    Misuse(format!(
        "no thread {} among its threads: {}",
        printable(wanted),
        there.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_name_and_by_id() {
        let snapshot = crate::orderbook::snapshot(1);
        for (index, thread) in snapshot.threads.iter().enumerate() {
            let id = ThreadId(index as u32);
            assert!(find(&snapshot, &thread.name).unwrap().contains(&id));
            if thread.tid > 0 {
                assert_eq!(find(&snapshot, &thread.tid.to_string()).unwrap(), [id]);
            }
        }
        let error = find(&snapshot, "nobody\n").unwrap_err().to_string();
        let first = &snapshot.threads[0];
        assert!(error.starts_with("no thread nobody\\n among"), "{error}");
        assert!(
            error.contains(&format!("{} ({})", first.name, first.tid)),
            "{error}"
        );
        assert!(find(&snapshot, "0").is_err(), "finished threads have no id");
    }
}
