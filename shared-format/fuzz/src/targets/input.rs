//! Splits an input into values. Once the input is used up, all further values are zero.

/// The bytes of an input that have not been used yet.
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&first, rest)) => {
                self.0 = rest;
                first
            }
            None => 0,
        }
    }

    /// Returns a number below `end`. `end` must not be 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let number = usize::from(self.byte());
        match end <= 256 {
            true => number % end,
            false => (number << 8 | usize::from(self.byte())) % end,
        }
    }

    pub(crate) fn word(&mut self) -> u64 {
        let mut word = [0; 8];
        let taken = self.bytes(8);
        word[..taken.len()].copy_from_slice(taken);
        u64::from_le_bytes(word)
    }

    /// Returns a number of a kind that tends to expose bugs: small, near a power of two, near the maximum, or arbitrary.
    pub(crate) fn number(&mut self) -> u64 {
        match self.byte() {
            small @ 0..=199 => small.into(),
            200..=229 => {
                let (shift, by) = (self.byte() % 64, self.byte() as i8);
                (1u64 << shift).wrapping_add_signed(by.into())
            }
            230..=249 => self.word() >> (self.byte() % 64),
            250.. => u64::MAX - u64::from(self.byte()),
        }
    }

    /// Returns the next `count` bytes, or the rest of the input.
    pub(crate) fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Reads a two-byte length, and returns that many of the bytes after it.
    pub(crate) fn piece(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte()) | usize::from(self.byte()) << 8;
        self.bytes(length)
    }

    /// Returns a short string, often one that is difficult to display.
    pub(crate) fn text(&mut self) -> String {
        const TEXTS: [&str; 8] = [
            "",
            "a",
            "b::c",
            "{closure#0}",
            "\u{202e}\u{7}\n",
            "<T as \"x\">::f;",
            "</script>",
            "ö\u{301}☃",
        ];
        match self.byte() {
            number @ 0..=63 => TEXTS[usize::from(number) % TEXTS.len()].into(),
            length => String::from_utf8_lossy(self.bytes(usize::from(length % 16))).into_owned(),
        }
    }

    pub(crate) fn float(&mut self) -> f64 {
        match self.byte() {
            0..=99 => 1e9,
            100..=149 => 24e6,
            150..=199 => f64::from(self.byte()) / 100.0,
            200..=219 => f64::INFINITY,
            220..=239 => f64::MIN_POSITIVE,
            240.. => f64::from_bits(self.word()),
        }
    }
}
