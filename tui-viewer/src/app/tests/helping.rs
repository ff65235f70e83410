//! The help screen, and the hints that are shown until the first key press.

use super::*;

#[test]
fn the_help_is_looked_up() {
    for (width, height) in [(120, 30), (60, 15)] {
        let mut app = live(width, height).after("?/REPORT");
        assert_eq!(app.context(), Context::Typing);
        shows(&app, "write a report");
        shows(&app, "match 1/3");
        key(&mut app, Code::Down);
        shows(&app, "match 2/3");
        key(&mut app, Code::Enter);
        assert_eq!(app.context(), Context::Help);
        keys(&mut app, "nn");
        shows(&app, "write a report of");
        key(&mut app, Code::Esc);
        assert_eq!(app.context(), Context::Help);
        assert!(app.help().is_none_or(|help| help.search.is_none()));
        keys(&mut app, "/zzz");
        shows(&app, "no match");
        key(&mut app, Code::Enter);
        key(&mut app, Code::Esc);
        assert_eq!(app.context(), Context::In(View::Tree));
        // Searching in the help must not start a search in the list.
        assert!(app.views.search.is_none());
    }
}

#[test]
fn the_first_look_is_helped_until_the_first_key() {
    let told = |app: &App| text(app).contains("Enter: ") && text(app).contains(": all keys");
    let mut app = live(120, 30);
    let (row, rows) = (line(&app), app.layout().rows.height);
    assert!(told(&app), "{}", text(&app));
    gets(&mut app, snapshot(1_350));
    assert!(told(&app), "time alone changes nothing");
    key(&mut app, Code::Down);
    assert!(!told(&app), "{}", text(&app));
    assert_eq!(line(&app), row + 1);
    assert_eq!(app.layout().rows.height, rows + 1);
    let short = live(80, 24);
    shows(&short, "SELF: without  Enter: callers  ?: keys");
    assert!(!text(&live(60, 15)).contains("Enter: "), "no line to spare");
    let mut kept = live(120, 30);
    events(&mut kept, Status::Kept, None);
    // The line that explains the state takes the place of the hints.
    assert!(!told(&kept) && text(&kept).contains("A kept snapshot"));
}
