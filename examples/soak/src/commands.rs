//! Runs random commands on the program that is watched; some are killed before they end.

use fastrand::Rng;

use crate::soak::{Soak, one_in, one_of};

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
pub(crate) fn run(soak: &Soak, pid: u32, mut random: Rng) {
    let mut number = 0;
    while !soak.over.sleep(random.u64(50..=400)) {
        number += 1;
        let line = one_of(&mut random, &COMMANDS).replace("PID", &pid.to_string());
        let line = line.replace("NEW", &format!("command-{number}"));
        let killed_after = one_in(&mut random, 5).then(|| random.u64(0..=300));
        one(soak, &line, killed_after);
    }
}

/// Runs a command to its end, or kills it after so many milliseconds.
pub(crate) fn one(soak: &Soak, line: &str, killed_after: Option<u64>) {
    let done = soak.place.command(line).and_then(|mut command| {
        let Some(ms) = killed_after else {
            return command.end(&soak.over).map(|_| "commands");
        };
        soak.over.sleep(ms);
        command.kill();
        Ok("commands killed")
    });
    match done {
        Ok(what) => soak.tally.did(what, 1),
        Err(why) => soak.tally.error(why),
    }
}
