//! Metrics as text: OpenMetrics 1.0, and the older text format of Prometheus, which the node exporter reads from files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::account::{Account, ItemKind};
use crate::amounts::{Amounts, EDGES, Kind, edge_ns};

/// Format of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// The text format 0.0.4 of Prometheus.
    Text,
}

impl Style {
    /// Returns the value for the HTTP `Content-Type` header.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// Key of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct AccountKey {
    /// The program's name.
    pub(crate) program: String,
    /// The process id, if each process has its own series.
    pub(crate) pid: Option<u32>,
}

/// State of the agent itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AgentState {
    /// Number of ring files that cannot be read.
    pub(crate) unreadable_rings: u64,
    /// Number of programs that were left out because the maximum number of programs was reached.
    pub(crate) programs_left_out: u64,
    /// CPU time of the agent so far, in nanoseconds.
    pub(crate) cpu_ns: u64,
    /// Time at which the rings were read, in nanoseconds since the Unix epoch.
    pub(crate) unix_ns: u64,
}

/// Returns all metrics as text. Latency buckets are `octaves` octaves wide; 0 is treated as 1.
pub(crate) fn exposition(
    accounts: &BTreeMap<AccountKey, Account>,
    agent: &AgentState,
    octaves: usize,
    style: Style,
) -> String {
    let mut out = Text {
        out: String::new(),
        style,
    };
    out.columns(accounts);
    out.latency(accounts, octaves);
    out.other_families(accounts, agent);
    if style == Style::OpenMetrics {
        out.out += "# EOF\n";
    }
    out.out
}

struct Text {
    out: String,
    style: Style,
}

/// An exported number: the name of its metric family, its unit, its help text, which number of [`Amounts`] it is, the
/// kind of item that it is exported for, and whether a program has it.
type Column = (
    &'static str,
    &'static str,
    &'static str,
    Kind,
    ItemKind,
    fn(&Account) -> bool,
);

const COLUMNS: [Column; 6] = [
    (
        "tickscope_calls",
        "",
        "Calls begun.",
        Kind::Calls,
        ItemKind::Function,
        |_| true,
    ),
    (
        "tickscope_self_seconds",
        "seconds",
        "Time in the function itself, without what it calls.",
        Kind::Time,
        ItemKind::Function,
        |_| true,
    ),
    (
        "tickscope_waiting_seconds",
        "seconds",
        "The part of the self time in which threads waited.",
        Kind::Waiting,
        ItemKind::Function,
        |account| account.has_waiting,
    ),
    (
        "tickscope_allocated_bytes",
        "bytes",
        "Bytes allocated in the function itself.",
        Kind::Allocated,
        ItemKind::Function,
        |account| account.has_allocations,
    ),
    (
        "tickscope_group_seconds",
        "seconds",
        "Time inside the outermost calls of a group. Groups may contain each other: their sum has no meaning.",
        Kind::Time,
        ItemKind::Group,
        |_| true,
    ),
    (
        "tickscope_counter",
        "",
        "The sum of a counter or of a value.",
        Kind::Sum,
        ItemKind::Counter,
        |_| true,
    ),
];

impl Text {
    fn columns(&mut self, accounts: &BTreeMap<AccountKey, Account>) {
        for (family, unit, help, kind, of, has) in COLUMNS {
            self.family(family, "counter", unit, help);
            let label = match of {
                ItemKind::Group => "group",
                ItemKind::Function | ItemKind::Counter => "function",
            };
            for (key, account) in accounts.iter().filter(|(_, account)| has(account)) {
                let other = (of == ItemKind::Function).then(|| account.other()).flatten();
                for (name, amounts) in exported(account, of).chain(other.map(|other| ("other", other))) {
                    self.begin(family, "_total", key, &[(label, name)]);
                    let value = amounts.get(kind);
                    match kind {
                        Kind::Time | Kind::Waiting => self.seconds(value),
                        Kind::Calls | Kind::Allocated | Kind::Sum => self.integer(value),
                    }
                }
            }
        }
    }

    fn latency(&mut self, accounts: &BTreeMap<AccountKey, Account>, octaves: usize) {
        const FAMILY: &str = "tickscope_latency_seconds";
        self.family(
            FAMILY,
            "histogram",
            "seconds",
            "How long finished calls took. The sum takes each call as the middle of its bucket in the program, an eighth of an octave wide.",
        );
        for (key, account) in accounts {
            for (name, amounts) in exported(account, ItemKind::Function) {
                let below = amounts.below_edges();
                let Some(&all) = below.last().filter(|&&all| all > 0) else {
                    continue;
                };
                let function = ("function", name);
                for edge in (0..EDGES).step_by(octaves.max(1)) {
                    let le = float(edge_ns(edge) as f64 / 1e9);
                    self.begin(FAMILY, "_bucket", key, &[function, ("le", &le)]);
                    self.integer(below[edge]);
                }
                self.begin(FAMILY, "_bucket", key, &[function, ("le", "+Inf")]);
                self.integer(all);
                self.begin(FAMILY, "_count", key, &[function]);
                self.integer(all);
                self.begin(FAMILY, "_sum", key, &[function]);
                self.seconds(amounts.latency_sum_ns());
            }
        }
    }

    fn other_families(&mut self, accounts: &BTreeMap<AccountKey, Account>, agent: &AgentState) {
        type Gauge = (
            &'static str,
            &'static str,
            &'static str,
            fn(&Account, u64) -> Option<String>,
        );
        const GAUGES: [Gauge; 5] = [
            (
                "tickscope_cost_ratio",
                "ratio",
                "The share of the time in scopes that measuring takes, at most; of several processes the largest.",
                |account, _| account.now.cost_ratio.map(float),
            ),
            (
                "tickscope_up",
                "",
                "1 while a process of the program runs, else 0.",
                |account, _| Some(u64::from(account.now.running > 0).to_string()),
            ),
            (
                "tickscope_processes",
                "",
                "Processes of the program that run.",
                |account, _| Some(account.now.running.to_string()),
            ),
            (
                "tickscope_record_age_seconds",
                "seconds",
                "Age of the newest record of a process that runs; of several processes the oldest.",
                |account, unix_ns| {
                    let then = account.now.oldest_unix_ns?;
                    Some(decimal(unix_ns.saturating_sub(then)))
                },
            ),
            (
                "tickscope_without_series",
                "",
                "Functions, counters and groups without a separate series.",
                |account, _| Some(account.without_series().to_string()),
            ),
        ];
        for (family, unit, help, value) in GAUGES {
            self.family(family, "gauge", unit, help);
            for (key, account) in accounts {
                if let Some(value) = value(account, agent.unix_ns) {
                    self.begin(family, "", key, &[]);
                    self.end(&value);
                }
            }
        }
        self.family(
            "tickscope_unclosed_resets",
            "counter",
            "",
            "Resets whose last numbers were overwritten before they were read: a part of the counts is missing.",
        );
        for (key, account) in accounts {
            self.begin("tickscope_unclosed_resets", "_total", key, &[]);
            self.integer(account.unclosed);
        }
        let of_agent = [
            (
                "tickscope_unreadable_rings",
                "Ring files that cannot be read; tickscope list says why.",
                agent.unreadable_rings,
            ),
            (
                "tickscope_programs_left_out",
                "Programs beyond the limit of programs, which have no series.",
                agent.programs_left_out,
            ),
        ];
        for (family, help, value) in of_agent {
            self.family(family, "gauge", "", help);
            self.out += family;
            self.out.push(' ');
            self.integer(value);
        }
        self.family(
            "tickscope_agent_cpu_seconds",
            "counter",
            "seconds",
            "CPU time of the process that serves these metrics.",
        );
        self.out += "tickscope_agent_cpu_seconds_total ";
        self.seconds(agent.cpu_ns);
    }

    fn family(&mut self, family: &str, kind: &str, unit: &str, help: &str) {
        // In the older format, the name of a counter's family includes the suffix of its samples.
        let suffix = match (self.style, kind) {
            (Style::Text, "counter") => "_total",
            _ => "",
        };
        let _ = writeln!(self.out, "# HELP {family}{suffix} {help}");
        let _ = writeln!(self.out, "# TYPE {family}{suffix} {kind}");
        if self.style == Style::OpenMetrics && !unit.is_empty() {
            let _ = writeln!(self.out, "# UNIT {family} {unit}");
        }
    }

    fn begin(&mut self, family: &str, suffix: &str, key: &AccountKey, labels: &[(&str, &str)]) {
        let _ = write!(
            self.out,
            "{family}{suffix}{{program=\"{}\"",
            escaped(&key.program)
        );
        if let Some(pid) = key.pid {
            let _ = write!(self.out, ",pid=\"{pid}\"");
        }
        for (label, value) in labels {
            let _ = write!(self.out, ",{label}=\"{}\"", escaped(value));
        }
        self.out += "} ";
    }

    fn integer(&mut self, value: u64) {
        let _ = writeln!(self.out, "{value}");
    }

    fn seconds(&mut self, ns: u64) {
        self.end(&decimal(ns));
    }

    fn end(&mut self, value: &str) {
        self.out += value;
        self.out.push('\n');
    }
}

fn exported(account: &Account, kind: ItemKind) -> impl Iterator<Item = (&str, Amounts)> {
    let items = account.items(kind);
    items.filter_map(|item| Some((item.name.as_str(), item.exported()?)))
}

/// Formats nanoseconds as seconds, without rounding.
fn decimal(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    let text = text.trim_end_matches('0');
    match text.strip_suffix('.') {
        Some(whole) => format!("{whole}.0"),
        None => text.to_owned(),
    }
}

/// Formats a number as Go and Python do, so that an edge has the same label for every reader.
fn float(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-4 {
        let text = format!("{value:e}");
        return match text.split_once("e-") {
            Some((digits, exponent)) => format!("{digits}e-{exponent:0>2}"),
            None => text,
        };
    }
    format!("{value:?}")
}

/// Escapes the value of a label. [`label`](crate::account::label) has already escaped control characters.
fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '"']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;
    use tickscope_format::Snapshot;
    use tickscope_testkit::fixture;
    use tickscope_testkit::fixture::programs;
    use tickscope_testkit::fixture::programs::any_snapshot;
    use tickscope_testkit::open_metrics::Metrics;

    use super::*;
    use crate::account::{AccountOptions, Now, RunNames};
    use crate::run_sums::RunSums;

    const OPTIONS: AccountOptions = AccountOptions {
        top: 3,
        grouped: false,
        latency: true,
    };

    /// Returns the accounts that result from these runs, each given as the program's name and a snapshot.
    fn accounts(runs: &[(&str, Snapshot)]) -> BTreeMap<AccountKey, Account> {
        let mut accounts: BTreeMap<AccountKey, Account> = BTreeMap::new();
        for (program, snapshot) in runs {
            let key = AccountKey {
                program: (*program).to_owned(),
                pid: None,
            };
            let account = accounts.entry(key).or_default();
            account.take(
                snapshot,
                &mut RunSums::default(),
                &mut RunNames::default(),
                &OPTIONS,
            );
            account.now = Now {
                running: account.now.running + 1,
                cost_ratio: Some(0.0125),
                oldest_unix_ns: Some(1_000_000_000),
            };
        }
        accounts
    }

    fn state() -> AgentState {
        AgentState {
            unreadable_rings: 1,
            programs_left_out: 0,
            cpu_ns: 2_500_000,
            unix_ns: 1_250_000_000,
        }
    }

    #[test]
    fn the_text_of_two_programs() {
        let mut accounts = accounts(&[
            ("order-sim", programs::order_sim_in_groups()),
            ("order-sim", programs::order_sim_with_latencies()),
            ("que\"ries\\", programs::queries()),
            ("waits", fixture::waiting()),
            ("allocates", fixture::allocating()),
        ]);
        for (key, account) in &mut accounts {
            if key.program == "waits" {
                account.now = Now::default();
            }
        }
        let text = exposition(&accounts, &state(), 4, Style::OpenMetrics);
        Metrics::parse(&text).unwrap();
        assert_snapshot!(text);
        let text = exposition(&accounts, &state(), 4, Style::Text);
        let metadata: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        assert_snapshot!("metadata_of_the_older_format", metadata.join("\n"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Checks with generated runs that the text conforms to the format, and that no number decreases when runs are
        /// added.
        #[test]
        fn the_rules_hold_and_nothing_falls(runs in prop::collection::vec((prop::sample::select(vec!["a", "b", "c\""]), any_snapshot()), 0..6)) {
            let before = exposition(&accounts(&runs[..runs.len() / 2]), &state(), 1, Style::OpenMetrics);
            let before = Metrics::parse(&before).unwrap();
            let after = exposition(&accounts(&runs), &state(), 1, Style::OpenMetrics);
            let after = Metrics::parse(&after).unwrap();
            after.check_not_below(&before).unwrap();
        }
    }

    #[test]
    fn numbers_are_exact_and_edges_are_written_as_go_writes_them() {
        assert_eq!(decimal(0), "0.0");
        assert_eq!(decimal(1_500_000_000), "1.5");
        assert_eq!(decimal(1), "0.000000001");
        assert_eq!(decimal(u64::MAX), "18446744073.709551615");
        let edges: Vec<String> = [0, 2, 9, 22].map(|edge| float(edge_ns(edge) as f64 / 1e9)).into();
        assert_eq!(edges, ["2.56e-07", "1.024e-06", "0.000131072", "1.073741824"]);
        assert_eq!(float(0.0), "0.0");
    }
}
