//! `tickscope agents`: prints the guide for agents and scripts.

use tickscope_command::console;

/// The guide. It has at most sixty lines, so that an agent reads all of it.
const GUIDE: &str = include_str!("agents.txt");

/// Prints the guide.
///
/// # Errors
/// Standard output cannot be written.
pub fn run() -> anyhow::Result<u8> {
    console::write(GUIDE)?;
    Ok(console::DONE)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn it_is_short_and_its_commands_parse() {
        assert!(GUIDE.lines().count() <= 60);
        assert!(
            GUIDE
                .lines()
                .all(|line| line.chars().count() <= 100 && line.is_ascii())
        );
        let mut parsed = 0;
        for line in GUIDE.lines().filter_map(|line| line.strip_prefix("  tickscope ")) {
            let line = line.split("  ").next().unwrap_or_default();
            // For a shell, a condition in quotes is one word.
            let words = line.split('\'').enumerate().flat_map(|(at, part)| match at % 2 {
                0 => part.split_whitespace().collect(),
                _ => vec![part],
            });
            let cli = Cli::try_parse_from(["tickscope"].into_iter().chain(words));
            assert!(cli.is_ok(), "{line}: {cli:?}");
            parsed += 1;
        }
        assert!(parsed >= 10, "{parsed} commands");
    }
}
