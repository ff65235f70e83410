//! Groups in place of their members, through the key.

use super::*;

/// The made-up program, four of its functions in the group `book`, some of them below each other.
fn grouped(width: u16, height: u16) -> App {
    let mut s = snapshot(1_340);
    for site in &mut s.sites {
        if matches!(site.name.as_str(), "apply" | "insert" | "rebalance" | "cancel") {
            site.group = "book".into();
        }
    }
    let mut app = empty(width, height);
    events(&mut app, Status::Live, Some(s));
    app
}

fn names(app: &App) -> Vec<String> {
    super::names(app).into_iter().map(str::to_string).collect()
}

fn self_ns(app: &App) -> u64 {
    let data = app.derived.data.as_ref().expect("there is data");
    data.hot().iter().map(|row| row.self_ns).sum()
}

#[test]
fn a_group_stands_in_place_of_its_members_and_the_sum_stays() {
    let mut app = grouped(120, 30);
    keys(&mut app, "2");
    let (plain, measured) = (names(&app), self_ns(&app));
    assert!(plain.contains(&"book::apply".to_string()), "{plain:?}");
    keys(&mut app, "&");
    let merged = names(&app);
    assert_eq!(merged.len(), plain.len() - 3, "{merged:?}");
    assert_eq!(merged[0], "[book]", "it costs most itself");
    assert!(
        !merged.iter().any(|name| name.starts_with("book::")),
        "{merged:?}"
    );
    assert_eq!(self_ns(&app), measured);
    assert_eq!(
        app.derived.data.as_ref().map(|data| data.measured_ns),
        Some(measured)
    );
    keys(&mut app, "g");
    let screen = text(&app);
    assert!(
        screen.contains("rebalance, apply, insert, cancel"),
        "the members, those that cost most first: {screen}"
    );
    assert!(screen.contains("groups"), "said above the columns: {screen}");
    keys(&mut app, "&");
    assert_eq!(names(&app), plain);
}

#[test]
fn a_group_has_callers_and_callees_and_sites_have_no_groups() {
    let mut app = grouped(120, 30);
    keys(&mut app, "2&g");
    key(&mut app, Code::Enter);
    let screen = text(&app);
    assert!(
        screen.contains("[book]") && screen.contains("match::step"),
        "{screen}"
    );
    assert!(
        names(&app).contains(&"alloc::slab_get".to_string()),
        "called by a member"
    );
    keys(&mut app, "6");
    let sites = names(&app);
    assert!(!sites.iter().any(|name| name.starts_with('[')), "{sites:?}");
    keys(&mut app, "1");
    assert!(text(&app).contains("[book]"), "in the tree as well");
    keys(&mut app, "2&/apply");
    key(&mut app, Code::Enter);
    let screen = text(&app);
    assert!(screen.contains("[book] "), "a function tells its group: {screen}");
}

#[test]
fn where_there_are_none_the_key_says_how_to_make_one() {
    let mut app = empty(120, 30);
    events(&mut app, Status::Live, Some(snapshot(1_340)));
    keys(&mut app, "&");
    assert!(!app.query.filter.grouped);
    assert!(
        text(&app).contains("nothing is in a group here"),
        "{}",
        text(&app)
    );
}

#[test]
fn numbers_stay_per_call_of_a_group_whatever_is_shown() {
    let mut app = grouped(120, 30);
    keys(&mut app, "2&gb");
    assert!(text(&app).contains("per call of [book]"), "{}", text(&app));
    let calls = |app: &App| app.derived.data.as_ref().and_then(|data| data.per_calls);
    let of_group = calls(&app);
    assert!(of_group.is_some_and(|calls| calls > 0));
    for keys_then in ["&", "6", "1", "&", "6", "2"] {
        keys(&mut app, keys_then);
        assert_eq!(calls(&app), of_group, "{keys_then}");
    }
}

#[test]
fn a_group_in_focus_is_what_is_written_and_is_told_apart_from_nothing() {
    let mut app = grouped(120, 30);
    keys(&mut app, "2&gf");
    let screen = text(&app);
    assert!(screen.contains("focus [book]"), "{screen}");
    let in_focus = app.derived.data.as_ref().unwrap().calls().measured_ns();
    let effects = keys(&mut app, "d");
    let [Effect::WriteReport { snapshot, .. }] = &effects[..] else {
        panic!("{effects:?}");
    };
    let written: u64 = snapshot.self_nanos().iter().sum();
    assert!(in_focus > 0 && written == in_focus, "{written} of {in_focus}");
    keys(&mut app, "&");
    let screen = text(&app);
    assert!(
        screen.contains("[book] is not shown now. & shows groups."),
        "{screen}"
    );
    keys(&mut app, "&");
    key(&mut app, Code::Esc);
    key(&mut app, Code::Enter);
    keys(&mut app, "&");
    let screen = text(&app);
    assert!(
        screen.contains("[book] is not shown now. & shows groups."),
        "{screen}"
    );
}

#[test]
fn a_member_in_focus_is_hidden_by_its_group_and_said_to_be() {
    let mut app = grouped(120, 30);
    keys(&mut app, "2/apply");
    key(&mut app, Code::Enter);
    keys(&mut app, "f&");
    let screen = text(&app);
    assert!(
        screen.contains("book::apply is not shown now. & shows the functions in groups."),
        "{screen}"
    );
    let mut app = grouped(120, 30);
    keys(&mut app, "&");
    assert!(last_line(&app).contains("[groups] in place of their members; & shows the members"));
    keys(&mut app, "&");
    assert!(last_line(&app).contains("members of groups by themselves"));
}
