//! Frames of a small game, and a change that makes them slower: with `--linear`, things are looked up by name with a
//! linear search instead of a binary search. The two variants stand for two builds of a program. `tickscope diff`
//! finds the difference by comparing the numbers of calls.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::cmp::Ordering;

/// Number of things that move in each frame.
const MOVED: usize = 40;

/// Number of things.
const THINGS: usize = 160;

/// Something with a position and a name.
struct Thing {
    name: String,
    place: f64,
}

struct World {
    /// The things, sorted by name.
    things: Vec<Thing>,
    /// Whether things are found by a linear search.
    linear: bool,
}

#[tickscope::profile]
fn compare(one: &str, other: &str) -> Ordering {
    one.cmp(other)
}

impl World {
    #[tickscope::profile]
    fn load(linear: bool) -> Self {
        let things = (0..THINGS).map(|n| Thing {
            name: format!("thing-{n:04}"),
            place: n as f64,
        });
        Self {
            things: things.collect(),
            linear,
        }
    }

    #[tickscope::profile]
    fn find(&self, name: &str) -> Option<usize> {
        let compared = |thing: &Thing| compare(&thing.name, name);
        if self.linear {
            self.things.iter().position(|thing| compared(thing).is_eq())
        } else {
            self.things.binary_search_by(compared).ok()
        }
    }

    #[tickscope::profile]
    fn update(&mut self, frame: u64) {
        for moved in 0..MOVED {
            let name = format!("thing-{:04}", (moved * 7 + frame as usize) % THINGS);
            if let Some(found) = self.find(&name) {
                self.things[found].place += 0.5;
            }
        }
    }

    #[tickscope::profile]
    fn draw(&self, picture: &mut [f64]) {
        for (row, cell) in picture.iter_mut().enumerate() {
            let near = self.things.iter().step_by(8);
            *cell = near.map(|thing| (thing.place - row as f64).abs().sqrt()).sum();
        }
    }

    #[tickscope::profile]
    fn frame(&mut self, number: u64, picture: &mut [f64]) {
        self.update(number);
        self.draw(picture);
    }
}

/// Returns the number of frames, and whether the search is linear.
fn arguments() -> Option<(u64, bool)> {
    let mut found = (500, false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--linear" => found.1 = true,
            frames => found.0 = frames.parse().ok()?,
        }
    }
    Some(found)
}

fn main() -> Result<(), String> {
    let (frames, linear) = arguments().ok_or("usage: frames [FRAMES] [--linear]")?;
    let _tickscope = tickscope::start("frames");
    let mut world = World::load(linear);
    let mut picture = vec![0.0; 256];
    for number in 0..frames {
        world.frame(number, &mut picture);
    }
    println!("{frames} frames, {:.3}", picture.iter().sum::<f64>());
    Ok(())
}
