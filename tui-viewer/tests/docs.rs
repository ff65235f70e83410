#![allow(clippy::unwrap_used, reason = "tests")]
//! The pages below `docs/` point to what there is, and what they tell to type is understood.

use std::path::Path;

use clap::error::ErrorKind;
use clap::{Parser, ValueEnum};
use tickscope_cli::cli::args::{Cli, ReportFormat};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Pages whose commands are all tried.
const PAGES: [&str; 2] = ["docs/formats.md", "docs/coming-from.md"];

/// Pages whose links are all followed.
const LINKED: [&str; 3] = ["docs/formats.md", "docs/coming-from.md", "docs/errors.md"];

fn read(page: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(page)).unwrap()
}

#[test]
fn every_form_has_its_section_and_its_ending() {
    let page = read("docs/formats.md");
    let row_of = |name: &str| {
        let link = format!("| [{name}](#{name}) |");
        page.lines()
            .find(|line| line.starts_with(&link))
            .unwrap()
            .to_string()
    };
    let names = ReportFormat::value_variants().iter().map(|format| {
        let name = format.to_possible_value().unwrap().get_name().to_string();
        (name, format.form())
    });
    for (name, form) in names {
        assert!(page.contains(&format!("\n## {name}\n")), "{name}");
        let row = row_of(&name);
        assert!(row.contains(&format!("`.{}`", form.ending())), "{row}");
        let needs = ["json", "csv", "speedscope", "pprof"].contains(&&*name);
        assert_eq!(row.contains("feature `export`"), needs, "{row}");
    }
}

#[test]
fn links_lead_somewhere() {
    for page in LINKED {
        let text = read(page);
        let folder = Path::new(ROOT).join(page).parent().unwrap().to_path_buf();
        let links = text
            .split("](")
            .skip(1)
            .map(|rest| rest.split(')').next().unwrap());
        for link in links {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                text.clone()
            } else {
                let path = folder.join(file);
                assert!(path.exists(), "{page}: {link}");
                if anchor.is_empty() {
                    continue;
                }
                std::fs::read_to_string(path).unwrap()
            };
            let is_heading = |line: &str| {
                let heading = line
                    .trim_start_matches('#')
                    .trim()
                    .to_lowercase()
                    .replace(' ', "-");
                let heading: String = heading
                    .chars()
                    .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
                    .collect();
                line.starts_with('#') && heading == anchor
            };
            assert!(target.lines().any(is_heading), "{page}: {link}");
        }
    }
}

#[test]
fn what_is_to_be_typed_is_understood() {
    for page in PAGES {
        // In a table a bar is escaped.
        let text = read(page).replace("\\|", "|");
        let blocks = text.split("```sh\n").skip(1);
        let lines = blocks.flat_map(|rest| rest.split("```").next().unwrap().lines());
        let spans = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
        let commands = lines
            .chain(spans)
            .flat_map(|line| line.split(" | ").flat_map(|part| part.split(" && ")))
            .filter(|command| command.starts_with("tickscope "));
        let mut tried = 0;
        for command in commands {
            // One that stands for all.
            let command = command.replace("FORM", "json").replace("PID", "4711");
            let words = command.split_whitespace().take_while(|word| *word != ">");
            let parsed = Cli::try_parse_from(words);
            // A command's name alone speaks of the command.
            let is_name = command.split_whitespace().count() == 2;
            let is_fine = parsed.as_ref().err().is_none_or(|error| {
                let kind = error.kind();
                kind == ErrorKind::DisplayHelp || is_name && kind == ErrorKind::MissingRequiredArgument
            });
            assert!(is_fine, "{page}: {command}: {parsed:?}");
            tried += 1;
        }
        assert!(tried > 10, "{tried}");
    }
}
