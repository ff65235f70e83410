//! Measures the cost of a scope in tickscope and in other profilers. The baselines are the program without a profiler,
//! and a floor of two bare clock reads per scope.
//!
//! `peers [--json] [--case NAME] [--peer NAME]`
//!
//! Each peer runs each case in a process of its own. So the peers share no memory and no caches, and peak memory use
//! and exit time are measured separately for each run.

mod cases;
mod child;
mod lines;
mod measure;
mod peer;
mod peers;
mod print;
mod sites;

const USAGE: &str = "usage: peers [--json] [--case NAME] [--peer NAME]";

#[derive(Debug, Default)]
struct Options {
    json: bool,
    /// The only case to measure; `None` for all.
    case: Option<String>,
    /// The only peer to measure; `None` for all.
    peer: Option<String>,
    /// Whether this process is a child, which measures and writes one row.
    child: bool,
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options::default();
    while let Some(word) = words.next() {
        let mut one_of = |names: &[&str]| {
            let name = words.next().ok_or(format!("{word} needs a value; {USAGE}"))?;
            if names.contains(&name.as_str()) {
                Ok(Some(name))
            } else {
                Err(format!("{word} {name}? There are: {}", names.join(", ")))
            }
        };
        match word.as_str() {
            "--json" => options.json = true,
            "--case" => options.case = one_of(cases::NAMES)?,
            "--peer" => options.peer = one_of(peers::NAMES)?,
            child::FLAG => options.child = true,
            _ => return Err(format!("what is {word}? {USAGE}")),
        }
    }
    Ok(options)
}

fn main() -> Result<(), String> {
    let options = options(std::env::args().skip(1))?;
    if let (true, Some(peer), Some(case)) = (options.child, &options.peer, &options.case) {
        return child::measure(peer, case);
    }
    if !options.json {
        print::heading();
    }
    let chosen = |choice: &Option<String>, name: &str| choice.as_deref().is_none_or(|it| it == name);
    for case in cases::NAMES.iter().filter(|name| chosen(&options.case, name)) {
        for peer in peers::NAMES.iter().filter(|name| chosen(&options.peer, name)) {
            // A peer that fails must not hide the results of other peers.
            match child::run(peer, case) {
                Ok((measured, exit)) if options.json => print::json(peer, case, &measured, exit),
                Ok((measured, exit)) => print::row(peer, case, &measured, exit),
                Err(error) => print::failure(peer, case, &error),
            }
        }
    }
    Ok(())
}
