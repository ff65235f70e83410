//! Changes of a share between before and after, and their colours.

/// Change of a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// At least five points less.
    MuchLess,
    /// At least half a point less.
    Less,
    /// About the same.
    Same,
    /// At least half a point more.
    More,
    /// At least five points more.
    MuchMore,
}

/// Colour of letters on all of the colours.
pub const INK: u32 = 0x0a_0a_0a;

impl Trend {
    /// All trends, from much less to much more.
    pub const ALL: [Self; 5] = [Self::MuchLess, Self::Less, Self::Same, Self::More, Self::MuchMore];

    /// Returns the trend of a change by this many points: 40 % after 30 % are 10 points.
    pub fn of_points(points: f64) -> Self {
        match points {
            ..=-5.0 => Self::MuchLess,
            ..=-0.5 => Self::Less,
            5.0.. => Self::MuchMore,
            0.5.. => Self::More,
            _ => Self::Same,
        }
    }

    /// Returns the colour, blue for less and red for more. The viewer has the same colours: the tests of its palette
    /// require that they are distinguishable with every kind of colour vision, and that letters can be read on them.
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
