//! Runs random commands on the program that is watched; some are killed before they end.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::over::Over;
use crate::random::Random;
use crate::tally::Tally;
use crate::viewers::Viewing;

/// The time between two looks whether a command has ended.
const LOOK: Duration = Duration::from_millis(10);

/// The arguments of `tickscope`: `PID` stands for the program's id, `NEW` for a file that does not exist.
const COMMANDS: [&str; 19] = [
    "report --pid PID",
    "report --pid PID -f json -o NEW.json",
    "report --pid PID -f html -o NEW.html",
    "report --pid PID -f folded",
    "list",
    "list --json",
    "stacks --pid PID",
    "stacks --tasks --pid PID",
    "sites --pid PID",
    "snapshot --pid PID -o NEW.tks",
    "record --pid PID -d 500ms -o NEW.tks",
    "record --pid PID -d 1s --rate 50 -o NEW.tks",
    "log --pid PID -d 1s --every 100ms --function wide",
    "reset --pid PID",
    "reset --pid PID --after 200ms",
    "mode exact --pid PID",
    "mode adaptive --pid PID",
    "mode sampled --pid PID",
    "mode exact --pid PID",
];

/// Runs one command after another until it is over.
pub(crate) fn run(viewing: &Viewing, pid: u32, mut random: Random, over: &Over, tally: &Tally) {
    let mut number = 0;
    while !over.sleep(random.ms(50, 400)) {
        number += 1;
        let line = random.of(&COMMANDS).replace("PID", &pid.to_string());
        let line = line.replace("NEW", &format!("command-{number}"));
        let child = match start(viewing, &line) {
            Ok(child) => child,
            Err(error) => {
                tally.error(format!("tickscope {line}: {error}"));
                continue;
            }
        };
        let ended = if random.one_in(5) {
            over.sleep(random.ms(0, 300));
            kill(child);
            tally.commands_killed.add(1);
            Ok(())
        } else {
            wait(child, over, tally)
        };
        if let Err(why) = ended {
            tally.error(format!("tickscope {line}: {why}"));
        }
    }
}

/// Runs a command on a file to its end.
pub(crate) fn look_at(viewing: &Viewing, file: &Path, over: &Over, tally: &Tally) {
    let line = format!("report {}", file.display());
    let ended = start(viewing, &line).map_err(|error| error.to_string());
    if let Err(why) = ended.and_then(|child| wait(child, over, tally)) {
        tally.error(format!("tickscope {line}: {why}"));
    }
}

fn start(viewing: &Viewing, line: &str) -> std::io::Result<Child> {
    Command::new(&viewing.program)
        .args(line.split(' '))
        .env("TICKSCOPE_DIR", &viewing.rings)
        .current_dir(&viewing.directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        // Ctrl-C is for the soak itself.
        .process_group(0)
        .spawn()
}

fn kill(mut child: Child) {
    // A command that has ended cannot be killed.
    _ = child.kill();
    _ = child.wait();
}

/// Waits for the end of a command, or kills it when the run is over.
fn wait(mut child: Child, over: &Over, tally: &Tally) -> Result<(), String> {
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if over.sleep(LOOK) => {
                kill(child);
                return Ok(());
            }
            Ok(None) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    tally.commands.add(1);
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "{}: {}",
        output.status,
        said.lines().next().unwrap_or_default()
    ))
}
