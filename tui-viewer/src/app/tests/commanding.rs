//! The command line: what is typed does what the keys do, and says what it could not.

use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::Mode;
use tickscope_report::form::Form;

use crate::app::message::{Effect, Message};
use crate::app::overlay::Overlay;
use crate::app::state::App;
use crate::app::view::View;
use crate::cli::args::look::ThemeKind;
use crate::keys::action::Context;
use crate::keys::decoder::Code;
use crate::orderbook::snapshot;
use crate::source::events::{Events, Outcome, Request};
use crate::source::status::Status;
use crate::test_driver::{at, events, key, keys, live, selected, text};

fn line(app: &App) -> String {
    let Some(Overlay::CommandLine(command)) = &app.overlay else {
        panic!("a command is being typed");
    };
    command.input.value().to_string()
}

fn run(app: &mut App, command: &str) -> Vec<Effect> {
    keys(app, ":");
    assert_eq!(app.context(), Context::Commanding);
    let typed = keys(app, command);
    assert!(typed.is_empty(), "{typed:?}");
    key(app, Code::Enter)
}

fn answer(app: &mut App, request: Request, result: Result<u64, String>) {
    app.update(Message::Events(Box::new(Events {
        outcomes: vec![Outcome::new(request, result)],
        ..Events::quiet(Status::Live)
    })));
}

fn last_line(app: &App) -> String {
    text(app).lines().last().unwrap_or_default().to_string()
}

#[test]
fn requests_are_sent_and_their_outcome_is_told() {
    let mut app = live(120, 30);
    let effects = run(&mut app, "mode adaptive");
    assert!(
        matches!(effects[..], [Effect::Send(Request::Mode(Mode::Adaptive))]),
        "{effects:?}"
    );
    answer(
        &mut app,
        Request::Mode(Mode::Adaptive),
        Err("it is too old".into()),
    );
    assert!(
        last_line(&app).contains("! mode: it is too old"),
        "{}",
        text(&app)
    );

    let pattern = Pattern::new("tree::*").expect("a pattern");
    let effects = run(&mut app, "off tree::*");
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
    app.update(Message::Events(Box::new(Events {
        outcomes: vec![Outcome::new(Request::SitesOff(pattern), Ok(epoch))],
        snapshot: Some(std::rc::Rc::new(after)),
        ..Events::quiet(Status::Live)
    })));
    assert!(
        last_line(&app).contains("1 site switched off by tree::*"),
        "{}",
        text(&app)
    );
    run(&mut app, "on tree::*");
    answer(
        &mut app,
        Request::SitesOn(pattern),
        Err("the program has as many rules as it takes".into()),
    );
    assert!(last_line(&app).contains("on: the program has as many rules"));

    for command in ["rate 20", "interval 50ms"] {
        let effects = run(&mut app, command);
        assert!(
            matches!(effects[..], [Effect::Send(Request::Interval { ns: 50_000_000 })]),
            "{effects:?}"
        );
    }
    answer(&mut app, Request::Interval { ns: 50_000_000 }, Ok(0));
    assert!(
        last_line(&app).contains("20 snapshots a second"),
        "{}",
        text(&app)
    );
    let effects = run(&mut app, "reset");
    assert!(
        matches!(effects[..], [Effect::Send(Request::Reset)]),
        "{effects:?}"
    );
    let effects = run(&mut app, "mode off");
    assert!(effects.is_empty(), "one at a time: {effects:?}");
    assert!(last_line(&app).contains("has yet to answer"), "{}", text(&app));
}

#[test]
fn who_does_not_run_is_not_asked() {
    let mut app = live(120, 30);
    events(&mut app, Status::Kept, None);
    for command in [
        "reset",
        "undo",
        "mode off",
        "off x",
        "on x",
        "rate 5",
        "interval 1s",
    ] {
        let effects = run(&mut app, command);
        assert!(effects.is_empty(), "{command}: {effects:?}");
        assert!(last_line(&app).contains("no program answers, a kept snapshot has no program"));
    }
}

#[test]
fn others_who_watch_are_asked_about_as_with_the_key() {
    let mut app = live(120, 30);
    let mut watched = snapshot(1_341);
    watched.capture.viewers = 2;
    events(&mut app, Status::Live, Some(watched));
    assert!(run(&mut app, "mode sampled").is_empty());
    assert_eq!(app.context(), Context::Asking);
    assert!(matches!(
        keys(&mut app, "y")[..],
        [Effect::Send(Request::Mode(Mode::Sampled))]
    ));
}

#[test]
fn files_are_named_and_their_ending_says_the_form() {
    let mut app = live(120, 30);
    let report = |effects: Vec<Effect>| match &effects[..] {
        [Effect::WriteReport { formats, file, .. }] => (formats[0], file.clone()),
        _ => panic!("{effects:?}"),
    };
    assert_eq!(report(run(&mut app, "report")), (Form::Text, None));
    let json = Some("now.json".into());
    assert_eq!(
        report(run(&mut app, "report now.json")),
        (Form::Json, json.clone())
    );
    assert_eq!(
        report(run(&mut app, "report now.json -f text")),
        (Form::Text, json)
    );
    assert_eq!(report(run(&mut app, "report now.pb.gz")).0, Form::Pprof);
    keys(&mut app, "D");
    assert_eq!(line(&app), "report ");
    assert!(text(&app).contains("--format"), "{}", text(&app));
    assert_eq!(
        report({
            keys(&mut app, "a.txt");
            key(&mut app, Code::Enter)
        })
        .1,
        Some("a.txt".into())
    );
    let effects = run(&mut app, "snapshot 'my own.tks'");
    let [Effect::KeepSnapshot { file, .. }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!(*file, Some("my own.tks".into()));
}

#[test]
fn views_themes_help_and_the_way_out() {
    let mut app = live(120, 30);
    for (command, view) in [
        ("hot", View::Hot),
        ("threads", View::Threads),
        ("stacks", View::Threads),
        ("flame", View::Flame),
        ("sites", View::Sites),
        ("function", View::Function),
        ("tree", View::Tree),
    ] {
        run(&mut app, command);
        assert_eq!(app.views.current, view, "{command}");
        assert!(app.overlay.is_none());
    }
    run(&mut app, "theme mono");
    assert_eq!(app.screen.theme, ThemeKind::Mono);
    run(&mut app, "help");
    assert_eq!(app.context(), Context::Help);
    key(&mut app, Code::Esc);
    assert!(matches!(run(&mut app, "q")[..], [Effect::Quit]));
}

#[test]
fn a_function_is_found_by_its_name() {
    let mut app = live(120, 30);
    run(&mut app, "function rebalance");
    let mut app = live(120, 30);
    run(&mut app, "function nobody");
    assert!(
        last_line(&app).contains("no function nobody was met"),
        "{}",
        text(&app)
    );
    run(&mut app, "function run");
    assert!(last_line(&app).contains("run may be "), "{}", text(&app));
    assert_eq!(selected(&app), "match::run", "nothing has moved");
}

#[test]
fn a_function_is_found_by_its_name_whatever_is_in_focus() {
    for view in View::ALL {
        // The last row has nothing below but one function.
        let mut app = live(120, 30);
        keys(&mut app, "Gf");
        crate::test_driver::show(&mut app, view);
        run(&mut app, "function rebalance");
        assert_eq!(app.views.current, View::Function, "from {view:?}");
        assert!(text(&app).contains("book::tree::rebalance"), "{}", text(&app));
        key(&mut app, Code::Esc);
        assert_eq!(app.views.current, View::Hot);
    }
}

#[test]
fn what_is_wrong_stays_to_be_mended() {
    let mut app = live(80, 24);
    assert!(run(&mut app, "mode adaptve").is_empty());
    assert_eq!(
        (line(&app).as_str(), app.context()),
        ("mode adaptve", Context::Commanding)
    );
    assert!(
        text(&app).contains("! mode: \"adaptve\" is no choice; wanted :mode exact|adaptive|sampled|off"),
        "{}",
        text(&app)
    );
    for _ in 0..3 {
        key(&mut app, Code::Backspace);
    }
    assert!(!text(&app).contains("! mode"), "{}", text(&app));
    key(&mut app, Code::Tab);
    assert_eq!(line(&app), "mode adaptive ");
    assert_eq!(key(&mut app, Code::Enter).len(), 1);
    run(&mut app, "rset");
    assert!(
        text(&app).contains("no command rset; there are reset "),
        "{}",
        text(&app)
    );
}

#[test]
fn tab_completes_and_goes_round() {
    let mut app = live(120, 30);
    keys(&mut app, ":re");
    for (code, expected) in [
        (Code::Tab, "reset"),
        (Code::Tab, "report"),
        (Code::Tab, "reset"),
        (Code::BackTab, "report"),
    ] {
        key(&mut app, code);
        assert_eq!(line(&app), expected);
    }
    keys(&mut app, " now.txt --f");
    key(&mut app, Code::Tab);
    assert_eq!(line(&app), "report now.txt --format ");
    key(&mut app, Code::Esc);
    keys(&mut app, ":off rebal");
    key(&mut app, Code::Tab);
    assert_eq!(line(&app), "off orderbook_sim::book::tree::rebalance ");
    key(&mut app, Code::Esc);
    keys(&mut app, ":zzz");
    key(&mut app, Code::Tab);
    assert_eq!(line(&app), "zzz", "nothing fits");
}

#[test]
fn tab_on_an_empty_line_puts_nothing_into_it() {
    let mut app = live(80, 24);
    keys(&mut app, ":");
    let before = text(&app);
    key(&mut app, Code::Tab);
    assert_eq!(line(&app), "");
    assert_ne!(text(&app), before, "the list turns");
    key(&mut app, Code::BackTab);
    assert_eq!((line(&app), text(&app)), (String::new(), before));
    let effects = key(&mut app, Code::Enter);
    assert!(effects.is_empty() && app.overlay.is_none(), "{effects:?}");
    keys(&mut app, ":");
    key(&mut app, Code::Tab);
    keys(&mut app, "rese");
    key(&mut app, Code::Tab);
    assert_eq!(line(&app), "reset ");
}

#[test]
fn commands_of_this_sitting_come_back() {
    let mut app = live(120, 30);
    run(&mut app, "hot");
    run(&mut app, "tree");
    run(&mut app, "tree");
    keys(&mut app, ":dra");
    for (code, expected) in [
        (Code::Down, "dra"),
        (Code::Up, "tree"),
        (Code::Up, "hot"),
        (Code::Up, "hot"),
        (Code::Down, "tree"),
        (Code::Down, "dra"),
        (Code::Down, "dra"),
    ] {
        key(&mut app, code);
        assert_eq!(line(&app), expected);
    }
    key(&mut app, Code::Up);
    key(&mut app, Code::Enter);
    assert!(app.overlay.is_none());
}

#[test]
fn escape_and_an_empty_line_leave_and_change_nothing() {
    let mut app = live(120, 30);
    let before = text(&app);
    let untouched = {
        at(&mut app, 1);
        keys(&mut app, "z");
        text(&app)
    };
    assert_ne!(before, untouched, "the line for the first look is gone");
    for code in [Code::Esc, Code::Enter] {
        keys(&mut app, ":");
        assert!(text(&app).contains("reset  undo  mode"), "{}", text(&app));
        key(&mut app, code);
        assert_eq!(text(&app), untouched);
    }
    keys(&mut app, "/rebal");
    key(&mut app, Code::Enter);
    keys(&mut app, ":q");
    key(&mut app, Code::Esc);
    assert!(app.views.search.is_some(), "one step back, not two");
}

#[test]
fn names_from_the_program_are_shown_safely() {
    let mut app = live(80, 24);
    let mut odd = snapshot(1_341);
    odd.sites[0].name = "a\u{1b}[2J b".into();
    odd.sites[1].name = "x y".into();
    events(&mut app, Status::Live, Some(odd));
    keys(&mut app, ":off ");
    assert!(!text(&app).contains('\u{1b}'));
    keys(&mut app, "x");
    key(&mut app, Code::Tab);
    assert!(line(&app).ends_with("::x y' "), "{}", line(&app));
}

#[test]
fn the_help_is_looked_up() {
    for (width, height) in [(120, 30), (60, 15)] {
        let mut app = live(width, height);
        keys(&mut app, "?/REPORT");
        assert_eq!(app.context(), Context::Typing);
        let screen = text(&app);
        assert!(
            screen.contains("write a report") && screen.contains("match 1/2"),
            "{screen}"
        );
        key(&mut app, Code::Down);
        assert!(text(&app).contains("match 2/2"), "{}", text(&app));
        key(&mut app, Code::Enter);
        assert_eq!(app.context(), Context::Help);
        keys(&mut app, "n");
        assert!(text(&app).contains("write a report of"), "{}", text(&app));
        key(&mut app, Code::Esc);
        assert_eq!(
            (app.context(), app.help().is_none_or(|help| help.search.is_none())),
            (Context::Help, true)
        );
        keys(&mut app, "/zzz");
        assert!(text(&app).contains("no match"), "{}", text(&app));
        key(&mut app, Code::Enter);
        key(&mut app, Code::Esc);
        assert_eq!(app.context(), Context::Tree);
        assert!(
            app.views.search.is_none(),
            "the search of the list is another one"
        );
    }
}

#[test]
fn the_first_look_is_helped_until_the_first_key() {
    let told = |app: &App| text(app).contains("Enter: ") && text(app).contains(": all keys");
    let mut app = live(120, 30);
    let (row, rows) = (crate::test_driver::line(&app), app.layout().rows.height);
    assert!(told(&app), "{}", text(&app));
    events(&mut app, Status::Live, Some(snapshot(1_350)));
    assert!(told(&app), "time alone changes nothing");
    key(&mut app, Code::Down);
    assert!(!told(&app), "{}", text(&app));
    assert_eq!(crate::test_driver::line(&app), row + 1);
    assert_eq!(app.layout().rows.height, rows + 1);
    let short = live(80, 24);
    assert!(
        text(&short).contains("SELF: without  Enter: callers  ?: keys"),
        "{}",
        text(&short)
    );
    assert!(!text(&live(60, 15)).contains("Enter: "), "no line to spare");
    let mut kept = live(120, 30);
    events(&mut kept, Status::Kept, None);
    assert!(
        !told(&kept) && text(&kept).contains("A kept snapshot"),
        "what happened comes first"
    );
}
