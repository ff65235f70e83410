//! Rendering: rays through pixels, and rows shared among threads.

use std::ops::{Deref, Range};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::image::Image;
use crate::probe;
use crate::probe::Probe;
use crate::scene::{Hit, Ray, Scene};
use crate::spawn::spawn_named;
use crate::vector::Vector;

/// Origin of all primary rays, which point along +z.
const CAMERA: Vector = Vector::new(0.0, 0.0, -4.5);
/// The direction of the light, before it is normalised.
const LIGHT: Vector = Vector::new(-0.5, -0.65, 0.9);
/// The four rays of a pixel, relative to its centre: a rotated square, so that no two share a row or a column.
pub(crate) const SAMPLES: [(f64, f64); 4] =
    [(-0.125, -0.375), (0.375, -0.125), (0.125, 0.375), (-0.375, 0.125)];
/// How far from the surface a shadow ray begins, so that rounding does not put its origin inside the sphere.
const SURFACE_GAP: f64 = 1e-9;

/// A picture being rendered. Threads take rows from it until none is left.
#[derive(Debug)]
pub struct Frame<S> {
    /// The scene, borrowed or owned. A frame that is sent to long-lived threads owns its scene.
    pub(crate) scene: S,
    pub(crate) width: usize,
    height: usize,
    /// The direction of the light, of length 1.
    light: Vector,
    /// The index of the next free row; at least `height` once all rows are taken.
    next_row: AtomicUsize,
}

impl<S: Deref<Target = Scene>> Frame<S> {
    /// Makes a frame with all rows free. Width and height are in pixels.
    pub fn new(scene: S, width: usize, height: usize) -> Self {
        Self {
            scene,
            width,
            height,
            light: LIGHT.normalised(),
            next_row: AtomicUsize::new(0),
        }
    }

    /// Renders free rows until none are left, and passes each row to `finished`. Several threads may call this at the same time.
    ///
    /// The pixels of a row depend on the scene alone, so it does not matter which thread renders it.
    pub fn work<P: Probe>(&self, mut finished: impl FnMut(usize, Vec<f64>)) {
        probe!(P, "worker");
        while let Some(rows) = self.take_rows(1) {
            let pixels = (0..self.width).map(|column| self.pixel::<P>(column, rows.start));
            finished(rows.start, pixels.collect());
        }
    }

    /// Takes at most `most` free rows. Returns `None` if no row is free.
    pub(crate) fn take_rows(&self, most: usize) -> Option<Range<usize>> {
        let first = self.next_row.fetch_add(most, Ordering::Relaxed);
        (first < self.height).then(|| first..(first + most).min(self.height))
    }

    /// Returns the mean brightness of a pixel's four rays.
    fn pixel<P: Probe>(&self, column: usize, row: usize) -> f64 {
        let middle = self.middle(column, row);
        let brightness = SAMPLES
            .iter()
            .map(|&sample| self.ray_trace::<P>(&ray(middle, sample)));
        brightness.sum::<f64>() / SAMPLES.len() as f64
    }

    /// Returns the direction from the camera to the middle of a pixel.
    #[inline(always)]
    pub(crate) fn middle(&self, column: usize, row: usize) -> Vector {
        let (width, height) = (self.width as f64, self.height as f64);
        let middle_x = column as f64 + 0.5 - width / 2.0;
        let middle_y = height / 2.0 - row as f64 - 0.5;
        // The plane of the picture is as far from the camera as the picture's longer side in pixels, so the view is the
        // same for every picture size.
        Vector::new(middle_x, middle_y, width.max(height))
    }

    /// Returns the brightness of the point that a ray from the camera hits; 0 if there is none, or if it is in shadow.
    fn ray_trace<P: Probe>(&self, ray: &Ray) -> f64 {
        probe!(P, "ray_trace");
        let hit = self.scene.intersect_primary::<P>(ray);
        match hit.and_then(|hit| self.to_light(&hit)) {
            Some((brightness, to_light)) if !self.scene.intersect_shadow::<P>(&to_light) => brightness,
            Some(_) | None => 0.0,
        }
    }

    /// Returns how bright a point is if it is not in shadow, and the ray from the point to the light; `None` if the
    /// surface there faces away from the light.
    #[inline(always)]
    pub(crate) fn to_light(&self, hit: &Hit) -> Option<(f64, Ray)> {
        let brightness = -hit.normal.dot(self.light);
        let to_light = Ray {
            origin: hit.point + hit.normal * SURFACE_GAP,
            direction: -self.light,
        };
        (brightness > 0.0).then_some((brightness, to_light))
    }
}

/// Returns the ray from the camera through the point that is offset from the middle of a pixel by (`x`, `y`) pixels.
#[inline(always)]
pub(crate) fn ray(middle: Vector, (x, y): (f64, f64)) -> Ray {
    Ray {
        origin: CAMERA,
        direction: Vector::new(middle.x + x, middle.y + y, middle.z).normalised(),
    }
}

/// Renders a picture on `threads` threads (at least one), named `render-0` and so on. Width and height are in pixels.
///
/// # Panics
/// If the system cannot start a thread.
pub fn render<P: Probe>(scene: &Scene, width: usize, height: usize, threads: usize) -> Image {
    let frame = Frame::new(scene, width, height);
    let mut image = Image::new(width, height);
    thread::scope(|scope| {
        let work = || {
            let mut rows = Vec::new();
            frame.work::<P>(|row, pixels| rows.push((row, pixels)));
            rows
        };
        let workers: Vec<_> = (0..threads.max(1))
            .map(|index| spawn_named(scope, format!("render-{index}"), work))
            .collect();
        for worker in workers {
            for (row, pixels) in worker.join().unwrap_or_else(|panic| resume_unwind(panic)) {
                image.set_row(row, &pixels);
            }
        }
    });
    image
}
