//! The command line: what is typed does what the keys do, and says what it could not.

use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::Mode;

use crate::app::message::{Effect, Message};
use crate::app::state::Model;
use crate::app::view::View;
use crate::cli::args::ReportFormat;
use crate::cli::args::look::ThemeKind;
use crate::keys::action::Context;
use crate::keys::decoder::Code;
use crate::orderbook::snapshot;
use crate::source::events::{News, Outcome, Request};
use crate::source::status::Status;
use crate::test_driver::{at, key, keys, live, news, selected, text};

fn line(model: &Model) -> String {
    let command = model.command.as_ref().expect("a command is being typed");
    command.input.value().to_string()
}

fn run(model: &mut Model, command: &str) -> Vec<Effect> {
    keys(model, ":");
    assert_eq!(model.context(), Context::Commanding);
    let typed = keys(model, command);
    assert!(typed.is_empty(), "{typed:?}");
    key(model, Code::Enter)
}

fn answer(model: &mut Model, request: Request, result: Result<u64, String>) {
    model.update(Message::News(Box::new(News {
        outcomes: vec![Outcome { request, result }],
        ..News::quiet(Status::Live)
    })));
}

fn last_line(model: &Model) -> String {
    text(model).lines().last().unwrap_or_default().to_string()
}

#[test]
fn requests_are_sent_and_their_outcome_is_told() {
    let mut model = live(120, 30);
    let effects = run(&mut model, "mode adaptive");
    assert!(
        matches!(effects[..], [Effect::Send(Request::Mode(Mode::Adaptive))]),
        "{effects:?}"
    );
    answer(
        &mut model,
        Request::Mode(Mode::Adaptive),
        Err("it is too old".into()),
    );
    assert!(
        last_line(&model).contains("! mode: it is too old"),
        "{}",
        text(&model)
    );

    let pattern = Pattern::new("tree::*").expect("a pattern");
    let effects = run(&mut model, "off tree::*");
    assert!(
        matches!(effects[..], [Effect::Send(Request::SitesOff(sent))] if sent == pattern),
        "{effects:?}"
    );
    let mut after = snapshot(1_341);
    let off = after.sites.iter().filter(|site| pattern.matches(site)).count();
    let ids = (0..after.sites.len() as u32).map(tickscope_format::ids::SiteId);
    after.measuring.off_sites = ids
        .filter(|id| pattern.matches(&after.sites[id.index()]))
        .collect();
    assert_eq!(off, 1);
    let epoch = after.capture.reset_epoch;
    model.update(Message::News(Box::new(News {
        outcomes: vec![Outcome {
            request: Request::SitesOff(pattern),
            result: Ok(epoch),
        }],
        snapshot: Some(std::rc::Rc::new(after)),
        ..News::quiet(Status::Live)
    })));
    assert!(
        last_line(&model).contains("1 site switched off by tree::*"),
        "{}",
        text(&model)
    );
    run(&mut model, "on tree::*");
    answer(
        &mut model,
        Request::SitesOn(pattern),
        Err("the program has as many rules as it takes".into()),
    );
    assert!(last_line(&model).contains("on: the program has as many rules"));

    for command in ["rate 20", "interval 50ms"] {
        let effects = run(&mut model, command);
        assert!(
            matches!(effects[..], [Effect::Send(Request::Interval { ns: 50_000_000 })]),
            "{effects:?}"
        );
    }
    answer(&mut model, Request::Interval { ns: 50_000_000 }, Ok(0));
    assert!(
        last_line(&model).contains("20 snapshots a second"),
        "{}",
        text(&model)
    );
    let effects = run(&mut model, "reset");
    assert!(
        matches!(effects[..], [Effect::Send(Request::Reset)]),
        "{effects:?}"
    );
    let effects = run(&mut model, "mode off");
    assert!(effects.is_empty(), "one at a time: {effects:?}");
    assert!(
        last_line(&model).contains("has yet to answer"),
        "{}",
        text(&model)
    );
}

#[test]
fn who_does_not_run_is_not_asked() {
    let mut model = live(120, 30);
    news(&mut model, Status::Kept, None);
    for command in [
        "reset",
        "undo",
        "mode off",
        "off x",
        "on x",
        "rate 5",
        "interval 1s",
    ] {
        let effects = run(&mut model, command);
        assert!(effects.is_empty(), "{command}: {effects:?}");
        assert!(last_line(&model).contains("nobody to ask, a kept snapshot has no program"));
    }
}

#[test]
fn others_who_watch_are_asked_about_as_with_the_key() {
    let mut model = live(120, 30);
    let mut watched = snapshot(1_341);
    watched.capture.viewers = 2;
    news(&mut model, Status::Live, Some(watched));
    assert!(run(&mut model, "mode sampled").is_empty());
    assert_eq!(model.context(), Context::Asking);
    assert!(matches!(
        keys(&mut model, "y")[..],
        [Effect::Send(Request::Mode(Mode::Sampled))]
    ));
}

#[test]
fn files_are_named_and_their_ending_says_the_form() {
    let mut model = live(120, 30);
    let report = |effects: Vec<Effect>| match &effects[..] {
        [
            Effect::WriteReport {
                formats,
                file,
                compensated,
                ..
            },
        ] => (formats[0], file.clone(), *compensated),
        _ => panic!("{effects:?}"),
    };
    assert_eq!(
        report(run(&mut model, "report")),
        (ReportFormat::Text, None, false)
    );
    let json = Some("now.json".into());
    assert_eq!(
        report(run(&mut model, "report now.json --compensated")),
        (ReportFormat::Json, json.clone(), true)
    );
    assert_eq!(
        report(run(&mut model, "report now.json -f text")),
        (ReportFormat::Text, json, false)
    );
    assert_eq!(report(run(&mut model, "report now.pb.gz")).0, ReportFormat::Pprof);
    keys(&mut model, "x");
    assert!(report(run(&mut model, "report")).2, "as the screen is");
    assert!(!report(run(&mut model, "report --raw")).2);
    keys(&mut model, "D");
    assert_eq!(line(&model), "report ");
    assert!(text(&model).contains("--format"), "{}", text(&model));
    assert_eq!(
        report({
            keys(&mut model, "a.txt");
            key(&mut model, Code::Enter)
        })
        .1,
        Some("a.txt".into())
    );
    let effects = run(&mut model, "snapshot 'my own.tks'");
    let [Effect::KeepSnapshot { file, .. }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!(*file, Some("my own.tks".into()));
}

#[test]
fn views_themes_help_and_the_way_out() {
    let mut model = live(120, 30);
    for (command, view) in [
        ("hot", View::Hot),
        ("threads", View::Threads),
        ("stacks", View::Threads),
        ("flame", View::Flame),
        ("sites", View::Sites),
        ("function", View::Function),
        ("tree", View::Tree),
    ] {
        run(&mut model, command);
        assert_eq!(model.view, view, "{command}");
        assert!(model.command.is_none());
    }
    run(&mut model, "theme mono");
    assert_eq!(model.theme, ThemeKind::Mono);
    run(&mut model, "help");
    assert_eq!(model.context(), Context::Help);
    key(&mut model, Code::Esc);
    assert!(matches!(run(&mut model, "q")[..], [Effect::Quit]));
}

#[test]
fn a_function_is_found_by_its_name() {
    let mut model = live(120, 30);
    run(&mut model, "function rebalance");
    let mut model = live(120, 30);
    run(&mut model, "function nobody");
    assert!(
        last_line(&model).contains("no function nobody was met"),
        "{}",
        text(&model)
    );
    run(&mut model, "function run");
    assert!(
        last_line(&model).contains("2 functions are called like run"),
        "{}",
        text(&model)
    );
    assert_eq!(selected(&model), "match::run", "nothing has moved");
}

#[test]
fn a_function_is_found_by_its_name_whatever_is_in_focus() {
    for view in View::ALL {
        // The last row has nothing below but one function.
        let mut model = live(120, 30);
        keys(&mut model, "Gf");
        crate::test_driver::show(&mut model, view);
        run(&mut model, "function rebalance");
        assert_eq!(model.view, View::Function, "from {view:?}");
        assert!(text(&model).contains("book::tree::rebalance"), "{}", text(&model));
        key(&mut model, Code::Esc);
        assert_eq!(model.view, View::Hot);
    }
}

#[test]
fn what_is_wrong_stays_to_be_mended() {
    let mut model = live(80, 24);
    assert!(run(&mut model, "mode adaptve").is_empty());
    assert_eq!(
        (line(&model).as_str(), model.context()),
        ("mode adaptve", Context::Commanding)
    );
    assert!(
        text(&model).contains("! mode: \"adaptve\" is no choice; wanted :mode exact|adaptive|sampled|off"),
        "{}",
        text(&model)
    );
    for _ in 0..3 {
        key(&mut model, Code::Backspace);
    }
    assert!(!text(&model).contains("! mode"), "{}", text(&model));
    key(&mut model, Code::Tab);
    assert_eq!(line(&model), "mode adaptive ");
    assert_eq!(key(&mut model, Code::Enter).len(), 1);
    run(&mut model, "rset");
    assert!(
        text(&model).contains("no command rset; there are reset "),
        "{}",
        text(&model)
    );
}

#[test]
fn tab_completes_and_goes_round() {
    let mut model = live(120, 30);
    keys(&mut model, ":re");
    for (code, expected) in [
        (Code::Tab, "reset"),
        (Code::Tab, "report"),
        (Code::Tab, "reset"),
        (Code::BackTab, "report"),
    ] {
        key(&mut model, code);
        assert_eq!(line(&model), expected);
    }
    keys(&mut model, " now.txt --c");
    key(&mut model, Code::Tab);
    assert_eq!(line(&model), "report now.txt --compensated ");
    key(&mut model, Code::Esc);
    keys(&mut model, ":off rebal");
    key(&mut model, Code::Tab);
    assert_eq!(line(&model), "off orderbook_sim::book::tree::rebalance ");
    key(&mut model, Code::Esc);
    keys(&mut model, ":zzz");
    key(&mut model, Code::Tab);
    assert_eq!(line(&model), "zzz", "nothing fits");
}

#[test]
fn tab_on_an_empty_line_puts_nothing_into_it() {
    let mut model = live(80, 24);
    keys(&mut model, ":");
    let before = text(&model);
    key(&mut model, Code::Tab);
    assert_eq!(line(&model), "");
    assert_ne!(text(&model), before, "the list turns");
    key(&mut model, Code::BackTab);
    assert_eq!((line(&model), text(&model)), (String::new(), before));
    let effects = key(&mut model, Code::Enter);
    assert!(effects.is_empty() && model.command.is_none(), "{effects:?}");
    keys(&mut model, ":");
    key(&mut model, Code::Tab);
    keys(&mut model, "rese");
    key(&mut model, Code::Tab);
    assert_eq!(line(&model), "reset ");
}

#[test]
fn commands_of_this_sitting_come_back() {
    let mut model = live(120, 30);
    run(&mut model, "hot");
    run(&mut model, "tree");
    run(&mut model, "tree");
    keys(&mut model, ":dra");
    for (code, expected) in [
        (Code::Down, "dra"),
        (Code::Up, "tree"),
        (Code::Up, "hot"),
        (Code::Up, "hot"),
        (Code::Down, "tree"),
        (Code::Down, "dra"),
        (Code::Down, "dra"),
    ] {
        key(&mut model, code);
        assert_eq!(line(&model), expected);
    }
    key(&mut model, Code::Up);
    key(&mut model, Code::Enter);
    assert!(model.command.is_none());
}

#[test]
fn escape_and_an_empty_line_leave_and_change_nothing() {
    let mut model = live(120, 30);
    let before = text(&model);
    let untouched = {
        at(&mut model, 1);
        keys(&mut model, "z");
        text(&model)
    };
    assert_ne!(before, untouched, "the line for the first look is gone");
    for code in [Code::Esc, Code::Enter] {
        keys(&mut model, ":");
        assert!(text(&model).contains("reset  undo  mode"), "{}", text(&model));
        key(&mut model, code);
        assert_eq!(text(&model), untouched);
    }
    keys(&mut model, "/rebal");
    key(&mut model, Code::Enter);
    keys(&mut model, ":q");
    key(&mut model, Code::Esc);
    assert!(model.search.is_some(), "one step back, not two");
}

#[test]
fn names_from_the_program_are_shown_safely() {
    let mut model = live(80, 24);
    let mut odd = snapshot(1_341);
    odd.sites[0].name = "a\u{1b}[2J b".into();
    odd.sites[1].name = "x y".into();
    news(&mut model, Status::Live, Some(odd));
    keys(&mut model, ":off ");
    assert!(!text(&model).contains('\u{1b}'));
    keys(&mut model, "x");
    key(&mut model, Code::Tab);
    assert!(line(&model).ends_with("::x y' "), "{}", line(&model));
}

#[test]
fn the_help_is_looked_up() {
    for (width, height) in [(120, 30), (60, 15)] {
        let mut model = live(width, height);
        keys(&mut model, "?/REPORT");
        assert_eq!(model.context(), Context::Typing);
        let screen = text(&model);
        assert!(
            screen.contains("write a report") && screen.contains("match 1/2"),
            "{screen}"
        );
        key(&mut model, Code::Down);
        assert!(text(&model).contains("match 2/2"), "{}", text(&model));
        key(&mut model, Code::Enter);
        assert_eq!(model.context(), Context::Help);
        keys(&mut model, "n");
        assert!(text(&model).contains("write a report of"), "{}", text(&model));
        key(&mut model, Code::Esc);
        assert_eq!(
            (model.context(), model.help_search.is_none()),
            (Context::Help, true)
        );
        keys(&mut model, "/zzz");
        assert!(text(&model).contains("no match"), "{}", text(&model));
        key(&mut model, Code::Enter);
        key(&mut model, Code::Esc);
        assert_eq!(model.context(), Context::Tree);
        assert!(model.search.is_none(), "the search of the list is another one");
    }
}

#[test]
fn the_first_look_is_helped_until_the_first_key() {
    let told = |model: &Model| text(model).contains("Enter: ") && text(model).contains(": all keys");
    let mut model = live(120, 30);
    let (row, rows) = (crate::test_driver::line(&model), model.layout().rows.height);
    assert!(told(&model), "{}", text(&model));
    news(&mut model, Status::Live, Some(snapshot(1_350)));
    assert!(told(&model), "time alone changes nothing");
    key(&mut model, Code::Down);
    assert!(!told(&model), "{}", text(&model));
    assert_eq!(crate::test_driver::line(&model), row + 1);
    assert_eq!(model.layout().rows.height, rows + 1);
    let short = live(80, 24);
    assert!(
        text(&short).contains("SELF: without  Enter: callers  ?: keys"),
        "{}",
        text(&short)
    );
    assert!(!text(&live(60, 15)).contains("Enter: "), "no line to spare");
    let mut kept = live(120, 30);
    news(&mut kept, Status::Kept, None);
    assert!(
        !told(&kept) && text(&kept).contains("A kept snapshot"),
        "what happened comes first"
    );
}
