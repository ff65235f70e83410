//! The Sites view of a program with functions: modules, functions that were never called, and switching functions on and off.

use tickscope_format::snapshot::FunctionChoice;
use tickscope_programs::known_functions::KnownFunctions;

use super::*;
use crate::test_driver::{tell_functions, with_functions};

fn app() -> (App, Snapshot, Rc<KnownFunctions>) {
    let mut app = empty(120, 30);
    let (s, known) = with_functions(1_340);
    tell_functions(&mut app, s.clone(), &known);
    keys(&mut app, "6");
    (app, s, known)
}

/// Opens all rows and selects a row by its name.
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

#[test]
fn modules_open_and_close_and_count_what_is_in_them() {
    let (mut app, ..) = app();
    assert_eq!(names(&app), ["orderbook_sim", "core", "regex_automata"]);
    keys(&mut app, "l");
    assert!(names(&app).contains(&"book") && !names(&app).contains(&"Book::depth"));
    key(&mut app, Code::Enter);
    assert_eq!(names(&app).len(), 3);
    to(&mut app, "book");
    shows(&app, "7 functions and scopes, 5 on");
    to(&mut app, "regex_automata");
    shows(&app, "1 of 2 on");
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
    // The time counts for the function's callers in the tree. If a caller is off as well, it counts for the functions above
    // that caller.
    let heirs = |app: &App| line_of(&text(app), "its time is counted in");
    has(&heirs(&app), "book::apply");
    let caller = s.sites.iter().position(|site| site.name == "apply");
    s.measuring.off_sites.push(SiteId(caller.expect("a site") as u32));
    tell_functions(&mut app, s.clone(), &known);
    has(&heirs(&app), "match::step");
    lacks(&heirs(&app), "book::apply");
    // Now the user has chosen functions when starting the program.
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
    assert_eq!(asked(keys(&mut app, " ")), [off]);
    gets(&mut app, ruled(s.clone(), &[(rule, true)]));
    answer(&mut app, off, Ok(1));
    let words = "7 functions switched off by orderbook_sim::book::*; their time counts for callers; Space takes it back";
    says(&app, words);
    to(&mut app, "Level::<u64>::best");
    shows(&app, "switched off by the rule orderbook_sim::book::*");
    to(&mut app, "book");
    let back = Request::ForgetRule(pattern(rule));
    assert_eq!(asked(keys(&mut app, " ")), [back]);
    answer(&mut app, back, Ok(1));
    assert!(!last_line(&app).contains("was removed"), "promised is not done");
    gets(&mut app, s);
    let words = "the rule orderbook_sim::book::* was removed: 7 functions as without it";
    says(&app, words);
}

#[test]
fn functions_that_were_never_called_are_switched_by_their_path() {
    let (mut app, ..) = app();
    to(&mut app, "Formatter::pad");
    assert_eq!(
        asked(keys(&mut app, " ")),
        [Request::SitesOn(pattern("core::fmt::Formatter::pad"))]
    );
    to(&mut app, "Regex::find");
    assert_eq!(
        asked(keys(&mut app, " ")),
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
    let requests = asked(keys(&mut app, " "));
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
    let requests = asked(keys(&mut app, "-"));
    let off = |name| Request::SitesOff(pattern(name));
    let callees = ["book::apply", "risk::check", "wire::encode"].map(|name| format!("orderbook_sim::{name}"));
    assert_eq!(requests.len(), callees.len(), "{requests:?}");
    for name in &callees {
        assert!(requests.contains(&off(name)), "{requests:?}");
    }
    let rules = [0, 1, 2].map(|at| (callees[at].as_str(), true));
    gets(&mut app, ruled(s, &rules));
    let (last, first) = requests.split_last().unwrap();
    for request in first {
        answer(&mut app, *request, Ok(1));
        lacks(&last_line(&app), "everywhere");
    }
    answer(&mut app, *last, Ok(1));
    says(&app, "off everywhere: 3 functions called by match::step;");
    let back = asked(keys(&mut app, "-"));
    let is_back = |request: &Request| matches!(request, Request::ForgetRule(_));
    assert!(back.len() == 3 && back.iter().all(is_back), "{back:?}");
    // In a bottom-up tree the children are callers.
    keys(&mut app, "i");
    assert!(keys(&mut app, "-").is_empty());
    says(&app, "below are callers here");
}
