//! The viewer's screen for a synthetic program. It is implemented in this test binary, so that `tickscope` itself
//! contains no synthetic data.
//!
//! ```text
//! [live|slow|still|waiting] [--panic-after FRAMES]
//! ```

use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tickscope_cli::cli::args::ColorChoice;
use tickscope_cli::event_loop::{ScreenOptions, run};
use tickscope_format::Snapshot;
use tickscope_format::pattern::Pattern;
use tickscope_programs::events::{Events, Feed, Outcome, Request, Target};
use tickscope_programs::status::Status;
use tickscope_testkit::{fixture, orderbook};

/// Role in which this test binary shows the screen.
pub(crate) const ROLE: &str = "screen";

/// Age of the program when the screen starts, in tenths of a second.
const AGE: u64 = 1_340;

/// Time between two snapshots.
const INTERVAL: Duration = Duration::from_millis(100);

struct Synthetic {
    began: Instant,
    state: String,
    told: Option<u64>,
    outcomes: Vec<Outcome>,
    watched: Vec<Pattern>,
}

impl Synthetic {
    fn snapshot(&self, tenths: u64) -> Snapshot {
        let mut s = match self.state.as_str() {
            "slow" => fixture::slow_frames(),
            _ => orderbook::snapshot(tenths),
        };
        if self.state == "slow" {
            s.capture.seq = tenths;
            s.capture.unix_ns += tenths * 100_000_000;
            let watch = s.watches.pop().unwrap_or_default();
            s.watches.extend(self.watched.iter().map(|function| {
                let mut watch = watch.clone();
                watch.function = function.as_str().to_string();
                watch
            }));
        }
        s.capture.interval_ns = INTERVAL.as_nanos() as u64;
        s.capture.viewers = 1;
        s
    }
}

impl Feed for Synthetic {
    fn poll(&mut self) -> Events {
        if self.state == "waiting" {
            let why = "No program called orderbook-sim yet (looked in /dev/shm/tickscope-1000).";
            return Events::quiet(Status::Waiting { why: why.into() });
        }
        let mut events = Events::quiet(Status::Live);
        events.outcomes = std::mem::take(&mut self.outcomes);
        events.target = Some(Target {
            name: "orderbook-sim".into(),
            pid: 41_873,
            path: "orderbook.ring".into(),
        });
        let steps = self.began.elapsed().as_nanos() / INTERVAL.as_nanos();
        let tenths = AGE + if self.state == "still" { 0 } else { steps as u64 };
        if self.told.replace(tenths) != Some(tenths) {
            events.snapshot = Some(Rc::new(self.snapshot(tenths)));
        }
        events
    }

    fn send(&mut self, request: Request) -> Result<(), String> {
        let Request::Watch(function, _) = &request else {
            return Err("a made-up program does nothing but watch".into());
        };
        self.watched.push(*function);
        self.outcomes.push(Outcome::new(request, Ok(1)));
        Ok(())
    }

    fn open(&mut self, path: &Path) -> Result<(), String> {
        Err(format!("{}: a made-up program is not to be left", path.display()))
    }

    fn next_look(&self) -> Duration {
        if self.state == "still" {
            Duration::from_secs(1)
        } else {
            INTERVAL
        }
    }
}

/// Shows the screen with the program that the arguments choose.
pub(crate) fn main() -> anyhow::Result<ExitCode> {
    let mut feed = Synthetic {
        began: Instant::now(),
        state: "live".to_string(),
        told: None,
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
        match argument.as_str() {
            "--panic-after" => options.panic_after = arguments.next().and_then(|frames| frames.parse().ok()),
            state => feed.state = state.to_string(),
        }
    }
    Ok(ExitCode::from(run(&mut feed, options)?.exit_code()))
}
