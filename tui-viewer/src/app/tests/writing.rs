//! Reports of what the screen shows.

use tickscope_analysis::call_tree::CallTree;
use tickscope_report::form::{Form, FormOptions};
use tickscope_report::number;
use tickscope_report::text::TextOptions;

use super::*;

/// Types keys that write a report; returns the snapshot and the options of the report.
fn written(app: &mut App, typed: &str) -> (Snapshot, TextOptions) {
    let effects = keys(app, typed);
    let Some(Effect::WriteReport(snapshot, options)) = effects.into_iter().next_back() else {
        panic!("no report: {}", last_line(app));
    };
    let options = TextOptions {
        thread: options.thread,
        extent: options.extent,
        width: 200,
        top: 0,
        ..TextOptions::default()
    };
    (Snapshot::clone(&snapshot), options)
}

/// Returns the report in this format.
fn in_form(snapshot: &Snapshot, options: &TextOptions, format: Form) -> String {
    let options = FormOptions {
        text: options.clone(),
        ..FormOptions::default()
    };
    let mut out = Vec::new();
    format.write(snapshot, &options, &mut out).expect("written");
    String::from_utf8(out).expect("text")
}

/// Asserts that names, counts and times of the rows are the same on the screen and in the report; returns the report.
fn same_as_on_screen(app: &mut App, what: &str) -> String {
    keys(app, "1");
    // Takes all rows of the tree, including those below closed rows.
    let data = data(app);
    let mut rows: Vec<(String, String)> = (0..data.tree.rows.len() as u32)
        .map(|row| {
            let what = View::Tree.row(row);
            let figures = data.figures(what);
            let name = data.label(what).to_string();
            let numbers = format!(
                "{} {} {}",
                number::duration(figures.total_ns),
                number::duration(figures.self_ns),
                number::count(figures.calls),
            );
            (name, numbers)
        })
        .collect();
    let (snapshot, options) = written(app, "d");
    let report = in_form(&snapshot, &options, Form::Text);
    let mut lines: Vec<(String, String)> = report
        .lines()
        .skip_while(|line| !line.contains("%TOT"))
        .skip(1)
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let numbers = format!("{} {} {}", words.get(1)?, words.get(2)?, words.get(4)?);
            let name = words
                .iter()
                .rev()
                .find(|word| word.contains("::") || **word == "main")?;
            Some(((*name).to_string(), numbers))
        })
        .collect();
    rows.sort();
    lines.sort();
    assert_eq!(lines, rows, "{what}\n{report}");
    report
}

#[test]
fn the_text_has_the_rows_and_digits_of_the_screen() {
    let mut app = watched(120, 30);
    let report = same_as_on_screen(&mut app, "all");
    assert!(report.contains("  since reset  134s (epoch"), "{report}");
    keys(&mut app, "w");
    let report = same_as_on_screen(&mut app, "the last second");
    assert!(report.contains("  window       in 1.00s (epoch"), "{report}");
    keys(&mut app, "w");
    let report = same_as_on_screen(&mut app, "the last ten seconds");
    assert!(report.contains("  window       in 10.0s (epoch"), "{report}");
    keys(&mut app, "wm");
    lives(&mut app, 1_341..=1_370);
    keys(&mut app, "www");
    let report = same_as_on_screen(&mut app, "since the mark");
    assert!(report.contains("  window       in 3.00s (epoch"), "{report}");
    keys(&mut app, "pajj\n");
    let report = same_as_on_screen(&mut app, "one thread");
    assert!(report.contains("shown: only"), "{report}");
    keys(&mut app, "gjjf");
    let name = selected(&app);
    let report = same_as_on_screen(&mut app, "a function");
    has(&report, &format!("  focus        only {name}"));
}

#[test]
fn every_form_says_that_it_is_of_a_window() {
    let mut app = watched(120, 30).after("wwjjf");
    let name = selected(&app);
    let (snapshot, options) = written(&mut app, "d");
    let json = in_form(&snapshot, &options, Form::Json);
    assert!(json.contains("\"window\": true"), "{}", &json[json.len() - 300..]);
    assert!(json.contains(&format!("\"focus\": [\n    \"{name}\"\n  ]")));
    assert!(json.contains("\"since_reset_ns\": 10000000000"));
    let page = in_form(&snapshot, &options, Form::Html);
    assert!(page.contains("\"span\":\"window\""));
    assert!(page.contains("\"since_reset\":\"in 10.0s\""));
    assert!(page.contains(&format!("\"focus\":\"only {name}\"")));
    let carried = tickscope_report::html::snapshot_of(&page).expect("a snapshot");
    assert_eq!(carried, snapshot, "what it shows is what it carries");
    let data = data(&app);
    assert_eq!(
        CallTree::build(&carried, |_| true).measured_ns(),
        data.measured_ns
    );
    // The view Threads has no focus.
    let (all, options) = written(&mut app, "4d");
    assert!(options.extent.focus.is_empty() && all.window);
    assert!(all.nodes.len() > carried.nodes.len());
}

#[test]
fn a_window_that_was_written_and_is_opened_again_is_one_still() {
    let mut app = watched(120, 30).after("ww");
    let (window, options) = written(&mut app, "d");
    let first = in_form(&window, &options, Form::Text);
    assert!(first.contains("  window       in 10.0s (epoch"), "{first}");
    let page = in_form(&window, &options, Form::Html);
    let opened = tickscope_report::html::snapshot_of(&page).expect("a snapshot");
    assert_eq!(in_form(&opened, &options, Form::Text), first);
    let mut app = empty(120, 30);
    events(&mut app, Status::Kept, Some(opened));
    shows(&app, "window 10.0 s");
    hides(&app, "since reset");
    keys(&mut app, "4");
    shows(&app, "in the last 10.0 s");
    let (again, _) = written(&mut app, "d");
    assert!(again.window);
}

#[test]
fn a_thread_that_only_the_mark_has_did_nothing_since() {
    let mut app = watched(120, 30);
    let mut with_more = snapshot(1_341);
    with_more.threads[1].name = "gone".to_string();
    with_more.threads[1].tid = 99;
    gets(&mut app, with_more);
    keys(&mut app, "m");
    lives(&mut app, [1_350]);
    keys(&mut app, "'");
    app.query.threads = ThreadChoice::One {
        name: "gone".to_string(),
        tid: 99,
    };
    app.refresh();
    let (snapshot, options) = written(&mut app, "d");
    let report = in_form(&snapshot, &options, Form::Text);
    assert!(report.contains("shown: only gone (tid 99"), "{report}");
    assert!(report.contains("0ns inside scopes"), "{report}");
    keys(&mut app, "'");
    assert!(keys(&mut app, "d").is_empty());
    let told = last_line(&app);
    assert!(
        told.contains("there is no thread gone here; a shows all"),
        "{told}\n{}",
        text(&app)
    );
}

#[test]
fn a_report_is_of_what_is_compared_not_of_a_window_that_the_mark_does_not_have() {
    let mut app = watched(120, 30);
    app.compare_with(Rc::new(snapshot(1_100)), "before.tks".to_string());
    keys(&mut app, "w");
    let (report, _) = written(&mut app, "d");
    assert!(!report.window);
    assert_eq!(report.calls(), snapshot(1_340).calls());
}

#[test]
fn where_it_was_written_is_told_to_the_end_of_the_name() {
    let mut app = watched(60, 15);
    let there = std::path::Path::new("/home/somebody/projects/orderbook/traces");
    let paths = ["a-41873-140214.txt", "a-41873-140214.html"].map(|name| there.join(name));
    app.update(Message::Wrote("report", Ok(paths.to_vec())));
    let told = last_line(&app);
    assert!(
        told.trim_end().ends_with("/a-41873-140214.txt and .html"),
        "{told}"
    );
    assert!(told.contains("report written to …"), "{told}");
}

#[test]
fn a_long_warning_of_several_says_that_there_are_more() {
    for (width, height) in [(60, 15), (80, 24)] {
        let mut app = watched(width, height);
        let mut warned = snapshot(1_341);
        warned.process.warnings = vec!["the ring is short of space ".repeat(6), "second".to_string()];
        gets(&mut app, warned);
        shows(&app, "… (and 1 more)  Esc: seen");
    }
}
