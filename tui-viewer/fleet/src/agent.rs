//! Repeatedly reads all rings on a host, and adds up the counts of their programs. The agent sends no requests to the programs.
//!
//! For each ring, it remembers only how far it has read (see [`NewRecords`]). A run is identified by its process (pid, start
//! time, start of the collector), so its counts continue if its ring is lost and another one takes its place.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use tickscope_format::file::list::{self, Listed};
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::{FormatError, Snapshot, os};
use tickscope_programs::clock_time::now_unix_ns;
use tickscope_programs::ring_reads::{NewRecords, RunKey};
use tickscope_programs::target::wanted::is_live;

use crate::account::{Account, AccountOptions, Now, RunNames, label};
use crate::exposition::{AccountKey, AgentState};
use crate::run_sums::RunSums;

/// Maximum number of programs with series. Programs choose their own names, so without a limit, the agent would keep
/// every new name.
const PROGRAMS_MOST: usize = 1000;

/// Number of rounds without its ring after which a run is forgotten, unless its process is still running.
const ABSENCES_MOST: u32 = 10;

/// Where the agent looks for rings, and how it counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentOptions {
    /// Directories that contain rings.
    pub(crate) places: Vec<PathBuf>,
    /// Whether each process gets its own series.
    pub(crate) per_pid: bool,
    /// How functions are counted.
    pub(crate) account: AccountOptions,
}

/// Counts that have been read from the rings on a host.
#[derive(Debug, Default)]
pub(crate) struct Agent {
    options: AgentOptions,
    /// Programs that have been seen so far.
    pub(crate) accounts: BTreeMap<AccountKey, Account>,
    runs: HashMap<RunKey, Run>,
    pub(crate) state: AgentState,
    /// Files that could not be read in the last round, with the error messages.
    complaints: BTreeMap<PathBuf, String>,
    left_out: HashSet<AccountKey>,
}

#[derive(Debug, Default)]
struct Run {
    account: AccountKey,
    sums: RunSums,
    names: RunNames,
    records: NewRecords,
    /// Capture time of the newest record, and that record's measuring cost as a share of scope time.
    unix_ns: Option<u64>,
    cost_ratio: Option<f64>,
    running: bool,
    absences: u32,
}

/// State of an agent, saved in a file so that the next agent can continue from it.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// Version of the format: [`KEPT_FORM`].
    tickscope_metrics: u32,
    accounts: Vec<(AccountKey, Account)>,
    runs: Vec<KeptRun>,
}

#[derive(Serialize, Deserialize)]
struct KeptRun {
    key: RunKey,
    account: AccountKey,
    sums: RunSums,
    /// Sequence number and reset epoch of the newest snapshot that has been read.
    newest: Option<(u64, u64)>,
    ticks_per_second: Option<f64>,
}

/// Version of the format of [`Kept`].
const KEPT_FORM: u32 = 2;

impl Agent {
    /// Returns the agent's state as JSON, so that the next agent can continue to count from it.
    ///
    /// # Errors
    /// The state cannot be written as JSON.
    pub(crate) fn keep(&self) -> serde_json::Result<Vec<u8>> {
        let accounts = self
            .accounts
            .iter()
            .map(|(key, account)| (key.clone(), account.clone()));
        let runs = self.runs.iter().map(|(key, run)| KeptRun {
            key: key.clone(),
            account: run.account.clone(),
            sums: run.sums.clone(),
            newest: run.records.newest(),
            ticks_per_second: run.names.ticks_per_second(),
        });
        serde_json::to_vec(&Kept {
            tickscope_metrics: KEPT_FORM,
            accounts: accounts.collect(),
            runs: runs.collect(),
        })
    }

    /// Returns an agent that continues to count from the state that another agent's [`keep`](Self::keep) has returned.
    ///
    /// # Errors
    /// The state cannot be read, or it has another version. In the latter case, the message names the version.
    pub(crate) fn go_on(options: AgentOptions, kept: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Form {
            tickscope_metrics: u32,
        }
        let error = |error: serde_json::Error| error.to_string();
        let form: Form = serde_json::from_slice(kept).map_err(error)?;
        let form = form.tickscope_metrics;
        if form != KEPT_FORM {
            return Err(format!("found form {form}, wanted {KEPT_FORM}"));
        }
        let kept: Kept = serde_json::from_slice(kept).map_err(error)?;
        let mut agent = Self::new(options);
        for (key, mut account) in kept.accounts {
            account.restore();
            agent.accounts.insert(key, account);
        }
        for kept in kept.runs {
            let run = Run {
                sums: kept.sums,
                records: NewRecords::after(kept.newest),
                names: RunNames::of_clock(kept.ticks_per_second),
                account: kept.account,
                ..Run::default()
            };
            agent.runs.insert(kept.key, run);
        }
        Ok(agent)
    }

    /// Returns an agent that has not read any ring yet.
    pub(crate) fn new(options: AgentOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Reads all rings. Returns a message for each file that cannot be read, unless the last round had the same message.
    pub(crate) fn look(&mut self) -> Vec<String> {
        let mut absent: HashSet<RunKey> = self.runs.keys().cloned().collect();
        let mut complaints = BTreeMap::new();
        let mut seen = HashSet::new();
        self.runs.values_mut().for_each(|run| run.running = false);
        for Listed { path, ring } in list::list(&self.options.places) {
            let read = ring.and_then(|(ring, liveness)| {
                // Two paths may lead to the same file.
                if !seen.insert(ring.header().nonce) {
                    return Ok(());
                }
                let key = RunKey::of(&ring);
                absent.remove(&key);
                self.read(key, &ring, &liveness)
            });
            if let Err(error) = read {
                complaints.insert(path, error.to_string());
            }
        }
        self.forget(&absent);
        self.sum_up();
        self.state.unreadable_rings = complaints.len() as u64;
        self.state.programs_left_out = self.left_out.len() as u64;
        self.state.cpu_ns = cpu_ns();
        let before = std::mem::replace(&mut self.complaints, complaints);
        let new = self
            .complaints
            .iter()
            .filter(|(path, why)| before.get(*path) != Some(*why));
        new.map(|(path, why)| format!("{}: not served: {why}", path.display()))
            .collect()
    }

    fn read(&mut self, key: RunKey, ring: &RingFile, liveness: &Liveness) -> Result<(), FormatError> {
        let account_key = AccountKey {
            program: label(&key.name),
            pid: self.options.per_pid.then_some(key.pid),
        };
        let has_room = self.accounts.len() < PROGRAMS_MOST;
        let account = match self.accounts.entry(account_key.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) if has_room => {
                self.left_out.remove(&account_key);
                new.insert(Account::default())
            }
            Entry::Vacant(_) => {
                if self.left_out.len() < PROGRAMS_MOST {
                    self.left_out.insert(account_key);
                }
                return Ok(());
            }
        };
        let run = self.runs.entry(key).or_insert_with(|| Run {
            account: account_key,
            ..Run::default()
        });
        run.running |= is_live(liveness);
        run.absences = 0;
        let records = match run.records.read(ring, true) {
            Ok(records) => records,
            // The ring is new and has no record yet, or it is written faster than it can be read. The next round tries again.
            Err(FormatError::NoRecord | FormatError::Lapped { .. }) if is_live(liveness) => return Ok(()),
            Err(error) => return Err(error),
        };
        for record in &records {
            account.take(record, &mut run.sums, &mut run.names, &self.options.account);
        }
        if let Some(newest) = records.last() {
            run.unix_ns = Some(newest.capture.unix_ns);
            run.cost_ratio = cost_ratio(newest);
        }
        Ok(())
    }

    /// Forgets runs whose process has ended and whose ring has been missing for a long time. A process that is still
    /// running may create another ring, and its counts then continue.
    fn forget(&mut self, absent: &HashSet<RunKey>) {
        for key in absent {
            let Some(run) = self.runs.get_mut(key) else {
                continue;
            };
            run.absences += 1;
            let is_there = os::start_time(key.pid) == Some(key.start_time);
            if run.absences > ABSENCES_MOST && !is_there {
                let account = run.account.clone();
                self.runs.remove(key);
                // With `per_pid`, an account ends with its process, because no later process has the same pid and start time.
                if account.pid.is_some() && !self.runs.values().any(|run| run.account == account) {
                    self.accounts.remove(&account);
                }
            }
        }
    }

    fn sum_up(&mut self) {
        self.state.unix_ns = now_unix_ns();
        self.accounts
            .values_mut()
            .for_each(|account| account.now = Now::default());
        for run in self.runs.values().filter(|run| run.running) {
            let Some(account) = self.accounts.get_mut(&run.account) else {
                continue;
            };
            let now = &mut account.now;
            now.running += 1;
            now.cost_ratio = now.cost_ratio.into_iter().chain(run.cost_ratio).reduce(f64::max);
            now.oldest_unix_ns = now.oldest_unix_ns.into_iter().chain(run.unix_ns).min();
        }
    }
}

fn cost_ratio(snapshot: &Snapshot) -> Option<f64> {
    (snapshot.working_ticks() > 0).then(|| snapshot.cost_share().1)
}

/// Returns the CPU time of this process so far, in nanoseconds.
fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32).as_nanos() as u64
}

#[cfg(test)]
mod tests;
