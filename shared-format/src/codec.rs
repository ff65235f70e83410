//! Encodes a snapshot as bytes and decodes it, with limits on what decoding may allocate.
//!
//! A payload is a list of sections, in any order:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | section id |
//! | 8 | length of the body in bytes |
//! | length | body: bincode, fixed-width little-endian integers |
//!
//! A record of the coarse ring has sites and nodes in more compact sections, and no latencies.
//!
//! Readers skip unknown sections and use defaults for missing ones, so that old and new versions understand each other.
//! New data gets a new section; the body of an existing section never changes.

mod lines;
mod measures;
mod section;
mod small;
mod tallies;
mod waits_in;
mod watches;

use bincode::config::Config;
use bincode::{Decode, Encode};

use self::lines::{LinesIn, LinesOut};
use self::measures::{MeasuresIn, MeasuresOut};
use self::section::{CONFIG, Coded, read, read_as, section, section_as, word};
use self::tallies::{Gauges, Values, put_in, taken_out};
use self::waits_in::{WaitsInIn, WaitsInOut};
use self::watches::{WatchIn, WatchOut};
use crate::addresses::Addresses;
use crate::error::FormatError;
use crate::ids::{NO_PARENT, NodeId, SiteId};
use crate::latency::{Latencies, packed};
use crate::snapshot::{
    CaptureInfo, ClockInfo, Count, Estimate, Extremes, Lifetime, Lines, Measuring, NodeErrors, Nodes,
    OverBudget, Process, SeenCost, Sites, Snapshot, TaskPath, Tasks, Thread, WATCHES_MAX,
};

pub(crate) use self::section::section_at;

const INFO: u64 = 1;
const THREADS: u64 = 2;
const SITES: u64 = 3;
const NODES: u64 = 4;
const ERRORS: u64 = 5;
const MEASURING: u64 = 6;
const ESTIMATES: u64 = 8;
// 7 was histograms, three times as long.
const LATENCIES: u64 = 9;
const SMALL_SITES: u64 = 10;
const SMALL_NODES: u64 = 11;
const COUNTS: u64 = 12;
const WINDOW: u64 = 13;
const MEASURES: u64 = 14;
const WAITS: u64 = 15;
const WAITS_IN: u64 = 16;
const ASYNC_LATENCIES: u64 = 17;
const VALUES: u64 = 18;
const GAUGES: u64 = 19;
const TASKS: u64 = 21;
const FUNCTIONS: u64 = 22;
const WATCHES: u64 = 23;
// 24 was samples of the code by function, without rows.
const DRAINS: u64 = 25;
// 26 was what the clock cost, as measured in the program, and 27 scopes that were muted.
const SEEN_COST: u64 = 28;
const COPIES: u64 = 29;
const LINES: u64 = 30;
const WAS_OFF: u64 = 32;
/// Only in recordings, where each record names what is new to them.
const ADDRESSES: u64 = 31;
// From 64 on they are those of records in a series (`series/stored.rs`).

#[derive(Encode)]
struct InfoOut<'a>(ProcessOut<'a>, &'a ClockInfo, &'a CaptureInfo, Lifetime);

#[derive(Decode)]
struct InfoIn(ProcessIn, ClockInfo, CaptureInfo, Lifetime);

/// Name, pid, start, uptime and warnings.
#[derive(Encode)]
struct ProcessOut<'a>(&'a str, u32, u64, u64, &'a [String]);

#[derive(Decode)]
struct ProcessIn(String, u32, u64, u64, Vec<String>);

#[derive(Encode)]
struct NodesOut<'a>(&'a [u32], &'a [u32], &'a [u64], &'a [u64]);

#[derive(Decode)]
struct NodesIn(Vec<u32>, Vec<u32>, Vec<u64>, Vec<u64>);

#[derive(Encode)]
struct LatenciesOut<'a>(&'a [u32], &'a [u32], &'a [u8]);

#[derive(Decode)]
struct LatenciesIn(Vec<u32>, Vec<u32>, Vec<u8>);

#[derive(Encode)]
struct TasksOut<'a>(&'a [TaskPath], LatenciesOut<'a>, u64);

#[derive(Decode)]
struct TasksIn(Vec<TaskPath>, LatenciesIn, u64);

/// What only records of the fine ring have.
struct Fine<'a> {
    latencies: &'a Latencies,
    async_latencies: &'a Latencies,
    tasks: &'a Tasks,
    lines: &'a Lines,
}

impl<'a> LatenciesOut<'a> {
    fn new(Latencies { row, end, packed }: &'a Latencies) -> Self {
        Self(row, end, packed)
    }
}

impl LatenciesIn {
    fn latencies(self) -> Latencies {
        let Self(row, end, packed) = self;
        Latencies { row, end, packed }
    }
}

/// Appends the payload of a snapshot to `out`.
///
/// # Errors
/// [`FormatError::TooLarge`] if a section exceeds what a reader accepts.
pub fn encode(snapshot: &Snapshot, out: &mut Vec<u8>) -> Result<(), FormatError> {
    if snapshot.value_rows.is_empty() {
        return encode_all(snapshot, &snapshot.latencies, Latencies::default(), out);
    }
    // Readers that do not know of values refuse counters with a histogram.
    let (latencies, of_values) = taken_out(&snapshot.latencies, &snapshot.value_rows);
    encode_all(snapshot, &latencies, of_values, out)
}

fn encode_all(
    snapshot: &Snapshot,
    latencies: &Latencies,
    of_values: Latencies,
    out: &mut Vec<u8>,
) -> Result<(), FormatError> {
    let fine = Fine {
        latencies,
        async_latencies: &snapshot.async_latencies,
        tasks: &snapshot.tasks,
        lines: &snapshot.lines,
    };
    encode_around(snapshot, Some(fine), of_values, out, |out| {
        let nodes = &snapshot.nodes;
        section(out, SITES, &snapshot.sites)?;
        section(
            out,
            NODES,
            &NodesOut(&nodes.parent, &nodes.site, &nodes.calls, &nodes.self_ticks),
        )
    })
}

/// Appends the payload for a record of the coarse ring: compact, and without latencies.
///
/// # Errors
/// As [`encode`].
pub fn encode_small(snapshot: &Snapshot, out: &mut Vec<u8>) -> Result<(), FormatError> {
    encode_around(snapshot, None, Latencies::default(), out, |out| {
        let (sites, nodes) = (
            small::SitesOut::new(&snapshot.sites),
            small::NodesOut::new(&snapshot.nodes),
        );
        section_as(out, SMALL_SITES, &sites, small::CONFIG)?;
        section_as(out, SMALL_NODES, &nodes, small::CONFIG)
    })
}

/// Appends everything, sites and nodes in the form that `columns` gives them.
fn encode_around(
    snapshot: &Snapshot,
    fine: Option<Fine<'_>>,
    of_values: Latencies,
    out: &mut Vec<u8>,
    columns: impl FnOnce(&mut Vec<u8>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let Snapshot {
        process,
        clock,
        capture,
        lifetime,
        threads,
        sites: _,
        nodes: _,
        errors,
        measuring,
        latencies: _,
        async_latencies: _,
        tasks: _,
        estimates,
        counts,
        value_rows,
        gauge_rows,
        measures,
        waits,
        waits_in,
        functions,
        was_off,
        watches,
        lines: _,
        drains_ns,
        seen_cost,
        window,
        // Only a view has other values in the place of time.
        values: _,
    } = snapshot;
    let Process {
        name,
        pid,
        started_unix_ns,
        uptime_ns,
        warnings,
        copies,
    } = process;
    let process = ProcessOut(name, *pid, *started_unix_ns, *uptime_ns, warnings);
    section(out, INFO, &InfoOut(process, clock, capture, *lifetime))?;
    if !copies.is_empty() {
        section(out, COPIES, copies)?;
    }
    section(out, THREADS, threads)?;
    columns(out)?;
    if !errors.is_empty() {
        section(out, ERRORS, errors)?;
    }
    section(out, MEASURING, measuring)?;
    let is_fine = fine.is_some();
    if let Some(fine) = fine {
        for (id, latencies) in [
            (LATENCIES, fine.latencies),
            (ASYNC_LATENCIES, fine.async_latencies),
        ] {
            if !latencies.row.is_empty() {
                section(out, id, &LatenciesOut::new(latencies))?;
            }
        }
        if !fine.tasks.is_empty() {
            let Tasks { paths, ages, beyond } = fine.tasks;
            section(out, TASKS, &TasksOut(paths, LatenciesOut::new(ages), *beyond))?;
        }
        if !fine.lines.is_empty() {
            section_as(out, LINES, &LinesOut::new(fine.lines), small::CONFIG)?;
        }
    }
    if !estimates.is_empty() {
        section(out, ESTIMATES, estimates)?;
    }
    if !counts.is_empty() {
        section(out, COUNTS, counts)?;
    }
    if !value_rows.is_empty() {
        section_as(out, VALUES, &Values::new(value_rows, of_values), small::CONFIG)?;
    }
    if !gauge_rows.is_empty() {
        section_as(out, GAUGES, &Gauges::new(gauge_rows), small::CONFIG)?;
    }
    if !measures.is_empty() {
        section_as(out, MEASURES, &MeasuresOut::new(measures), small::CONFIG)?;
    }
    if *waits {
        section(out, WAITS, waits)?;
    }
    if let Some(ns) = drains_ns {
        section(out, DRAINS, ns)?;
    }
    if let Some(seen_cost) = seen_cost {
        section(out, SEEN_COST, seen_cost)?;
    }
    if !waits_in.is_empty() {
        section_as(out, WAITS_IN, &WaitsInOut::new(waits_in), small::CONFIG)?;
    }
    if let Some(functions) = functions {
        section(out, FUNCTIONS, functions)?;
    }
    if !was_off.is_empty() {
        section(out, WAS_OFF, was_off)?;
    }
    if !watches.is_empty() {
        let watches: Vec<_> = watches
            .iter()
            .map(|watch| WatchOut::new(watch, is_fine))
            .collect();
        section_as(out, WATCHES, &watches, small::CONFIG)?;
    }
    if *window {
        section(out, WINDOW, window)?;
    }
    Ok(())
}

/// Decodes a payload. Every index in the result is valid.
///
/// # Errors
/// [`FormatError::Truncated`] or [`FormatError::Damaged`], with the offset.
pub fn decode(bytes: &[u8]) -> Result<Snapshot, FormatError> {
    decode_with(bytes, read)
}

/// Decodes the payloads of one program. Snapshots with equal sites share them.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The section read last, and what it says.
    sites: Option<(Box<[u8]>, Sites)>,
}

impl Decoder {
    /// Decodes a payload. Every index in the result is valid.
    ///
    /// # Errors
    /// As [`decode`].
    pub fn decode(&mut self, bytes: &[u8]) -> Result<Snapshot, FormatError> {
        decode_with(bytes, |body, at| self.sites(body, at))
    }

    fn sites(&mut self, body: &[u8], at: usize) -> Result<Sites, FormatError> {
        if let Some((known, sites)) = &self.sites
            && known[..] == *body
        {
            return Ok(sites.clone());
        }
        let sites: Sites = read(body, at)?;
        self.sites = Some((body.into(), sites.clone()));
        Ok(sites)
    }
}

fn decode_with(
    bytes: &[u8],
    mut sites: impl FnMut(&[u8], usize) -> Result<Sites, FormatError>,
) -> Result<Snapshot, FormatError> {
    let mut snapshot = Snapshot::default();
    let mut of_values = Latencies::default();
    let mut at = 0usize;
    while at < bytes.len() {
        let (id, body) = section_at(bytes, at)?;
        let body_at = at + 16;
        match id {
            INFO => {
                let InfoIn(process, clock, capture, lifetime) = read(body, body_at)?;
                let ProcessIn(name, pid, started_unix_ns, uptime_ns, warnings) = process;
                snapshot.process = Process {
                    name,
                    pid,
                    started_unix_ns,
                    uptime_ns,
                    warnings,
                    copies: snapshot.process.copies,
                };
                snapshot.clock = clock;
                snapshot.capture = capture;
                snapshot.lifetime = lifetime;
            }
            COPIES => snapshot.process.copies = read::<Vec<String>>(body, body_at)?,
            THREADS => snapshot.threads = read::<Vec<Thread>>(body, body_at)?,
            SITES => snapshot.sites = sites(body, body_at)?,
            NODES => {
                let NodesIn(parent, site, calls, self_ticks) = read(body, body_at)?;
                snapshot.nodes = Nodes {
                    parent,
                    site,
                    calls,
                    self_ticks,
                };
            }
            ERRORS => snapshot.errors = read::<Vec<NodeErrors>>(body, body_at)?,
            MEASURING => snapshot.measuring = read::<Measuring>(body, body_at)?,
            LATENCIES => snapshot.latencies = read::<LatenciesIn>(body, body_at)?.latencies(),
            ASYNC_LATENCIES => snapshot.async_latencies = read::<LatenciesIn>(body, body_at)?.latencies(),
            TASKS => {
                let TasksIn(paths, ages, beyond) = read(body, body_at)?;
                snapshot.tasks = Tasks {
                    paths,
                    ages: ages.latencies(),
                    beyond,
                };
            }
            ESTIMATES => snapshot.estimates = read::<Vec<Estimate>>(body, body_at)?,
            COUNTS => snapshot.counts = read::<Vec<Count>>(body, body_at)?,
            VALUES => {
                let values = read_as::<Values, _>(body, body_at, small::CONFIG)?;
                (snapshot.value_rows, of_values) = values.rows(body_at)?;
            }
            GAUGES => {
                snapshot.gauge_rows = read_as::<Gauges, _>(body, body_at, small::CONFIG)?.rows(body_at)?;
            }
            MEASURES => {
                snapshot.measures = read_as::<MeasuresIn, _>(body, body_at, small::CONFIG)?.measures();
            }
            WAITS => snapshot.waits = read::<bool>(body, body_at)?,
            WAITS_IN => {
                snapshot.waits_in = read_as::<WaitsInIn, _>(body, body_at, small::CONFIG)?.waits_in();
            }
            FUNCTIONS => snapshot.functions = Some(read(body, body_at)?),
            WAS_OFF => snapshot.was_off = read::<Vec<SiteId>>(body, body_at)?,
            WATCHES => {
                let watches = read_as::<Vec<WatchIn>, _>(body, body_at, small::CONFIG)?;
                snapshot.watches = watches.into_iter().map(WatchIn::watch).collect();
            }
            LINES => {
                snapshot.lines = read_as::<LinesIn, _>(body, body_at, small::CONFIG)?.lines();
            }
            DRAINS => snapshot.drains_ns = Some(read::<f64>(body, body_at)?),
            SEEN_COST => snapshot.seen_cost = Some(read::<SeenCost>(body, body_at)?),
            WINDOW => snapshot.window = read::<bool>(body, body_at)?,
            SMALL_SITES => {
                snapshot.sites = read_as::<small::SitesIn, _>(body, body_at, small::CONFIG)?
                    .sites(body_at)?
                    .into();
            }
            SMALL_NODES => {
                snapshot.nodes = read_as::<small::NodesIn, _>(body, body_at, small::CONFIG)?.nodes();
            }
            _ => {}
        }
        at = body_at + body.len();
    }
    // Earlier versions did not check them.
    let sites = snapshot.sites.len();
    if let Some(functions) = &mut snapshot.functions {
        functions.over_budget.retain(|over| over.site.index() < sites);
    }
    if !of_values.row.is_empty() {
        let rows = snapshot.nodes.len();
        check_latencies(&snapshot.latencies, rows)?;
        check_latencies(&of_values, rows)?;
        snapshot.latencies = put_in(snapshot.latencies, &of_values);
    }
    check(&snapshot)?;
    Ok(snapshot)
}

/// Splits a payload into the sections before the sites and the section of sites. Both in a row are a payload again.
/// Sites rarely change, so payloads in memory can share them.
///
/// # Errors
/// [`FormatError::Truncated`], with the offset.
pub fn split_sites(payload: &[u8]) -> Result<(Vec<u8>, Vec<u8>), FormatError> {
    let (mut others, mut sites): (Vec<&[u8]>, Vec<&[u8]>) = (Vec::new(), Vec::new());
    let mut at = 0usize;
    while at < payload.len() {
        let end = usize::try_from(word(payload, at + 8)?)
            .ok()
            .and_then(|length| at.checked_add(16)?.checked_add(length));
        let Some(section) = end.and_then(|end| payload.get(at..end)) else {
            return Err(FormatError::Truncated {
                found: payload.len() as u64,
                wanted: end.map_or(u64::MAX, |end| end as u64),
            });
        };
        match word(payload, at)? {
            SITES => sites.push(section),
            _ => others.push(section),
        }
        at += section.len();
    }
    // No longer than they are: what is kept for long must not have been cut from something larger.
    Ok((others.concat(), sites.concat()))
}

/// Decodes only the capture info of a payload.
///
/// # Errors
/// As [`decode`].
pub fn capture(payload: &[u8]) -> Result<CaptureInfo, FormatError> {
    let info: Option<InfoIn> = alone(payload, INFO, CONFIG)?;
    Ok(info.map_or_else(CaptureInfo::default, |InfoIn(_, _, capture, _)| capture))
}

/// Decodes only which other copies of the collector there are in the process.
///
/// # Errors
/// As [`decode`].
pub fn copies(payload: &[u8]) -> Result<Vec<String>, FormatError> {
    Ok(alone(payload, COPIES, CONFIG)?.unwrap_or_default())
}

/// Decodes only the samples of the program counter. Whether their rows and modules are there is not checked.
///
/// # Errors
/// As [`decode`].
pub fn lines(payload: &[u8]) -> Result<Lines, FormatError> {
    let lines: Option<LinesIn> = alone(payload, LINES, small::CONFIG)?;
    Ok(lines.map_or_else(Lines::default, LinesIn::lines))
}

/// Encodes addresses as a section.
#[cfg(feature = "deflate")]
pub(crate) fn of_addresses(addresses: &Addresses) -> Result<Vec<u8>, FormatError> {
    let mut out = Vec::new();
    section(&mut out, ADDRESSES, addresses)?;
    Ok(out)
}

/// Decodes a section of addresses.
pub(crate) fn addresses(encoded: &[u8]) -> Result<Addresses, FormatError> {
    Ok(alone(encoded, ADDRESSES, CONFIG)?.unwrap_or_default())
}

/// Decodes one section of a payload, if it is there.
fn alone<T: Decode<()>, I>(payload: &[u8], wanted: u64, config: Coded<I>) -> Result<Option<T>, FormatError>
where
    Coded<I>: Config,
{
    let mut at = 0;
    while at < payload.len() {
        let (id, body) = section_at(payload, at)?;
        if id == wanted {
            return read_as(body, at + 16, config).map(Some);
        }
        at += 16 + body.len();
    }
    Ok(None)
}

/// Checks what later code relies on: columns of one length, parents before children and in the same thread,
/// thread ranges side by side, sites and open frames that exist, a usable clock.
pub(crate) fn check(s: &Snapshot) -> Result<(), FormatError> {
    let damaged = |what: &'static str, row: usize, found: String, wanted: String| {
        Err(FormatError::Damaged {
            what,
            offset: row as u64,
            found,
            wanted,
        })
    };
    let rows = s.nodes.len();
    for (what, length) in [
        ("site column", s.nodes.site.len()),
        ("calls column", s.nodes.calls.len()),
        ("ticks column", s.nodes.self_ticks.len()),
    ] {
        if length != rows {
            return damaged(what, 0, format!("{length} rows"), format!("{rows} rows"));
        }
    }
    let tps = s.clock.ticks_per_second;
    if !(tps.is_finite() && tps > 0.0) {
        return damaged(
            "ticks per second",
            0,
            tps.to_string(),
            "a finite number above 0".into(),
        );
    }
    let mut next = 0usize;
    for (index, thread) in s.threads.iter().enumerate() {
        let first = thread.first_row as usize;
        let end = first + thread.rows as usize;
        if first != next || end > rows {
            return damaged(
                "thread rows",
                index,
                format!("{first}..{end}"),
                format!("{next}..={rows}"),
            );
        }
        for row in first..end {
            let parent = s.nodes.parent[row];
            if parent != NO_PARENT && !(first..row).contains(&(parent as usize)) {
                return damaged(
                    "parent",
                    row,
                    parent.to_string(),
                    format!("{first}..{row} or none"),
                );
            }
        }
        for frame in &thread.open {
            if !(first..end).contains(&frame.node.index()) {
                return damaged(
                    "open frame",
                    index,
                    frame.node.0.to_string(),
                    format!("{first}..{end}"),
                );
            }
        }
        next = end;
    }
    if next != rows {
        return damaged(
            "thread rows",
            s.threads.len(),
            format!("{next} rows"),
            format!("{rows} rows"),
        );
    }
    if let Some(row) = s
        .nodes
        .site
        .iter()
        .position(|&site| site as usize >= s.sites.len())
    {
        let site = s.nodes.site[row];
        return damaged("site", row, site.to_string(), format!("below {}", s.sites.len()));
    }
    check_rows("clock errors", s.errors.iter().map(|error| error.node.0), rows)?;
    if let Some(site) = s.counted_in_part().find(|site| site.index() >= s.sites.len()) {
        return damaged(
            "site switched off",
            0,
            site.0.to_string(),
            format!("below {}", s.sites.len()),
        );
    }
    let is_wrong = |over: &OverBudget| {
        let is_sound = |number: f64| number.is_finite() && number >= 0.0;
        !(is_sound(over.mean_ns) && is_sound(over.cost_share))
    };
    if let Some(at) = s.over_budget().iter().position(is_wrong) {
        return damaged(
            "function over the budget",
            at,
            format!("{:?}", s.over_budget()[at]),
            "numbers of 0 or more".into(),
        );
    }
    if let Some(ns) = s.drains_ns.filter(|ns| !ns.is_finite() || *ns < 0.0) {
        return damaged(
            "time of loads that the clock parts",
            0,
            ns.to_string(),
            "0 or more".into(),
        );
    }
    if s.seen_cost.is_some_and(|seen| !seen.is_sound()) {
        return damaged(
            "cost that was measured",
            0,
            "a number that is none".into(),
            "0 or more".into(),
        );
    }
    if !s.measuring.sampling_hz.is_finite() {
        return damaged(
            "sampling rate",
            0,
            s.measuring.sampling_hz.to_string(),
            "a finite number".into(),
        );
    }
    check_latencies(&s.latencies, rows)?;
    check_latencies(&s.async_latencies, rows)?;
    check_tasks(s)?;
    check_watches(s)?;
    if let Some(found) = s.lines.fault(rows, s.threads.len()) {
        return damaged(
            "samples of the code",
            0,
            found.into(),
            "samples that fit together".into(),
        );
    }
    let estimated = s.estimates.iter().map(|estimate| estimate.node.0);
    check_rows("estimates", estimated, rows)?;
    check_counts(s)?;
    check_tallies(s)?;
    check_measures(s)?;
    if let Some(found) = s.waits_in.fault(rows, s.threads.len()) {
        return damaged(
            "waits in calls",
            0,
            found.into(),
            "rising rows, threads and names that exist, with a sum of 64 bits".into(),
        );
    }
    // Sums of a hostile file must not overflow what every reader adds up.
    let mut longest_ns = 0;
    for (what, sum) in [
        ("calls", sum(s.nodes.calls.iter().copied())),
        ("clock errors", sum(s.errors.iter().map(|error| error.count))),
        ("threads", sum(s.threads.iter().map(|thread| thread.count))),
        (
            "ticks outside",
            sum(s.threads.iter().map(|thread| thread.outside_ticks)),
        ),
        ("ticks", sum(s.nodes.self_ticks.iter().copied())),
    ] {
        let Some(sum) = sum else {
            return damaged(
                what,
                0,
                "a sum beyond 64 bits".into(),
                "a sum of at most 64 bits".into(),
            );
        };
        if what.starts_with("ticks") {
            longest_ns = s.nanos(sum).max(longest_ns);
        }
    }
    if longest_ns >= u64::MAX / 4 {
        return damaged(
            "ticks",
            0,
            "over 146 years".into(),
            "a time that programs run".into(),
        );
    }
    Ok(())
}

/// Checks that each row of a column stands behind those before it, and exists.
fn check_rows(
    what: &'static str,
    mut of_column: impl DoubleEndedIterator<Item = u32> + Clone,
    rows: usize,
) -> Result<(), FormatError> {
    let rises = of_column.clone().is_sorted_by(|a, b| a < b);
    match rises && of_column.next_back().is_none_or(|last| (last as usize) < rows) {
        true => Ok(()),
        false => Err(FormatError::Damaged {
            what,
            offset: 0,
            found: "rows out of order or out of range".into(),
            wanted: format!("rows that rise and are below {rows}"),
        }),
    }
}

/// Checks that counters are existing rows without what a counter never has: time, children, open calls, and latencies
/// where it is no value.
fn check_counts(s: &Snapshot) -> Result<(), FormatError> {
    let damaged = |found: &str, wanted: &str| {
        Err(FormatError::Damaged {
            what: "counters",
            offset: 0,
            found: found.into(),
            wanted: wanted.into(),
        })
    };
    if s.counts.is_empty() {
        return Ok(());
    }
    let counters = s.counts.iter().map(|count| count.node.0);
    check_rows("counters", counters, s.nodes.len())?;
    let sums = s.sums();
    let is_counter = |row: u32| sums.get(row as usize).is_some_and(Option::is_some);
    let timed = |count: &Count| s.nodes.self_ticks[count.node.index()] > 0;
    let mut open = s.threads.iter().flat_map(|thread| &thread.open);
    if s.counts.iter().any(timed)
        || s.nodes.parent.iter().any(|&parent| is_counter(parent))
        || open.any(|frame| is_counter(frame.node.0))
        || s.latencies
            .row
            .iter()
            .any(|&row| is_counter(row) && !s.is_value(NodeId(row)))
        || s.estimates.iter().any(|estimate| is_counter(estimate.node.0))
    {
        return damaged(
            "a counter with time or with rows below it",
            "calls and a sum alone",
        );
    }
    Ok(())
}

/// Checks that values and gauges are counters, none of them both, and that no smallest number is above the largest.
fn check_tallies(s: &Snapshot) -> Result<(), FormatError> {
    fn fits<T: PartialOrd>(range: Option<&Extremes<T>>) -> bool {
        range.is_none_or(|range| range.min <= range.max)
    }
    let values = || s.value_rows.iter().map(|row| row.node);
    let gauges = || s.gauge_rows.iter().map(|row| row.node);
    let found = if !values().is_sorted_by(|a, b| a < b) || !gauges().is_sorted_by(|a, b| a < b) {
        "rows out of order"
    } else if values().chain(gauges()).any(|row| s.sum_of(row).is_none()) {
        "rows that are no counters"
    } else if gauges().any(|row| s.is_value(row)) {
        "a row that is both"
    } else if !s.value_rows.iter().all(|row| fits(row.range.as_ref()))
        || !s
            .gauge_rows
            .iter()
            .all(|row| fits(row.level.map(|level| level.range).as_ref()))
    {
        "a smallest number above the largest"
    } else {
        return Ok(());
    };
    Err(FormatError::Damaged {
        what: "values and gauges",
        offset: 0,
        found: found.into(),
        wanted: "rising counters, each with its range".into(),
    })
}

/// Checks that values are those of existing rows and threads, in order, and none of them 0.
fn check_measures(s: &Snapshot) -> Result<(), FormatError> {
    let fits = |values: &[(u32, u64)], length: usize| {
        values.is_sorted_by(|a, b| a.0 < b.0)
            && values.last().is_none_or(|&(index, _)| (index as usize) < length)
            && values.iter().all(|&(_, value)| value > 0)
    };
    for (quantity, column) in s.measures.iter() {
        let all = || column.rows.iter().chain(&column.outside).map(|&(_, value)| value);
        let found = if !fits(&column.rows, s.nodes.len()) || !fits(&column.outside, s.threads.len()) {
            "values out of order, out of range or 0"
        } else if sum(all()).is_none() {
            "a sum beyond 64 bits"
        } else {
            continue;
        };
        return Err(FormatError::Damaged {
            what: quantity.name(),
            offset: 0,
            found: found.into(),
            wanted: "rising rows and threads that exist, with a sum of 64 bits".into(),
        });
    }
    Ok(())
}

/// Checks that paths stand behind their parents, name sites, and have sums of 64 bits.
fn check_tasks(s: &Snapshot) -> Result<(), FormatError> {
    let Tasks { paths, ages, beyond } = &s.tasks;
    let damaged = |offset: usize, found: String, wanted: String| {
        Err(FormatError::Damaged {
            what: "futures in flight",
            offset: offset as u64,
            found,
            wanted,
        })
    };
    for (index, path) in paths.iter().enumerate() {
        if path.parent != NO_PARENT && path.parent as usize >= index {
            return damaged(
                index,
                format!("parent {}", path.parent),
                format!("below {index} or none"),
            );
        }
        if path.site.0 as usize >= s.sites.len() {
            return damaged(
                index,
                format!("site {}", path.site.0),
                format!("below {}", s.sites.len()),
            );
        }
        if path.innermost > path.in_flight || path.polled > path.in_flight {
            return damaged(
                index,
                "a part above the whole".into(),
                "at most all in flight".into(),
            );
        }
    }
    if sum(paths.iter().map(|path| path.in_flight).chain([*beyond])).is_none() {
        return damaged(
            0,
            "a sum beyond 64 bits".into(),
            "a sum of at most 64 bits".into(),
        );
    }
    check_latencies(ages, paths.len())
}

/// Checks that no more functions are watched than can be, and that what is known of each fits together.
fn check_watches(s: &Snapshot) -> Result<(), FormatError> {
    let damaged = |index: usize, found: String, wanted: String| {
        Err(FormatError::Damaged {
            what: "watched functions",
            offset: index as u64,
            found,
            wanted,
        })
    };
    if s.watches.len() > WATCHES_MAX {
        return damaged(
            WATCHES_MAX,
            s.watches.len().to_string(),
            format!("at most {WATCHES_MAX}"),
        );
    }
    for (index, watch) in s.watches.iter().enumerate() {
        if let Some(found) = watch.fault(s.sites.len()) {
            return damaged(
                index,
                found.into(),
                "paths, causes and calls that fit together".into(),
            );
        }
    }
    Ok(())
}

fn sum(mut numbers: impl Iterator<Item = u64>) -> Option<u64> {
    numbers.try_fold(0u64, u64::checked_add)
}

/// Checks the columns of histograms: of one length, rows rising and there, each histogram one.
fn check_latencies(latencies: &Latencies, rows: usize) -> Result<(), FormatError> {
    let Latencies { row, end, packed } = latencies;
    let damaged = |found: &str, wanted: &str| {
        Err(FormatError::Damaged {
            what: "histograms",
            offset: 0,
            found: found.into(),
            wanted: wanted.into(),
        })
    };
    if end.len() != row.len() {
        return damaged("columns of different lengths", "columns of one length");
    }
    check_rows("histograms", row.iter().copied(), rows)?;
    if end.last().map_or(0, |&end| end as usize) != packed.len() {
        return damaged("ends that do not fit", "the last end where the bytes end");
    }
    let mut begin = 0;
    for &end in end {
        let Some(bytes) = packed.get(begin..end as usize) else {
            return damaged("ends out of order", "ends that rise");
        };
        if packed::walk(bytes, |_, _| {}).is_none() {
            return damaged("bytes that are no histogram", "buckets that rise and exist");
        }
        begin = end as usize;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixture::{self, programs};
    use crate::ids::SiteId;
    use crate::latency::Histogram;
    use crate::snapshot::{
        CauseKind, Column, FunctionChoice, Note, OpenFrame, Quantity, Site, Tally, Trace, TraceGap, Watch,
    };

    fn encoded(snapshot: &Snapshot) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(snapshot, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn payloads_with_the_same_sites_share_them() {
        let (first, mut second) = (fixture::two_threads(), fixture::two_threads());
        second.nodes.calls[0] += 1;
        let mut decoder = Decoder::default();
        let shown = [&first, &second].map(|snapshot| decoder.decode(&encoded(snapshot)).unwrap());
        assert_eq!(shown, [first.clone(), second.clone()]);
        assert!(std::ptr::eq(&*shown[0].sites, &*shown[1].sites));
        second.sites[0].line += 1;
        assert_eq!(decoder.decode(&encoded(&second)).unwrap(), second);
        assert_eq!(shown[0], first, "what is shared is not written to");
    }

    #[test]
    fn a_snapshot_comes_back_as_it_was() {
        for snapshot in [
            Snapshot::default(),
            fixture::two_threads(),
            fixture::recursion(),
            fixture::slow_frames(),
            Snapshot {
                was_off: vec![SiteId(0)],
                ..fixture::over_budget()
            },
            programs::order_sim_counting(),
            programs::queries(),
        ] {
            assert_eq!(decode(&encoded(&snapshot)).unwrap(), snapshot);
        }
    }

    #[test]
    fn functions_stand_where_older_versions_look_for_them() {
        type Older = (
            (u32, u32, u64, u64, u64, u64, bool),
            (f64, f64, f64),
            Vec<(u32, f64, f64, bool)>,
            FunctionChoice,
        );
        let older: Older = (
            (7, 5, 9, 1, 2, 3, true),
            (0.05, 0.01, 31.5),
            vec![(1, 85.5, 0.25, true)],
            FunctionChoice::default(),
        );
        let mut written = Vec::new();
        section(&mut written, FUNCTIONS, &older).unwrap();
        let read = decode(&[encoded(&fixture::two_threads()), written.clone()].concat()).unwrap();
        let functions = read.functions.as_ref().unwrap();
        assert_eq!((functions.known, functions.on, functions.vanished), (7, 5, 3));
        let over = OverBudget {
            site: SiteId(1),
            mean_ns: 85.5,
            cost_share: 0.25,
            learned: true,
        };
        assert_eq!(read.over_budget(), [over]);
        let again = encoded(&read);
        assert!(again.windows(written.len()).any(|bytes| bytes == written));
    }

    /// Earlier versions told as well which scopes were muted, in a section of their own.
    #[test]
    fn a_program_whose_scopes_were_muted_opens() {
        #[derive(Encode)]
        enum Policy {
            On,
        }
        #[derive(Encode)]
        enum Reason {
            Budget { learned: bool },
            Asked,
        }
        let muted =
            [Reason::Asked, Reason::Budget { learned: true }].map(|reason| (1u32, reason, 55.0, 20.0, 0.04));
        let snapshot = fixture::over_budget();
        let mut bytes = Vec::new();
        section(&mut bytes, 27, &(Policy::On, Vec::from(muted))).unwrap();
        encode(&snapshot, &mut bytes).unwrap();
        assert_eq!(decode(&bytes).unwrap(), snapshot);
    }

    #[test]
    fn what_is_over_the_budget_is_of_a_site_that_exists_and_has_numbers() {
        let mut snapshot = fixture::over_budget();
        let over_budget = &mut snapshot.functions.as_mut().unwrap().over_budget;
        let first = over_budget[0];
        over_budget[1].site = SiteId(99);
        // Earlier versions did not check that.
        assert_eq!(decode(&encoded(&snapshot)).unwrap().over_budget(), [first]);
        for change in [
            |over: &mut OverBudget| over.mean_ns = f64::NAN,
            |over: &mut OverBudget| over.cost_share = -1.0,
        ] {
            let mut snapshot = fixture::over_budget();
            change(&mut snapshot.functions.as_mut().unwrap().over_budget[1]);
            let error = decode(&encoded(&snapshot)).unwrap_err().to_string();
            assert!(error.contains("function over the budget"), "{error}");
        }
    }

    #[test]
    fn a_window_comes_back_as_one_and_nothing_else_says_that_it_is_none() {
        let whole = fixture::two_threads();
        let window = Snapshot {
            window: true,
            ..whole.clone()
        };
        assert_eq!(decode(&encoded(&window)).unwrap(), window);
        let once_more = |window| {
            encoded(&Snapshot {
                window,
                ..whole.clone()
            })
            .len()
        };
        assert_eq!(once_more(true), once_more(false) + 17);
    }

    #[test]
    fn a_small_payload_says_the_same_but_latencies() {
        for mut snapshot in [
            Snapshot::default(),
            fixture::two_threads(),
            programs::order_sim_counting(),
            programs::queries(),
        ] {
            if !snapshot.nodes.is_empty() {
                let mut histogram = Histogram::default();
                histogram.insert(5);
                let mut latencies = Latencies::default();
                latencies.push(0, &histogram);
                snapshot.latencies = put_in(latencies, &snapshot.latencies);
            }
            let mut small = Vec::new();
            encode_small(&snapshot, &mut small).unwrap();
            assert!(small.len() <= encoded(&snapshot).len());
            snapshot.latencies = Latencies::default();
            assert_eq!(decode(&small).unwrap(), snapshot);
        }
    }

    #[test]
    fn a_text_that_is_not_there_or_too_often_is_refused() {
        let texts = |texts: &[&str], rows: Vec<[u32; 5]>| {
            let mut bytes = Vec::new();
            section_as(&mut bytes, SMALL_SITES, &(texts, rows), small::CONFIG).unwrap();
            decode(&bytes).map(|snapshot| snapshot.sites.len())
        };
        assert_eq!(texts(&["", "a"], vec![[1, 0, 0, 0, 7]]).unwrap(), 1);
        let error = texts(&["", "a"], vec![[2, 0, 0, 0, 7]]).unwrap_err().to_string();
        assert!(error.contains("text of a site"), "{error}");
        let long = "x".repeat(1 << 20);
        let error = texts(&["", &long], vec![[1, 0, 0, 0, 7]; 257])
            .unwrap_err()
            .to_string();
        assert!(error.contains("texts of sites"), "{error}");
    }

    #[test]
    fn without_its_sites_a_payload_is_the_rest_of_it() {
        let snapshot = fixture::two_threads();
        let payload = encoded(&snapshot);
        let (mut others, sites) = split_sites(&payload).unwrap();
        assert_eq!(others.len() + sites.len(), payload.len());
        assert!(sites.len() > 16 && others.len() > 16);
        others.extend(&sites);
        assert_eq!(decode(&others).unwrap(), snapshot);
        for cut in 1..payload.len() {
            if let Ok((others, sites)) = split_sites(&payload[..cut]) {
                assert_eq!(others.len() + sites.len(), cut, "cut between two sections");
            }
        }
        assert!(split_sites(&payload[..payload.len() - 1]).is_err());
    }

    #[test]
    fn unknown_sections_are_skipped() {
        let snapshot = fixture::two_threads();
        let mut bytes = Vec::new();
        // Two that only earlier versions wrote, and one of a later version.
        for id in [24, 26, 99] {
            section(&mut bytes, id, &vec![1u64, 2, 3]).unwrap();
        }
        encode(&snapshot, &mut bytes).unwrap();
        assert_eq!(decode(&bytes).unwrap(), snapshot);
    }

    #[test]
    fn bytes_left_over_in_a_section_are_refused() {
        let mut bytes = encoded(&Snapshot::default());
        let facts = word(&bytes, 8).unwrap();
        bytes[8..16].copy_from_slice(&(facts + 8).to_le_bytes());
        bytes.splice(16 + facts as usize..16 + facts as usize, [0; 8]);
        let error = decode(&bytes).unwrap_err().to_string();
        assert!(error.contains("8 bytes left over"), "{error}");
    }

    #[test]
    fn a_parent_behind_its_child_is_refused() {
        let mut snapshot = fixture::two_threads();
        snapshot.nodes.parent[1] = 2;
        let error = decode(&encoded(&snapshot)).unwrap_err().to_string();
        assert!(error.contains("parent"), "{error}");
    }

    #[test]
    fn sums_beyond_what_readers_add_up_are_refused() {
        type Craft = fn(&mut Snapshot);
        let crafts: [(&str, Craft); 4] = [
            ("calls", |s| s.nodes.calls.fill(u64::MAX / 2 + 1)),
            ("threads", |s| {
                s.threads.iter_mut().for_each(|thread| thread.count = u64::MAX)
            }),
            ("clock errors", |s| {
                let error = |row, count| NodeErrors {
                    node: NodeId(row),
                    count,
                };
                s.errors = vec![error(0, u64::MAX), error(1, 1)];
            }),
            ("ticks", |s| s.threads[0].outside_ticks = u64::MAX),
        ];
        for (what, craft) in crafts {
            let mut snapshot = fixture::two_threads();
            craft(&mut snapshot);
            let error = decode(&encoded(&snapshot)).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn rows_with_clock_errors_rise_and_are_there() {
        for rows in [[1, 0], [1, 1], [0, 1_000]] {
            let mut snapshot = fixture::two_threads();
            let error = |row| NodeErrors {
                node: NodeId(row),
                count: 1,
            };
            snapshot.errors = rows.map(error).to_vec();
            let error = decode(&encoded(&snapshot)).unwrap_err().to_string();
            assert!(error.contains("clock errors"), "{error}");
        }
    }

    #[test]
    fn what_is_no_counter_is_refused_as_one() {
        type Craft = fn(&mut Snapshot);
        let crafts: [Craft; 8] = [
            |s| s.counts.reverse(),
            |s| s.counts.push(s.counts[5]),
            |s| s.counts[5].node = NodeId(10),
            // Time, rows below, an open call, a latency, an estimate.
            |s| s.nodes.self_ticks[2] = 1,
            |s| {
                s.counts.insert(
                    0,
                    Count {
                        node: NodeId(0),
                        sum: 1,
                    },
                )
            },
            |s| {
                let frame = |row| OpenFrame {
                    node: NodeId(row),
                    began_tick: 0,
                };
                s.threads[0].open = vec![frame(0), frame(1), frame(2)];
            },
            |s| {
                s.latencies.push(
                    2,
                    &Histogram {
                        buckets: vec![(1, 1)],
                        max_ticks: 1,
                    },
                )
            },
            |s| {
                s.estimates.push(Estimate {
                    node: NodeId(2),
                    timed: 0,
                    self_error: 1,
                    total_error: 0,
                });
            },
        ];
        for (index, craft) in crafts.into_iter().enumerate() {
            let mut snapshot = programs::order_sim_counting();
            craft(&mut snapshot);
            let error = decode(&encoded(&snapshot)).unwrap_err().to_string();
            assert!(error.contains("counters"), "{index}: {error}");
        }
    }

    #[test]
    fn watches_that_do_not_fit_together_are_refused() {
        type Craft = fn(&mut Watch);
        let crafts: [Craft; 14] = [
            |w| w.paths[1].parent = 1,
            |w| w.paths[1].site = SiteId(4),
            |w| w.paths[2].slow.ticks = u64::MAX,
            |w| w.paths[3].slow.ready = w.paths[3].slow.ticks,
            |w| w.causes[0].path = 4,
            |w| w.exemplars[0].cause = Some((4, CauseKind::Ready)),
            |w| trace(w).path[0] = 4,
            |w| trace(w).then[0] = 4,
            |w| trace(w).ticks.push(0),
            |w| trace(w).ticks[0] = u64::MAX,
            |w| trace(w).off_cpu[0].1 = u64::MAX,
            |w| trace(w).off_cpu[0].0 = 5,
            |w| {
                trace(w).notes.push(Note {
                    step: 1,
                    ..Note::default()
                });
            },
            |w| {
                trace(w).gap = Some(TraceGap {
                    step: 6,
                    ..TraceGap::default()
                });
            },
        ];
        fn trace(watch: &mut Watch) -> &mut Trace {
            watch.exemplars[0].trace.as_mut().unwrap()
        }
        for (index, craft) in crafts.into_iter().enumerate() {
            let mut snapshot = fixture::slow_frames();
            craft(&mut snapshot.watches[0]);
            let error = decode(&encoded(&snapshot)).unwrap_err().to_string();
            assert!(error.contains("watched functions"), "{index}: {error}");
        }
        let mut snapshot = fixture::slow_frames();
        snapshot.watches = vec![snapshot.watches[0].clone(); WATCHES_MAX + 1];
        assert!(decode(&encoded(&snapshot)).is_err());
        // A record of the coarse ring has all but the calls that are kept whole.
        let mut small = Vec::new();
        let mut snapshot = fixture::slow_frames();
        encode_small(&snapshot, &mut small).unwrap();
        snapshot.watches[0].exemplars.clear();
        assert_eq!(decode(&small).unwrap(), snapshot);
    }

    #[test]
    fn measures_and_futures_that_do_not_fit_are_refused() {
        type Craft = fn(&mut Snapshot);
        fn polls(s: &mut Snapshot, rows: Vec<(u32, u64)>) {
            let outside = Vec::new();
            s.measures.set(Quantity::Polls, Column { rows, outside });
        }
        let crafts: [(&str, Craft); 6] = [
            (Quantity::Polls.name(), |s| polls(s, vec![(0, 0)])),
            (Quantity::Polls.name(), |s| polls(s, vec![(1, 1), (0, 1)])),
            (Quantity::Polls.name(), |s| polls(s, vec![(8, 1)])),
            ("futures", |s| s.tasks.paths[0].polled = 21),
            ("futures", |s| s.tasks.paths[1].innermost = 21),
            ("futures", |s| s.tasks.paths[1].parent = 1),
        ];
        for (index, (what, craft)) in crafts.into_iter().enumerate() {
            let mut snapshot = fixture::serving();
            craft(&mut snapshot);
            let error = decode(&encoded(&snapshot)).unwrap_err().to_string();
            assert!(error.contains(what), "{index}: {error}");
        }
        let mut all_at_once = fixture::serving();
        all_at_once.tasks.paths[0].polled = 20;
        assert_eq!(decode(&encoded(&all_at_once)).unwrap(), all_at_once);
    }

    #[test]
    fn readers_of_before_see_values_and_gauges_as_counters() {
        let snapshot = programs::queries();
        let bytes = encoded(&snapshot);
        let mut before = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let (id, body) = section_at(&bytes, at).unwrap();
            if id != VALUES && id != GAUGES {
                before.extend_from_slice(&bytes[at..at + 16 + body.len()]);
            }
            at += 16 + body.len();
        }
        let shown = decode(&before).unwrap();
        assert_eq!(shown.counts, snapshot.counts);
        assert!(
            shown.latencies.row.is_empty() && shown.tallies()[2] == Some(Tally::Counter { sum: 1_805_060 })
        );
    }

    #[test]
    fn what_is_no_value_and_no_gauge_is_refused_as_one() {
        type Craft = fn(&mut Snapshot);
        let crafts: [Craft; 7] = [
            |s| s.value_rows.reverse(),
            |s| s.gauge_rows.push(s.gauge_rows[0]),
            |s| s.value_rows[0].node = NodeId(1),
            |s| s.value_rows[0].node = NodeId(1_000),
            |s| s.gauge_rows[0].node = s.value_rows[1].node,
            |s| {
                s.value_rows[0].range = Some(Extremes {
                    min: 5,
                    ..Extremes::of(4)
                })
            },
            |s| {
                let level = s.gauge_rows[0].level.as_mut().unwrap();
                level.range.min = level.range.max + 1;
            },
        ];
        for (index, craft) in crafts.into_iter().enumerate() {
            let mut snapshot = programs::queries();
            craft(&mut snapshot);
            snapshot.latencies = Latencies::default();
            let error = decode(&encoded(&snapshot)).unwrap_err().to_string();
            assert!(error.contains("values and gauges"), "{index}: {error}");
        }
        let lengths: [fn(&mut Snapshot) -> Vec<u8>; 2] = [
            |s| {
                let mut bytes = encoded(s);
                let columns: (Vec<u32>, [Vec<u8>; 1]) = (vec![2], [vec![]]);
                let rest: [Vec<u64>; 5] = Default::default();
                section_as(&mut bytes, VALUES, &(columns, rest), small::CONFIG).unwrap();
                bytes
            },
            |s| {
                let mut bytes = encoded(s);
                let columns: (Vec<u32>, [Vec<u64>; 5]) = (vec![5], Default::default());
                section_as(&mut bytes, GAUGES, &columns, small::CONFIG).unwrap();
                bytes
            },
        ];
        for craft in lengths {
            let error = decode(&craft(&mut programs::queries())).unwrap_err().to_string();
            assert!(error.contains("0 rows") && error.contains("1 rows"), "{error}");
        }
    }

    #[test]
    fn many_short_texts_may_claim_what_they_hold() {
        // In memory a text takes the most for its bytes where it is short. The last section is longer than
        // `LEAST_CLAIM`.
        for texts in [1, 130, 2_000, 40_000, 300_000] {
            let mut snapshot = Snapshot::default();
            let mut text = (0..texts).filter_map(char::from_u32).map(String::from);
            let mut next = || text.next().unwrap_or_default();
            snapshot.sites.extend((0..texts / 4).map(|_| Site {
                name: next(),
                module: next(),
                file: next(),
                line: 1,
                group: next(),
            }));
            let mut small = Vec::new();
            encode_small(&snapshot, &mut small).unwrap();
            assert_eq!(decode(&small).unwrap(), snapshot, "{texts} texts");
            assert_eq!(decode(&encoded(&snapshot)).unwrap(), snapshot, "{texts} texts");
        }
    }

    #[test]
    fn sections_of_any_length_may_claim_what_they_hold() {
        // Short numbers, which take the most memory for their bytes, around each of the limits.
        for rows in [7, 2_000, 2_730, 4_000, 130_000, 180_000] {
            let mut snapshot = Snapshot::default();
            snapshot.sites.push(Default::default());
            for _ in 0..rows {
                snapshot.nodes.push(None, crate::ids::SiteId(0), 1, 1);
            }
            snapshot.threads.push(Thread {
                rows,
                ..Thread::default()
            });
            let mut small = Vec::new();
            encode_small(&snapshot, &mut small).unwrap();
            assert_eq!(decode(&small).unwrap(), snapshot, "{rows} rows");
            assert_eq!(decode(&encoded(&snapshot)).unwrap(), snapshot, "{rows} rows");
        }
    }

    proptest! {
        #[test]
        fn any_snapshot_comes_back_as_it_was(snapshot in programs::any_snapshot()) {
            // Costs of any kind do not equal themselves.
            let mut snapshot = snapshot;
            snapshot.capture.cost = Default::default();
            prop_assert_eq!(decode(&encoded(&snapshot)).unwrap(), snapshot);
        }
    }
}
