//! Sites of a program that has functions: by module, those that were never called, and switching them.

use std::rc::Rc;

use tickscope_format::Snapshot;
use tickscope_format::ids::SiteId;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{FunctionChoice, Rule};

use crate::app::message::Effect;
use crate::app::state::App;
use crate::app::tests::{answer, last_line, names, sites};
use crate::keys::decoder::Code;
use crate::source::events::Request;
use crate::source::known_functions::KnownFunctions;
use crate::source::status::Status;
use crate::test_driver::{empty, events, key, keys, selected, tell_functions, text, with_functions};

fn pattern(text: &str) -> Pattern {
    Pattern::new(text).unwrap()
}

fn asked(effects: &[Effect]) -> Vec<Request> {
    let request = |effect: &Effect| {
        let Effect::Send(request) = effect else {
            panic!("{effect:?}")
        };
        *request
    };
    effects.iter().map(request).collect()
}

fn app() -> (App, Snapshot, Rc<KnownFunctions>) {
    let mut app = empty(120, 30);
    let (s, known) = with_functions(1_340);
    tell_functions(&mut app, s.clone(), &known);
    keys(&mut app, "6");
    (app, s, known)
}

/// Opens everything and selects a row by its name.
fn to(app: &mut App, name: &str) {
    keys(app, "g");
    let crates = app.list().rows.iter().filter(|row| row.depth == 0).count();
    for _ in 0..crates {
        keys(app, "EJ");
    }
    sites::to(app, name);
}

fn to_name(app: &mut App, part: &str) {
    let line = names(app).iter().position(|at| at.contains(part));
    let line = line.unwrap_or_else(|| panic!("{part} in {:?}", names(app)));
    keys(app, &"j".repeat(line));
}

/// The snapshot with rules, applied as the collector does it.
fn ruled(s: &Snapshot, rules: &[(&str, bool)]) -> Snapshot {
    let mut s = s.clone();
    for &(text, off) in rules {
        s.measuring.rules.push(Rule {
            pattern: text.into(),
            off,
        });
    }
    for (index, site) in s.sites.iter().enumerate() {
        let id = SiteId(index as u32);
        if let Some(&(_, off)) = rules.iter().rev().find(|(text, _)| pattern(text).matches(site)) {
            s.measuring.off_sites.retain(|&known| known != id);
            if off {
                s.measuring.off_sites.push(id);
            }
        }
    }
    s
}

#[test]
fn modules_open_and_close_and_count_what_is_in_them() {
    let (mut app, ..) = app();
    assert_eq!(names(&app), ["orderbook_sim", "core", "regex_automata"]);
    keys(&mut app, "l");
    assert!(names(&app).contains(&"book") && !names(&app).contains(&"Book::depth"));
    key(&mut app, Code::Enter);
    assert_eq!(names(&app).len(), 3);
    to(&mut app, "book");
    assert!(
        text(&app).contains("7 functions and scopes, 5 on"),
        "{}",
        text(&app)
    );
    to(&mut app, "regex_automata");
    assert!(text(&app).contains("1 of 2 on"), "{}", text(&app));
}

#[test]
fn each_function_says_why_it_is_off_and_whose_its_time_is() {
    let (mut app, mut s, known) = app();
    let over = s.sites[6].name.clone();
    for (name, why) in [
        ("Book::is_empty", "off from the start: it has less than 100 bytes"),
        ("Formatter::pad", "off from the start: the standard library's"),
        ("Regex::find", "on, never called"),
        (
            &*over,
            "off: measuring it took 12.1% of the CPU time, more than the budget of 5.0% leaves for calls of 85",
        ),
    ] {
        to(&mut app, name);
        assert!(text(&app).contains(why), "{name}: {}", text(&app));
    }
    // Its callers in the tree, and above those that are off as well.
    let heirs = |app: &App| {
        let line = text(app);
        let line = line.lines().find(|line| line.contains("its time is now that of"));
        line.map(|line| line.trim().to_string()).expect("it is said")
    };
    let data = app.derived.data.as_ref().unwrap();
    let whole = data.whole();
    let function = data.tree.functions.of_site[6];
    let row = whole.rows.iter().find(|row| row.function == function).unwrap();
    let parent = row.parent.expect("it is called by another");
    let caller = whole.rows[parent as usize].function;
    let above = whole.rows[whole.rows[parent as usize].parent.unwrap() as usize].function;
    let name =
        |function: tickscope_analysis::functions::FunctionId| data.names.short[function.index()].clone();
    let (caller_name, above_name) = (name(caller), name(above));
    let of_caller: Vec<u32> = (0u32..)
        .zip(&data.tree.functions.of_site)
        .filter(|(_, of)| **of == caller)
        .map(|(site, _)| site)
        .collect();
    assert!(heirs(&app).contains(&caller_name), "{}", heirs(&app));
    s.measuring.off_sites.extend(of_caller.into_iter().map(SiteId));
    tell_functions(&mut app, s.clone(), &known);
    assert!(
        heirs(&app).contains(&above_name) && !heirs(&app).contains(&caller_name),
        "{}",
        heirs(&app)
    );
    // What was asked for at the start.
    s.functions.as_mut().unwrap().choice = FunctionChoice {
        only: vec!["orderbook_sim".into()],
        not: vec!["depth".into(), "Book::*".into()],
        ..FunctionChoice::default()
    };
    tell_functions(&mut app, s, &known);
    for (name, why) in [
        ("Regex::find", "off from the start: --only names others"),
        ("Book::depth", "off from the start: left out by --not depth"),
        ("Level::<u64>::best", "on, never called"),
    ] {
        to(&mut app, name);
        assert!(text(&app).contains(why), "{name}: {}", text(&app));
    }
}

#[test]
fn a_module_is_switched_by_one_rule_and_is_as_before_without_it() {
    let (mut app, s, _) = app();
    to(&mut app, "book");
    let rule = "orderbook_sim::book::*";
    let off = Request::SitesOff(pattern(rule));
    assert_eq!(asked(&keys(&mut app, " ")), [off]);
    events(&mut app, Status::Live, Some(ruled(&s, &[(rule, true)])));
    answer(&mut app, off, Ok(1));
    assert!(
        last_line(&app).contains("7 functions switched off by orderbook_sim::book::*; callers have their time now; Space takes it back"),
        "{}",
        last_line(&app)
    );
    to(&mut app, "Level::<u64>::best");
    assert!(
        text(&app).contains("switched off by the rule orderbook_sim::book::*"),
        "{}",
        text(&app)
    );
    to(&mut app, "book");
    let back = Request::ForgetRule(pattern(rule));
    assert_eq!(asked(&keys(&mut app, " ")), [back]);
    answer(&mut app, back, Ok(1));
    assert!(!last_line(&app).contains("is gone"), "promised is not done");
    events(&mut app, Status::Live, Some(s));
    assert!(
        last_line(&app).contains("the rule orderbook_sim::book::* is gone: 7 functions as without it"),
        "{}",
        last_line(&app)
    );
}

#[test]
fn functions_that_were_never_called_are_switched_by_their_path() {
    let (mut app, ..) = app();
    to(&mut app, "Formatter::pad");
    assert_eq!(
        asked(&keys(&mut app, " ")),
        [Request::SitesOn(pattern("core::fmt::Formatter::pad"))]
    );
    to(&mut app, "Regex::find");
    assert_eq!(
        asked(&keys(&mut app, " ")),
        [Request::SitesOff(pattern("regex_automata::meta::Regex::find"))]
    );
}

#[test]
fn a_long_path_is_named_with_a_star_in_its_middle() {
    let (mut app, mut s, known) = app();
    s.sites[0].name = format!("{}µ::last", "x".repeat(120));
    let path = format!("{}::{}", s.sites[0].module, s.sites[0].name);
    tell_functions(&mut app, s.clone(), &known);
    to(&mut app, &s.sites[0].name.clone());
    let requests = asked(&keys(&mut app, " "));
    let [Request::SitesOff(rule)] = requests[..] else {
        panic!("{requests:?}")
    };
    assert!(
        rule.matches(&s.sites[0]) && rule.as_str().contains("x*x"),
        "{} of {path}",
        rule.as_str()
    );
}

#[test]
fn callees_of_a_row_are_switched_together_and_said_once() {
    let (mut app, s, _) = app();
    keys(&mut app, "1gE");
    to_name(&mut app, "match::step");
    let data = app.derived.data.as_ref().unwrap();
    let row = app.list().selected().unwrap();
    let crate::app::figures::What::Tree(at) = row.what else {
        panic!()
    };
    let mut wanted: Vec<String> = data
        .tree
        .children(at)
        .iter()
        .map(|&child| {
            data.tree
                .functions
                .get(data.tree.rows[child as usize].function)
                .full_name()
        })
        .collect();
    wanted.sort();
    assert!(wanted.len() > 1, "{wanted:?}");
    let requests = asked(&keys(&mut app, "-"));
    let mut patterns: Vec<String> = requests
        .iter()
        .map(|request| {
            let Request::SitesOff(pattern) = request else {
                panic!("{request:?}")
            };
            pattern.as_str().to_string()
        })
        .collect();
    patterns.sort();
    assert_eq!(patterns, wanted);
    let rules: Vec<(&str, bool)> = wanted.iter().map(|path| (path.as_str(), true)).collect();
    let off = ruled(&s, &rules);
    events(&mut app, Status::Live, Some(off.clone()));
    let (last, first) = requests.split_last().unwrap();
    for request in first {
        answer(&mut app, *request, Ok(1));
        assert!(!last_line(&app).contains("everywhere"), "{}", last_line(&app));
    }
    answer(&mut app, *last, Ok(1));
    let said = format!(
        "off everywhere: {} functions called by {};",
        wanted.len(),
        selected(&app)
    );
    assert!(last_line(&app).contains(&said), "{}", last_line(&app));
    let back = asked(&keys(&mut app, "-"));
    assert!(
        back.iter()
            .all(|request| matches!(request, Request::ForgetRule(_))),
        "{back:?}"
    );
    assert_eq!(back.len(), wanted.len());
    // From the bottom up children are callers.
    keys(&mut app, "i");
    assert!(keys(&mut app, "-").is_empty());
    assert!(
        last_line(&app).contains("below are callers here"),
        "{}",
        last_line(&app)
    );
}
