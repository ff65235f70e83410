//! Muting scopes that cost more than they tell.

use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::AutoMute;
use tickscope_testkit::fixture;

use crate::app::state::App;
use crate::app::tests::sites::{asked, to};
use crate::app::tests::{answer, last_line};
use crate::source::events::Request;
use crate::source::status::Status;
use crate::test_driver::{at, empty, events, keys, text};

fn costly() -> App {
    let mut app = empty(120, 30);
    events(&mut app, Status::Live, Some(fixture::costly_scopes()));
    app
}

#[test]
fn what_costs_more_than_it_tells_is_offered_once_and_muted_by_one_key() {
    let mut app = costly();
    assert!(
        last_line(&app).contains("2 scopes cost more than they tell: X mutes them"),
        "{}",
        last_line(&app)
    );
    at(&mut app, 60_000);
    keys(&mut app, "j");
    events(&mut app, Status::Live, Some(fixture::costly_scopes()));
    assert!(
        !last_line(&app).contains("cost more"),
        "told once: {}",
        last_line(&app)
    );
    assert!(text(&app).contains("X mutes 2"), "{}", text(&app));
    let all = Request::Mute(Pattern::all());
    assert_eq!(asked(&keys(&mut app, "X")), [all]);
    answer(&mut app, all, Ok(1));
    assert!(text(&app).contains("muting"), "{}", text(&app));
    let mut muted = fixture::muted_scopes();
    muted.capture.seq += 1;
    events(&mut app, Status::Live, Some(muted));
    assert!(
        last_line(&app)
            .contains("2 scopes are muted, their time is their callers'; Space in Sites opens one again"),
        "{}",
        last_line(&app)
    );
    assert!(!text(&app).contains("X mutes"), "{}", text(&app));
    assert!(asked(&keys(&mut app, "X")).is_empty());
    assert!(last_line(&app).contains("no scope costs more than it tells"));
}

#[test]
fn in_sites_the_selected_one_is_muted_alone_and_space_opens_it() {
    let mut app = costly();
    keys(&mut app, "6");
    to(&mut app, "parse::peek");
    assert!(text(&app).contains("on: 36.4% of 55ns"), "{}", text(&app));
    let own = Pattern::new("app::parse::peek").unwrap();
    assert_eq!(asked(&keys(&mut app, "X")), [Request::Mute(own)]);
    answer(&mut app, Request::Mute(own), Ok(1));
    events(&mut app, Status::Live, Some(fixture::muted_scopes()));
    assert!(
        last_line(&app).contains(
            "peek muted: 36.4% of its 55ns a call is measuring, 4.2% of all; Space in Sites opens it"
        ),
        "{}",
        last_line(&app)
    );
    assert_eq!(asked(&keys(&mut app, " ")), [Request::SitesOn(own)]);
}

#[test]
fn a_program_that_offers_nothing_is_not_asked() {
    let mut app = empty(120, 30);
    let mut snapshot = fixture::costly_scopes();
    snapshot.muting.policy = AutoMute::Off;
    events(&mut app, Status::Live, Some(snapshot));
    assert!(!text(&app).contains("X mutes"), "{}", text(&app));
    assert!(asked(&keys(&mut app, "X")).is_empty());
    assert!(
        last_line(&app).contains("TICKSCOPE_AUTOMUTE=off"),
        "{}",
        last_line(&app)
    );
}
