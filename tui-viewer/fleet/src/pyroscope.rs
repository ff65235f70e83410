//! Sends profiles to Pyroscope over HTTP, in order, through a bounded queue.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tickscope_analysis::measure::Measure;
use tickscope_format::addresses::Addresses;
use tickscope_report::pprof;
use ureq::Agent;

use crate::windows::Window;

/// Maximum number of profiles in the queue. If there are more, the oldest are dropped.
pub(crate) const WAITING_MOST: usize = 240;

/// Maximum total size of the profiles in the queue, in bytes.
const BYTES_MOST: usize = 64 << 20;

/// Maximum time that a server may take to answer.
const ANSWER: Duration = Duration::from_secs(10);

/// Pause before the next attempt after a first failure, and the maximum pause. Each further failure in a row doubles
/// the pause.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Multipart boundary in request bodies. It is long enough that no compressed profile contains it by chance.
const BOUNDARY: &str = "tickscope-7f0c2f6be1a94d5a9d1f3f3b7f7c61d2";

/// The Pyroscope server, and what to send along with each profile.
#[derive(Clone, Debug, Default)]
pub(crate) struct PyroscopeOptions {
    /// Address of the server: `http://host:4040`.
    pub(crate) url: String,
    /// Labels of all profiles.
    pub(crate) labels: Vec<(String, String)>,
    /// The tenant (`X-Scope-OrgID`).
    pub(crate) tenant: Option<String>,
    /// The value of the `Authorization` header.
    pub(crate) authorization: Option<Secret>,
    /// Certificates in PEM form, one of which must have signed the server's certificate. `None` means Mozilla's list.
    #[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "https alone reads it"))]
    pub(crate) authorities: Option<Vec<u8>>,
}

/// Source of a secret.
#[derive(Clone)]
pub(crate) enum Secret {
    /// The value itself.
    Value(String),
    /// The first line of a file. It is read again for each request, because tokens expire and are replaced.
    File(PathBuf),
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value(_) => f.write_str("Value(..)"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

/// A profile that is waiting to be sent.
#[derive(Debug)]
struct Upload {
    query: String,
    body: Vec<u8>,
}

/// Queue of profiles, and the state of sending them.
#[derive(Debug)]
pub(crate) struct Pyroscope {
    options: PyroscopeOptions,
    agent: Agent,
    waiting: VecDeque<Upload>,
    bytes: usize,
    pause: Duration,
    next: Option<Instant>,
    /// Number of profiles that the server has accepted.
    pub(crate) sent: u64,
    /// Number of profiles that were dropped.
    pub(crate) dropped: u64,
}

/// Result of an attempt to send a profile.
enum Outcome {
    Taken,
    /// The server may accept the profile later.
    Later(String),
    /// The server will never accept the profile.
    Never(String),
}

/// Returns the certificates that the https client trusts. Invalid certificates are left out, so servers that need them
/// are not trusted.
#[cfg(feature = "tls")]
fn trust(authorities: Option<&[u8]>) -> ureq::tls::TlsConfig {
    use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

    let config = TlsConfig::builder();
    let config = match authorities {
        Some(pem) => {
            let certificates = parse_pem(pem).filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                Ok(_) | Err(_) => None,
            });
            config.root_certs(RootCerts::from(certificates))
        }
        None => config,
    };
    config.build()
}

impl Pyroscope {
    /// Returns an empty queue of profiles for a server.
    pub(crate) fn new(options: PyroscopeOptions) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(ANSWER))
            // A redirect must not carry the password to another host.
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("tickscope/", env!("CARGO_PKG_VERSION")));
        #[cfg(feature = "tls")]
        let config = config.tls_config(trust(options.authorities.as_deref()));
        Self {
            options,
            agent: config.build().into(),
            waiting: VecDeque::new(),
            bytes: 0,
            pause: PAUSES.0,
            next: None,
            sent: 0,
            dropped: 0,
        }
    }

    /// Appends the profile of a window to the queue. Returns how many of the oldest profiles were dropped to make room.
    ///
    /// # Errors
    /// The profile cannot be written.
    pub(crate) fn add(&mut self, window: &Window) -> std::io::Result<u64> {
        let upload = Upload {
            query: query(&window.program, &self.options.labels, window.unix_ns),
            body: body(window)?,
        };
        self.bytes += upload.body.len();
        self.waiting.push_back(upload);
        let mut dropped = 0;
        while self.waiting.len() > WAITING_MOST || self.bytes > BYTES_MOST {
            self.take_first();
            dropped += 1;
        }
        self.dropped += dropped;
        Ok(dropped)
    }

    /// Returns the number of waiting profiles.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the time until the next attempt, or `None` if no profile is waiting.
    pub(crate) fn rest(&self) -> Option<Duration> {
        let next = self
            .next
            .map(|next| next.saturating_duration_since(Instant::now()));
        (!self.waiting.is_empty()).then(|| next.unwrap_or_default())
    }

    /// Sends the oldest profile. Returns a message if the server did not accept it.
    pub(crate) fn send(&mut self) -> Option<String> {
        let upload = self.waiting.front()?;
        match self.attempt(upload) {
            Outcome::Taken => {
                self.sent += 1;
                self.take_first();
                self.pause = PAUSES.0;
                self.next = None;
                None
            }
            Outcome::Later(why) => {
                self.next = Some(Instant::now() + self.pause);
                let said = format!(
                    "{why}; {} profiles wait, trying again in {:?}",
                    self.waiting.len(),
                    self.pause
                );
                self.pause = (self.pause * 2).min(PAUSES.1);
                Some(said)
            }
            Outcome::Never(why) => {
                self.dropped += 1;
                self.take_first();
                Some(format!("{why}; this profile was dropped"))
            }
        }
    }

    fn take_first(&mut self) {
        if let Some(first) = self.waiting.pop_front() {
            self.bytes -= first.body.len();
        }
    }

    fn attempt(&self, upload: &Upload) -> Outcome {
        let PyroscopeOptions { url, tenant, .. } = &self.options;
        let request = self
            .agent
            .post(format!("{}/ingest?{}", url.trim_end_matches('/'), upload.query));
        let mut request = request.content_type(format!("multipart/form-data; boundary={BOUNDARY}"));
        if let Some(tenant) = tenant {
            request = request.header("X-Scope-OrgID", tenant);
        }
        match &self.options.authorization {
            None => {}
            Some(Secret::Value(value)) => request = request.header("Authorization", value),
            Some(Secret::File(path)) => match fs::read_to_string(path) {
                Ok(text) => {
                    request = request.header("Authorization", text.lines().next().unwrap_or_default().trim());
                }
                Err(error) => return Outcome::Later(format!("{}: {error}", path.display())),
            },
        }
        match request.send(&upload.body[..]) {
            Ok(answer) => match answer.status().as_u16() {
                200..=299 => Outcome::Taken,
                // Requests are too slow or too frequent, or the server has failed. Nothing is wrong with the profile
                // itself.
                status @ (408 | 425 | 429 | 500..=599) => Outcome::Later(format!("{url} answers {status}")),
                status => Outcome::Never(format!("{url} answers {status}")),
            },
            Err(error) => Outcome::Later(format!("{url}: {error}")),
        }
    }
}

fn query(program: &str, labels: &[(String, String)], unix_ns: (u64, u64)) -> String {
    // These characters are not allowed in a series' name, and would end it early.
    let plain = |text: &str| text.replace(['{', '}', ',', '='], "_");
    let labels: Vec<String> = labels
        .iter()
        .map(|(name, value)| format!("{name}={}", plain(value)))
        .collect();
    let name = format!("{}{{{}}}", plain(program), labels.join(","));
    let mut query = "name=".to_owned();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => query.push(char::from(byte)),
            _ => {
                let _ = write!(query, "%{byte:02X}");
            }
        }
    }
    let (from, until) = (unix_ns.0 / 1_000_000_000, unix_ns.1.div_ceil(1_000_000_000));
    let _ = write!(query, "&from={from}&until={until}&format=pprof&spyName=tickscope");
    query
}

/// Returns the body of a request: the profile, along with the types of its values. Without these types, Pyroscope would
/// know only the value types of Go profiles.
fn body(window: &Window) -> std::io::Result<Vec<u8>> {
    let mut types = Map::new();
    for (name, unit) in pprof::sample_types(&window.snapshot) {
        let kind: Value =
            json!({ "units": unit, "display-name": name, "aggregation": "sum", "sampled": false });
        types.insert(name.to_owned(), kind);
    }
    let mut body = Vec::new();
    let part = |body: &mut Vec<u8>, name: &str, file: &str| {
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{file}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
    };
    part(&mut body, "sample_type_config", "config.json");
    body.extend_from_slice(Value::Object(types).to_string().as_bytes());
    body.extend_from_slice(b"\r\n");
    part(&mut body, "profile", "profile.pb.gz");
    pprof::write(&window.snapshot, Measure::Time, &Addresses::default(), &mut body)?;
    body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    Ok(body)
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::fixture;

    use super::*;

    fn window(program: &str) -> Window {
        Window {
            program: program.to_owned(),
            unix_ns: (1_500_000_000, 3_200_000_000),
            snapshot: fixture::two_threads(),
        }
    }

    #[test]
    fn names_cannot_leave_their_place() {
        let labels = [("host".to_owned(), "a,b=c}".to_owned())];
        assert_eq!(
            query("app{x}&y ö", &labels, (1_500_000_000, 3_200_000_000)),
            "name=app_x_%26y%20%C3%B6%7Bhost%3Da_b_c_%7D&from=1&until=4&format=pprof&spyName=tickscope"
        );
    }

    #[test]
    fn the_body_has_the_profile_and_its_types() {
        let body = body(&window("app")).unwrap();
        let text = String::from_utf8_lossy(&body);
        let types = text.split("\r\n").find(|line| line.starts_with('{')).unwrap();
        let types: Value = serde_json::from_str(types).unwrap();
        assert_eq!(types["time"]["units"], "nanoseconds");
        assert_eq!(types["calls"]["units"], "count");
        assert!(body.windows(2).any(|two| two == [0x1f, 0x8b]), "a gzip file");
        assert_eq!(text.matches(BOUNDARY).count(), 3);
    }

    #[test]
    fn the_queue_has_an_end_and_the_oldest_go() {
        let options = PyroscopeOptions {
            // No server listens on this port.
            url: "http://127.0.0.1:1".into(),
            ..PyroscopeOptions::default()
        };
        let mut queue = Pyroscope::new(options);
        assert_eq!(queue.rest(), None);
        let mut dropped = 0;
        for number in 0..WAITING_MOST + 3 {
            dropped += queue.add(&window(&format!("app-{number}"))).unwrap();
        }
        assert_eq!((dropped, queue.dropped, queue.waiting()), (3, 3, WAITING_MOST));
        assert!(queue.waiting[0].query.starts_with("name=app-3%7B"));
        assert_eq!(queue.rest(), Some(Duration::ZERO));
        let said = queue.send().unwrap();
        assert!(said.contains("240 profiles wait, trying again in 1s"), "{said}");
        assert!(queue.send().unwrap().contains("trying again in 2s"));
        assert_eq!(queue.waiting(), WAITING_MOST);
    }
}
