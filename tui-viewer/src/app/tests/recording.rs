//! A recording: the texts about it on the screen, and movement through it.

use super::*;

/// Returns an app that has just opened a recording of 14 s and has received only the newest record. [`read`] sends it
/// the others.
fn opened(width: u16, height: u16) -> App {
    let mut app = empty(width, height);
    let newest: Snapshot = snapshot(1_340);
    app.update(Message::Events(Box::new(Events {
        begin_ns: Some(snapshot(1_200).capture.unix_ns),
        snapshot: Some(Rc::new(newest)),
        ..Events::quiet(Status::Kept)
    })));
    app
}

fn read(app: &mut App) {
    app.update(Message::Events(Box::new(Events {
        past: (1_200..1_340).map(|tenths| past(&snapshot(tenths))).collect(),
        ..Events::quiet(Status::Kept)
    })));
}

#[test]
fn it_says_at_once_that_it_is_one_how_long_and_how_to_move_in_it() {
    for (width, height) in [(120, 30), (80, 24), (60, 15)] {
        let mut app = opened(width, height);
        let told = |app: &App| {
            let (screen, first) = (text(app), header(app));
            assert!(first.contains("RECORDED"), "{first}");
            assert!(screen.contains("A recording of 14.0 s: , . "), "{screen}");
            let keys = [
                ", . go back and forth, ( ) by 5 s, { } to its ends. d: report.",
                ", . ( ) { } go back and forth.",
            ];
            assert!(keys.iter().any(|keys| screen.contains(keys)), "{screen}");
        };
        told(&app);
        read(&mut app);
        told(&app);
        keys(&mut app, ",");
        has(&header(&app), "PAST");
        let screen = text(&app);
        let words = if width == 120 {
            "a recording of 14.0 s"
        } else {
            "14.0 s"
        };
        let place = format!("At 13.9 s of {words}: , . ");
        assert!(screen.contains(&place) && screen.contains("{ }"), "{screen}");
    }
    let mut kept = live(120, 30);
    events(&mut kept, Status::Kept, None);
    assert!(header(&kept).contains("KEPT"), "one snapshot is no recording");
}

#[test]
fn nobody_is_behind_it() {
    let mut app = opened(120, 30).after("r");
    says(&app, "nothing to reset: a recording has no program behind it");
    keys(&mut app, "p");
    assert!(last_line(&app).contains("a recording does not move by itself"));
}
