use tickscope_analysis::measure::Measure;
use tickscope_analysis::trigger::{Condition, judge};
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{Mode, Site};
use tickscope_testkit::fixture;

use super::condition::{Outcome, Waited};
use super::*;

fn live() -> Next {
    Next::Shell {
        target: "order-book".into(),
        is_live: true,
    }
}

fn subject<'a>(snapshot: &'a Snapshot, next: &'a Next) -> Subject<'a> {
    Subject {
        snapshot,
        state: ProcessState::Running,
        when: None,
        notes: &[],
        next,
    }
}

#[test]
fn answers_say_unit_exactness_how_much_is_shown_and_how_to_go_on() {
    let mut snapshot = fixture::waiting();
    let next = live();
    let exact = top::json(&subject(&snapshot, &next), Measure::Time, Length::Brief);
    let waiting = top::json(&subject(&snapshot, &next), Measure::Waiting, Length::Rows(1));
    snapshot.capture.mode = Mode::Adaptive;
    snapshot.estimates.push(fixture::estimate(1, 1, 2_500, 3_000));
    let estimated = top::json(&subject(&snapshot, &next), Measure::Time, Length::Rows(2));
    let pattern = Pattern::new("*").unwrap();
    let sites = sites::json(&subject(&snapshot, &next), Some(&pattern), Length::Brief);
    let condition: Condition = "calls(*) > 1 and p99(nothing) > 5ms".parse().unwrap();
    let verdict = judge(&condition, &snapshot);
    let waited = Waited {
        condition: &condition,
        verdict: &verdict,
        outcome: Outcome::Timeout,
        waited_ns: 5,
        over_ns: 7,
    };
    let found = condition::json(&subject(&snapshot, &next), &waited);
    insta::assert_snapshot!([exact, waiting, estimated, sites, found].join("=====\n"));
}

#[test]
fn a_tool_is_told_calls_of_tools() {
    let snapshot = fixture::two_threads();
    let next = Next::Tools {
        target: "4711".into(),
        is_live: true,
        may_watch: true,
    };
    let text = top::json(&subject(&snapshot, &next), Measure::Time, Length::Brief);
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    let calls: Vec<String> = serde_json::from_value(answer["next"].clone()).unwrap();
    assert!(
        calls[0].starts_with("why {\"function\":")
            && calls[0].ends_with("\"seconds\":10,\"target\":\"4711\"}"),
        "{calls:?}"
    );
    assert_eq!(calls[1], "mark {\"target\":\"4711\"}");
}

#[test]
fn an_answer_is_short_whatever_names_there_are_and_rows_are_given_on_request() {
    let mut snapshot = fixture::two_threads();
    let long = |text: &str| text.repeat(700);
    snapshot.process.name = long("\"");
    for index in 0..500 {
        let site = Site {
            name: format!("{}{index}", long("\u{202e}ä")),
            module: long("m::"),
            file: long("/ü"),
            line: 7,
            ..Site::default()
        };
        snapshot.sites.push(site);
        let id = tickscope_format::ids::SiteId(snapshot.sites.len() as u32 - 1);
        snapshot.nodes.push(None, id, 1, 1_000_000 + index);
    }
    let last = snapshot.threads.last_mut().unwrap();
    last.rows = snapshot.nodes.len() as u32 - last.first_row;
    let next = live();
    let subject = subject(&snapshot, &next);
    for text in [
        top::json(&subject, Measure::Time, Length::Brief),
        top::json(&subject, Measure::Calls, Length::Brief),
        sites::json(&subject, None, Length::Brief),
    ] {
        assert!(text.len() <= BYTES_MAX, "{}: {text}", text.len());
        let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(answer["shown"].as_u64().unwrap() >= 1, "{text}");
        assert!(answer["total"].as_u64().unwrap() > 500);
    }
    let all = top::json(&subject, Measure::Time, Length::Rows(300));
    let all: serde_json::Value = serde_json::from_str(&all).unwrap();
    assert_eq!(all["functions"].as_array().unwrap().len(), 300);
}
