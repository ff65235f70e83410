//! Measures what a record costs the publisher: the steps of making one, and the publisher's share of a core.
//!
//! `publish_cost [NODES]`; `publish_cost ways` compares the ways in which a record can reach its file.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

mod share;
mod stages;
mod tree;
mod ways;

use std::process::Command;

/// The environment variable with the role of a child. Each measurement has its own process, because a process has one
/// collector.
const ROLE: &str = "PUBLISH_COST_ROLE";

fn child(role: &str, nodes: usize, histograms: bool) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let status = Command::new(program)
        .env(ROLE, format!("{role} {nodes} {histograms}"))
        .status()
        .map_err(|error| error.to_string())?;
    status.success().then_some(()).ok_or(format!("{role}: {status}"))
}

fn main() -> Result<(), String> {
    if let Ok(role) = std::env::var(ROLE) {
        let mut words = role.split(' ');
        let role = words.next();
        if let Some("sync" | "publish") = role {
            let [place, way, hz] = [(); 3].map(|()| words.next().unwrap_or_default());
            return match role {
                Some("sync") => ways::sync(place),
                _ => ways::publish(place, way, hz.parse().unwrap_or(0)),
            };
        }
        let nodes = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        let histograms = words.next() == Some("true");
        return match role {
            Some("share") => share::print(nodes, histograms),
            _ => stages::print(nodes, histograms),
        };
    }
    if std::env::args().nth(1).as_deref() == Some("ways") {
        return ways::print();
    }
    let chosen = match std::env::args().nth(1).map(|word| word.parse()) {
        None => None,
        Some(Ok(nodes)) => Some(nodes),
        Some(Err(_)) => return Err("usage: publish_cost [NODES | ways]".into()),
    };
    println!(
        "Medians of 50, in microseconds; \"still\": nothing was called since the capture before, \"all\": every node was."
    );
    println!(
        "   nodes histograms  since  capture   encode    write      sum   decode     bytes   coarse     bytes"
    );
    for nodes in chosen.map_or(vec![1_000, 10_000, 100_000], |nodes| vec![nodes]) {
        for histograms in [false, true] {
            child("stages", nodes, histograms)?;
        }
    }
    println!("\nThe publisher's share of a core, over 5 s in which every node is called again and again:");
    println!("   nodes histograms  every  share");
    for histograms in [false, true] {
        child("share", chosen.unwrap_or(10_000), histograms)?;
    }
    Ok(())
}
