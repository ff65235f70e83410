//! `tickscope push`: sends a profile of each program on a host to Pyroscope every few seconds.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use tickscope_command::console;
use tickscope_command::console::{Misuse, say};

use crate::args::PushArgs;
use crate::begin;
use crate::pyroscope::{Pyroscope, PyroscopeOptions, Secret};
use crate::windows::Windows;

/// Environment variable with the value of the `Authorization` header.
const AUTHORIZATION: &str = "TICKSCOPE_PUSH_AUTHORIZATION";

/// Beginning of a certificate in a PEM file.
const CERTIFICATE: &[u8] = b"-----BEGIN CERTIFICATE-----";

/// Longest time until a signal is noticed.
const TURN: Duration = Duration::from_millis(200);

/// Sends profiles until SIGTERM or SIGINT. Then adds a last profile of each program and sends everything in the queue,
/// but gives up at the first profile that the server does not accept.
///
/// # Errors
/// The address cannot be used, a directory or file from the command line cannot be read, or a profile cannot be
/// written.
pub fn run(args: &PushArgs) -> anyhow::Result<u8> {
    let (places, ended) = begin(&args.dir)?;
    let options = options(args)?;
    let mut windows = Windows::new(places, args.program.clone());
    windows.look();
    say(&format!(
        "sending a profile of each program to {} every {:?}",
        options.url, args.every
    ));
    let mut queue = Pyroscope::new(options);
    let mut complaint = None;
    let mut next = Instant::now() + args.every;
    while !ended.load(Ordering::Relaxed) {
        if Instant::now() >= next {
            next += args.every;
            add(&mut windows, &mut queue)?;
        }
        if queue.rest().is_some_and(|rest| rest.is_zero()) {
            tell(queue.send(), &mut complaint);
            continue;
        }
        let rest = queue.rest().unwrap_or(TURN).min(TURN);
        thread::sleep(rest.min(next.saturating_duration_since(Instant::now())));
    }
    add(&mut windows, &mut queue)?;
    while queue.waiting() > 0 {
        let said = queue.send();
        let is_over = said.is_some();
        tell(said, &mut complaint);
        if is_over {
            break;
        }
    }
    let dropped = queue.dropped + queue.waiting() as u64;
    say(&format!(
        "{} profiles were sent, {dropped} were dropped",
        queue.sent
    ));
    Ok(console::DONE)
}

fn add(windows: &mut Windows, queue: &mut Pyroscope) -> anyhow::Result<()> {
    for window in windows.look() {
        let dropped = queue.add(&window).context("cannot write a profile")?;
        if dropped > 0 {
            say(&format!(
                "too many profiles wait: the oldest {dropped} were dropped, {} so far",
                queue.dropped
            ));
        }
    }
    Ok(())
}

/// Prints a message when a new problem occurs, when a problem is over, and for each dropped profile.
fn tell(said: Option<String>, complaint: &mut Option<String>) {
    let reason = |text: &String| text.split(';').next().unwrap_or_default().to_owned();
    let new = said.as_ref().map(reason);
    match &said {
        Some(text) if new != *complaint || text.ends_with("dropped") => say(text),
        None if complaint.is_some() => say("the server takes profiles again"),
        Some(_) | None => {}
    }
    *complaint = new;
}

/// Returns whether an address without its scheme names this machine.
fn is_this_machine(address: &str) -> bool {
    let mut after_host = ["127.0.0.1", "localhost", "[::1]"]
        .into_iter()
        .filter_map(|host| address.strip_prefix(host));
    after_host.any(|rest| rest.is_empty() || rest.starts_with([':', '/']))
}

fn options(args: &PushArgs) -> anyhow::Result<PyroscopeOptions> {
    let url = args.pyroscope.as_str();
    let wrong = |wanted: &str| Misuse(format!("--pyroscope: found \"{url}\", wanted {wanted}"));
    let (scheme, rest) = url
        .split_once("://")
        .filter(|(scheme, rest)| ["http", "https"].contains(scheme) && !rest.is_empty())
        .ok_or_else(|| wrong("http://HOST:PORT or https://HOST"))?;
    if rest.split('/').next().is_some_and(|host| host.contains('@')) {
        // The message leaves the address out, because the address contains a user or a password.
        let why = "--pyroscope: found a user or a password in the address, where others can read it; put it into \
                   TICKSCOPE_PUSH_AUTHORIZATION or --auth-file";
        return Err(Misuse(why.into()).into());
    }
    if scheme == "https" && !cfg!(feature = "tls") {
        return Err(
            wrong("http://: this build has no TLS; cargo install tickscope-cli --features tls").into(),
        );
    }
    if args.ca_file.is_some() && scheme == "http" {
        return Err(wrong("https://HOST, because --ca-file is for https").into());
    }
    let from_environment = std::env::var(AUTHORIZATION)
        .ok()
        .filter(|value| !value.is_empty());
    let authorization = match &args.auth_file {
        Some(path) => {
            std::fs::read_to_string(path).with_context(|| format!("--auth-file {}", path.display()))?;
            Some(Secret::File(path.clone()))
        }
        None => from_environment.map(Secret::Value),
    };
    if authorization.is_some() && scheme == "http" && !is_this_machine(rest) {
        say("the header Authorization goes to another machine unencrypted: use https");
    }
    Ok(PyroscopeOptions {
        url: url.to_owned(),
        labels: args.label.clone(),
        tenant: args.tenant.clone(),
        authorization,
        authorities: args.ca_file.as_deref().map(authorities).transpose()?,
    })
}

/// Reads a PEM file, and checks that it contains a certificate.
fn authorities(path: &Path) -> anyhow::Result<Vec<u8>> {
    let found = || format!("--ca-file {}", path.display());
    let pem = std::fs::read(path).with_context(found)?;
    match pem.windows(CERTIFICATE.len()).any(|line| line == CERTIFICATE) {
        true => Ok(pem),
        false => {
            Err(anyhow!("found no certificate, wanted one or more certificates in PEM form").context(found()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_may_get_secrets_unencrypted() {
        for local in ["localhost", "localhost:4040", "127.0.0.1/", "[::1]:4040/a"] {
            assert!(is_this_machine(local), "{local}");
        }
        for other in [
            "localhost.example.com",
            "127.0.0.10:4040",
            "example.com/localhost",
        ] {
            assert!(!is_this_machine(other), "{other}");
        }
    }
}
