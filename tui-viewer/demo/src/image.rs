//! A finished picture, and what is done with it: effects, a small copy, and fewer bytes.

use std::io::{self, Write};

/// Brightness from which on pixels glow, and how much of it.
const GLOW_FROM: f64 = 0.6;
const GLOW: f64 = 0.5;
/// The weights of a pixel and of its neighbours to one side, where a picture is blurred. With both sides they add up to 1.
const BLUR: [f64; 7] = [0.159, 0.147, 0.116, 0.079, 0.046, 0.0225, 0.01];
/// Shades of grey that are counted to find the darkest and the brightest ones.
const SHADES: usize = 256;
/// One pixel in so many may be darker than the darkest shade, or brighter than the brightest one.
const PIXELS_AN_OUTLIER: usize = 200;

/// A picture as brightness from 0 to 1, row by row from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<f64>,
}

impl Image {
    /// Makes a black picture. Width and height are in pixels.
    pub fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            pixels: vec![0.0; width * height],
        }
    }

    /// Returns the number of pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns all pixels, row by row from the top.
    pub fn pixels(&self) -> &[f64] {
        &self.pixels
    }

    /// Sets the pixels of a row, which is counted from the top.
    ///
    /// # Panics
    /// If there is no such row, or if `pixels` does not have the length of a row.
    pub fn set_row(&mut self, row: usize, pixels: &[f64]) {
        self.pixels[row * self.width..][..self.width].copy_from_slice(pixels);
    }

    /// Returns a 64-bit FNV-1a checksum over the bits of all pixels. It changes if any bit of any pixel does.
    pub fn checksum(&self) -> u64 {
        let bytes = self.pixels.iter().flat_map(|pixel| pixel.to_bits().to_le_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// Writes the picture as a binary PGM with 256 shades of grey.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_pgm(&self, mut out: impl Write) -> io::Result<()> {
        write!(out, "P5\n{} {}\n255\n", self.width, self.height)?;
        let bytes: Vec<u8> = self
            .pixels
            .iter()
            .map(|pixel| (pixel * 255.0).round() as u8)
            .collect();
        out.write_all(&bytes)
    }

    /// Adds a glow around what is bright.
    pub(crate) fn glow(&mut self) {
        tickscope::scope!("glow");
        let mut bright = self.clone();
        for pixel in &mut bright.pixels {
            *pixel = (*pixel - GLOW_FROM).max(0.0);
        }
        // Each turns rows into columns, so the second one does the other direction and turns them back.
        let glow = bright.blur().blur();
        for (pixel, glow) in self.pixels.iter_mut().zip(&glow.pixels) {
            *pixel = (*pixel + GLOW * glow).min(1.0);
        }
    }

    /// Blurs each row, and makes a column of it.
    fn blur(&self) -> Self {
        tickscope::scope!("blur");
        let mut blurred = Self::new(self.height, self.width);
        for (number, row) in self.pixels.chunks(self.width).enumerate() {
            for at in 0..row.len() {
                // Beyond the border a picture is as it is there.
                let sides = (1..BLUR.len()).map(|step| {
                    let right = (at + step).min(row.len() - 1);
                    BLUR[step] * (row[at.saturating_sub(step)] + row[right])
                });
                blurred.pixels[at * self.height + number] = BLUR[0] * row[at] + sides.sum::<f64>();
            }
        }
        blurred
    }

    /// Makes the darkest shades black and the brightest ones white.
    pub(crate) fn contrast(&mut self) {
        tickscope::scope!("contrast");
        let mut counts = [0; SHADES];
        let shade = |pixel: f64| (pixel * (SHADES - 1) as f64) as usize;
        for &pixel in &self.pixels {
            counts[shade(pixel).min(SHADES - 1)] += 1;
        }
        let outliers = self.pixels.len() / PIXELS_AN_OUTLIER;
        let darkest = nth(counts.into_iter(), outliers);
        let brightest = SHADES - 1 - nth(counts.into_iter().rev(), outliers);
        let range = (brightest.saturating_sub(darkest)).max(1) as f64;
        for pixel in &mut self.pixels {
            *pixel = ((*pixel * (SHADES - 1) as f64 - darkest as f64) / range).clamp(0.0, 1.0);
        }
    }

    /// Returns a small copy, in which one pixel stands for `by` across and down.
    pub(crate) fn shrink(&self, by: usize) -> Self {
        tickscope::scope!("shrink");
        let mut small = Self::new(self.width / by, self.height / by);
        for row in 0..small.height {
            for column in 0..small.width {
                let lines = self.pixels.chunks(self.width).skip(row * by).take(by);
                let sum: f64 = lines.flat_map(|line| &line[column * by..][..by]).sum();
                small.pixels[row * small.width + column] = sum / (by * by) as f64;
            }
        }
        small
    }

    /// Packs the picture into few bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        tickscope::scope!("encode");
        let packed = pack(&self.predict());
        tickscope::value!("bytes", packed.len());
        packed
    }

    /// Returns how much each pixel, as a shade of grey, differs from what its neighbours above and to the left let expect.
    fn predict(&self) -> Vec<u8> {
        tickscope::scope!("predict");
        let shades: Vec<u8> = self.pixels.iter().map(|pixel| (pixel * 255.0) as u8).collect();
        let before = |at: usize, step: usize| at.checked_sub(step).map_or(0, |at| shades[at]);
        let wrong = shades.iter().enumerate().map(|(at, shade)| {
            let (left, above) = (before(at, 1), before(at, self.width));
            shade.wrapping_sub(left.midpoint(above))
        });
        wrong.collect()
    }
}

/// Returns the first shade up to which there are more than so many pixels.
fn nth(counts: impl Iterator<Item = usize>, pixels: usize) -> usize {
    let sums = counts.scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    sums.take_while(|&sum| sum <= pixels).count().min(SHADES - 1)
}

/// Writes a byte that comes several times in a row as itself and how often.
fn pack(bytes: &[u8]) -> Vec<u8> {
    tickscope::scope!("pack");
    let mut packed = Vec::with_capacity(bytes.len());
    for run in bytes.chunk_by(|one, next| one == next) {
        for part in run.chunks(usize::from(u8::MAX)) {
            packed.extend([part[0], part.len() as u8]);
        }
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Black, with a bright pixel in the middle.
    fn star() -> Image {
        let mut image = Image::new(31, 21);
        image.pixels[10 * 31 + 15] = 1.0;
        image
    }

    #[test]
    fn a_glow_is_around_what_is_bright_and_as_wide_as_high() {
        let mut image = star();
        image.glow();
        let at = |column: usize, row: usize| image.pixels[row * 31 + column];
        assert_eq!(at(15, 10), 1.0);
        assert!(at(14, 10) > at(13, 10) && at(13, 10) > at(8, 10));
        assert_eq!(at(8, 10), 0.0, "that far it does not reach");
        let is_near = |one: f64, other: f64| (one - other).abs() < 1e-12;
        for step in 1..7 {
            assert!(is_near(at(15 + step, 10), at(15, 10 + step)));
            assert!(is_near(at(15 + step, 10), at(15 - step, 10)));
        }
        assert!((BLUR[0] + 2.0 * BLUR[1..].iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn contrast_takes_the_whole_range() {
        let mut image = Image::new(100, 10);
        for (at, pixel) in image.pixels.iter_mut().enumerate() {
            *pixel = 0.25 + 0.5 * at as f64 / 1000.0;
        }
        image.contrast();
        assert_eq!((image.pixels[0], image.pixels[999]), (0.0, 1.0));
        assert!(image.pixels.is_sorted());
        let mut black = Image::new(4, 4);
        black.contrast();
        assert_eq!(black, Image::new(4, 4));
    }

    #[test]
    fn a_small_copy_has_the_means() {
        let mut image = Image::new(8, 8);
        image.pixels[..2].fill(1.0);
        image.pixels[8..10].fill(0.5);
        let small = image.shrink(2);
        assert_eq!((small.width, small.height), (4, 4));
        assert_eq!(small.pixels[..2], [0.75, 0.0]);
    }

    #[test]
    fn a_packed_picture_has_all_of_it() {
        let image = star();
        let packed = image.encode();
        let mut shades: Vec<u8> = Vec::new();
        for run in packed.chunks(2) {
            for _ in 0..run[1] {
                let before = |step: usize| shades.len().checked_sub(step).map_or(0, |at| shades[at]);
                let expected = before(1).midpoint(before(31));
                shades.push(run[0].wrapping_add(expected));
            }
        }
        let wanted: Vec<u8> = image.pixels.iter().map(|pixel| (pixel * 255.0) as u8).collect();
        assert_eq!(shades, wanted);
        assert!(packed.len() < shades.len() / 10);
    }
}
