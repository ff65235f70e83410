//! Viewing a program whose records arrive through a pipe.

use tickscope_programs::events::PIPE;

use super::*;

const FLOWING: Status = Status::Piped(Pipe::Flowing);

#[test]
fn keys_that_need_the_program_say_why_they_do_nothing() {
    let mut app = empty(120, 30);
    events(&mut app, FLOWING, Some(snapshot(1_340)));
    has(&header(&app), "PIPED");
    for typed in ["r", "e", "]"] {
        let effects = keys(&mut app, typed);
        assert!(effects.is_empty(), "{typed}: {effects:?}");
        says(&app, "a pipe takes no requests; send them on the program's host");
    }
    keys(&mut app, "2j");
    for typed in ["W", "6 "] {
        assert_eq!(asked(keys(&mut app, typed)), [], "{typed}");
        has(&in_one_line(&app), "a pipe takes no requests");
    }
}

#[test]
fn the_screen_can_be_frozen_and_stays_when_the_stream_ends() {
    let mut app = empty(120, 30);
    events(&mut app, FLOWING, Some(snapshot(1_340)));
    events(&mut app, FLOWING, Some(snapshot(1_341)));
    keys(&mut app, "p");
    has(&header(&app), "FROZEN");
    keys(&mut app, "p");
    has(&header(&app), "PIPED");
    events(&mut app, Status::Piped(Pipe::Closed), None);
    shows(&app, "The stream has ended");
    keys(&mut app, "p");
    says(&app, "nothing to freeze: the stream has ended");
    keys(&mut app, ",");
    has(&header(&app), "PAST");
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
    says(&app, "the stream begins again");
    let effects = keys(&mut app, "2E");
    let mut edits = Vec::new();
    for effect in &effects {
        if let Effect::Edit(place) = effect {
            edits.push(place.pid);
        }
    }
    assert!(edits.iter().all(Option::is_none), "{edits:?}");
}
