//! A program whose records come through a pipe, for example from another host: the screen shows it but cannot send it
//! requests.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tickscope_format::codec;
use tickscope_format::recording::{Piece, Stream};
use tickscope_format::snapshot::CaptureKind;

use crate::events::{Events, Feed, PIPE, Past, Request, Target};
use crate::status::{Pipe, Status};
use crate::target::stream::{broke_off, nothing_came, open};

/// Maximum number of record bytes in the queue. The last record in it may exceed this limit; later ones wait in the
/// pipe.
const WAITING_MAX: usize = 16 << 20;

/// Maximum number of pieces that one poll takes from the queue.
const AT_A_LOOK: usize = 64;

/// Time between two polls during the stream, and after its end.
const LOOK: Duration = Duration::from_millis(25);
const LOOK_AT_THE_END: Duration = Duration::from_millis(400);

/// The pipe counts as silent after this time without a record, or after this many publishing intervals if that is longer.
const SILENT: Duration = Duration::from_secs(3);
const SILENT_INTERVALS: u64 = 5;

/// Reason why a request cannot be sent.
const ONE_WAY: &str = "a pipe takes no requests; send them on the program's host";

/// A feed from standard input.
#[derive(Debug)]
pub struct PipeFeed {
    queue: Arc<Queue>,
    target: Option<Target>,
    status: Status,
    /// Process id and start of the run that the last record belongs to.
    run: Option<(u32, u64)>,
    /// Arrival time and capture time of the last record.
    came: Instant,
    unix_ns: u64,
    interval_ns: u64,
    /// Whether records are left in the queue.
    has_more: bool,
    is_over: bool,
}

/// A piece of the stream that has arrived, or the reason why the input is not a recording.
type Arrived = Result<Piece, String>;

/// Pieces that the thread has read from the stream, for the screen.
#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    taken: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    items: VecDeque<Arrived>,
    bytes: usize,
}

impl Queue {
    /// Waits until the queue is below its limit, then adds `item` to it.
    fn push(&self, item: Arrived) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |waiting: &mut Waiting| waiting.bytes > WAITING_MAX;
        let waiting = self.taken.wait_while(waiting, is_full);
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        if let Ok(Piece::Record(record)) = &item {
            waiting.bytes += record.payload.len();
        }
        waiting.items.push_back(item);
    }

    /// Takes pieces from the queue, but stops before the start of another recording, so that all of them belong to one
    /// run. Also returns whether more pieces are waiting.
    fn take(&self) -> (Vec<Arrived>, bool) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut items = Vec::new();
        while items.len() < AT_A_LOOK {
            if matches!(waiting.items.front(), Some(Ok(Piece::Begin))) && !items.is_empty() {
                break;
            }
            let Some(next) = waiting.items.pop_front() else {
                break;
            };
            if let Ok(Piece::Record(record)) = &next {
                waiting.bytes -= record.payload.len();
            }
            items.push(next);
        }
        self.taken.notify_one();
        (items, !waiting.items.is_empty())
    }
}

impl PipeFeed {
    /// Waits until a recording begins on standard input, and reads it from then on.
    ///
    /// # Errors
    /// Standard input is a terminal, ends before a recording begins, or is not a recording.
    pub fn begin() -> anyhow::Result<Self> {
        // Waits for the first piece before the screen begins, because `ssh` may ask for a password on the terminal.
        let mut stream = open()?;
        match stream.next_piece() {
            Ok(Piece::Begin) => {}
            Ok(Piece::Record(_) | Piece::End { .. }) => return Err(nothing_came()),
            Err(error) => return Err(anyhow::anyhow!("standard input: {error}")),
        }
        let queue = Arc::<Queue>::default();
        let to = Arc::clone(&queue);
        thread::Builder::new().name("stream".into()).spawn(move || {
            read(stream, &to);
        })?;
        Ok(Self::of(queue))
    }

    fn of(queue: Arc<Queue>) -> Self {
        Self {
            queue,
            target: None,
            status: Status::Piped(Pipe::Flowing),
            run: None,
            came: Instant::now(),
            unix_ns: 0,
            interval_ns: 0,
            has_more: false,
            is_over: false,
        }
    }

    fn is_silent(&self) -> bool {
        let usual = Duration::from_nanos(self.interval_ns.saturating_mul(SILENT_INTERVALS));
        self.came.elapsed() > SILENT.max(usual)
    }

    fn end(&mut self, torn: u64, events: &mut Events) {
        self.is_over = true;
        if torn > 0 {
            events.notice = Some(broke_off(torn));
        }
        if !matches!(self.status, Status::Exited { .. }) {
            self.status = Status::Piped(Pipe::Closed);
        }
    }

    /// Decodes `record`, the newest that has arrived.
    fn newest(&mut self, record: &Past, events: &mut Events) {
        let snapshot = match codec::decode(&record.payload) {
            Ok(snapshot) => snapshot,
            Err(error) => {
                self.is_over = true;
                self.status = Status::Broken {
                    why: format!("standard input: {error}"),
                };
                return;
            }
        };
        let process = &snapshot.process;
        let run = (process.pid, process.started_unix_ns);
        if let Some(before) = self.run.filter(|before| *before != run) {
            events.new_run = Some((before.0, run.0));
        }
        self.run = Some(run);
        self.target = Some(Target {
            name: process.name.clone(),
            pid: process.pid,
            path: Path::new(PIPE).to_path_buf(),
        });
        (self.came, self.unix_ns) = (Instant::now(), record.unix_ns);
        self.interval_ns = snapshot.capture.interval_ns;
        let unix_ns = record.unix_ns;
        self.status = if record.kind == CaptureKind::Final {
            Status::Exited { unix_ns }
        } else {
            Status::Piped(Pipe::Flowing)
        };
        events.snapshot = Some(Rc::new(snapshot));
    }
}

/// Reads the stream to its end, or to input that is not a recording.
fn read(mut stream: Stream<impl io::Read>, queue: &Queue) {
    loop {
        let piece = stream.next_piece();
        let is_over = matches!(piece, Ok(Piece::End { .. }) | Err(_));
        queue.push(piece.map_err(|error| format!("standard input: {error}")));
        if is_over {
            return;
        }
    }
}

impl Feed for PipeFeed {
    fn poll(&mut self) -> Events {
        let mut events = Events::quiet(self.status.clone());
        if !self.is_over {
            let (arrived, has_more) = self.queue.take();
            self.has_more = has_more;
            let mut begins = false;
            let mut last = None;
            for item in arrived {
                match item {
                    Ok(Piece::Begin) => begins = self.run.is_some(),
                    Ok(Piece::Record(record)) => {
                        events.addresses.extend(record.addresses);
                        events.past.push(Past::of(record.stamp, record.payload));
                    }
                    Ok(Piece::End { torn }) => last = Some(Ok(torn)),
                    Err(why) => last = Some(Err(why)),
                }
            }
            if let Some(newest) = events.past.last().cloned() {
                self.newest(&newest, &mut events);
            }
            if begins && events.new_run.is_none() {
                events.notice = Some("the stream begins again, with the same run or a new run".into());
            }
            match last {
                Some(Ok(torn)) => self.end(torn, &mut events),
                Some(Err(why)) => {
                    self.is_over = true;
                    self.status = Status::Broken { why };
                }
                None if self.status == Status::Piped(Pipe::Flowing) && self.is_silent() => {
                    let since_unix_ns = self.unix_ns;
                    self.status = Status::Piped(Pipe::Silent { since_unix_ns });
                }
                None => {}
            }
        }
        events.status = self.status.clone();
        events.target = self.target.clone();
        events
    }

    fn send(&mut self, _request: Request) -> Result<(), String> {
        Err(ONE_WAY.into())
    }

    fn open(&mut self, path: &Path) -> Result<(), String> {
        let path = path.display();
        Err(format!(
            "this screen shows the stream of a pipe; in another terminal: tickscope {path}"
        ))
    }

    fn next_look(&self) -> Duration {
        match (self.has_more, self.is_over) {
            (true, _) => Duration::from_millis(1),
            (false, false) => LOOK,
            (false, true) => LOOK_AT_THE_END,
        }
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::Snapshot;
    use tickscope_format::addresses::Addresses;
    use tickscope_format::recording::StreamedRecord;
    use tickscope_format::ring::Stamp;
    use tickscope_testkit::orderbook;
    use tickscope_testkit::test_program::payload;

    use super::*;

    fn record(tenths: u64, change: impl Fn(&mut Snapshot)) -> Arrived {
        let mut snapshot = orderbook::snapshot(tenths);
        change(&mut snapshot);
        Ok(Piece::Record(StreamedRecord {
            stamp: Stamp::from(&snapshot.capture),
            payload: payload(&snapshot),
            addresses: Addresses::default(),
        }))
    }

    fn feed(arrived: Vec<Arrived>) -> PipeFeed {
        let queue = Arc::<Queue>::default();
        arrived.into_iter().for_each(|item| queue.push(item));
        PipeFeed::of(queue)
    }

    #[test]
    fn all_records_are_for_the_past_and_the_newest_is_shown() {
        let mut feed = feed(vec![
            record(100, |_| ()),
            record(101, |_| ()),
            record(102, |_| ()),
        ]);
        let events = feed.poll();
        assert_eq!(events.past.len(), 3);
        assert_eq!(*events.snapshot.unwrap(), orderbook::snapshot(102));
        assert_eq!(events.status, Status::Piped(Pipe::Flowing));
        assert!(events.target.unwrap().is_elsewhere());
        let nothing = feed.poll();
        assert!(nothing.snapshot.is_none() && nothing.past.is_empty());
        assert_eq!(feed.send(Request::Reset), Err(ONE_WAY.into()));
        feed.came = Instant::now().checked_sub(Duration::from_secs(100)).unwrap();
        let since_unix_ns = orderbook::snapshot(102).capture.unix_ns;
        assert_eq!(feed.poll().status, Status::Piped(Pipe::Silent { since_unix_ns }));
        feed.queue.push(record(103, |_| ()));
        assert_eq!(feed.poll().status, Status::Piped(Pipe::Flowing));
    }

    #[test]
    fn the_end_of_the_program_is_told_from_the_end_of_the_stream() {
        let mut cut = feed(vec![record(100, |_| ()), Ok(Piece::End { torn: 17 })]);
        let events = cut.poll();
        assert_eq!(events.status, Status::Piped(Pipe::Closed));
        assert!(
            events
                .notice
                .unwrap()
                .contains("broke off within a record; its 17 bytes")
        );
        let ends = |snapshot: &mut Snapshot| snapshot.capture.kind = CaptureKind::Final;
        let mut ended = feed(vec![record(100, ends), Ok(Piece::End { torn: 0 })]);
        assert!(matches!(ended.poll().status, Status::Exited { .. }));
        let mut wrong = feed(vec![record(100, |_| ()), Err("damaged".into())]);
        let events = wrong.poll();
        assert!(events.snapshot.is_some(), "what came before is shown");
        assert_eq!(
            events.status,
            Status::Broken {
                why: "damaged".into()
            }
        );
    }

    #[test]
    fn another_run_and_the_same_one_again_are_told() {
        let next = |snapshot: &mut Snapshot| snapshot.process.pid += 1;
        let arrived = vec![
            record(100, |_| ()),
            Ok(Piece::Begin),
            record(101, |_| ()),
            Ok(Piece::Begin),
            record(102, next),
        ];
        let mut feed = feed(arrived);
        let pid = orderbook::snapshot(100).process.pid;
        let first = feed.poll();
        assert_eq!((first.past.len(), first.new_run, first.notice), (1, None, None));
        let again = feed.poll();
        assert!(again.notice.unwrap().starts_with("the stream begins again"));
        assert_eq!(again.new_run, None);
        let other = feed.poll();
        assert_eq!((other.new_run, other.notice), (Some((pid, pid + 1)), None));
        assert_eq!(other.past.len(), 1, "nothing of the run before");
    }

    #[test]
    fn a_reader_waits_for_the_screen() {
        let queue = Arc::<Queue>::default();
        let to = Arc::clone(&queue);
        let writer = thread::spawn(move || {
            for _ in 0..20 {
                to.push(Ok(Piece::Record(StreamedRecord {
                    stamp: Stamp::from(&Snapshot::default().capture),
                    payload: vec![0; 4 << 20],
                    addresses: Addresses::default(),
                })));
            }
        });
        let mut taken = 0;
        while taken < 20 {
            let bytes = queue.waiting.lock().unwrap().bytes;
            assert!(bytes <= WAITING_MAX + (4 << 20), "{bytes}");
            taken += queue.take().0.len();
            thread::yield_now();
        }
        writer.join().unwrap();
    }
}
