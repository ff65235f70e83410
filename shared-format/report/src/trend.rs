//! How much shares change between the two sides of a comparison, and the colours for these changes.

/// How much a share has changed, in five classes. A point is one percentage point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// At least 5 points less.
    MuchLess,
    /// At least 0.5 points less.
    Less,
    /// A change of less than 0.5 points.
    Same,
    /// At least 0.5 points more.
    More,
    /// At least 5 points more.
    MuchMore,
}

/// Text colour that can be used on any of the trend colours.
pub const INK: u32 = 0x0a_0a_0a;

impl Trend {
    /// All trends, from the largest decrease to the largest increase.
    pub const ALL: [Self; 5] = [Self::MuchLess, Self::Less, Self::Same, Self::More, Self::MuchMore];

    /// Classifies a change of `points` percentage points. A change from 30 % to 40 %, for example, is 10 points.
    pub fn of_points(points: f64) -> Self {
        match points {
            ..=-5.0 => Self::MuchLess,
            ..=-0.5 => Self::Less,
            5.0.. => Self::MuchMore,
            0.5.. => Self::More,
            _ => Self::Same,
        }
    }

    /// Returns the colour: blue for less, red for more. The viewer uses the same colours. The tests of its palette
    /// check that the colours can be told apart with every kind of colour vision, and that text on them is readable.
    pub const fn rgb(self) -> u32 {
        match self {
            Self::MuchLess => 0x5a_96_e6,
            Self::Less => 0xa0_c8_f4,
            Self::Same => 0xd8_d4_cc,
            Self::More => 0xf4_b0_8c,
            Self::MuchMore => 0xec_64_50,
        }
    }
}
