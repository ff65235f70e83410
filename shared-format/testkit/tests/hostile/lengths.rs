//! Tests with length fields that claim more elements than a payload contains. Decoding must not take more memory than
//! the bytes of the payload justify.

use tickscope_format::codec;

use crate::counting::most_allocated;

/// Ids of the sections that encode numbers with a variable number of bytes.
const SMALL: [u64; 2] = [10, 11];

/// In the sections listed in [`SMALL`], the byte in front of a number that is encoded in eight bytes.
const EIGHT_BYTES: u8 = 253;

/// Returns a payload with a single section, which consists of zeros except for a length at offset `at`.
fn payload(section: u64, bytes: usize, at: usize, length: u64) -> Vec<u8> {
    let mut body = vec![0; bytes];
    let mut number = length.to_le_bytes().to_vec();
    if SMALL.contains(&section) {
        number.insert(0, EIGHT_BYTES);
    }
    body[at..at + number.len()].copy_from_slice(&number);
    let head = [section.to_le_bytes(), (bytes as u64).to_le_bytes()];
    [head.as_flattened(), &body].concat()
}

#[test]
fn a_length_takes_no_more_memory_than_the_bytes_of_its_section_allow() {
    let mut refused = 0;
    for section in 1..=13 {
        for bytes in [64, 9 << 10, 600 << 10] {
            // Offsets of the first list's length in the various sections.
            for at in [0, 1, 2, 8, 16, 17, 24] {
                for length in (10..64).step_by(3).map(|power| 1 << power) {
                    let payload = payload(section, bytes, at, length);
                    let (most, result) = most_allocated(|| codec::decode(&payload).is_err());
                    // A section may claim eight times its size, or 64 KiB if that is more. In total, decoding may take
                    // at most 4 times as much, which includes the data decoded before the claim.
                    let limit = (8 * bytes).max(64 << 10);
                    assert!(
                        most <= 4 * limit,
                        "section {section} of {bytes} bytes with a length of {length} at {at} took {most}, wanted at most 4 \
                         times {limit}"
                    );
                    refused += u32::from(result);
                }
            }
        }
    }
    assert!(refused > 1000, "only {refused} were refused");
}
