//! The screen over a program that does not exist. This test runs itself as it: no made-up data gets into the command itself.
//!
//! ```text
//! [live|slow|still|stale|exited|crashed|kept|waiting|picker|broken] [adaptive|sampled|off] [--panic-after FRAMES] [--nodes N]
//!     [--ascii] [--no-color] [--theme NAME] [--viewers N] [--deaf] [--old] [--cost NS]
//! ```

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tickscope_cli::cli::args::{ColorChoice, ThemeKind};
use tickscope_cli::event_loop::{ScreenOptions, run};
use tickscope_cli::source::events::{Events, Feed, Outcome, Request, RingLine, Target};
use tickscope_cli::source::status::Status;
use tickscope_format::Snapshot;
use tickscope_format::ids::SiteId;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{Mode, Site};
use tickscope_testkit::{fixture, modes, orderbook};

/// In the environment of this test it makes it this program.
pub(crate) const ROLE: &str = "SYNTHETIC";

/// How old the program is when the screen starts, in tenths of a second.
const AGE: u64 = 1_340;

struct Synthetic {
    began: Instant,
    state: String,
    interval: Duration,
    nodes: u64,
    viewers: u32,
    deaf: bool,
    /// It knows nothing of modes.
    old: bool,
    mode: Mode,
    /// Nanoseconds that a scope costs at most, if not what the mode costs.
    cost_ns: Option<u64>,
    told: Option<u64>,
    epoch: u64,
    zero: u64,
    before: Option<u64>,
    outcomes: Vec<Outcome>,
    /// What it watches.
    watched: Vec<Pattern>,
}

impl Synthetic {
    fn status(&self) -> Status {
        let unix_ns = orderbook::STARTED_UNIX_NS + AGE * 100_000_000;
        match self.state.as_str() {
            "stale" => Status::Stale {
                since_unix_ns: unix_ns,
            },
            "exited" => Status::Exited { unix_ns },
            "crashed" => Status::Crashed {
                unix_ns: Some(unix_ns),
            },
            "kept" => Status::Kept,
            "waiting" | "picker" => Status::Waiting {
                why: "No program called orderbook-sim yet (looked in /dev/shm/tickscope-1000).".to_string(),
            },
            "broken" => Status::Broken {
                why: "not a tickscope file: begins with 7f454c46, wanted TICKSCOP".to_string(),
            },
            _ => Status::Live,
        }
    }

    fn rings(&self) -> Vec<RingLine> {
        let ring = |name: &str, pid, state: &str, since: &str, live| RingLine {
            path: PathBuf::from(format!("/dev/shm/tickscope-1000/{name}.{pid}.0.ring")),
            name: name.to_string(),
            pid,
            state: state.to_string(),
            since: since.to_string(),
            live,
            library: String::new(),
        };
        vec![
            ring(
                "orderbook-sim",
                41_873,
                "running",
                "since 14:00:00",
                self.state == "picker",
            ),
            ring("bench-decode", 40_110, "exited", "at 12:55:03", false),
        ]
    }

    /// A program that draws frames, some of them slow.
    fn slow_frames(&self, tenths: u64) -> Snapshot {
        let mut s = fixture::slow_frames();
        s.capture.seq = tenths;
        s.capture.unix_ns += tenths * 100_000_000;
        s.capture.reset_epoch = self.epoch;
        s.capture.interval_ns = self.interval.as_nanos() as u64;
        s.capture.viewers = self.viewers;
        let watch = s.watches.pop().unwrap_or_default();
        for function in &self.watched {
            let mut watch = watch.clone();
            watch.function = function.as_str().to_string();
            // Snapshots take turns in having calls whole.
            let turn = tenths as usize % watch.exemplars.len();
            for (_, other) in watch
                .exemplars
                .iter_mut()
                .enumerate()
                .filter(|(at, _)| *at != turn)
            {
                other.trace = None;
            }
            s.watches.push(watch);
        }
        s
    }

    fn snapshot(&self, tenths: u64) -> Snapshot {
        if self.state == "slow" {
            return self.slow_frames(tenths);
        }
        let mut s = modes::in_mode(self.mode, orderbook::snapshot(tenths.saturating_sub(self.zero)));
        if let Some(ns) = self.cost_ns {
            s.capture.cost.upper_ns = ns as f64;
            s.capture.cost.lower_ns = ns as f64 / 3.0;
        }
        s.capture.reset_epoch = self.epoch;
        s.capture.interval_ns = self.interval.as_nanos() as u64;
        s.capture.viewers = self.viewers;
        let mut random = 7u64;
        let nodes = if self.mode == Mode::Off { 0 } else { self.nodes };
        let first_site = s.sites[0].clone();
        for n in 0..nodes {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let first = s.threads.last().map_or(0, |thread| thread.first_row);
            let rows = s.nodes.len() as u32 - first;
            let parent = first + (random >> 33) as u32 % rows;
            let name = format!("generated::part_{}::work_{}", n % 17, n % 997);
            let site = s.sites.len() as u32;
            s.sites.push(Site {
                name,
                ..first_site.clone()
            });
            s.nodes.push(
                Some(tickscope_format::ids::NodeId(parent)),
                SiteId(site),
                n,
                random % 1_000 * tenths,
            );
            if let Some(thread) = s.threads.last_mut() {
                thread.rows += 1;
            }
        }
        s
    }
}

impl Feed for Synthetic {
    fn poll(&mut self) -> Events {
        let mut events = Events::quiet(self.status());
        events.outcomes = std::mem::take(&mut self.outcomes);
        if matches!(events.status, Status::Waiting { .. }) {
            events.rings = Some(self.rings());
            return events;
        }
        if matches!(events.status, Status::Broken { .. }) {
            return events;
        }
        events.target = Some(Target {
            name: "orderbook-sim".into(),
            pid: 41_873,
            path: "orderbook.ring".into(),
        });
        let steps = self.began.elapsed().as_nanos() / self.interval.as_nanos().max(1);
        let live = events.status == Status::Live && self.state != "still";
        let tenths = if live {
            AGE + steps as u64 * (self.interval.as_millis() as u64 / 100).max(1)
        } else {
            AGE
        };
        if self.told != Some(tenths) {
            self.told = Some(tenths);
            events.snapshot = Some(Rc::new(self.snapshot(tenths)));
        }
        events
    }

    fn send(&mut self, request: Request) -> Result<(), String> {
        if self.deaf {
            return Ok(());
        }
        let now = self.told.unwrap_or(AGE);
        match request {
            Request::Reset => self.before = Some(std::mem::replace(&mut self.zero, now)),
            Request::Undo => self.zero = self.before.take().unwrap_or(0),
            Request::Interval { ns } => self.interval = Duration::from_nanos(ns),
            Request::Mode(_) if self.old => {
                let why = "the program's collector is older and does not know this request";
                self.outcomes.push(Outcome::new(request, Err(why.into())));
                return Ok(());
            }
            Request::SitesOff(_) | Request::SitesOn(_) | Request::ForgetRule(_) => {
                return Err("a made-up program measures nothing that could be switched off".into());
            }
            Request::Watch(..) | Request::Unwatch(_) if self.state != "slow" => {
                return Err("a made-up program has no calls that could be watched".into());
            }
            Request::Lines(_) => {
                return Err("a made-up program has no code that could be sampled".into());
            }
            Request::Watch(function, _) => self.watched.push(function),
            Request::Unwatch(function) => self.watched.retain(|watched| *watched != function),
            Request::Mode(mode) => {
                (self.mode, self.zero, self.before) = (mode, now, None);
            }
        }
        let counts_on = matches!(
            request,
            Request::Interval { .. } | Request::Watch(..) | Request::Unwatch(_)
        );
        self.epoch += u64::from(!counts_on);
        self.outcomes.push(Outcome::new(request, Ok(self.epoch)));
        Ok(())
    }

    fn open(&mut self, path: &Path) -> Result<(), String> {
        match path.to_string_lossy().contains("orderbook") {
            true => {
                self.state = "live".to_string();
                Ok(())
            }
            false => Err(format!("{}: damaged: header at byte 0", path.display())),
        }
    }

    fn next_look(&self) -> Duration {
        if self.state == "still" {
            Duration::from_secs(1)
        } else {
            self.interval.min(Duration::from_millis(100))
        }
    }
}

/// Shows it, as the arguments say.
pub(crate) fn main() -> anyhow::Result<ExitCode> {
    let mut feed = Synthetic {
        began: Instant::now(),
        state: "live".to_string(),
        interval: Duration::from_millis(100),
        nodes: 0,
        viewers: 1,
        deaf: false,
        old: false,
        mode: Mode::Exact,
        cost_ns: None,
        told: None,
        epoch: 1,
        zero: 0,
        before: None,
        outcomes: Vec::new(),
        watched: Vec::new(),
    };
    let mut options = ScreenOptions {
        color: ColorChoice::Auto,
        theme: None,
        ascii: false,
        utc_offset_s: Some(0),
        mouse: false,
        compare: None,
        says_what_goes_on: true,
        panic_after: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(1);
        match argument.as_str() {
            "--panic-after" => options.panic_after = Some(number()),
            "--nodes" => feed.nodes = number(),
            "--viewers" => feed.viewers = number() as u32,
            "--ascii" => options.ascii = true,
            "--theme" => options.theme = arguments.next().and_then(|word| ThemeKind::named(&word)),
            "--no-color" => options.color = ColorChoice::Never,
            "--deaf" => feed.deaf = true,
            "--old" => feed.old = true,
            "--cost" => feed.cost_ns = Some(number()),
            word => match Mode::named(word) {
                Some(mode) => feed.mode = mode,
                None => feed.state = word.to_string(),
            },
        }
    }
    Ok(ExitCode::from(run(&mut feed, options)?.exit_code()))
}
