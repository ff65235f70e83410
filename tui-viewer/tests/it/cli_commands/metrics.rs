//! Metrics of real programs, served over HTTP or written to a file, and read by a real Prometheus server.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use tickscope_testkit::open_metrics::Metrics;
use tickscope_testkit::suite::skip;

use crate::cli_commands::live::shown_calls;
use crate::support::{Place, Program, VIEWER, finish, name, send, until, until_true};

/// `tickscope metrics`, listening on a free port.
struct Agent {
    program: Program,
    address: String,
    /// Standard error of the agent. It is kept open, because the agent continues to write to it.
    _said: BufReader<std::process::ChildStderr>,
}

impl Agent {
    fn start(place: &Place, more: &[&str]) -> Self {
        let mut command = place.command(VIEWER);
        command.args(["metrics", "--listen", "127.0.0.1:0"]);
        let mut child = command.args(more).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let (_, address) = line.split_once("http://").unwrap();
        let (address, _) = address.split_once('/').unwrap();
        Self {
            program: Program::of(child),
            address: address.to_owned(),
            _said: said,
        }
    }

    fn request(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    fn scrape(&self) -> Metrics {
        let text = self
            .request("GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text; version=1.0.0\r\n\r\n");
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(
            head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text"),
            "{head}"
        );
        Metrics::parse(body).unwrap()
    }

    /// Scrapes until a condition is met.
    fn until(&self, what: &str, is_so: impl Fn(&Metrics) -> bool) -> Metrics {
        until(what, || Some(self.scrape()).filter(&is_so))
    }
}

fn up(metrics: &Metrics, program: &str) -> Option<f64> {
    metrics.get("tickscope_up", &[("program", program)])
}

fn calls(metrics: &Metrics, program: &str) -> f64 {
    metrics.sum("tickscope_calls_total", ("program", program))
}

/// Returns the total number of calls in a program's newest snapshot.
fn shown(place: &Place, pid: u32) -> f64 {
    let ring = place.ring_of(pid).unwrap();
    shown_calls(&place.json(ring.to_str().unwrap())) as f64
}

fn calls_are_those_of_the_programs_over_resets_restarts_and_kills() {
    let place = Place::new();
    let agent = Agent::start(&place, &["--top", "2"]);
    let program = name("busy");
    let mut run = place.start_named("busy", &program);
    let first = agent.until("it is met", |metrics| calls(metrics, &program) > 100.0);
    assert_eq!(up(&first, &program), Some(1.0));
    // The last record before a reset contains all counts that the reset removes.
    place.tickscope(&["reset", &program]).ok();
    run.end();
    let second = agent.until("it has ended", |metrics| up(metrics, &program) == Some(0.0));
    second.check_not_below(&first).unwrap();
    let at_reset = calls(&second, &program) - shown(&place, run.pid());
    assert!(at_reset >= calls(&first, &program), "{at_reset}");
    let unclosed = second.sum("tickscope_unclosed_resets_total", ("program", &program));
    assert_eq!(unclosed, 0.0);
    // A second run with the same name is killed. Exactly the calls in its newest record must be added to the calls of
    // the first run.
    let mut killed = place.start_named("busy", &program);
    let before = calls(&second, &program);
    agent.until("it runs again", |metrics| calls(metrics, &program) > before);
    killed.kill();
    let third = agent.until("it is dead", |metrics| up(metrics, &program) == Some(0.0));
    assert_eq!(calls(&third, &program) - before, shown(&place, killed.pid()));
}

/// Clients that send nothing or nonsense are covered by the unit tests of the server.
fn what_no_scrape_asks_for_is_answered() {
    let (place, program) = Place::with("stuck");
    fs::write(place.rings().join("noise.ring"), [7; 5000]).unwrap();
    let agent = Agent::start(&place, &[]);
    let metrics = agent.scrape();
    assert_eq!(up(&metrics, &program.name), Some(1.0));
    assert_eq!(metrics.get("tickscope_unreadable_rings", &[]), Some(1.0));
    for (request, begins, has) in [
        ("GET /else", "HTTP/1.1 404 ", ""),
        ("HEAD /metrics", "HTTP/1.1 200 ", "text/plain; version=0.0.4"),
    ] {
        let answer = agent.request(&format!("{request} HTTP/1.1\r\n\r\n"));
        assert!(answer.starts_with(begins) && answer.contains(has), "{answer}");
    }
    let status = fs::read_to_string(format!("/proc/{}/status", agent.program.pid())).unwrap();
    assert!(status.contains("\nThreads:\t1\n"), "{status}");
}

fn a_file_is_written_whole_until_a_signal_ends_it() {
    let (place, program) = Place::with("stuck");
    let mut command = place.command(VIEWER);
    command.args(["metrics", "--textfile", ".", "--every", "1s", "--no-latency"]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let file = place.work().join("tickscope.prom");
    let wanted = format!("tickscope_up{{program=\"{}\"}} 1\n", program.name);
    until("the file has the program", || {
        let text = fs::read_to_string(&file).ok()?;
        assert!(text.starts_with("# HELP tickscope_calls_total "), "{text}");
        assert!(!text.contains("# EOF"), "{text}");
        text.contains(&wanted).then_some(())
    });
    send(&child, Signal::TERM);
    assert!(child.wait().unwrap().success());
    assert_eq!(place.files(), 1);
}

fn an_agent_that_is_started_again_goes_on() {
    let place = Place::new();
    let program = name("busy");
    let agent = Agent::start(&place, &["--state", "state"]);
    let mut run = place.start_named("busy", &program);
    agent.until("it is met", |metrics| calls(metrics, &program) > 0.0);
    run.end();
    let before = agent.until("it has ended", |metrics| up(metrics, &program) == Some(0.0));
    send(&agent.program.child, Signal::TERM);
    let state = place.work().join("state");
    let kept = || fs::read_to_string(&state).ok();
    until("its state is kept", || {
        kept().filter(|text| text.contains(&program))
    });
    // From here on, only the state file has the counts of the run.
    fs::remove_file(place.ring_of(run.pid()).unwrap()).unwrap();
    let after = Agent::start(&place, &["--state", "state"]).scrape();
    assert_eq!(calls(&after, &program), calls(&before, &program));
}

fn what_cannot_be_served_is_said() {
    let place = Place::new();
    let agent = Agent::start(&place, &[]);
    fs::write(place.work().join("state"), "noise").unwrap();
    let table = r#"
        1 metrics --listen TAKEN => another address
        2 metrics --listen nowhere => found "nowhere", wanted an address and a port
        1 metrics --textfile missing => there is no directory missing
        2 metrics --listen 127.0.0.1:0 --dir gone => --dir gone: does not exist
        1 metrics --listen 127.0.0.1:0 --state state => remove the file to begin at zero
        2 metrics => --listen
    "#;
    place.answers(&table.replace("TAKEN", &agent.address));
}

/// Prometheus scrapes two programs, one of which is repeatedly reset and restarted. The rates in Prometheus must match
/// the rates of the programs, without spikes. The test needs the Debian package `prometheus`.
fn prometheus_sees_the_calls_of_the_programs() {
    let place = Place::new();
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !is_there("prometheus") || !is_there("promtool") {
        skip("no prometheus here (Debian: apt-get install prometheus)");
    }
    let rules = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/prometheus/tickscope.rules.yml"
    );
    let mut promtool = place.command("promtool");
    finish(promtool.args(["check", "rules", rules])).ok();
    let agent = Agent::start(&place, &["--octaves", "8"]);
    let (steady, shaken) = (name("steady"), name("shaken"));
    // The agent must have found both programs before Prometheus starts, because Prometheus does not count what happened
    // before the first sample of a series.
    let mut runs = [&steady, &shaken].map(|name| place.start_named("busy", name));
    agent.until("both are met", |metrics| {
        calls(metrics, &steady) > 0.0 && calls(metrics, &shaken) > 0.0
    });
    let config = place.work().join("prometheus.yml");
    let text = format!(
        "global:\n  scrape_interval: 1s\nrule_files: [{rules}]\nscrape_configs:\n  - job_name: tickscope\n    static_configs:\n      - targets: ['{}']\n",
        agent.address
    );
    fs::write(&config, text).unwrap();
    let mut command = place.command("prometheus");
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let data = place.work().join("data");
    command
        .arg(format!("--config.file={}", config.display()))
        .arg(format!("--storage.tsdb.path={}", data.display()))
        .arg(format!("--web.listen-address=127.0.0.1:{port}"));
    let _prometheus = Program::spawn(&mut command);
    let query = |query: &str| -> Option<f64> {
        let mut curl = Command::new("curl");
        let url = format!("http://127.0.0.1:{port}/api/v1/query");
        curl.args(["-s", "-G", &url, "--data-urlencode"]);
        let output = curl.arg(format!("query={query}")).output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
        answer["data"]["result"][0]["value"][1].as_str()?.parse().ok()
    };
    let sum = |program: &str| format!("sum(tickscope_calls_total{{program=\"{program}\"}})");
    until("prometheus has scraped", || {
        query(&sum(&steady)).filter(|calls| *calls > 0.0)
    });
    // One of the programs is reset and restarted while Prometheus scrapes both.
    let mut killed = 0;
    for round in 0..6 {
        let before = query(&sum(&shaken)).unwrap();
        until("some calls", || {
            query(&sum(&shaken)).filter(|now| *now > before + 1000.0)
        });
        let pid = runs[1].pid().to_string();
        place.tickscope(&["reset", "-p", &pid]).ok();
        if round % 2 == 1 {
            if round == 3 {
                runs[1].kill();
                killed += 1;
            } else {
                runs[1].end();
            }
            runs[1] = place.start_named("busy", &shaken);
        }
    }
    // Wait until Prometheus has samples from at least a minute. It scrapes once per second.
    let spans = |program: &str| format!("count_over_time(tickscope_up{{program=\"{program}\"}}[1h])");
    until("a minute of samples", || {
        query(&spans(&steady)).filter(|count| *count >= 60.0)
    });
    for run in &mut runs {
        run.end();
    }
    let last = agent.until("both have ended", |metrics| {
        up(metrics, &steady) == Some(0.0) && up(metrics, &shaken) == Some(0.0)
    });
    until_true("prometheus has seen the end", || {
        let is_seen = |program: &str| query(&sum(program)).is_some_and(|seen| seen == calls(&last, program));
        is_seen(&steady) && is_seen(&shaken)
    });
    assert_eq!(killed, 1);
    for program in [&steady, &shaken] {
        let series = format!("tickscope_calls_total{{program=\"{program}\"}}");
        let falls = query(&format!("sum(resets({series}[1h]))"));
        assert_eq!(falls, Some(0.0), "{program}: no counter falls");
        // First computes the increase as the last sample minus the first, because `increase()` over the whole hour
        // would extrapolate.
        let first = query(&format!("sum(min_over_time({series}[1h]))")).unwrap();
        let own = calls(&last, program) - first;
        let raw = format!("sum(max_over_time({series}[1h]) - min_over_time({series}[1h]))");
        let raw = query(&raw).unwrap();
        assert!((raw / own - 1.0).abs() < 0.02, "{program}: {raw} of {own}");
        let seconds = format!("max(timestamp({series})) - min(min_over_time(timestamp({series})[1h:1s]))");
        let seconds = query(&seconds).unwrap();
        let range = seconds.ceil() as u64 + 5;
        let rate = query(&format!("sum(increase({series}[{range}s]))")).unwrap();
        println!("{program}: {own} calls, max - min {raw}, increase {rate} in {seconds} s");
        assert!(
            (rate / own - 1.0).abs() < 0.02,
            "{program}: increase {rate} of {own}"
        );
    }
    // A spike would be a second with many times as many calls as other seconds.
    let rates = format!("sum(rate(tickscope_calls_total{{program=\"{shaken}\"}}[5s]))");
    let most = query(&format!("max_over_time({rates}[1h:1s])")).unwrap();
    let usual = query(&format!("quantile_over_time(0.9, {rates}[1h:1s])")).unwrap();
    println!("shaken: at most {most} calls a second, in nine of ten {usual}");
    assert!(most < 3.0 * usual, "{most} against {usual}");
}

tickscope_testkit::tests![
    calls_are_those_of_the_programs_over_resets_restarts_and_kills,
    what_no_scrape_asks_for_is_answered,
    a_file_is_written_whole_until_a_signal_ends_it,
    an_agent_that_is_started_again_goes_on,
    what_cannot_be_served_is_said;
    ignored:
    // This test takes minutes and needs prometheus, so only `.ci/nightly metrics` runs it.
    prometheus_sees_the_calls_of_the_programs,
];
