//! Benchmarks that measure tickscope's cost and the accuracy of its numbers. The results are in docs/design/benchmarks.md.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that speaks to its user"
)]

mod accuracy;
mod cases;
mod costs;
mod first_visit;
mod harm;
mod lines;
mod modes;
mod overhead;
mod publish;
mod spans;
mod start;
mod viewer;
mod waits;
mod workers;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tickscope_bench::child;

/// Measures the cost of tickscope and the accuracy of its numbers.
#[derive(Debug, Parser)]
struct Options {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    /// Cost of a scope in all modes, compared with the same code without scopes.
    Overhead(overhead::Options),
    /// How much a publisher and a viewer slow down the slowest of many 1 us operations.
    Harm {
        /// Measures more rounds, and fails if a goal is missed.
        #[arg(long)]
        long: bool,
    },
    /// Accuracy of the numbers that tickscope shows.
    Accuracy(accuracy::Options),
    /// Cost of small operations, with and without tickscope.
    Cost {
        #[arg(value_parser = costs::names())]
        what: String,
        #[arg(default_value = "101", value_parser = rounds())]
        rounds: u64,
    },
    /// Cost of sampling lines: CPU time with and without sampling.
    Lines {
        #[arg(default_value = "101", value_parser = rounds())]
        rounds: u64,
    },
    /// Waiting and ready time as shown by tickscope and as measured by the kernel.
    Waits {
        /// Factor by which the number of rounds is multiplied.
        #[arg(default_value = "1", value_parser = clap::value_parser!(u32).range(1..=1_000))]
        factor: u32,
    },
    /// What a record costs the publisher, step by step.
    Publish {
        /// Number of nodes in the call tree [default: 1000, 10000 and 100000].
        nodes: Option<usize>,
    },
    /// Cost of starting and ending a session or a program.
    Start,
    /// Cost of visiting a node of the call tree for the first time.
    FirstVisit,
    /// Runs one task of a benchmark, as the child process that the benchmark started for it.
    #[command(name = child::FLAG, hide = true)]
    Child { words: Vec<String> },
}

fn rounds() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(3..=100_000)
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    match Options::parse().benchmark {
        Benchmark::Overhead(options) => overhead::run(options)?,
        Benchmark::Harm { long } => {
            let reached = harm::run(long)?;
            return Ok(ExitCode::from(u8::from(!reached)));
        }
        Benchmark::Accuracy(options) => accuracy::run(&options)?,
        Benchmark::Cost { what, rounds } => costs::print(&what, rounds)?,
        Benchmark::Lines { rounds } => lines::print(rounds)?,
        Benchmark::Waits { factor } => waits::print(factor)?,
        Benchmark::Publish { nodes } => publish::print(nodes)?,
        Benchmark::Start => start::print()?,
        Benchmark::FirstVisit => first_visit::print()?,
        Benchmark::Child { words } => child(&words)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn child(words: &[String]) -> Result<(), Box<dyn Error>> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["instructions", case, mode, amount] => overhead::instructions::run(case, mode, amount.parse()?)?,
        ["nodes", mode] => overhead::sizes::nodes(mode)?,
        ["threads", mode] => overhead::sizes::threads(mode)?,
        ["plain", case, seconds] => accuracy::recorded(case, None, seconds)?,
        ["scoped", case, mode, seconds] => accuracy::recorded(case, Some(mode), seconds)?,
        ["times", group, case, rounds] => costs::times(group, case, rounds.parse()?)?,
        ["stages", nodes, histograms] => publish::stages(nodes.parse()?, histograms.parse()?)?,
        ["life", end] => start::life(end)?,
        ["first-visit", histograms] => first_visit::visit(histograms.parse()?),
        _ => return Err("what is this child to do?".into()),
    }
    Ok(())
}
