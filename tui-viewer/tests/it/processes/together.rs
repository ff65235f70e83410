//! A pre-fork server as the screen shows it with `--all`: workers come, end and are killed, and are asked together.

use std::rc::Rc;

use tickscope_cli::source::events::{Events, Feed, Request};
use tickscope_cli::source::feed::TogetherFeed;
use tickscope_cli::source::status::Status;
use tickscope_format::Snapshot;

use crate::processes::support::{Place, until};

/// What the screen shows, and that nothing it shows falls.
struct Shown {
    feed: TogetherFeed,
    newest: Option<Rc<Snapshot>>,
}

impl Shown {
    fn look(&mut self) -> Events {
        let events = self.feed.poll();
        if let Some(snapshot) = &events.snapshot
            && let Some(before) = self.newest.replace(Rc::clone(snapshot))
        {
            let is_same = before.capture.reset_epoch == snapshot.capture.reset_epoch;
            assert!(!is_same || snapshot.calls() >= before.calls());
            assert!(snapshot.lifetime.calls >= before.lifetime.calls);
        }
        events
    }

    /// Waits until so many run, so many have ended, and all that run have counted something.
    fn wait_for(&mut self, running: usize, ended: usize) {
        until(&format!("{running} run and {ended} have ended"), || {
            let processes = self.look().processes?;
            let newest = self.newest.as_ref()?;
            let counting = newest
                .threads
                .iter()
                .filter(|thread| thread.tid > 0 && thread.rows > 0);
            let is_so = (processes.running, processes.ended, processes.unread) == (running, ended, 0);
            (is_so && counting.count() == running).then_some(())
        });
    }

    fn ask(&mut self, request: Request) -> (Result<u64, String>, Option<String>) {
        self.feed.send(request).unwrap();
        let outcome = until("all have answered", || self.look().outcomes.pop());
        (outcome.result, outcome.words)
    }

    fn calls(&self) -> u64 {
        self.newest.as_ref().unwrap().calls()
    }
}

fn workers_of_a_server_are_one_program() {
    let place = Place::new();
    let (mut first, _) = place.start("asked", "");
    let mut shown = Shown {
        feed: TogetherFeed::new("asked", Some(place.dir().to_path_buf())),
        newest: None,
    };
    shown.wait_for(1, 0);
    let workers = [(); 3].map(|()| place.start("asked", "").0);
    shown.wait_for(4, 0);
    let newest = shown.newest.clone().unwrap();
    for worker in &workers {
        let of = format!(" ({})", worker.pid());
        assert!(
            newest.threads.iter().any(|thread| thread.name.ends_with(&of)),
            "{of}"
        );
    }
    // One is killed, and what it had counted stays.
    first.kill();
    shown.wait_for(3, 1);
    // A reset reaches those that run, also what the other had counted begins anew, and an undo brings all of it back.
    let before = shown.calls();
    assert_eq!(
        shown.ask(Request::Reset),
        (Ok(1), Some("sent to 3 programs".into()))
    );
    until("it counts from zero", || {
        shown.look();
        (shown.newest.as_ref()?.capture.reset_epoch == 1).then_some(())
    });
    assert!(
        shown
            .newest
            .as_ref()
            .unwrap()
            .threads
            .iter()
            .all(|thread| !thread.name.ends_with("(ended)"))
    );
    assert_eq!(shown.ask(Request::Undo).0, Ok(2));
    until("all is back", || {
        shown.look();
        (shown.newest.as_ref()?.capture.reset_epoch == 2).then_some(())
    });
    assert!(shown.calls() >= before, "{} of {before}", shown.calls());
    drop(workers);
    until("all have ended", || {
        let events = shown.look();
        let is_over = matches!(events.status, Status::Exited { .. });
        (is_over && events.processes?.ended == 4).then_some(())
    });
    assert!(shown.calls() >= before);
}

tickscope_testkit::tests![workers_of_a_server_are_one_program];
