//! Groups in place of their members, through the key.

use super::*;

/// The made-up program, four of its functions in the group `book`, some of them below each other.
fn grouped(width: u16, height: u16) -> Model {
    let mut s = snapshot(1_340);
    for site in &mut s.sites {
        if matches!(site.name.as_str(), "apply" | "insert" | "rebalance" | "cancel") {
            site.group = "book".into();
        }
    }
    let mut model = empty(width, height);
    news(&mut model, Status::Live, Some(s));
    model
}

fn names(model: &Model) -> Vec<String> {
    super::names(model).into_iter().map(str::to_string).collect()
}

fn self_ns(model: &Model) -> u64 {
    let data = model.data.as_ref().expect("there is data");
    data.hot().iter().map(|row| row.self_ns).sum()
}

#[test]
fn a_group_stands_in_place_of_its_members_and_the_sum_stays() {
    let mut model = grouped(120, 30);
    keys(&mut model, "2");
    let (plain, measured) = (names(&model), self_ns(&model));
    assert!(plain.contains(&"book::apply".to_string()), "{plain:?}");
    keys(&mut model, "&");
    let merged = names(&model);
    assert_eq!(merged.len(), plain.len() - 3, "{merged:?}");
    assert_eq!(merged[0], "[book]", "it costs most itself");
    assert!(
        !merged.iter().any(|name| name.starts_with("book::")),
        "{merged:?}"
    );
    assert_eq!(self_ns(&model), measured);
    assert_eq!(model.data.as_ref().map(|data| data.measured_ns), Some(measured));
    keys(&mut model, "g");
    let screen = text(&model);
    assert!(
        screen.contains("rebalance, apply, insert, cancel"),
        "the members, those that cost most first: {screen}"
    );
    assert!(screen.contains("groups"), "said above the columns: {screen}");
    keys(&mut model, "&");
    assert_eq!(names(&model), plain);
}

#[test]
fn a_group_has_callers_and_callees_and_sites_have_no_groups() {
    let mut model = grouped(120, 30);
    keys(&mut model, "2&g");
    key(&mut model, Code::Enter);
    let screen = text(&model);
    assert!(
        screen.contains("[book]") && screen.contains("match::step"),
        "{screen}"
    );
    assert!(
        names(&model).contains(&"alloc::slab_get".to_string()),
        "called by a member"
    );
    keys(&mut model, "6");
    let sites = names(&model);
    assert!(!sites.iter().any(|name| name.starts_with('[')), "{sites:?}");
    keys(&mut model, "1");
    assert!(text(&model).contains("[book]"), "in the tree as well");
    keys(&mut model, "2&/apply");
    key(&mut model, Code::Enter);
    let screen = text(&model);
    assert!(screen.contains("[book] "), "a function tells its group: {screen}");
}

#[test]
fn where_there_are_none_the_key_says_how_to_make_one() {
    let mut model = empty(120, 30);
    news(&mut model, Status::Live, Some(snapshot(1_340)));
    keys(&mut model, "&");
    assert!(!model.lens.grouped);
    assert!(
        text(&model).contains("nothing is in a group here"),
        "{}",
        text(&model)
    );
}

#[test]
fn numbers_stay_per_call_of_a_group_whatever_is_shown() {
    let mut model = grouped(120, 30);
    keys(&mut model, "2&gb");
    assert!(text(&model).contains("per call of [book]"), "{}", text(&model));
    let calls = |model: &Model| model.data.as_ref().and_then(|data| data.per_calls);
    let of_group = calls(&model);
    assert!(of_group.is_some_and(|calls| calls > 0));
    for keys_then in ["&", "6", "1", "&", "6", "2"] {
        keys(&mut model, keys_then);
        assert_eq!(calls(&model), of_group, "{keys_then}");
    }
}

#[test]
fn a_group_in_focus_is_what_is_written_and_is_told_apart_from_nothing() {
    let mut model = grouped(120, 30);
    keys(&mut model, "2&gf");
    let screen = text(&model);
    assert!(screen.contains("focus [book]"), "{screen}");
    let in_focus = model.data.as_ref().unwrap().calls().measured_ns();
    let effects = keys(&mut model, "d");
    let [Effect::WriteReport { snapshot, .. }] = &effects[..] else {
        panic!("{effects:?}");
    };
    let written: u64 = snapshot.self_nanos().iter().sum();
    assert!(in_focus > 0 && written == in_focus, "{written} of {in_focus}");
    keys(&mut model, "&");
    let screen = text(&model);
    assert!(
        screen.contains("[book] is not shown now. & shows groups."),
        "{screen}"
    );
    keys(&mut model, "&");
    key(&mut model, Code::Esc);
    key(&mut model, Code::Enter);
    keys(&mut model, "&");
    let screen = text(&model);
    assert!(
        screen.contains("[book] is not shown now. & shows groups."),
        "{screen}"
    );
}

#[test]
fn a_member_in_focus_is_hidden_by_its_group_and_said_to_be() {
    let mut model = grouped(120, 30);
    keys(&mut model, "2/apply");
    key(&mut model, Code::Enter);
    keys(&mut model, "f&");
    let screen = text(&model);
    assert!(
        screen.contains("book::apply is not shown now. & shows the functions in groups."),
        "{screen}"
    );
    let mut model = grouped(120, 30);
    keys(&mut model, "&");
    assert!(last_line(&model).contains("[groups] in place of their members; & shows the members"));
    keys(&mut model, "&");
    assert!(last_line(&model).contains("members of groups by themselves"));
}
