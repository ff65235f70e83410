//! Averages, shares and percentiles are the same in all forms that have them: of random programs, thread by thread.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;
use tickscope_format::ids::ThreadId;
use tickscope_testkit::fixture::programs::any_program;

use super::*;
use crate::html::number_scripts;
use crate::number;

const PROGRAMS: usize = 1_000;

/// The rows of a thread, by the names on their paths: %TOT, %SELF, AVG, P50, P99 and MAX.
type Rows = BTreeMap<String, [String; 6]>;

fn bytes(form: Form, snapshot: &Snapshot, thread: ThreadId) -> Vec<u8> {
    let mut options = FormOptions::default();
    options.text.state = ProcessState::FromFile;
    options.text.thread = Some(thread);
    options.text.width = 200;
    let mut out = Vec::new();
    form.write(snapshot, &options, &mut out).unwrap();
    out
}

/// An estimate is marked in forms for people and has its error in others.
fn unmarked(cell: &str) -> String {
    cell.trim_start_matches('~').to_string()
}

fn in_text(text: &str) -> Rows {
    let mut rows = Rows::new();
    let mut path: Vec<String> = Vec::new();
    let mut lines = text.lines().skip_while(|line| !line.ends_with("FUNCTION"));
    lines.next().expect("a call tree");
    for line in lines.take_while(|line| !line.contains("(outside)")) {
        let mut rest = line;
        let cells: [String; 9] = std::array::from_fn(|_| {
            let (cell, after) = rest.trim_start().split_once(' ').unwrap();
            rest = after;
            unmarked(cell)
        });
        let [total, _, _, own, _, average, p50, p99, max] = &cells;
        // Two cells stand before the column.
        let drawn = &rest[1..];
        let name = drawn.trim_start_matches([' ', '├', '└', '│', '─']);
        let before = drawn.chars().count() - name.chars().count();
        // Two cells for each level but the last, which has three.
        path.truncate(before.div_ceil(2).saturating_sub(usize::from(before > 0)));
        path.push(plain_name(name));
        let cells = [total, own, average, p50, p99, max].map(String::clone);
        assert!(rows.insert(path.join("/"), cells).is_none(), "{line}");
    }
    rows
}

/// The name without its module and the marks behind it.
fn plain_name(name: &str) -> String {
    let name = name.split(' ').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name).to_string()
}

/// A row of a form with plain numbers.
struct Plain {
    path: String,
    is_top: bool,
    calls: u64,
    timed: u64,
    total_ns: u64,
    self_ns: u64,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    max: Option<(u64, bool)>,
}

fn of_plain(plain: &[Plain]) -> Rows {
    let measured: u64 = plain
        .iter()
        .filter(|row| row.is_top)
        .map(|row| row.total_ns)
        .sum();
    let share = |ns: u64| match measured {
        0 => number::percent(0.0),
        measured => number::percent(ns as f64 / measured as f64),
    };
    let length = |ns: Option<u64>| ns.map_or_else(|| "-".into(), number::two_digits);
    let row = |row: &Plain| {
        let average = match row.calls {
            0 => "-".into(),
            calls => number::duration(row.total_ns / calls),
        };
        let max = row.max.map_or_else(
            || "-".into(),
            |(ns, exact)| {
                let bound = match exact {
                    _ if row.timed < row.calls => ">=",
                    true => "",
                    false => "<=",
                };
                format!("{bound}{}", number::two_digits(ns))
            },
        );
        let cells = [
            share(row.total_ns),
            share(row.self_ns),
            average,
            length(row.p50_ns),
            length(row.p99_ns),
            max,
        ];
        (row.path.clone(), cells)
    };
    plain.iter().map(row).collect()
}

fn in_json(bytes: &[u8]) -> Rows {
    let document: Value = serde_json::from_slice(bytes).unwrap();
    let mut paths: BTreeMap<u64, String> = BTreeMap::new();
    let mut plain = Vec::new();
    for node in document["nodes"].as_array().unwrap() {
        let number = |name: &str| node[name].as_u64().unwrap();
        let name = node["name"].as_str().unwrap();
        let path = match node["parent"].as_u64() {
            None => name.to_string(),
            Some(parent) => format!("{}/{name}", paths[&parent]),
        };
        paths.insert(number("id"), path.clone());
        plain.push(Plain {
            path,
            is_top: node["parent"].is_null(),
            calls: number("calls"),
            timed: number("timed_calls"),
            total_ns: number("total_ns"),
            self_ns: number("self_ns"),
            p50_ns: node["p50_ns"].as_u64(),
            p99_ns: node["p99_ns"].as_u64(),
            max: node["max_ns"].as_u64().zip(node["max_exact"].as_bool()),
        });
    }
    of_plain(&plain)
}

/// What the page's own scripts make of the data of pages, row by row: a page without a document, of each thread.
const ROWS_OF_PAGES: &str = "
for (const data of PAGES) {
  const profile = new Profile(data);
  const threads = data.thread_rows.map((_, thread) => {
    const tree = new Tree(profile, thread);
    const page = Object.assign(Object.create(Page.prototype), { profile, tree, straight: tree, ofParent: false, inverted: false });
    return Array.from({ length: tree.length }, (_, row) => {
      const texts = page.texts(page.treeRow(row));
      const path = tree.path(row).map((at) => profile.label(tree.fn[at]));
      return [path, [texts.share, texts.selfShare, texts.average, texts.p50, texts.p99, texts.max]];
    });
  });
  console.log(JSON.stringify(threads));
}";

/// The rows of each page by thread.
fn in_pages(pages: &[String]) -> Vec<Vec<Rows>> {
    let data = pages.iter().map(|page| {
        let (_, data) = page.split_once("id=\"data\">").unwrap();
        data.split_once("</script>").unwrap().0
    });
    let data: Vec<&str> = data.collect();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows.js");
    let script = format!(
        "{}\nconst PAGES = [{}];\n{ROWS_OF_PAGES}",
        number_scripts(),
        data.join(",\n")
    );
    std::fs::write(&file, script).unwrap();
    let output = Command::new("node").arg(&file).stdin(Stdio::null()).output();
    let output = output.expect("wanted Node.js on PATH (Debian: apt-get install nodejs)");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = String::from_utf8(output.stdout).unwrap();
    let page = |line: &str| {
        let threads: Vec<Vec<(Vec<String>, [String; 6])>> = serde_json::from_str(line).unwrap();
        let rows = |rows: Vec<(Vec<String>, [String; 6])>| {
            let row = |(path, cells): (Vec<String>, [String; 6])| {
                let names: Vec<String> = path.iter().map(|name| plain_name(name)).collect();
                (names.join("/"), cells.map(|cell| unmarked(&cell)))
            };
            rows.into_iter().map(row).collect::<Rows>()
        };
        threads.into_iter().map(rows).collect()
    };
    lines.lines().map(page).collect()
}

fn random_programs() -> Vec<Snapshot> {
    let mut runner = TestRunner::deterministic();
    (0..PROGRAMS)
        .map(|_| any_program().new_tree(&mut runner).unwrap().current())
        .collect()
}

fn threads_of(program: &Snapshot) -> impl Iterator<Item = ThreadId> {
    (0..program.threads.len() as u32).map(ThreadId)
}

fn text_rows(program: &Snapshot, thread: ThreadId) -> Rows {
    in_text(&String::from_utf8(bytes(Form::Text, program, thread)).unwrap())
}

#[test]
fn averages_shares_and_percentiles_of_random_programs_are_those_of_each_form() {
    for (number, program) in random_programs().iter().enumerate() {
        for thread in threads_of(program) {
            let rows = text_rows(program, thread);
            assert_eq!(
                rows,
                in_json(&bytes(Form::Json, program, thread)),
                "JSON of program {number}"
            );
            assert_eq!(rows.len(), program.rows_of(thread).len());
        }
    }
}

#[test]
#[ignore = "wants Node.js: .ci/nightly pages"]
fn averages_shares_and_percentiles_of_random_programs_are_those_of_their_pages() {
    let programs = random_programs();
    let page = |program| String::from_utf8(bytes(Form::Html, program, ThreadId(0))).unwrap();
    let found = in_pages(&programs.iter().map(page).collect::<Vec<_>>());
    assert_eq!(found.len(), PROGRAMS);
    for (number, (found, program)) in found.iter().zip(&programs).enumerate() {
        let wanted: Vec<Rows> = threads_of(program)
            .map(|thread| text_rows(program, thread))
            .collect();
        assert_eq!(found, &wanted, "page of program {number}");
    }
}
