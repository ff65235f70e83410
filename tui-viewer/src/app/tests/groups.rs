//! Showing groups in place of their members, and the key that switches between the two.

use super::*;

/// Returns the test program with four of its functions in the group `book`. Some of the four call each other.
fn grouped(width: u16, height: u16) -> App {
    let mut s = snapshot(1_340);
    for site in &mut s.sites {
        if matches!(site.name.as_str(), "apply" | "insert" | "rebalance" | "cancel") {
            site.group = "book".into();
        }
    }
    showing(width, height, s)
}

fn names(app: &App) -> Vec<String> {
    super::names(app).into_iter().map(str::to_string).collect()
}

#[test]
fn a_group_stands_in_place_of_its_members() {
    let mut app = grouped(120, 30).after("2");
    let plain = names(&app);
    keys(&mut app, "&");
    let merged = names(&app);
    assert_eq!(merged.len(), plain.len() - 3, "{merged:?}");
    assert_eq!(merged[0], "[book]", "it costs most itself");
    keys(&mut app, "g");
    // The pane lists the members by self time, and the line above the columns names the filter.
    shows(&app, "rebalance, apply, insert, cancel");
    shows(&app, "groups");
    keys(&mut app, "&");
    assert_eq!(names(&app), plain);
}

#[test]
fn a_group_has_callers_and_callees_and_sites_have_no_groups() {
    let mut app = grouped(120, 30).after("2&g\n");
    shows(&app, "[book]");
    shows(&app, "match::step");
    // `slab_get` is in the list because a member of the group calls it.
    assert!(names(&app).contains(&"alloc::slab_get".to_string()));
    keys(&mut app, "6");
    let sites = names(&app);
    assert!(!sites.iter().any(|name| name.starts_with('[')), "{sites:?}");
    keys(&mut app, "1");
    assert!(text(&app).contains("[book]"), "in the tree as well");
    keys(&mut app, "2&/apply\n");
    let screen = text(&app);
    assert!(screen.contains("[book] "), "a function tells its group: {screen}");
}

#[test]
fn where_there_are_none_the_key_says_how_to_make_one() {
    let app = showing(120, 30, snapshot(1_340)).after("&");
    assert!(!app.query.filter.grouped);
    shows(&app, "nothing is in a group here");
}

#[test]
fn numbers_stay_per_call_of_a_group_whatever_is_shown() {
    let mut app = grouped(120, 30).after("2&gb");
    shows(&app, "per call of [book]");
    let calls = |app: &App| app.data().and_then(|data| data.per_calls);
    let of_group = calls(&app);
    assert!(of_group.is_some_and(|calls| calls > 0));
    for keys_then in ["&", "6", "1", "&", "6", "2"] {
        keys(&mut app, keys_then);
        assert_eq!(calls(&app), of_group, "{keys_then}");
    }
}

#[test]
fn a_group_in_focus_is_what_is_written_and_is_told_apart_from_nothing() {
    let mut app = grouped(120, 30).after("2&gf");
    shows(&app, "focus [book]");
    let in_focus = data(&app).calls().measured_ns();
    let effects = keys(&mut app, "d");
    let [Effect::WriteReport(snapshot, _)] = &effects[..] else {
        panic!("{effects:?}");
    };
    let written: u64 = snapshot.self_nanos().iter().sum();
    assert!(in_focus > 0 && written == in_focus, "{written} of {in_focus}");
    keys(&mut app, "&");
    shows(&app, "[book] is not shown now. & shows groups.");
    keys(&mut app, "&");
    key(&mut app, Code::Esc);
    key(&mut app, Code::Enter);
    keys(&mut app, "&");
    shows(&app, "[book] is not shown now. & shows groups.");
}

#[test]
fn a_member_in_focus_is_hidden_by_its_group_and_said_to_be() {
    let mut app = grouped(120, 30).after("2/apply\n");
    keys(&mut app, "f&");
    let words = "book::apply is not shown now. & shows the functions in groups.";
    shows(&app, words);
    let mut app = grouped(120, 30).after("&");
    assert!(last_line(&app).contains("[groups] in place of their members; & shows the members"));
    keys(&mut app, "&");
    assert!(last_line(&app).contains("members of groups by themselves"));
}
