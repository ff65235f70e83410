//! Writes a text that lists all known sites, which of them are disabled, and the rules that decide this.

use std::fmt::{self, Write};

use tickscope_analysis::sites::{SiteRow, sites as analysed};
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::Snapshot;

use crate::escape::visible;
use crate::label::{column_width, place};
use crate::process_state::heading;
use crate::{ProcessState, number, text_of};

/// Maximum width of the path column, in cells.
const MAX_PATH_COLUMN: usize = 60;

/// Returns the list of sites, sorted by path. It ends in a newline.
pub fn sites(snapshot: &Snapshot, state: ProcessState, ascii: bool) -> String {
    text_of(|out| write(out, snapshot, state, ascii))
}

fn write(out: &mut String, snapshot: &Snapshot, state: ProcessState, ascii: bool) -> fmt::Result {
    out.push_str(&heading("sites", snapshot, state, ascii));
    let site = |row: &SiteRow| &snapshot.sites[row.site.index()];
    let mut rows: Vec<(String, SiteRow)> = analysed(snapshot)
        .into_iter()
        .map(|row| (visible(&site(&row).path(), ascii).into_owned(), row))
        .collect();
    rows.sort();
    if rows.is_empty() {
        writeln!(out, "\nno scope has been entered yet")?;
        return rules(out, snapshot, ascii);
    }
    let off = rows.iter().filter(|(_, row)| row.off).count();
    writeln!(
        out,
        "{} met, {off} switched off; calls since the reset\n",
        rows.len()
    )?;
    let width = column_width("SITE", rows.iter().map(|(path, _)| path), MAX_PATH_COLUMN);
    writeln!(out, "STATE  CALLS  {:<width$}  WHERE", "SITE")?;
    for (path, row) in &rows {
        writeln!(
            out,
            "{:<5}  {:>5}  {path:<width$}  {}",
            state_word(row.off),
            number::count(row.calls),
            place(&site(row).file, site(row).line, ascii),
        )?;
    }
    rules(out, snapshot, ascii)
}

fn rules(out: &mut String, snapshot: &Snapshot, ascii: bool) -> fmt::Result {
    let rules = &snapshot.measuring.rules;
    if rules.is_empty() {
        return writeln!(
            out,
            "\nno rule is in force; `tickscope off PATTERN` switches sites off"
        );
    }
    writeln!(
        out,
        "\nrules in force, oldest first; the last that matches a site decides:"
    )?;
    for rule in rules {
        writeln!(
            out,
            "  {:<3}  {}",
            state_word(rule.off),
            visible(&rule.pattern, ascii)
        )?;
    }
    Ok(())
}

/// Returns patterns for the functions that are off because measuring exceeded its budget, on one line and separated by commas.
/// Passed to `--not`, the patterns exclude these functions from the next build or run.
pub fn exclude(snapshot: &Snapshot) -> String {
    let mut patterns: Vec<String> = Vec::new();
    for over in snapshot.over_budget() {
        let pattern = Pattern::of_path(&snapshot.sites[over.site.index()].path());
        // In the argument of `--not`, a comma would end the pattern.
        let text = pattern.map(|pattern| pattern.as_str().replace(',', "*"));
        patterns.extend(text.filter(|text| !patterns.contains(text)));
    }
    patterns.join(",") + "\n"
}

fn state_word(off: bool) -> &'static str {
    if off { "off" } else { "on" }
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::Rule;
    use tickscope_testkit::fixture;
    use tickscope_testkit::fixture::programs as fixtures;

    use super::*;

    #[test]
    fn sites_by_path_and_the_rules() {
        let mut snapshot = fixtures::order_sim();
        fixtures::switch_off(&mut snapshot, "wire::*");
        snapshot.measuring.rules.push(Rule {
            pattern: "checksum".into(),
            off: false,
        });
        snapshot.measuring.off_sites.pop();
        insta::assert_snapshot!(sites(&snapshot, ProcessState::Running, false));
    }

    #[test]
    fn what_is_over_the_budget_is_left_out_by_patterns() {
        let mut snapshot = fixture::over_budget();
        snapshot.sites[2].name = "rebalance<A, B>".into();
        assert_eq!(
            exclude(&snapshot),
            "order_book::book::insert,order_book::book::rebalance<A* B>\n"
        );
        assert_eq!(exclude(&fixtures::order_sim()), "\n");
    }

    #[test]
    fn hostile_sites_in_ascii() {
        let text = sites(&fixtures::hostile(), ProcessState::FromFile, true);
        assert!(text.is_ascii());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn nothing_was_met() {
        insta::assert_snapshot!(sites(&fixtures::off(), ProcessState::Exited, false));
    }
}
