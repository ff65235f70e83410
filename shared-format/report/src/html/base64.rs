//! Bytes as text (RFC 4648, with padding), in lines that an editor can open.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A line holds so many bytes: 120 characters.
const LINE_BYTES: usize = 90;

/// The value of each letter of the alphabet; 64 for what is none.
const VALUES: [u8; 256] = {
    let mut values = [64; 256];
    let mut at = 0;
    while at < ALPHABET.len() {
        values[ALPHABET[at] as usize] = at as u8;
        at += 1;
    }
    values
};

/// Appends bytes, each line ending in a newline.
pub(super) fn encode(bytes: &[u8], out: &mut String) {
    out.reserve(bytes.len() / 3 * 4 + bytes.len() / LINE_BYTES + 8);
    for line in bytes.chunks(LINE_BYTES) {
        for group in line.chunks(3) {
            let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for at in 0..4 {
                let letter = ALPHABET[(bits >> (18 - 6 * at)) as usize & 63];
                out.push(if at <= group.len() {
                    char::from(letter)
                } else {
                    '='
                });
            }
        }
        out.push('\n');
    }
}

/// The bytes; white space counts for nothing. Else the place of what is no base64.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut letters, mut padding) = (0u32, 0u32, 0u32);
    for (at, letter) in text.bytes().enumerate() {
        if letter.is_ascii_whitespace() {
            continue;
        }
        let value = VALUES[usize::from(letter)];
        match letter {
            b'=' if letters >= 2 => padding += 1,
            _ if value < 64 && padding == 0 => {}
            _ => return Err(at),
        }
        bits = bits << 6 | u32::from(value & 63);
        letters += 1;
        if letters == 4 {
            let [_, group @ ..] = bits.to_be_bytes();
            bytes.extend_from_slice(&group[..3 - padding as usize]);
            (bits, letters) = (0, 0);
        }
    }
    if letters == 0 { Ok(bytes) } else { Err(text.len()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded(bytes: &[u8]) -> String {
        let mut out = String::new();
        encode(bytes, &mut out);
        out
    }

    #[test]
    fn known_texts() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg==\n"),
            ("fo", "Zm8=\n"),
            ("foo", "Zm9v\n"),
            ("foob", "Zm9vYg==\n"),
            ("fooba", "Zm9vYmE=\n"),
            ("foobar", "Zm9vYmFy\n"),
        ] {
            assert_eq!(encoded(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn what_is_none_is_refused_with_its_place() {
        for (text, at) in [
            ("Zg=", 3),
            ("Zm9v*AAA", 4),
            ("Zg==Zg==", 4),
            ("=", 0),
            ("Zg=v", 3),
            ("Z", 1),
        ] {
            assert_eq!(decode(text), Err(at), "{text}");
        }
        assert_eq!(decode(" Z m\r\n8 =\t"), Ok(b"fo".to_vec()));
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            prop_assert_eq!(decode(&encoded(&bytes)), Ok(bytes));
        }

        #[test]
        fn any_text_is_bytes_or_refused(text in "[A-D=+/ \n*]{0,20}") {
            if let Ok(bytes) = decode(&text) {
                prop_assert!(bytes.len() <= text.len());
            }
        }
    }
}
