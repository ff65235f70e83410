//! Rendering in the demo: tile by tile, with each step done for all rays of a tile. So a scope lasts for some microseconds,
//! which keeps the cost of measuring low. The reference workload ([`render`](crate::render)) has a scope for each ray.

use std::ops::{Deref, Range};

use crate::light::{Lit, shade};
use crate::scene::{Hit, Ray, Scene};
use crate::sphereflake::{Frame, SAMPLES, ray};

/// The width and height of a tile in pixels.
const TILE: (usize, usize) = (32, 8);

/// Results of the steps that render a tile. The buffers are reused, so that rendering a tile allocates nothing.
#[derive(Debug, Default)]
struct Steps {
    rays: Vec<Ray>,
    hits: Vec<Option<Hit>>,
    lit: Lit,
    brightness: Vec<f64>,
}

/// Renders free rows until none are left, in bands that are as high as a tile. `finished` gets the index of each band's
/// first row, and the pixels of the band. Several threads may call this at the same time.
///
/// [`Frame::work`] renders the same picture, bit by bit.
pub(crate) fn render<S: Deref<Target = Scene>>(frame: &Frame<S>, mut finished: impl FnMut(usize, Vec<f64>)) {
    tickscope::scope!("render");
    let mut steps = Steps::default();
    while let Some(rows) = frame.take_rows(TILE.1) {
        finished(rows.start, band(frame, rows, &mut steps));
    }
}

/// Renders a band of rows, at most as high as a tile, and returns its pixels.
fn band<S: Deref<Target = Scene>>(frame: &Frame<S>, rows: Range<usize>, steps: &mut Steps) -> Vec<f64> {
    tickscope::scope!("band");
    let mut pixels = vec![0.0; rows.len() * frame.width];
    for left in (0..frame.width).step_by(TILE.0) {
        let columns = left..(left + TILE.0).min(frame.width);
        tile(frame, columns, rows.clone(), steps, &mut pixels);
    }
    pixels
}

/// Renders a tile, and writes its pixels to their positions in the band.
fn tile<S: Deref<Target = Scene>>(
    frame: &Frame<S>,
    columns: Range<usize>,
    rows: Range<usize>,
    steps: &mut Steps,
    pixels: &mut [f64],
) {
    tickscope::scope!("tile");
    aim(frame, columns.clone(), rows, &mut steps.rays);
    tickscope::count!("rays", steps.rays.len());
    frame.scene.nearest(&steps.rays, &mut steps.hits);
    shade(frame, &steps.hits, &mut steps.lit, &mut steps.brightness);
    let lines = pixels.chunks_mut(frame.width);
    let pixels = lines.flat_map(|line| &mut line[columns.clone()]);
    for (pixel, rays) in pixels.zip(steps.brightness.chunks(SAMPLES.len())) {
        *pixel = rays.iter().sum::<f64>() / SAMPLES.len() as f64;
    }
}

/// Makes the rays of a tile, which start at the camera.
fn aim<S: Deref<Target = Scene>>(
    frame: &Frame<S>,
    columns: Range<usize>,
    rows: Range<usize>,
    rays: &mut Vec<Ray>,
) {
    tickscope::scope!("aim");
    rays.clear();
    for row in rows {
        for column in columns.clone() {
            let middle = frame.middle(column, row);
            rays.extend(SAMPLES.map(|sample| ray(middle, sample)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Image;
    use crate::probe::Plain;

    #[test]
    fn tiles_change_no_bit_of_the_picture() {
        let scene = Scene::build::<Plain>(4);
        // The last tile of a row is one pixel wide, and the last tile of a column one pixel high.
        let (width, height) = (TILE.0 * 3 + 1, TILE.1 * 8 + 1);
        let mut image = Image::new(width, height);
        render(&Frame::new(&scene, width, height), |first, pixels| {
            for (row, pixels) in (first..).zip(pixels.chunks(width)) {
                image.set_row(row, pixels);
            }
        });
        assert_eq!(image, crate::render::<Plain>(&scene, width, height, 1));
        assert!(image.pixels.iter().any(|&pixel| pixel > 0.5), "there is light");
    }
}
