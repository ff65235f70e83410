//! A program whose records come through a pipe.

use std::rc::Rc;

use crate::app::message::{Effect, Message};
use crate::app::tests::{header, in_one_line, last_line};
use crate::orderbook::snapshot;
use crate::source::events::{Events, PIPE, Target};
use crate::source::status::{Pipe, Status};
use crate::test_driver::{empty, events, keys, text};

const FLOWING: Status = Status::Piped(Pipe::Flowing);

#[test]
fn keys_that_need_the_program_say_why_they_do_nothing() {
    let mut app = empty(120, 30);
    events(&mut app, FLOWING, Some(snapshot(1_340)));
    assert!(header(&app).contains("PIPED"), "{}", header(&app));
    for typed in ["r", "e", "]"] {
        let effects = keys(&mut app, typed);
        assert!(effects.is_empty(), "{typed}: {effects:?}");
        assert!(
            last_line(&app).contains("a pipe leads one way; ask the program on its own host"),
            "{typed}: {}",
            last_line(&app)
        );
    }
    keys(&mut app, "2j");
    for typed in ["W", "6 "] {
        let effects = keys(&mut app, typed);
        assert!(
            !effects.iter().any(|effect| matches!(effect, Effect::Send(_))),
            "{effects:?}"
        );
        assert!(
            in_one_line(&app).contains("a pipe leads one way"),
            "{typed}: {}",
            text(&app)
        );
    }
}

#[test]
fn the_screen_can_be_frozen_and_stays_when_the_stream_ends() {
    let mut app = empty(120, 30);
    events(&mut app, FLOWING, Some(snapshot(1_340)));
    events(&mut app, FLOWING, Some(snapshot(1_341)));
    keys(&mut app, "p");
    assert!(header(&app).contains("FROZEN"), "{}", header(&app));
    keys(&mut app, "p");
    assert!(header(&app).contains("PIPED"), "{}", header(&app));
    events(&mut app, Status::Piped(Pipe::Closed), None);
    assert!(text(&app).contains("The stream has ended"), "{}", text(&app));
    keys(&mut app, "p");
    assert!(
        last_line(&app).contains("nothing to freeze: the stream has ended"),
        "{}",
        last_line(&app)
    );
    keys(&mut app, ",");
    assert!(header(&app).contains("PAST"), "{}", header(&app));
}

#[test]
fn a_process_of_another_host_is_not_looked_for_here() {
    let mut app = empty(120, 30);
    let remote = snapshot(1_340);
    app.update(Message::Events(Box::new(Events {
        target: Some(Target {
            name: "remote".into(),
            pid: std::process::id(),
            path: PIPE.into(),
        }),
        notice: Some("the stream begins again".into()),
        snapshot: Some(Rc::new(remote)),
        ..Events::quiet(FLOWING)
    })));
    assert!(app.program.is_elsewhere());
    assert!(
        last_line(&app).contains("the stream begins again"),
        "{}",
        last_line(&app)
    );
    let effects = keys(&mut app, "2E");
    let mut edits = Vec::new();
    for effect in &effects {
        if let Effect::Edit(place) = effect {
            edits.push(place.pid);
        }
    }
    assert!(edits.iter().all(Option::is_none), "{edits:?}");
}
