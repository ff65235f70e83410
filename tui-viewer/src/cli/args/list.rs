//! Help on the columns of `tickscope list`.

/// Text after the options in `tickscope list --help`.
pub(super) const STATES: &str = "\
States, and SINCE when:
  running  since its start
  stale    it is alive, but has been silent since then: stopped, or starved
  exited   it ended then, and left its last numbers
  crashed  it ended without a last record, and was last alive then: a crash or kill -9,
           but also SIGTERM or Ctrl-C where the program has no handler for them
  kept     a snapshot or recording (.tks) in this directory, captured until then; the newest 20";
