//! `tickscope [TARGET]`: shows the screen, or prints the report if there is no terminal.

use std::fs::File;
use std::io::IsTerminal;
use std::path::Path;
use std::rc::Rc;

use tickscope_command::console::printable;
use tickscope_programs::events::Feed;
use tickscope_programs::feed::{PipeFeed, RingFeed, TogetherFeed};
use tickscope_programs::local_time;
use tickscope_programs::sampled_code;
use tickscope_programs::target;
use tickscope_programs::target::wanted::{NoTarget, Wanted};

use crate::cli::args::{CompareArgs, LookArgs, ReportArgs, TargetArgs};
use crate::cli::commands::{live_snapshot, report};
use crate::cli::parse;
use crate::event_loop;
use crate::event_loop::{Compared, ScreenOptions};
use crate::ui::theme;

/// Watches a target that was given without a command. A word that names no program but resembles a command is refused,
/// because it is more likely a misspelt command than a program to wait for.
///
/// # Errors
/// The errors of [`run`], or the word resembles a command.
pub fn run_unnamed(args: &TargetArgs, look: &LookArgs, compare: &CompareArgs) -> anyhow::Result<u8> {
    target::check_dir(args.dir.as_deref())?;
    if let Wanted::Name(word) = args.wanted()
        && let Some(meant) = parse::near_command(&word)
        && let Err(error) = target::find(&Wanted::Name(word.clone()), args.dir.as_deref())
        && NoTarget::may_come(&error)
    {
        let word = printable(&word);
        let lead = format!(
            "no program called \"{word}\"; did you mean tickscope {meant}?\n  to wait for a program of that name: \
             tickscope attach {word}"
        );
        return Err(NoTarget::new(lead, true).into());
    }
    run(args, look, compare)
}

/// Watches a target.
///
/// # Errors
/// There is no such target, or it cannot be read or shown.
pub fn run(args: &TargetArgs, look: &LookArgs, compare: &CompareArgs) -> anyhow::Result<u8> {
    // If the file to compare with cannot be read, that is reported before the screen starts.
    let compare = compare.compare.as_deref().map(compared).transpose()?;
    let wanted = args.wanted();
    if wanted == Wanted::Stdin && has_screen_beside(true) {
        return show(&mut PipeFeed::begin()?, look, compare, false);
    }
    if !has_screen() {
        anyhow::ensure!(
            compare.is_none(),
            "--compare needs a terminal: it shows differences on the screen"
        );
        return report::run(&ReportArgs {
            target: args.clone(),
            ..ReportArgs::default()
        });
    }
    // Waiting does not make an unreadable directory readable, so the error comes before the screen.
    target::check_dir(args.dir.as_deref())?;
    if let Wanted::File(_) | Wanted::Pid(_) = wanted {
        // Waiting does not make a missing file or process appear.
        target::find(&wanted, args.dir.as_deref())?;
    }
    if let Wanted::All(name) = &wanted {
        target::check_all(name)?;
        let mut feed = TogetherFeed::new(name, args.dir.clone());
        return show(&mut feed, look, compare, false);
    }
    let mut feed = RingFeed::new(wanted, args.dir.clone(), local_time::utc_offset_s());
    show(&mut feed, look, compare, true)
}

/// Reads the newest snapshot of the file given with `--compare`, and labels it with the file's name.
fn compared(path: &Path) -> anyhow::Result<Compared> {
    let wanted = Wanted::File(path.to_path_buf());
    let live = live_snapshot::of(&target::find(&wanted, None)?, &wanted)?;
    let mut snapshot = live.snapshot;
    sampled_code::read_code(&mut snapshot, live.addresses);
    let name = path.file_name().unwrap_or(path.as_os_str());
    Ok(Compared {
        snapshot: Rc::new(snapshot),
        label: name.to_string_lossy().into_owned(),
    })
}

/// Returns whether there is a terminal to draw on and to read keys from.
pub fn has_screen() -> bool {
    has_screen_beside(false)
}

/// Returns whether there is a terminal. If `pipe` is true, standard input may be a pipe, because keys are then read
/// from `/dev/tty`.
fn has_screen_beside(pipe: bool) -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let has_keys = || std::io::stdin().is_terminal() || (pipe && File::open("/dev/tty").is_ok());
    !dumb && std::io::stdout().is_terminal() && has_keys()
}

/// Shows on the screen what a feed delivers, until the user quits.
///
/// # Errors
/// The environment names a theme that does not exist, or [`event_loop::run`] fails.
pub fn watch(feed: &mut dyn Feed, look: &LookArgs) -> anyhow::Result<u8> {
    show(feed, look, None, false)
}

fn show(
    feed: &mut dyn Feed,
    look: &LookArgs,
    compare: Option<Compared>,
    says_what_goes_on: bool,
) -> anyhow::Result<u8> {
    let theme = theme::chosen(look.theme, |name| std::env::var(name).ok()).map_err(anyhow::Error::msg)?;
    let options = ScreenOptions {
        color: look.color,
        theme,
        ascii: look.ascii,
        utc_offset_s: local_time::utc_offset_s(),
        mouse: look.mouse,
        compare,
        says_what_goes_on,
        panic_after: look.panic_after,
    };
    Ok(event_loop::run(feed, options)?.exit_code())
}
