//! Vectors in three dimensions, in double precision.

use std::ops::{Add, Mul, Neg, Sub};

/// A point or a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vector {
    /// The coordinate along the axis that points to the right of the picture.
    pub x: f64,
    /// The coordinate along the axis that points to the top of the picture.
    pub y: f64,
    /// The coordinate along the axis that points into the picture.
    pub z: f64,
}

impl Vector {
    /// Makes a vector from three coordinates.
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }

    /// Returns the scalar product.
    pub fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// Returns the vector product.
    pub fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    /// Returns the vector scaled to length 1. The zero vector gives NaN.
    pub fn normalised(self) -> Self {
        self * (1.0 / self.dot(self).sqrt())
    }
}

impl Add for Vector {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl Sub for Vector {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl Mul<f64> for Vector {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::new(self.x * factor, self.y * factor, self.z * factor)
    }
}

impl Neg for Vector {
    type Output = Self;
    fn neg(self) -> Self {
        self * -1.0
    }
}
