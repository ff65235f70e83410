//! How shares change between two sides, and the colours of these changes.

/// Change of a share, in five classes. Points are percentage points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// At least 5 points less.
    MuchLess,
    /// At least 0.5 points less.
    Less,
    /// Less than 0.5 points of change.
    Same,
    /// At least 0.5 points more.
    More,
    /// At least 5 points more.
    MuchMore,
}

/// Colour of text on each of these colours.
pub const INK: u32 = 0x0a_0a_0a;

impl Trend {
    /// All trends, from much less to much more.
    pub const ALL: [Self; 5] = [Self::MuchLess, Self::Less, Self::Same, Self::More, Self::MuchMore];

    /// Returns the trend of a change by `points` percentage points. A change from 30 % to 40 % is 10 points.
    pub fn of_points(points: f64) -> Self {
        match points {
            ..=-5.0 => Self::MuchLess,
            ..=-0.5 => Self::Less,
            5.0.. => Self::MuchMore,
            0.5.. => Self::More,
            _ => Self::Same,
        }
    }

    /// Returns the colour: blue for less, red for more. The viewer uses the same colours. Tests of its palette check that they
    /// differ with every kind of colour vision, and that text can be read on them.
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
