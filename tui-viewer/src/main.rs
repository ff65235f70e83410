//! The `tickscope` command.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGXFSZ;
use tickscope_cli::cli::args::{Cli, Command};
use tickscope_cli::cli::commands::{
    agents, attach, completions, demo, diff, lines, list, log, man, mcp, mode, record, report, reset, run,
    sites, snapshot, stacks, switch, top, trigger, wait_until, watch, why,
};
use tickscope_cli::cli::parse;
use tickscope_cli::outcome::switched::Switch;
use tickscope_command::console;
use tickscope_command::console::say;
use tickscope_fleet::{merge, metrics, push};
use tickscope_programs::target::wanted::NoTarget;

/// The global allocator. It counts allocations for `tickscope demo`, which runs in this process and shows them.
#[global_allocator]
static ALLOCATOR: tickscope_demo::Alloc = tickscope_demo::Alloc::system();

fn main() -> ExitCode {
    // With a handler for SIGXFSZ, a write beyond the file size limit (`ulimit -f`) does not kill the process, but
    // returns an error, which is reported together with the file's name. Ignoring the signal would not do, because the
    // programs started from here would inherit that.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let cli = parse::parse(std::env::args_os());
    match carry_out(cli) {
        Ok(code) => console::code(code),
        Err(error) => {
            say(&console::in_one_line(&error));
            let misused = error.is::<NoTarget>() || error.is::<console::Misuse>();
            console::code(if misused {
                console::NO_TARGET
            } else {
                console::FAILED
            })
        }
    }
}

fn carry_out(cli: Cli) -> anyhow::Result<u8> {
    match cli.command {
        None => attach::run_unnamed(&cli.target, &cli.look, &cli.compare),
        Some(Command::Attach {
            target,
            look,
            compare,
        }) => attach::run(&target, &look, &compare),
        Some(Command::List { json, clean, dir }) => list::run(dir.as_deref(), json, clean),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Top(args)) => top::run(&args),
        Some(Command::Diff(args)) => diff::run(&args),
        Some(Command::Record(args)) => record::run(&args),
        Some(Command::Log(args)) => log::run(&args),
        Some(Command::Merge(args)) => merge::run(&args),
        Some(Command::Metrics(args)) => metrics::run(&args),
        Some(Command::Push(args)) => push::run(&args),
        Some(Command::Trigger(args)) => trigger::run(&args),
        Some(Command::WaitUntil(args)) => wait_until::run(&args),
        Some(Command::Agents) => agents::run(),
        Some(Command::Mcp(args)) => mcp::run(&args),
        Some(Command::Stacks { target, tasks }) => stacks::run(&target, tasks),
        Some(Command::Snapshot { target, output }) => snapshot::run(&target, output.as_deref()),
        Some(Command::Reset { target, after }) => reset::run(&target, after),
        Some(Command::Mode { how, target }) => mode::run(&target, how.mode),
        Some(Command::Off { sites, target }) => switch::run(&target, sites.pattern, Switch::Off),
        Some(Command::On { sites, target }) => switch::run(&target, sites.pattern, Switch::On),
        Some(Command::Sites { target, format }) => sites::run(&target, format),
        Some(Command::Watch { watch, target }) => watch::run(&watch, &target),
        Some(Command::Lines(args)) => lines::run(&args),
        Some(Command::Why(args)) => why::run(&args),
        Some(Command::Run {
            report,
            dir,
            look,
            command,
        }) => run::run(&command, report, dir.as_deref(), &look),
        Some(Command::Demo { look }) => demo::run(&look),
        Some(Command::Completions { shell }) => completions::run(shell),
        Some(Command::Man { command }) => man::run(command.as_deref()),
        Some(Command::DemoProgram { frames }) => Ok(demo::program(frames)),
    }
}
