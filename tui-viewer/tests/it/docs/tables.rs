//! Tables in the book match the code.

use std::collections::BTreeSet;
use std::path::Path;

use tickscope_report::form::Form;

use crate::docs::{markdown, pages, read, root};

const BEGIN: &str = "<!-- keys: begin -->\n";
const END: &str = "<!-- keys: end -->\n";

/// `UPDATE_BOOK=1 cargo test -p tickscope-cli --test it -- docs::` rewrites the table.
fn the_viewers_page_has_the_table_of_keys() {
    const PAGE: &str = "docs/viewer.md";
    let page = read(PAGE);
    let begin = page.find(BEGIN).unwrap() + BEGIN.len();
    let end = page.find(END).unwrap();
    let table = tickscope_cli::key_table_markdown();
    if std::env::var_os("UPDATE_BOOK").is_some() {
        let updated = format!("{}{table}{}", &page[..begin], &page[end..]);
        std::fs::write(root().join(PAGE), updated).unwrap();
        return;
    }
    assert_eq!(
        &page[begin..end],
        table,
        "UPDATE_BOOK=1 cargo test -p tickscope-cli --test it -- docs::"
    );
}

fn every_form_has_its_section_and_its_row() {
    let page = read("docs/reports.md");
    for form in Form::ALL {
        let name = form.name();
        assert!(page.contains(&format!("\n## {name}\n")), "{name}");
        let link = format!("| [{name}](#{name}) |");
        let row = page.lines().find(|line| line.starts_with(&link)).unwrap();
        assert!(row.contains(&format!("`.{}`", form.ending())), "{row}");
        // Snapshot files need no feature.
        if name != "tks" {
            assert!(row.contains(&format!("feature `{}`", form.feature())), "{row}");
        }
    }
}

/// Returns all words in a text that look like environment variables of tickscope.
fn variables(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_uppercase() || c == '_';
    text.split(|c| !is_part(c))
        .filter(|word| *word == "TICKSCOPE" || word.starts_with("TICKSCOPE_"))
        .map(ToString::to_string)
        .collect()
}

/// Appends the text of all source files below a directory, except for tests.
fn sources(folder: &Path, found: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push_str(text.split("#[cfg(test)]").next().unwrap_or_default());
        }
    }
}

/// Returns the environment variables that programs and the viewer read. In the source code, their names are in quotes.
fn known_variables() -> BTreeSet<String> {
    let mut text = String::new();
    for folder in [
        "collector/src",
        "shared-format/src",
        "shared-format/report/src",
        "tui-viewer/cargo/src",
        "tui-viewer/command/src",
        "tui-viewer/fleet/src",
        "tui-viewer/programs/src",
        "tui-viewer/src",
    ] {
        sources(&root().join(folder), &mut text);
    }
    let quoted = text.split('"').filter(|part| {
        let words = variables(part);
        words.len() == 1 && words.contains(*part)
    });
    quoted.map(ToString::to_string).collect()
}

fn the_settings_page_has_every_variable_and_setter() {
    let page = read("docs/settings.md");
    let named = variables(&page);
    let known = known_variables();
    assert!(known.len() > 15, "{known:?}");
    assert_eq!(named, known);
    let builder = read("collector/src/enabled/builder.rs");
    let setters: Vec<&str> = builder
        .split("pub fn ")
        .skip(1)
        .filter(|rest| rest.contains('{') && rest[..rest.find('{').unwrap()].contains("mut self"))
        .map(|rest| rest.split('(').next().unwrap())
        .collect();
    assert!(setters.len() > 10, "{setters:?}");
    for setter in setters {
        let row = format!("\n| `{setter}` | `TICKSCOPE");
        assert!(page.contains(&row), "{setter}");
    }
}

fn pages_name_no_variable_that_nothing_reads() {
    let mut known = known_variables();
    // The pages also name constants of the C header, which are not environment variables.
    known.extend(variables(&read("collector/c/include/tickscope.h")));
    // The pages also name variables of the C build, which are not settings of a program.
    known.extend(variables(&read("collector/c/build.rs")));
    for page in pages() {
        for name in variables(&read(&page)) {
            assert!(known.contains(&name), "{page}: {name}");
        }
    }
}

fn tables_have_as_many_cells_as_their_heads() {
    for page in pages() {
        let (_, text) = markdown::cut(&read(&page));
        for table in text.split("\n\n") {
            let rows = markdown::rows(table);
            for row in &rows {
                assert_eq!(row.len(), rows[0].len(), "{page}: {row:?}");
            }
        }
    }
}

tickscope_testkit::tests![
    the_viewers_page_has_the_table_of_keys,
    every_form_has_its_section_and_its_row,
    the_settings_page_has_every_variable_and_setter,
    pages_name_no_variable_that_nothing_reads,
    tables_have_as_many_cells_as_their_heads
];
