//! Times the reference workload: with scopes, without scopes, or alternately with and without them.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command's output")]

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::builder::RangedU64ValueParser;
use clap::{Parser, value_parser};
use tickscope_demo::{Image, Plain, Probe, Scene, Scoped, render};

/// Renders the sphereflake, which is the reference workload, and prints the time of each frame in seconds.
#[derive(Parser)]
struct Options {
    /// Threads that render.
    #[arg(long, default_value = "1", value_parser = up_to(1024))]
    threads: usize,
    /// Levels of spheres; 6 levels make 66430 spheres.
    #[arg(long, default_value = "6", value_parser = value_parser!(u32).range(1..=8))]
    level: u32,
    /// Width and height of the picture, in pixels.
    #[arg(long, default_value = "1024", value_parser = up_to(16_384))]
    size: usize,
    /// Frames to render.
    #[arg(long, default_value = "1", value_parser = up_to(u64::MAX))]
    frames: usize,
    /// Renders without scopes and without a session.
    #[arg(long, conflicts_with = "compare")]
    plain: bool,
    /// Renders this many pairs of frames instead, alternating between plain and scoped frames (ABBA), and prints the
    /// ratios of their times.
    #[arg(long, value_parser = up_to(100_000))]
    compare: Option<usize>,
    /// Also writes the last picture to this file, in PGM format.
    #[arg(long)]
    pgm: Option<PathBuf>,
}

/// Returns a parser for whole numbers from 1 to `most`.
fn up_to(most: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=most)
}

impl Options {
    /// Builds the scene and renders it once. Returns how long this took, in seconds, and the picture.
    fn frame<P: Probe>(&self) -> (f64, Image) {
        let begin = Instant::now();
        let scene = Scene::build::<P>(self.level);
        let image = render::<P>(&scene, self.size, self.size, self.threads);
        (begin.elapsed().as_secs_f64(), image)
    }

    /// Renders the requested frames, and returns the last one.
    fn frames(&self) -> Image {
        let mut number = 1;
        loop {
            let (seconds, image) = if self.plain {
                self.frame::<Plain>()
            } else {
                self.frame::<Scoped>()
            };
            println!(
                "frame {number}: {seconds:.4} s, picture {:016x}",
                image.checksum()
            );
            if number == self.frames {
                return image;
            }
            number += 1;
        }
    }

    /// Renders pairs of a plain and a scoped frame. Every other pair has the reverse order, so that neither kind has
    /// an advantage if the machine becomes slower or faster during the run.
    fn compare(&self, pairs: usize) -> Result<Image, String> {
        // Do not measure the first frame: it faults in memory pages and warms up caches for all later frames.
        let (_, mut last) = self.frame::<Plain>();
        let mut ratios = Vec::with_capacity(pairs);
        for pair in 0..pairs {
            let ((plain, first), (scoped, second)) = if pair % 2 == 0 {
                let plain = self.frame::<Plain>();
                (plain, self.frame::<Scoped>())
            } else {
                let scoped = self.frame::<Scoped>();
                (self.frame::<Plain>(), scoped)
            };
            if first != second {
                return Err(format!("pair {}: the two pictures differ", pair + 1));
            }
            last = second;
            ratios.push(scoped / plain);
            println!(
                "pair {}: plain {plain:.4} s, scoped {scoped:.4} s, ratio {:.4}",
                pair + 1,
                scoped / plain
            );
        }
        ratios.sort_by(f64::total_cmp);
        let [low, median, high] = [0.25, 0.5, 0.75].map(|share| quantile(&ratios, share));
        println!("median ratio {median:.4}, quartiles {low:.4} to {high:.4}, {pairs} pairs");
        Ok(last)
    }
}

/// Returns the quantile of the sorted values at `share` (0 to 1), interpolated between neighbours.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (sorted.len() - 1) as f64 * share;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    below + (above - below) * place.fract()
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sphereflake: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let options = Options::parse();
    let _tickscope = (!options.plain).then(|| tickscope::start("sphereflake"));
    let image = match options.compare {
        Some(pairs) => options.compare(pairs)?,
        None => options.frames(),
    };
    let Some(path) = &options.pgm else { return Ok(()) };
    let written = File::create(path).and_then(|file| image.write_pgm(BufWriter::new(file)));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))
}
