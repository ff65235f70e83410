//! `tickscope man`: prints manual pages.

use anyhow::bail;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use tickscope_command::console;
use tickscope_command::console::printable;

use crate::cli::args::{CargoCli, Cli};

/// Name of this package's second command, which cargo runs for `cargo tickscope`.
const CARGO_TICKSCOPE: &str = "cargo-tickscope";

/// Prints the manual page of a command, of tickscope itself, or of `cargo tickscope`.
///
/// # Errors
/// There is no such command, or standard output cannot be written.
pub fn run(of: Option<&str>) -> anyhow::Result<u8> {
    let mut all = Cli::command().disable_help_subcommand(true);
    all.build();
    let command = match of {
        None => all,
        Some(CARGO_TICKSCOPE) => CargoCli::command(),
        Some(name) => match all.find_subcommand(name).filter(|command| !command.is_hide_set()) {
            Some(command) => command.clone(),
            None => bail!(
                "there is no command {}; manual pages are of {}",
                printable(name),
                names(&all)
                    .into_iter()
                    .chain([CARGO_TICKSCOPE])
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        },
    };
    console::write(&page(command)?)?;
    Ok(console::DONE)
}

fn page(command: Command) -> anyhow::Result<String> {
    // Like git's pages, the page of `tickscope report` is titled tickscope-report.
    let title = command
        .get_display_name()
        .unwrap_or(command.get_name())
        .to_string();
    let examples = command.get_after_help().map(ToString::to_string);
    let formats = command.get_after_long_help().map(ToString::to_string);
    let command = command.after_help(None::<&str>).after_long_help(None::<&str>);
    let mut page = Vec::new();
    let source = concat!("tickscope ", env!("CARGO_PKG_VERSION"));
    Man::new(command).title(title).source(source).render(&mut page)?;
    let mut page = String::from_utf8_lossy(&page).into_owned();
    if let Some(examples) = examples {
        page.push_str(&verbatim("EXAMPLES", examples.trim_start_matches("Examples:\n")));
    }
    if let Some(formats) = formats {
        let (title, lines) = formats.split_once(":\n").unwrap_or(("Formats", &formats));
        page.push_str(&verbatim(&title.to_uppercase(), lines));
    }
    Ok(page)
}

/// Returns a section of the manual page. The section keeps the line breaks of `text`.
fn verbatim(title: &str, text: &str) -> String {
    let mut section = format!(".SH {title}\n.nf\n");
    for line in text.lines() {
        let line = line
            .replace('\\', "\\\\")
            .replace('-', "\\-")
            .replace('\'', "\\(aq");
        // A dot at the beginning of a line would start a roff request.
        let guard = if line.starts_with('.') { "\\&" } else { "" };
        section.push_str(&format!("{guard}{line}\n"));
    }
    section.push_str(".fi\n");
    section
}

fn names(all: &Command) -> Vec<&str> {
    all.get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(Command::get_name)
        .collect()
}
