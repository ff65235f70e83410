//! The compact encoding of a histogram.
//!
//! The bytes hold the longest duration in ticks, then for each bucket its distance from the previous bucket and its
//! number of calls. All numbers are encoded in LEB128: seven bits per byte, the lowest bits first.

use super::histogram::{BUCKETS, Histogram};

/// A packed histogram. It is empty if no call has finished.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed(Vec<u8>);

impl Packed {
    /// Replaces the contents with a histogram.
    pub fn set(&mut self, histogram: &Histogram) {
        self.0.clear();
        append(histogram, &mut self.0);
    }

    /// Returns true if no call has finished.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the histogram.
    pub fn unpacked(&self) -> Histogram {
        unpack(&self.0).unwrap_or_default()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&Histogram> for Packed {
    fn from(histogram: &Histogram) -> Self {
        let mut packed = Self::default();
        packed.set(histogram);
        packed
    }
}

/// Appends a packed histogram to `out`, or nothing if no call has finished.
pub(crate) fn append(histogram: &Histogram, out: &mut Vec<u8>) {
    if histogram.is_empty() {
        return;
    }
    put(histogram.max_ticks, out);
    let mut before = 0;
    for &(bucket, count) in &histogram.buckets {
        put(u64::from(bucket - before), out);
        put(count, out);
        before = bucket;
    }
}

/// Decodes a histogram. Returns `None` if a number is cut off or too large, if the buckets are not in ascending order,
/// or if a bucket does not exist or has no calls.
pub(crate) fn unpack(bytes: &[u8]) -> Option<Histogram> {
    let mut histogram = Histogram::default();
    histogram.max_ticks = walk(bytes, |bucket, count| histogram.buckets.push((bucket, count)))?;
    Some(histogram)
}

/// Decodes a histogram and calls `each` for every bucket. Returns the longest duration in ticks (0 if it is not known),
/// or `None` if the bytes are not a valid histogram.
pub(crate) fn walk(bytes: &[u8], mut each: impl FnMut(u16, u64)) -> Option<u64> {
    let mut rest = bytes;
    let max_ticks = take(&mut rest)?;
    let mut bucket = take(&mut rest)?;
    loop {
        let count = take(&mut rest)?;
        if bucket >= BUCKETS as u64 || count == 0 {
            return None;
        }
        each(bucket as u16, count);
        if rest.is_empty() {
            return Some(max_ticks);
        }
        let step = take(&mut rest).filter(|&step| step > 0)?;
        bucket = bucket.checked_add(step)?;
    }
}

fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[inline]
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&first, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(first & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if first < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_histogram_is_refused() {
        let good = [5, 3, 1, 2, 200, 1];
        assert_eq!(
            unpack(&good).unwrap(),
            Histogram {
                buckets: vec![(3, 1), (5, 200)],
                max_ticks: 5
            }
        );
        for end in [0, 1, 2, 4, 5] {
            assert!(unpack(&good[..end]).is_none(), "cut at {end}");
        }
        assert!(unpack(&[5, 3, 0]).is_none(), "no call");
        assert!(unpack(&[5, 3, 1, 0, 1]).is_none(), "the same bucket again");
        assert!(unpack(&[5, 0x80, 0x04, 1]).is_none(), "bucket 512");
        let mut more_than_64_bits = [0xff; 10];
        more_than_64_bits[9] = 2;
        assert!(take(&mut &more_than_64_bits[..]).is_none());
    }

    proptest! {
        #[test]
        fn a_histogram_comes_back_as_it_was(
            durations in proptest::collection::vec(any::<u64>(), 0..50),
            times in 1u64..u64::MAX / 64,
        ) {
            let mut histogram = Histogram::default();
            durations.iter().for_each(|&ticks| histogram.insert(ticks));
            histogram.buckets.iter_mut().for_each(|(_, count)| *count *= times);
            prop_assert_eq!(Packed::from(&histogram).unpacked(), histogram);
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Some(histogram) = unpack(&bytes) {
                prop_assert!(histogram.buckets.is_sorted_by(|a, b| a.0 < b.0));
                prop_assert!(histogram.count() > 0);
            }
        }
    }
}
