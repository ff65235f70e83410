//! `tickscope.toml`: a project's default choice of functions to measure. Options on the command line override it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tickscope_command::console::{Misuse, printable};
use tickscope_command::did_you_mean::hint;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::args;
use crate::args::FunctionsArgs;
use crate::project::Project;

/// Name of the file, which lies next to a `Cargo.toml`.
const FILE: &str = "tickscope.toml";

/// Name of the file's only table, and the table's keys.
const TABLE: &str = "functions";
const KEYS: [&str; 4] = ["only", "not", "every", "budget"];

/// Reads a project's choice of functions from the file of the package that contains `here`, or else from the workspace's file.
///
/// # Errors
/// A file cannot be read, or contains a mistake. The message names the mistake and its line.
pub(crate) fn read(project: &Project, here: &Path) -> anyhow::Result<FunctionsArgs> {
    for path in places(project, here) {
        return match fs::read_to_string(&path) {
            Ok(text) => parse(&text).map_err(|(at, why)| {
                let line = line_of(&text, at);
                Misuse(format!("{}:{line}: {why}", path.display())).into()
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
    }
    Ok(FunctionsArgs::default())
}

/// Returns the paths where the file may be, in order of preference.
fn places(project: &Project, here: &Path) -> Vec<PathBuf> {
    let folders = project.members.iter().map(|member| &member.dir);
    let package = folders
        .filter(|folder| here.starts_with(folder))
        .max_by_key(|folder| folder.components().count());
    let folders = package.into_iter().chain([&project.root]);
    folders.map(|folder| folder.join(FILE)).collect()
}

/// A mistake in the file: its byte offset and its description.
type Wrong = (usize, String);

fn wrong<T>(place: &Spanned<T>, why: impl Into<String>) -> Wrong {
    (place.span().start, why.into())
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}

fn parse(text: &str) -> Result<FunctionsArgs, Wrong> {
    let file = DeTable::parse(text).map_err(|error| {
        // If the text ends too early, reports the mistake where the text ends.
        let end = text.trim_end().len();
        let at = error.span().map_or(end, |span| span.start.min(end));
        (at, format!("this is not TOML: {}", error.message()))
    })?;
    let mut functions = FunctionsArgs::default();
    for (key, value) in in_order(file.get_ref()) {
        if key.get_ref() != TABLE {
            return Err(unknown(key, &[TABLE], "the table [functions]"));
        }
        let DeValue::Table(table) = value.get_ref() else {
            return Err(wanted(value, TABLE, "a table: [functions]"));
        };
        for (key, value) in in_order(table) {
            set(&mut functions, key, value)?;
        }
    }
    Ok(functions)
}

/// Returns the entries of a table in the order of the file, so that the first mistake in the file is the one reported.
fn in_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<(&'a Key<'i>, &'a Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

type Key<'i> = Spanned<std::borrow::Cow<'i, str>>;

fn set(functions: &mut FunctionsArgs, key: &Key<'_>, value: &Spanned<DeValue<'_>>) -> Result<(), Wrong> {
    match key.get_ref().as_ref() {
        name @ "only" => functions.only = patterns(name, value)?,
        name @ "not" => functions.not = patterns(name, value)?,
        name @ "every" => {
            let DeValue::Boolean(every) = value.get_ref() else {
                return Err(wanted(value, name, "true or false"));
            };
            functions.every_function = *every;
        }
        name @ "budget" => {
            let DeValue::String(text) = value.get_ref() else {
                return Err(wanted(value, name, "a text like \"5%\" or \"off\""));
            };
            let budget = args::budget(text);
            let budget =
                budget.map_err(|why| wrong(value, format!("budget is \"{}\": {why}", printable(text))))?;
            functions.budget = Some(budget);
        }
        _ => return Err(unknown(key, &KEYS, "only, not, every or budget")),
    }
    Ok(())
}

/// Reads a list of patterns.
fn patterns(name: &str, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, Wrong> {
    const WANTED: &str = "a list of patterns like [\"parse\", \"alloc::*\"]";
    let DeValue::Array(list) = value.get_ref() else {
        return Err(wanted(value, name, WANTED));
    };
    if name == "only" && list.is_empty() {
        let why = "only is an empty list, so nothing would be measured: name functions, or leave the key out";
        return Err(wrong(value, why));
    }
    let pattern = |item: &Spanned<DeValue<'_>>| {
        let DeValue::String(text) = item.get_ref() else {
            return Err(wanted(
                item,
                &format!("an entry of {name}"),
                "a pattern like \"alloc::*\"",
            ));
        };
        let bad = |why: String| wrong(item, format!("the pattern \"{}\": {why}", printable(text)));
        match args::function_patterns(text) {
            Ok(several) if several.contains(',') => Err(bad("each pattern is a separate entry".into())),
            pattern => pattern.map_err(bad),
        }
    };
    list.iter().map(pattern).collect()
}

fn wanted(value: &Spanned<DeValue<'_>>, what: &str, wanted: &str) -> Wrong {
    let found = match value.get_ref() {
        DeValue::String(text) => format!("the text \"{}\"", printable(text)),
        DeValue::Integer(number) => format!("the number {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(time) => format!("the time {time}"),
        DeValue::Array(_) => "a list".to_string(),
        DeValue::Table(_) => "a table".to_string(),
    };
    wrong(value, format!("{what} is {found}; wanted {wanted}"))
}

fn unknown(key: &Key<'_>, known: &[&str], list: &str) -> Wrong {
    let name = key.get_ref();
    let meant = hint(name, known);
    wrong(
        key,
        format!("unknown key {}{meant}; wanted {list}", printable(name)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function_table::Member;

    #[test]
    fn all_keys_are_read() {
        let text =
            "# which\n[functions]\nonly = ['a', \"b::*\"]\nnot = [\"c\"]\nevery = true\nbudget = \"2.50%\"\n";
        let functions = parse(text).unwrap();
        assert_eq!(functions.only, ["a", "b::*"]);
        assert_eq!(functions.not, ["c"]);
        assert!(functions.every_function);
        assert_eq!(functions.budget.as_deref(), Some("2.5%"));
        let unlimited = parse("[functions]\nbudget = \"off\"").unwrap();
        assert_eq!(unlimited.budget.as_deref(), Some("off"));
        assert_eq!(parse("").unwrap(), FunctionsArgs::default());
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        // Each row has the text of a file (with `\n` between its lines), the line of the mistake, and one or two parts
        // of the message.
        let table = r#"
            [functions]\nonli = [] | 2 | unknown key onli (did you mean only?) | wanted only, not, every or budget
            budget = "5%" | 1 | unknown key budget | wanted the table [functions]
            functions = 1 | 1 | functions is the number 1 | wanted a table
            [functions]\n\nonly = "a" | 3 | only is the text "a" | wanted a list of patterns
            [functions]\nonly = [] | 2 | an empty list | leave the key out
            [functions]\nnot = ["a",\n  7] | 3 | an entry of not is the number 7 | wanted a pattern
            [functions]\nnot = [\n"a",\n""] | 4 | the pattern "" | found nothing
            [functions]\nnot = ["a,b"] | 2 | the pattern "a,b" | a separate entry
            [functions]\nevery = "yes" | 2 | every is the text "yes" | wanted true or false
            [functions]\nbudget = 5 | 2 | budget is the number 5 | wanted a text like "5%"
            [functions]\nbudget = "much" | 2 | budget is "much" | wanted 0.1% to 1000%
            [functions]\nevery = \n | 2 | this is not TOML
            [functions]\nnot = ["a"\n | 2 | this is not TOML
            [functions]\nevery = true\nevery = true | 3 | this is not TOML | duplicate
        "#;
        for row in table.lines().map(str::trim).filter(|row| !row.is_empty()) {
            let parts: Vec<&str> = row.split(" | ").map(str::trim).collect();
            let text = parts[0].replace("\\n", "\n");
            let (at, why) = parse(&text).unwrap_err();
            assert_eq!(line_of(&text, at).to_string(), parts[1], "{row}: {why}");
            for words in &parts[2..] {
                assert!(why.contains(words), "{row}: {why}");
            }
        }
    }

    #[test]
    fn the_file_of_the_package_counts_before_that_of_the_workspace() {
        let project = Project {
            root: "/w".into(),
            target_dir: "/w/target".into(),
            has_build_dir: false,
            members: ["/w/a", "/w/a/inner", "/w/b"]
                .map(|dir| Member {
                    dir: dir.into(),
                    package: String::new(),
                })
                .into(),
        };
        let of = |here: &str| places(&project, Path::new(here));
        assert_eq!(of("/w"), [Path::new("/w/tickscope.toml")]);
        assert_eq!(
            of("/w/a/inner/src"),
            [
                Path::new("/w/a/inner/tickscope.toml"),
                Path::new("/w/tickscope.toml")
            ]
        );
    }
}
