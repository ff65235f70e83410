//! A finished picture, and its processing: a glow, and a small copy.

use std::io::{self, Write};

/// Brightness above which pixels glow, and the strength of the glow.
const GLOW_FROM: f64 = 0.6;
const GLOW: f64 = 0.5;
/// Blur weights of a pixel and its neighbours on one side. They add up to 1 when both sides are counted.
const BLUR: [f64; 7] = [0.159, 0.147, 0.116, 0.079, 0.046, 0.0225, 0.01];

/// A picture: the brightness of each pixel, from 0 to 1, row by row from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    width: usize,
    height: usize,
    pub(crate) pixels: Vec<f64>,
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

    /// Sets the pixels of a row. Rows are counted from the top.
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
    /// The writer reports an error.
    pub fn write_pgm(&self, mut out: impl Write) -> io::Result<()> {
        write!(out, "P5\n{} {}\n255\n", self.width, self.height)?;
        let bytes: Vec<u8> = self
            .pixels
            .iter()
            .map(|pixel| (pixel * 255.0).round() as u8)
            .collect();
        out.write_all(&bytes)
    }

    /// Adds a glow around bright pixels.
    pub(crate) fn glow(&mut self) {
        tickscope::scope!("glow");
        let mut bright = self.clone();
        for pixel in &mut bright.pixels {
            *pixel = (*pixel - GLOW_FROM).max(0.0);
        }
        // Each blur also turns rows into columns, so the second one blurs in the other direction and turns them back.
        let glow = bright.blur().blur();
        for (pixel, glow) in self.pixels.iter_mut().zip(&glow.pixels) {
            *pixel = (*pixel + GLOW * glow).min(1.0);
        }
    }

    /// Blurs each row, and stores the result as a column.
    fn blur(&self) -> Self {
        tickscope::scope!("blur");
        let mut blurred = Self::new(self.height, self.width);
        for (number, row) in self.pixels.chunks(self.width).enumerate() {
            for at in 0..row.len() {
                // The picture is extended beyond its border by repeating the pixels at the border.
                let sides = (1..BLUR.len()).map(|step| {
                    let right = (at + step).min(row.len() - 1);
                    BLUR[step] * (row[at.saturating_sub(step)] + row[right])
                });
                blurred.pixels[at * self.height + number] = BLUR[0] * row[at] + sides.sum::<f64>();
            }
        }
        blurred
    }

    /// Returns a small copy, in which each pixel is the mean of `by` times `by` pixels.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a black picture with a bright pixel in the middle.
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
    fn a_small_copy_has_the_means() {
        let mut image = Image::new(8, 8);
        image.pixels[..2].fill(1.0);
        image.pixels[8..10].fill(0.5);
        let small = image.shrink(2);
        assert_eq!((small.width, small.height), (4, 4));
        assert_eq!(small.pixels[..2], [0.75, 0.0]);
    }
}
