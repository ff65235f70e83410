//! The demo workload: frames of a turning sphereflake, one after another, on several threads.
//!
//! The calling thread grows each frame's scene, hands it out to threads that stay (`render-0` and on), puts
//! their rows together and rests until the next frame is due, so that a viewer on the same machine has room.
//! Now and then a short-lived thread (`thumbnail`) makes a small copy.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::image::Image;
use crate::probe::Scoped;
use crate::scene::Scene;
use crate::spawn::spawn_named;
use crate::sphereflake::Frame;
use crate::vector::Vector;

/// Width and height of the picture: a frame takes some 80 ms of one core, with scopes.
const SIZE: usize = 384;
/// From one frame's beginning to the next one's, where the machine is fast enough.
const FRAME_TIME: Duration = Duration::from_millis(100);
/// What a frame leaves to others even where the machine is not.
const LEAST_REST: Duration = Duration::from_millis(10);
/// More threads than this only make the tree longer.
const MOST_THREADS: usize = 4;
/// How many levels the sphereflake has; each count stays for [`FRAMES_A_LEVEL`] frames, then comes the next.
const LEVELS: [u32; 4] = [4, 5, 6, 5];
const FRAMES_A_LEVEL: u64 = 30;
/// How far the root's axis turns from one frame to the next, in radians.
const TURN: f64 = 0.03;
/// Each time this many frames are done, a thumbnail is made.
const FRAMES_A_THUMBNAIL: u64 = 8;
/// How many pixels of the picture, across and down, make one of the thumbnail.
const SHRINK: usize = 4;

/// What travels to the rendering threads, and what comes back: a row's place and its pixels.
type Job = Arc<Frame<Box<Scene>>>;
type Row = (usize, Vec<f64>);

/// Publishes under the demo's name, until dropped.
pub fn session() -> tickscope::Session {
    tickscope::start("demo")
}

/// Renders frames as long as `go_on`, told how many are done, agrees. Starts no session: the caller does.
///
/// # Panics
/// If the system gives no thread.
pub fn run(go_on: &mut dyn FnMut(u64) -> bool) {
    let threads = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(MOST_THREADS);
    thread::scope(|scope| {
        let (row_sender, rows) = mpsc::channel();
        let workers: Vec<Sender<Job>> = (0..threads)
            .map(|index| {
                let (job_sender, jobs) = mpsc::channel();
                let row_sender = row_sender.clone();
                spawn_named(scope, format!("render-{index}"), move || {
                    render_jobs(&jobs, &row_sender)
                });
                job_sender
            })
            .collect();
        // With the workers' senders alone, `rows` ends when they all have.
        drop(row_sender);

        let mut done = 0;
        while go_on(done) {
            let Ok(image) = frame(done, &workers, &rows) else {
                return;
            };
            done += 1;
            if done.is_multiple_of(FRAMES_A_THUMBNAIL) {
                spawn_named(scope, "thumbnail".to_owned(), move || thumbnail(&image));
            }
        }
    });
}

/// One frame, from the growing of its scene to the rest after it.
fn frame(number: u64, workers: &[Sender<Job>], rows: &Receiver<Row>) -> Result<Image, RecvError> {
    tickscope::scope!("frame");
    let begin = Instant::now();
    let job = Arc::new(Frame::new(Box::new(scene(number)), SIZE, SIZE));
    for worker in workers {
        // A worker that is gone takes no rows; the others render them.
        _ = worker.send(Arc::clone(&job));
    }
    let image = compose(rows)?;
    rest(FRAME_TIME.saturating_sub(begin.elapsed()).max(LEAST_REST));
    Ok(image)
}

/// The scene of a frame: its root's axis goes round, its levels come and go.
fn scene(number: u64) -> Scene {
    tickscope::scope!("scene");
    let (sine, cosine) = (number as f64 * TURN).sin_cos();
    let level = LEVELS[(number / FRAMES_A_LEVEL) as usize % LEVELS.len()];
    Scene::build_along::<Scoped>(level, Vector::new(0.5 * sine, 1.0, -0.5 * cosine))
}

/// Puts the rows together as they come.
fn compose(rows: &Receiver<Row>) -> Result<Image, RecvError> {
    tickscope::scope!("compose");
    let mut image = Image::new(SIZE, SIZE);
    for _ in 0..SIZE {
        let (row, pixels) = wait_for_row(rows)?;
        image.set_row(row, &pixels);
    }
    Ok(image)
}

fn wait_for_row(rows: &Receiver<Row>) -> Result<Row, RecvError> {
    let _nobodys_time = tickscope::pause();
    rows.recv()
}

fn rest(time: Duration) {
    let _nobodys_time = tickscope::pause();
    thread::sleep(time);
}

/// The life of a rendering thread: takes frames until there are no more.
fn render_jobs(jobs: &Receiver<Job>, rows: &Sender<Row>) {
    while let Ok(job) = wait_for_job(jobs) {
        job.work::<Scoped>(|row, pixels| {
            // Nobody waits for the rows of a demo that is over.
            _ = rows.send((row, pixels));
        });
    }
}

fn wait_for_job(jobs: &Receiver<Job>) -> Result<Job, RecvError> {
    let _nobodys_time = tickscope::pause();
    jobs.recv()
}

/// Makes a small copy and packs it, as if to keep it.
fn thumbnail(image: &Image) {
    tickscope::scope!("thumbnail");
    let small = shrink(image);
    let mut packed = Vec::new();
    encode(&small, &mut packed);
    std::hint::black_box(packed);
}

fn shrink(image: &Image) -> Image {
    tickscope::scope!("shrink");
    let mut small = Image::new(image.width() / SHRINK, image.height() / SHRINK);
    for row in 0..small.height() {
        let pixels: Vec<f64> = (0..small.width())
            .map(|column| mean(image, column, row))
            .collect();
        small.set_row(row, &pixels);
    }
    small
}

/// The mean brightness of the pixels that become one.
fn mean(image: &Image, column: usize, row: usize) -> f64 {
    tickscope::scope!("mean");
    let lines = image
        .pixels()
        .chunks(image.width())
        .skip(row * SHRINK)
        .take(SHRINK);
    let sum: f64 = lines.flat_map(|line| &line[column * SHRINK..][..SHRINK]).sum();
    sum / (SHRINK * SHRINK) as f64
}

fn encode(image: &Image, packed: &mut Vec<u8>) {
    tickscope::scope!("encode");
    // A vector takes all that is written to it.
    _ = image.write_pgm(packed);
}
