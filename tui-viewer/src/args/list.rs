//! What `tickscope list --help` says of its columns.

/// What stands behind the options.
pub(super) const STATES: &str = "\
States, and SINCE when:
  running  since its start
  stale    it is alive, but has been silent since then: stopped, or starved
  exited   it ended then, and left its last numbers
  crashed  it ended without a last word; the last sign of life was then. So does everything that
           does not return from main or exit: a crash, kill -9, and also SIGTERM or Ctrl-C where
           the program has no handler for them";
