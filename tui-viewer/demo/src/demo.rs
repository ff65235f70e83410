//! The demo workload: threads render frame after frame of a turning sphereflake, while a small shop serves clients.
//!
//! The calling thread builds the scene of each frame, hands it to long-lived threads (`render-0` and so on), and assembles the
//! rows that they render. Then it rests until the next frame is due, which leaves CPU time to a viewer on the same machine. From
//! time to time, a short-lived thread (`thumbnail`) makes a small copy of a frame. Each frame also sends clients to the [`shop`].
//!
//! [`shop`]: crate::shop

use std::hint::black_box;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::image::Image;
use crate::scene::Scene;
use crate::shop::Shop;
use crate::spawn::{Threads, join_all, spawn_named};
use crate::sphereflake::Frame;
use crate::tracer;
use crate::vector::Vector;

/// Width and height of the picture in pixels. Rendering a frame takes about 80 ms on one core.
const SIZE: usize = 384;
/// The time from the beginning of one frame to the beginning of the next, if the machine is fast enough.
const FRAME_TIME: Duration = Duration::from_millis(100);
/// The shortest rest after a frame, even on a slow machine.
const LEAST_REST: Duration = Duration::from_millis(10);
/// The largest number of rendering threads. More would only make the tree longer.
const MOST_THREADS: usize = 4;
/// Depths of the sphereflake, in levels. The scene switches to the next one after every [`FRAMES_A_LEVEL`] frames.
const LEVELS: [u32; 4] = [4, 5, 6, 5];
const FRAMES_A_LEVEL: u64 = 30;
/// Angle by which the root's axis turns from one frame to the next, in radians.
const TURN: f64 = 0.03;
/// A thumbnail is made each time this many frames have been finished.
const FRAMES_A_THUMBNAIL: u64 = 8;
/// Width and height, in pixels, of the part of the picture that becomes one pixel of the thumbnail.
const SHRINK: usize = 4;

/// The job that a rendering thread gets, and the bands that it sends back: the index of the band's first row, and the
/// pixels of all rows in the band.
type Job = Arc<Frame<Box<Scene>>>;
type Band = (usize, Vec<f64>);

/// Publishes under the name `demo` until the returned session is dropped.
pub fn session() -> tickscope::Session {
    tickscope::start("demo")
}

/// Renders frames and runs the shop as long as `go_on` returns true; it is called with the number of finished frames.
/// When this returns, all clients of the shop have been served, and all threads have ended. This function does not
/// start a session: to publish, call [`session`] first.
///
/// # Panics
/// If the system cannot start a thread.
pub fn run(go_on: &mut dyn FnMut(u64) -> bool) {
    let threads = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(MOST_THREADS);
    thread::scope(|scope| {
        let mut running = Threads::new();
        let (row_sender, rows) = mpsc::channel();
        let workers: Vec<Sender<Job>> = (0..threads)
            .map(|index| {
                let (job_sender, jobs) = mpsc::channel();
                let row_sender = row_sender.clone();
                running.push(spawn_named(scope, format!("render-{index}"), move || {
                    render_jobs(&jobs, &row_sender)
                }));
                job_sender
            })
            .collect();
        // Only the workers now hold senders, so `rows` ends when all workers have ended.
        drop(row_sender);
        let shop = Shop::start(scope, &mut running);

        let mut done = 0;
        let mut thumbnails = Threads::new();
        while go_on(done) {
            shop.clients(done);
            let Ok(image) = frame(done, &workers, &rows) else {
                break;
            };
            done += 1;
            if done.is_multiple_of(FRAMES_A_THUMBNAIL) {
                join_all(std::mem::take(&mut thumbnails));
                thumbnails.push(spawn_named(scope, "thumbnail".to_owned(), move || {
                    thumbnail(&image);
                }));
            }
        }
        drop((shop, workers));
        join_all(running);
        join_all(thumbnails);
    });
}

/// Renders one frame: builds its scene, assembles the picture from the rendered rows, adds the glow, and rests.
fn frame(number: u64, workers: &[Sender<Job>], rows: &Receiver<Band>) -> Result<Image, RecvError> {
    tickscope::scope!("frame");
    let begin = Instant::now();
    let job = Arc::new(Frame::new(Box::new(scene(number)), SIZE, SIZE));
    for worker in workers {
        // Fails if the worker has ended. The other workers then render its rows.
        _ = worker.send(Arc::clone(&job));
    }
    let mut image = compose(rows)?;
    image.glow();
    rest(FRAME_TIME.saturating_sub(begin.elapsed()).max(LEAST_REST));
    Ok(image)
}

/// Returns the scene of a frame. From frame to frame, the root's axis turns, and the number of levels changes.
fn scene(number: u64) -> Scene {
    let (sine, cosine) = (number as f64 * TURN).sin_cos();
    let level = LEVELS[(number / FRAMES_A_LEVEL) as usize % LEVELS.len()];
    Scene::grow(level, Vector::new(0.5 * sine, 1.0, -0.5 * cosine))
}

/// Assembles the picture from the rows, in the order in which they arrive.
fn compose(rows: &Receiver<Band>) -> Result<Image, RecvError> {
    tickscope::scope!("compose");
    let mut image = Image::new(SIZE, SIZE);
    let mut missing = SIZE;
    while missing > 0 {
        let (first, pixels) = rows.recv()?;
        for (row, pixels) in (first..).zip(pixels.chunks(SIZE)) {
            image.set_row(row, pixels);
            missing -= 1;
        }
    }
    Ok(image)
}

fn rest(time: Duration) {
    let _pause = tickscope::pause();
    thread::sleep(time);
}

/// Runs a rendering thread: takes frames until there are no more.
fn render_jobs(jobs: &Receiver<Job>, rows: &Sender<Band>) {
    while let Ok(job) = wait_for_job(jobs) {
        tracer::render(&job, |row, pixels| {
            // If the demo has ended, the rows have no receiver.
            _ = rows.send((row, pixels));
        });
    }
}

fn wait_for_job(jobs: &Receiver<Job>) -> Result<Job, RecvError> {
    let _pause = tickscope::pause();
    jobs.recv()
}

/// Makes a small copy, as if to store it.
fn thumbnail(image: &Image) {
    tickscope::scope!("thumbnail");
    black_box(image.shrink(SHRINK));
}
