//! `:trigger`: sets one, keeps the past when its condition becomes true, and tells what was kept.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use crate::app::message::{Effect, Message};
use crate::app::state::App;
use crate::app::tests::moments::past;
use crate::app::tests::{header, last_line, snapshot};
use crate::keys::decoder::Code;
use crate::source::events::Events;
use crate::source::status::Status;
use crate::test_driver::{at, empty, key, keys, live, text};

fn command(app: &mut App, text: &str) {
    keys(app, text);
    key(app, Code::Enter);
}

/// What a program of this age would say, and what is to be done then.
fn record(app: &mut App, tenths: u64) -> Vec<Effect> {
    at(app, tenths * 100);
    app.update(Message::Events(Box::new(Events {
        past: vec![past(&snapshot(tenths))],
        snapshot: Some(Rc::new(snapshot(tenths))),
        ..Events::quiet(Status::Live)
    })))
}

/// The ages at which the past is to be kept, and what was true then.
fn kept(app: &mut App, tenths: std::ops::Range<u64>) -> Vec<(u64, String)> {
    let mut kept = Vec::new();
    for tenths in tenths {
        for effect in record(app, tenths) {
            if let Effect::KeepPast { ring, length, words } = effect {
                assert_eq!((ring, length), (PathBuf::from("a.ring"), Duration::from_secs(10)));
                kept.push((tenths, words));
            }
        }
    }
    kept
}

#[test]
fn one_is_set_tells_what_it_kept_and_is_removed() {
    let mut app = live(160, 30);
    command(&mut app, ":trigger");
    assert!(
        last_line(&app).contains("no trigger is set; :trigger p99(handle) > 50ms"),
        "{}",
        last_line(&app)
    );
    command(
        &mut app,
        ":trigger calls(check) > 1/s --over 1s --keep 10s --at-most 2/min",
    );
    let told = "when calls(check) > 1/s in the last 1.0 s, the last 10.0 s are kept, at most 2/min";
    assert!(last_line(&app).contains(told), "{}", last_line(&app));
    assert!(
        header(&app).contains("trigger calls(check) > 1/s"),
        "{}",
        header(&app)
    );
    let kept = kept(&mut app, 1_341..1_370);
    assert_eq!(kept.len(), 1, "{kept:?}");
    let (at, words) = &kept[0];
    assert_eq!(*at, 1_351, "after one window");
    assert!(
        words.starts_with("calls(orderbook_sim::risk::check) = 6"),
        "{words}"
    );
    app.update(Message::KeptPast {
        words: words.clone(),
        kept: Ok(("/tmp/x.tks".into(), "10.0 s".into())),
    });
    let screen = text(&app);
    assert!(screen.contains("kept 10.0 s in /tmp/x.tks"), "{screen}");
    assert!(
        header(&app).contains("calls(check) > 1/s, 1 kept"),
        "{}",
        header(&app)
    );
    command(&mut app, ":triggers");
    let screen = text(&app);
    for part in ["kept 1, the last in /tmp/x.tks", ":trigger off ends it"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    command(&mut app, ":trigger off");
    assert!(
        last_line(&app).contains("the trigger calls(check) > 1/s is removed"),
        "{}",
        last_line(&app)
    );
    assert!(!header(&app).contains("trigger"), "{}", header(&app));
}

#[test]
fn narrow_headers_say_that_there_is_one() {
    let mut app = live(80, 24);
    command(&mut app, ":trigger p99(check) > 50ms and p50(check) > 20ms");
    assert!(header(&app).contains(" trigger "), "{}", header(&app));
}

#[test]
fn what_cannot_be_watched_is_said() {
    let mut app = live(160, 30);
    command(&mut app, ":trigger p99(check) > 50");
    let screen = text(&app);
    assert!(
        screen.contains("column 16: found the end, wanted a unit of p99: ns, us, ms or s"),
        "{screen}"
    );
    key(&mut app, Code::Esc);
    command(&mut app, ":trigger p99(chekc) > 50ms");
    assert!(
        last_line(&app)
            .contains("no function that matches chekc was met yet (did you mean check?); it is waited for"),
        "{}",
        last_line(&app)
    );
    let mut ended = live(160, 30);
    ended.update(Message::Events(Box::new(Events::quiet(Status::Exited {
        unix_ns: 1,
    }))));
    command(&mut ended, ":trigger p99(check) > 50ms");
    assert!(
        last_line(&ended).contains("trigger: no program answers"),
        "{}",
        last_line(&ended)
    );
    assert!(empty(80, 24).trigger.label().is_none());
}

#[test]
fn another_run_is_watched_from_its_beginning() {
    let mut app = live(160, 30);
    command(&mut app, ":trigger calls(check) > 1/s --over 1s --keep 10s");
    assert_eq!(kept(&mut app, 1_341..1_360).len(), 1);
    app.update(Message::Events(Box::new(Events {
        new_run: Some((41_873, 41_999)),
        ..Events::quiet(Status::Live)
    })));
    let again = kept(&mut app, 1..30);
    assert_eq!(
        again.iter().map(|(at, _)| *at).collect::<Vec<_>>(),
        [11],
        "{again:?}"
    );
    assert!(
        header(&app).contains("trigger calls(check) > 1/s"),
        "{}",
        header(&app)
    );
}
