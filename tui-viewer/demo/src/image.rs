//! A finished picture.

use std::io::{self, Write};

/// Brightness from 0 to 1, row by row from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<f64>,
}

impl Image {
    /// A black picture.
    pub fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            pixels: vec![0.0; width * height],
        }
    }

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// All pixels, row by row from the top.
    pub fn pixels(&self) -> &[f64] {
        &self.pixels
    }

    /// Puts a row in its place, which counts from the top.
    ///
    /// # Panics
    /// If there is no such row or `pixels` is not as long as one.
    pub fn set_row(&mut self, row: usize, pixels: &[f64]) {
        self.pixels[row * self.width..][..self.width].copy_from_slice(pixels);
    }

    /// A number that differs as soon as one bit of one pixel does (64-bit FNV-1a over the bits of all pixels).
    pub fn checksum(&self) -> u64 {
        let bytes = self.pixels.iter().flat_map(|pixel| pixel.to_bits().to_le_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// Writes the picture as a binary PGM, 256 shades of grey.
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
}
