//! Times the reference workload: with scopes, without scopes, or both in turns.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command's output")]

use std::fs::File;
use std::io::BufWriter;
use std::process::ExitCode;
use std::time::Instant;

use tickscope_demo::{Image, Plain, Probe, Scene, Scoped, render};

const HELP: &str = "\
Renders the sphereflake, the reference workload, and prints the seconds of each frame.

Usage: sphereflake [OPTIONS]

  --threads N    threads that render [1]
  --level L      levels of spheres, 1 to 8 [6, which is 66430 spheres]
  --size PIXELS  width and height of the picture [1024]
  --frames N     frames to render [1]
  --plain        without scopes and without a session
  --compare N    N pairs of frames instead, plain and scoped in turns (ABBA), and their ratio
  --pgm FILE     also write the last picture
  --help         this text
";

/// The options of the command line.
struct Options {
    threads: usize,
    level: u32,
    size: usize,
    frames: usize,
    plain: bool,
    /// The number of pairs, if frames are compared.
    compare: Option<usize>,
    pgm: Option<String>,
}

impl Options {
    /// Parses the arguments. Returns `None` if only help is requested.
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Self {
            threads: 1,
            level: 6,
            size: 1024,
            frames: 1,
            plain: false,
            compare: None,
            pgm: None,
        };
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or(format!("{flag} needs a value"));
            match flag.as_str() {
                "--threads" => options.threads = within(&flag, &value()?, 1, 1024)?,
                "--level" => options.level = within(&flag, &value()?, 1, 8)? as u32,
                "--size" => options.size = within(&flag, &value()?, 1, 16384)?,
                "--frames" => options.frames = within(&flag, &value()?, 1, usize::MAX)?,
                "--plain" => options.plain = true,
                "--compare" => options.compare = Some(within(&flag, &value()?, 1, 100_000)?),
                "--pgm" => options.pgm = Some(value()?),
                "--help" | "-h" => return Ok(None),
                _ => return Err(format!("unknown argument `{flag}`")),
            }
        }
        if options.plain && options.compare.is_some() {
            return Err("--compare renders both ways: leave out --plain".to_owned());
        }
        Ok(Some(options))
    }

    /// Builds the scene and renders it once. Returns the time in seconds and the picture.
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

    /// Renders plain and scoped frames in turns. Every other pair has the reverse order, so that a machine that becomes
    /// slower or faster favours neither kind.
    fn compare(&self, pairs: usize) -> Result<Image, String> {
        // The first frame is not counted, because it makes pages and fills caches that all later frames find ready.
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

/// Parses `text` as a whole number from `least` to `most`.
fn within(flag: &str, text: &str, least: usize, most: usize) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| match most {
        usize::MAX => format!("{flag} takes a whole number of {least} or more, not `{text}`"),
        _ => format!("{flag} takes a whole number from {least} to {most}, not `{text}`"),
    })
}

/// Returns the value below which `share` of the sorted values lie, interpolated between neighbours.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (sorted.len() - 1) as f64 * share;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    below + (above - below) * place.fract()
}

fn run(options: &Options) -> Result<(), String> {
    let _tickscope = (!options.plain).then(|| tickscope::start("sphereflake"));
    let image = match options.compare {
        Some(pairs) => options.compare(pairs)?,
        None => options.frames(),
    };
    let Some(path) = &options.pgm else { return Ok(()) };
    let written = File::create(path).and_then(|file| image.write_pgm(BufWriter::new(file)));
    written.map_err(|error| format!("cannot write {path}: {error}"))
}

fn main() -> ExitCode {
    let outcome = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => run(&options),
        Ok(None) => {
            print!("{HELP}");
            Ok(())
        }
        Err(error) => Err(format!("{error}; --help lists what there is")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sphereflake: {error}");
            ExitCode::FAILURE
        }
    }
}
