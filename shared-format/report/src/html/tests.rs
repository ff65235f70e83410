use std::sync::Arc;

use proptest::prelude::*;
use tickscope_analysis::series::RecordEpoch;
use tickscope_format::codec;
use tickscope_format::ids::{SiteId, ThreadId};
use tickscope_format::snapshot::{CaptureKind, Quantity, Site, Thread};
use tickscope_testkit::fixture;
use tickscope_testkit::fixture::programs as fixtures;

use super::*;
use crate::ProcessState;
use crate::slots::Slots;

mod in_browser;

fn page_of(snapshot: &Snapshot) -> String {
    page(snapshot, &FormOptions::default()).unwrap()
}

/// Returns the JSON data that the page's scripts read.
fn data_of(html: &str) -> &str {
    let (_, data) = html.split_once("id=\"data\">").unwrap();
    data.split_once("</script>").unwrap().0
}

fn encoded(snapshot: &Snapshot) -> Vec<u8> {
    let mut bytes = Vec::new();
    codec::encode(snapshot, &mut bytes).unwrap();
    bytes
}

/// Returns a snapshot whose names look like markup and scripts.
fn wicked() -> Snapshot {
    let mut s = fixtures::order_sim_with_latencies();
    let names = [
        "<script>window.ran = true</script>",
        "</script><img src=x onerror=\"window.ran = true\">",
        "<!--<script>",
        "]]>&lt;b&gt;&amp;",
        "quote\"apostrophe'backslash\\u003c",
        "semi;colon\ttab\nline",
        "{{data}}",
        "名前::größe",
        "\u{202e}backwards\u{0}\u{2028}",
        &"long".repeat(2_500),
    ];
    s.process.name = names[1].into();
    s.process.warnings = names.map(str::to_string).into();
    let first_row = s.nodes.len() as u32;
    let mut parent = None;
    for (name, calls) in names.into_iter().zip(1..) {
        let site = SiteId(s.sites.len() as u32);
        s.sites.push(Site {
            name: name.into(),
            module: "<m>".into(),
            file: format!("src/{name}"),
            line: 3,
            group: String::new(),
        });
        parent = Some(s.nodes.push(parent, site, calls, 1_000_000 * calls));
    }
    let mut watch = fixture::slow_frames().watches.remove(0);
    watch.function = names[1].into();
    watch.exemplars[0].thread = names[0].into();
    if let Some(trace) = &mut watch.exemplars[1].trace {
        trace.keys[0] = names[3].into();
        trace.notes[0].value = names[2].into();
    }
    s.watches.push(watch);
    s.threads.push(Thread {
        name: names[0].into(),
        count: 1,
        first_row,
        rows: s.nodes.len() as u32 - first_row,
        ..Thread::default()
    });
    s
}

/// Returns the activity of threads over `records` records, which are one second apart except for a pause of a minute in the
/// middle.
fn over_time(end: &Snapshot, records: usize) -> Slots {
    let unix_ns: Vec<u64> = (0..records as u64)
        .map(|at| at + if at * 2 > records as u64 { 60 } else { 0 })
        .map(|second| (1_800_000_000 + second) * 1_000_000_000)
        .collect();
    let epochs = vec![
        RecordEpoch {
            reset_epoch: end.capture.reset_epoch,
            withdraws: None,
            kind: CaptureKind::Periodic,
        };
        records
    ];
    let read = |at: usize| {
        let mut snapshot = end.clone();
        snapshot.waits = true;
        snapshot.capture.since_reset_ns = unix_ns[at] - unix_ns[0] + 1;
        let (at, most) = (at as f64, records as f64);
        for (row, ticks) in (0u32..).zip(&mut snapshot.nodes.self_ticks) {
            // Each row is active during a different part of the run.
            let begin = f64::from(row % 7) / 10.0 * most;
            *ticks = ((at - begin).clamp(0.0, most / 3.0) * 0.2 / f64::from(row + 1)
                * end.clock.ticks_per_second) as u64;
            snapshot
                .measures
                .push_row(Quantity::Waiting, row, *ticks * u64::from(row % 4) / 4);
        }
        Ok::<_, std::convert::Infallible>(snapshot)
    };
    Slots::of(&epochs, &unix_ns, (0, records - 1), read).unwrap()
}

/// Returns the timeline from the page's data, or an empty string if the page has none.
fn timeline_of(snapshot: &Snapshot, slots: Slots) -> String {
    let options = FormOptions {
        slots: Some(Arc::new(slots)),
        ..FormOptions::default()
    };
    let html = page(snapshot, &options).unwrap();
    let Some((_, data)) = html.split_once("\n\"timeline\":") else {
        return String::new();
    };
    data.split_once(",\n\"by\"").unwrap().0.to_owned()
}

#[test]
fn what_threads_did_over_time() {
    let snapshot = fixtures::order_sim();
    let mut slots = over_time(&snapshot, 40);
    // The page has no function 4711, so the timeline leaves it out.
    slots.functions.insert(1, 4711);
    slots.rows[0].loads[1].functions[0].0 = 4711;
    slots.rows[1].name = slots.rows[0].name.clone();
    insta::assert_snapshot!(timeline_of(&snapshot, slots));
    assert_eq!(
        timeline_of(&snapshot, over_time(&snapshot, 1)),
        "",
        "of a single record"
    );
    assert!(!page_of(&snapshot).contains("\"timeline\":"), "of a snapshot");
}

#[test]
fn names_of_threads_are_data_over_time_as_well() {
    let snapshot = wicked();
    let data = timeline_of(&snapshot, over_time(&snapshot, 10));
    assert!(!data.contains(['<', '&']), "{data}");
    let data: serde_json::Value = serde_json::from_str(&data).unwrap();
    let names: Vec<String> = serde_json::from_value(data["thread"].clone()).unwrap();
    assert!(names.iter().any(|name| name.starts_with("<script>")), "{names:?}");
}

/// Checks that each tag is closed by the matching end tag, and that no text looks like a tag.
fn assert_well_formed(html: &str) {
    let mut open = Vec::new();
    let mut rest = html;
    while let Some((text, tag)) = rest.split_once('<') {
        assert!(!text.contains('>'), "a > that ends nothing: {text}");
        let (tag, after) = tag.split_once('>').expect("a tag that ends");
        rest = after;
        assert!(tag.matches('"').count() % 2 == 0, "quotes in <{tag}>");
        let name = tag.split_whitespace().next().unwrap();
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "what </{name}> closes");
        } else if matches!(name, "script" | "style") {
            let end = rest.to_ascii_lowercase().find(&format!("</{name}"));
            rest = &rest[end.expect("an end of the raw text")..];
            open.push(name);
        } else if !matches!(name, "!doctype" | "meta" | "input") {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<&str>::new(), "left open");
}

/// Returns the page with placeholders for the style and the scripts, which are the same in all pages.
fn own_part(html: &str) -> String {
    let mut own = html.replace(STYLE, "(style)\n");
    for script in SCRIPTS {
        own = own.replace(script, "(script)\n");
    }
    own
}

#[test]
fn a_small_page() {
    insta::assert_snapshot!(own_part(&page_of(&fixture::two_threads())));
}

#[test]
fn estimates_latencies_and_doubts() {
    let mut options = FormOptions::default();
    options.text.state = ProcessState::Crashed;
    options.text.thread = Some(ThreadId(1));
    let mut snapshot = fixtures::order_sim_adaptive();
    snapshot.capture.losses.dropped = 3;
    snapshot.capture.losses.unbalanced = 2;
    snapshot.capture.pruned = 1;
    snapshot.clock.errors = 4;
    let html = page(&snapshot, &options).unwrap();
    insta::assert_snapshot!(data_of(&html));
}

fn slow_answer(snapshot: &Snapshot) -> String {
    slow_text(&Answer::of(
        snapshot,
        &snapshot.watches[0],
        SlowOptions::default(),
    ))
}

#[test]
fn slow_calls_of_watched_functions() {
    let mut snapshot = fixture::slow_frames();
    // Keep only 6 of the 600 calls of `lookup` in the trace.
    let calls = &mut snapshot.watches[0].exemplars;
    let trace = calls[1].trace.as_mut().unwrap();
    trace.path.drain(8..1_196);
    trace.ticks.drain(8..1_196);
    trace.then.drain(8..1_196);
    let html = page_of(&snapshot);
    let (_, data) = html.split_once("\n\"slow\":").unwrap();
    let (data, _) = data.split_once("\n\"by\"").unwrap();
    insta::assert_snapshot!(data);
    let answer = slow_answer(&snapshot).replace('>', "&gt;");
    assert!(
        html.contains(answer.lines().next().unwrap()),
        "the answer without scripts"
    );
}

#[test]
fn every_tag_is_closed_and_nothing_is_fetched() {
    for snapshot in [
        fixture::two_threads(),
        fixtures::empty(),
        fixtures::hostile(),
        fixtures::order_sim_sampled(),
        fixture::slow_frames(),
        wicked(),
    ] {
        let html = page_of(&snapshot);
        assert_well_formed(&html);
        let own = html.to_ascii_lowercase();
        // A name that looks like an `<img>` tag is shown as text, so its ` src=` is allowed.
        let in_names = html.matches("img src=x").count();
        for fetched in [
            "http://", "https://", " src=", " href=", "url(", "@import", "<link", "<img", "fetch(",
        ] {
            let found = own.matches(fetched).count();
            let allowed = if fetched == " src=" { in_names } else { 0 };
            assert_eq!(found, allowed, "{fetched}");
        }
    }
}

#[test]
fn the_data_is_json_whatever_names_say() {
    for snapshot in [
        wicked(),
        fixtures::hostile(),
        fixtures::order_sim_adaptive(),
        fixtures::off(),
    ] {
        let html = page_of(&snapshot);
        let data = data_of(&html);
        assert!(!data.contains(['<', '&']), "{data}");
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        let self_ns: Vec<u64> = serde_json::from_value(data["self_ns"].clone()).unwrap();
        assert_eq!(self_ns, snapshot.self_nanos());
        assert_eq!(data["calls"], serde_json::json!(snapshot.nodes.calls));
        let functions = data["label"].as_array().unwrap().len();
        for column in ["name", "place", "whole_place", "rank"] {
            assert_eq!(data[column].as_array().unwrap().len(), functions, "{column}");
        }
    }
}

#[test]
fn a_snapshot_survives_what_mail_and_editors_do() {
    let snapshot = wicked();
    let html = page_of(&snapshot);
    assert_eq!(snapshot_of(&html).unwrap(), snapshot);
    assert_eq!(snapshot_of(&html.replace('\n', "\r\n")).unwrap(), snapshot);
}

#[test]
fn what_carries_no_snapshot_says_so() {
    let html = page_of(&fixture::two_threads());
    let at = html.find("data-crc32=\"").unwrap() + "data-crc32=\"01234567\">\n".len();
    let changed = |from: &str, to: &str| html.replacen(from, to, 1);
    let mut damaged = html.clone();
    damaged.replace_range(
        at + 70..at + 71,
        if &html[at + 70..=at + 70] == "A" { "B" } else { "A" },
    );
    let mut letter = html.clone();
    letter.replace_range(at + 70..at + 71, "%");
    for (text, says) in [
        (String::new(), "begins with \"\""),
        (
            "<!doctype html>\n<p>other</p>".into(),
            "begins with \"<!doctype html>\\n<p>o\"",
        ),
        (changed("data-format=\"1.", "data-format=\"2."), "ring format 2."),
        (
            changed("data-crc32=\"", "data-sum=\""),
            "without version and checksum",
        ),
        (html[..at + 100].into(), "truncated"),
        (damaged, "checksum"),
        (letter, "found '%', wanted base64"),
    ] {
        let error = snapshot_of(&text).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_row_takes_few_bytes() {
    let bytes = |rows| page_of(&fixtures::large(rows)).len() as u64;
    // A node with five latency buckets takes less than 150 bytes. About half of them are for the snapshot, the rest for the
    // scripts' data.
    assert!((bytes(5_000) - bytes(1_000)) / 4_000 < 150);
    assert!(page_of(&fixtures::empty()).len() < 175_000, "scripts and style");
}

proptest! {
    #[test]
    fn a_page_gives_its_snapshot_back_and_is_always_the_same(snapshot in fixtures::any_snapshot()) {
        let html = page_of(&snapshot);
        // Compare bytes, because a cost of NaN does not equal itself.
        let bytes = encoded(&snapshot);
        if codec::decode(&bytes).is_ok() {
            prop_assert_eq!(encoded(&snapshot_of(&html).unwrap()), bytes);
        }
        prop_assert_eq!(page_of(&snapshot), html);
    }

    #[test]
    fn any_text_is_refused_or_read(at in any::<prop::sample::Index>(), with in "[<>\"A-C=]{0,3}") {
        let mut html = page_of(&fixture::recursion());
        let at = html.find("application/x-tickscope").unwrap() + at.index(400);
        html.replace_range(at..at + 1, &with);
        let _ = snapshot_of(&html);
    }
}

#[test]
fn functions_tell_their_group() {
    let without = page_of(&fixtures::order_sim());
    assert!(
        !without.contains("\"group\":["),
        "a program without groups has no member for them"
    );
    assert!(
        !without.contains("\"group_rows\":["),
        "a program without groups has no table of groups"
    );
    let text = page_of(&fixtures::order_sim_in_groups());
    let (_, rows) = text.split_once("\"group_rows\":[").expect("a table of groups");
    let line = rows.split('\n').next().unwrap_or_default();
    assert!(
        line.contains("[\"wire\",") && line.contains("wire::"),
        "a name and its members: {line}"
    );
    assert!(text.contains("in group wire: "), "the numbers of its group");
    assert!(!text.contains("in group <b>"), "names are escaped");
}
