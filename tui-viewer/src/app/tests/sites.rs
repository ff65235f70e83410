//! Switching sites off and on from the screen.

use super::*;

#[test]
fn a_site_with_control_characters_in_its_name_is_switched() {
    let mut app = live(120, 30);
    let mut s = snapshot(1_341);
    s.sites[3].name = "draw\u{1b}[2J".into();
    gets(&mut app, s.clone());
    keys(&mut app, "6");
    go_to(&mut app, "draw");
    let sent = asked(key(&mut app, Code::Char(' ')));
    let [Request::SitesOff(pattern)] = sent[..] else {
        panic!("{sent:?}: {}", last_line(&app))
    };
    assert_eq!(pattern.as_str(), r"orderbook_sim::book::draw\u{1b}[2J");
    let matched: Vec<usize> = (0..s.sites.len())
        .filter(|&site| pattern.matches(&s.sites[site]))
        .collect();
    assert_eq!(matched, [3]);
}

/// Selects a site by its name.
pub(super) fn to(app: &mut App, name: &str) {
    let line = names(app)
        .iter()
        .position(|at| *at == name)
        .expect("it is listed");
    keys(app, "g");
    keys(app, &"j".repeat(line));
    assert_eq!(selected(app), name);
}

#[test]
fn space_switches_off_and_on_and_says_so_when_it_is_seen() {
    let mut app = live(120, 30).after("6");
    to(&mut app, "book::insert");
    let own = "orderbook_sim::book::insert";
    let off = Request::SitesOff(pattern(own));
    assert_eq!(asked(keys(&mut app, " ")), [off]);
    answer(&mut app, off, Ok(1));
    // The program has promised the switch, but no snapshot shows it yet.
    assert!(!last_line(&app).contains("book::insert off"));
    gets(&mut app, ruled(snapshot(1_341), &[(own, true)]));
    says(&app, "book::insert off; Space switches it on again");
    shows(&app, "off by …book::insert");
    assert_eq!(selected(&app), "book::insert");

    let on = Request::SitesOn(pattern(own));
    assert_eq!(asked(keys(&mut app, " ")), [on]);
    gets(&mut app, ruled(snapshot(1_341), &[(own, false)]));
    answer(&mut app, on, Ok(1));
    assert!(last_line(&app).contains("book::insert on; Space switches it off again"));
}

#[test]
fn a_site_that_a_wider_rule_switched_off_gets_a_rule_of_its_own() {
    let mut app = showing(120, 30, ruled(snapshot(1_341), &[("book", true)])).after("6");
    to(&mut app, "book::cancel");
    assert!(text(&app).contains("off by book") && text(&app).contains("switched off by the rule book"));
    let on = Request::SitesOn(pattern("orderbook_sim::book::cancel"));
    assert_eq!(asked(keys(&mut app, " ")), [on]);
    answer(&mut app, on, Ok(1));
    let both = [("book", true), ("orderbook_sim::book::cancel", false)];
    gets(&mut app, ruled(snapshot(1_341), &both));
    says(&app, "book::cancel on");
    assert!(text(&app).contains("kept on by the rule orderbook_sim::book::cancel"));
}

#[test]
fn twice_before_it_is_seen_goes_back() {
    let mut app = live(120, 30).after("6");
    to(&mut app, "book::insert");
    let own = pattern("orderbook_sim::book::insert");
    let requests = asked(keys(&mut app, "  "));
    assert_eq!(requests, [Request::SitesOff(own), Request::SitesOn(own)]);
    to(&mut app, "risk::check");
    let other = asked(keys(&mut app, " "));
    assert_eq!(other, [Request::SitesOff(pattern("orderbook_sim::risk::check"))]);
    answer(&mut app, requests[0], Ok(1));
    answer(&mut app, requests[1], Ok(1));
    says(&app, "book::insert on");
}

#[test]
fn refusals_and_silence_are_told() {
    let mut app = live(120, 30).after("6");
    to(&mut app, "book::insert");
    let request = asked(keys(&mut app, " "))[0];
    let why = Err("the program has its maximum of rules".into());
    answer(&mut app, request, why);
    says(&app, "the program has its maximum of rules");
    assert_eq!(
        app.deadline(),
        app.notices.current.as_ref().map(|notice| notice.until),
        "nothing is awaited"
    );

    keys(&mut app, " ");
    assert!(app.deadline().is_some());
    at(&mut app, 2_500);
    says(&app, "no answer from the program in 2 s");

    events(&mut app, Status::Exited { unix_ns: 1 }, None);
    assert!(keys(&mut app, " ").is_empty());
    assert!(last_line(&app).contains("nothing to switch: the program is exited"));
}

#[test]
fn a_path_too_long_for_a_rule_is_said_to_be() {
    let mut app = live(120, 30);
    let mut s = snapshot(1_341);
    s.sites[0].name = "x".repeat(97);
    gets(&mut app, s);
    keys(&mut app, "6G");
    while !selected(&app).contains("xxx") {
        key(&mut app, Code::Up);
    }
    assert!(keys(&mut app, " ").is_empty());
    let words = "! no rule can name it: a pattern has at most 96 bytes, its path has ";
    says(&app, words);
}

#[test]
fn a_rule_for_many_is_told_as_the_shells_command_tells_it() {
    let mut app = live(120, 30);
    let many = Request::SitesOff(pattern("book::*"));
    answer(&mut app, many, Ok(1));
    gets(&mut app, ruled(snapshot(1_341), &[("book::*", true)]));
    let words = "4 sites switched off by book::*; also applies to sites met later";
    says(&app, words);
}

#[test]
fn off_and_never_met_stand_where_state_sorts_them() {
    let mut app = live(120, 30);
    let mut s = ruled(snapshot(1_341), &[("slab_get", true)]);
    for row in 0..s.nodes.len() {
        if s.nodes.site[row] == 12 {
            s.nodes.calls[row] = 0;
        }
    }
    gets(&mut app, s);
    keys(&mut app, "6");
    assert_eq!(names(&app)[0], "wire::encode", "most calls first");
    keys(&mut app, ">");
    assert_eq!(names(&app)[..2], ["alloc::slab_get", "queue::push"]);
    assert!(text(&app).contains("not since reset"));
}

#[test]
fn all_names_are_shortened_by_one_rule() {
    let mut app = live(80, 40).after("6");
    let all: Vec<String> = names(&app).iter().map(|name| (*name).to_string()).collect();
    let screen = text(&app);
    let whole = all
        .iter()
        .filter(|name| name.contains("::") && screen.contains(*name));
    let whole = whole.count();
    let with = all.iter().filter(|name| name.contains("::")).count();
    assert!(whole == 0 || whole == with, "{whole} of {with}\n{screen}");
    let mut long = snapshot(1_341);
    long.sites[3].name = "a_name_that_is_much_longer_than_any_column_for_names_on_this_screen".into();
    gets(&mut app, long);
    // The pane below the list is not checked, because it shows the selected site's name in full.
    let screen = text(&app);
    let rows = app.layout().rows;
    let list = screen
        .lines()
        .skip(usize::from(rows.y))
        .take(usize::from(rows.height));
    for line in list {
        let name = line.split_whitespace().find(|word| word.contains("::"));
        assert!(name.is_none(), "{line}");
    }
}

#[test]
fn the_selection_goes_along_to_sites_and_hot() {
    for digit in ["6", "2"] {
        // A selection that the user has not moved is not carried over to another view.
        let app = live(120, 30).after(digit);
        assert_eq!(app.list().cursor.index, 0);
        let mut app = live(120, 30).after("jjj");
        assert_eq!(selected(&app), "book::insert");
        keys(&mut app, digit);
        assert_eq!(selected(&app), "book::insert");
        // A thread has no function to carry over, so the other view keeps its selection.
        keys(&mut app, "4j");
        keys(&mut app, digit);
        assert_eq!(selected(&app), "book::insert");
        keys(&mut app, "1j");
        let next = selected(&app);
        keys(&mut app, digit);
        assert_eq!(selected(&app), next);
    }
    // Space must switch the selected function.
    let mut app = live(120, 30).after("2/cancel\n");
    let effects = keys(&mut app, "6 ");
    assert!(
        matches!(effects[..], [Effect::Send(Request::SitesOff(pattern))] if pattern.as_str().ends_with("book::cancel")),
        "{effects:?}"
    );
}

#[test]
fn what_is_followed_comes_into_sight() {
    let mut app = live(80, 12).after("2G");
    let last = selected(&app);
    keys(&mut app, "6");
    assert_eq!(selected(&app), last);
    assert!(line(&app) < usize::from(app.layout().rows.height));
}

#[test]
fn sites_of_one_line_are_rows_of_their_own() {
    let mut s = snapshot(1_340);
    let again = s.sites[0].clone();
    s.sites.extend([again.clone(), again]);
    let mut app = showing(120, 30, s).after("6");
    let mut ids: Vec<RowId> = app.list().rows.iter().map(|row| row.id).collect();
    let all = ids.len();
    // Pressing `j` again and again must reach every row.
    keys(&mut app, "gg");
    let mut met = std::collections::HashSet::new();
    for _ in 0..all {
        met.extend(app.list().selected().map(|row| row.id));
        keys(&mut app, "j");
    }
    assert_eq!(met.len(), all);
    ids.dedup();
    assert_eq!(ids.len(), all);
}
