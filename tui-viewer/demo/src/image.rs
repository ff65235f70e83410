//! A finished picture.

use std::io::{self, Write};

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
}
