//! `tickscope metrics`: exports the counts of all programs on a host to Prometheus.

use std::fs;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use tickscope_command::console;
use tickscope_command::console::{Misuse, say};
use tickscope_command::output_file::OutputFile;

use crate::account::AccountOptions;
use crate::agent::{Agent, AgentOptions};
use crate::args::MetricsArgs;
use crate::begin;
use crate::exposition::{Style, exposition};
use crate::http::{Answer, Request, Server, refusal};

/// Minimum time between two reads of the rings, no matter how many requests arrive.
const FRESH: Duration = Duration::from_secs(1);

/// Longest time until a signal is noticed.
const TURN: Duration = Duration::from_millis(500);

/// Time between two writes of the state file.
const KEEP: Duration = Duration::from_secs(60);

/// Name of the metrics file. The node exporter reads all files with this extension.
const FILE: &str = "tickscope.prom";

/// Serves metrics until SIGTERM or SIGINT.
///
/// # Errors
/// The address cannot be used, or the file cannot be written.
pub fn run(args: &MetricsArgs) -> anyhow::Result<u8> {
    let (places, ended) = begin(&args.dir)?;
    let mut server = args.listen.as_deref().map(listen).transpose()?;
    let mut metrics = Metrics::new(args, places)?;
    let file = args.textfile.as_deref().map(|dir| dir.join(FILE));
    if let Some(file) = &file {
        metrics.write(file)?;
        say(&format!("writing {} every {:?}", file.display(), args.every));
    }
    while !ended.load(Ordering::Relaxed) {
        let wait = TURN.min(metrics.next_look(args.every));
        match &mut server {
            Some(server) => server.turn(wait, &mut |request| metrics.answer(request))?,
            None => thread::sleep(wait),
        }
        metrics.keep_up(args.every, file.as_deref());
    }
    metrics.keep()?;
    Ok(console::DONE)
}

fn listen(address: &str) -> anyhow::Result<Server> {
    let wanted = || {
        Misuse(format!(
            "--listen: found \"{address}\", wanted an address and a port of this machine, like 127.0.0.1:9464"
        ))
    };
    let addresses: Vec<SocketAddr> = address.to_socket_addrs().map_err(|_| wanted())?.collect();
    if addresses.is_empty() {
        return Err(wanted().into());
    }
    let cannot = |error| anyhow!("cannot listen at {address}: {error}; --listen takes another address");
    let server = Server::bind(&addresses).map_err(cannot)?;
    let address = server.listener.local_addr()?;
    say(&format!("serving http://{address}/metrics"));
    if !address.ip().is_loopback() {
        say("anyone on the network can read the names of functions here: there is no password");
    }
    Ok(server)
}

/// The agent, and the metrics of its newest round as text.
struct Metrics {
    agent: Agent,
    /// Width of the latency buckets, in octaves.
    octaves: usize,
    looked: Option<Instant>,
    texts: Vec<(Style, Arc<str>)>,
    complaint: Option<String>,
    /// The state file, and the time at which it was last written.
    state: Option<PathBuf>,
    kept: Instant,
}

impl Metrics {
    fn new(args: &MetricsArgs, places: Vec<PathBuf>) -> anyhow::Result<Self> {
        let account = AccountOptions {
            top: args.top.into(),
            grouped: args.group,
            latency: !args.no_latency,
        };
        let options = AgentOptions {
            places,
            per_pid: args.per_pid,
            account,
        };
        let mut metrics = Self {
            agent: Agent::new(options.clone()),
            octaves: args.octaves.into(),
            looked: None,
            texts: Vec::new(),
            complaint: None,
            state: args.state.clone(),
            kept: Instant::now(),
        };
        if let Some(state) = args.state.as_deref().filter(|state| state.exists()) {
            let cannot = || format!("cannot continue the counts of {}", state.display());
            let kept = fs::read(state).with_context(cannot)?;
            metrics.agent = Agent::go_on(options, &kept)
                .map_err(|why| anyhow!("{}: {why}; remove the file to begin at zero", cannot()))?;
        }
        // The state file is written at the start, so that an error is reported now and not a minute later.
        metrics.keep()?;
        Ok(metrics)
    }

    /// Writes the state file, from which the next agent continues.
    fn keep(&mut self) -> anyhow::Result<()> {
        let Some(state) = &self.state else { return Ok(()) };
        let bytes = self.agent.keep()?;
        self.kept = Instant::now();
        OutputFile::new(Some(state), true).write(|out| out.write_all(&bytes))
    }

    /// Returns the time until the rings must be read even without a request, so that programs do not overwrite records
    /// that have not been read yet.
    fn next_look(&self, every: Duration) -> Duration {
        let since = self.looked.map(|at| at.elapsed());
        since.map_or(Duration::ZERO, |since| every.saturating_sub(since))
    }

    fn look(&mut self) {
        self.texts.clear();
        for complaint in self.agent.look() {
            say(&complaint);
        }
        self.looked = Some(Instant::now());
    }

    fn text(&mut self, style: Style) -> Arc<str> {
        if self.looked.is_none_or(|at| at.elapsed() >= FRESH) {
            self.look();
        }
        if let Some((_, text)) = self.texts.iter().find(|(of, _)| *of == style) {
            return text.clone();
        }
        let (accounts, state) = (&self.agent.accounts, &self.agent.state);
        let text: Arc<str> = exposition(accounts, state, self.octaves, style).into();
        self.texts.push((style, text.clone()));
        text
    }

    fn answer(&mut self, request: &Request) -> Answer {
        let (content_type, body) = match request.path.as_str() {
            "/metrics" => {
                let style = match request.accept.contains("application/openmetrics-text") {
                    true => Style::OpenMetrics,
                    false => Style::Text,
                };
                (style.content_type(), self.text(style))
            }
            "/" => (
                "text/html; charset=utf-8",
                "<!doctype html><title>tickscope</title><a href=\"/metrics\">metrics</a>\n".into(),
            ),
            _ => return refusal("404 Not Found"),
        };
        Answer {
            status: "200 OK",
            content_type,
            body,
        }
    }

    /// Reads the rings and writes the files, if `every` has passed since the last read.
    fn keep_up(&mut self, every: Duration, file: Option<&Path>) {
        if !self.next_look(every).is_zero() {
            return;
        }
        self.look();
        let mut written = file.map_or(Ok(()), |file| self.write(file));
        if self.kept.elapsed() >= KEEP {
            written = written.and(self.keep());
        }
        let complaint = written.err().map(|error| console::in_one_line(&error));
        if let Some(new) = complaint
            .as_ref()
            .filter(|new| Some(*new) != self.complaint.as_ref())
        {
            say(&format!("{new}; trying again every {every:?}"));
        }
        self.complaint = complaint;
    }

    /// Writes the metrics into the file, in the older format that the node exporter reads.
    fn write(&mut self, file: &Path) -> anyhow::Result<()> {
        let text = self.text(Style::Text);
        OutputFile::new(Some(file), true).write(|out| out.write_all(text.as_bytes()))
    }
}
