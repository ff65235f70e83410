//! The snapshot inside a page: the payload of a record in base64, with its format version and checksum.

use std::fmt::Write;

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, Engine};
use tickscope_format::FormatError;
use tickscope_format::checksum::checksum;
use tickscope_format::codec;
use tickscope_format::layout::{FORMAT_MAJOR, FORMAT_MINOR};
use tickscope_format::snapshot::Snapshot;

/// Start of the element that contains the snapshot, up to the format version. It occurs only once in a page, because the page's
/// own script tags look different and escaped names contain no `<`.
const OPENING: &str = "<script type=\"application/x-tickscope\" id=\"snapshot\" data-format=\"";

const CLOSING: &str = "</script>";

/// Number of bytes per line. In base64 they take 120 characters, so lines stay short enough for editors.
const LINE_BYTES: usize = 90;

/// Appends the HTML element that contains the snapshot.
pub(super) fn write(out: &mut String, snapshot: &Snapshot) -> Result<(), FormatError> {
    let mut payload = Vec::new();
    codec::encode(snapshot, &mut payload)?;
    // Writing into a String does not fail.
    let _ = writeln!(
        out,
        "{OPENING}{FORMAT_MAJOR}.{FORMAT_MINOR}\" data-crc32=\"{:08x}\">",
        checksum(&[], &payload)
    );
    out.reserve(payload.len() / 3 * 4 + payload.len() / LINE_BYTES + 8);
    for line in payload.chunks(LINE_BYTES) {
        STANDARD.encode_string(line, out);
        out.push('\n');
    }
    out.push_str(CLOSING);
    Ok(())
}

/// Returns the snapshot that a page contains.
///
/// # Errors
/// If the page contains no snapshot, or one that is damaged or that this version cannot read.
pub fn snapshot_of(text: &str) -> Result<Snapshot, FormatError> {
    let not_ours = |found: String| FormatError::NotOurs {
        found,
        wanted: "an HTML page with <script id=\"snapshot\">, as `tickscope report -f html` writes it".into(),
    };
    let Some(at) = text.find(OPENING) else {
        let start: String = text.chars().take(20).collect();
        return Err(not_ours(format!("\"{}\"", start.escape_debug())));
    };
    let element = &text[at + OPENING.len()..];
    let head = element.split_once(">").and_then(|(attributes, body)| {
        let (version, rest) = attributes.split_once("\" data-crc32=\"")?;
        let sum = u64::from_str_radix(rest.strip_suffix('"')?, 16).ok()?;
        Some((version, sum, body))
    });
    let Some((version, sum, body)) = head else {
        return Err(not_ours("a snapshot without version and checksum".into()));
    };
    let major = version.split_once('.').map_or(version, |(major, _)| major);
    if major.parse() != Ok(FORMAT_MAJOR) {
        return Err(FormatError::Version {
            found: version.into(),
            wanted: format!("{FORMAT_MAJOR}.x"),
        });
    }
    let offset = (text.len() - body.len()) as u64;
    let Some((body, _)) = body.split_once(CLOSING) else {
        return Err(FormatError::Truncated {
            found: text.len() as u64,
            wanted: text.len() as u64 + CLOSING.len() as u64,
        });
    };
    let damaged = |what, at: usize, found: String, wanted: String| FormatError::Damaged {
        what,
        offset: Some(offset + at as u64),
        found,
        wanted,
    };
    let payload = decode_base64(body).map_err(|at| {
        let found = body.get(at..).and_then(|rest| rest.chars().next());
        let found = found.map_or_else(|| "its end".into(), |c| format!("{c:?}"));
        damaged("snapshot", at, found, "base64".into())
    })?;
    let found = checksum(&[], &payload);
    if found != sum {
        return Err(damaged(
            "snapshot's checksum",
            0,
            format!("{found:08x}"),
            format!("{sum:08x}"),
        ));
    }
    codec::decode(&payload)
}

/// Decodes base64 text, ignoring white space.
///
/// # Errors
/// Returns the byte offset of the first character that is not valid base64. If the text is too short or padded incorrectly,
/// returns its length.
fn decode_base64(text: &str) -> Result<Vec<u8>, usize> {
    let is_letter = |byte: &u8| !byte.is_ascii_whitespace();
    let letters: Vec<u8> = text.bytes().filter(is_letter).collect();
    STANDARD.decode(&letters).map_err(|error| match error {
        DecodeError::InvalidByte(letter, _) | DecodeError::InvalidLastSymbol(letter, _) => {
            let mut places = text.bytes().enumerate().filter(|(_, byte)| is_letter(byte));
            places.nth(letter).map_or(text.len(), |(place, _)| place)
        }
        DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => text.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_base64_is_refused_with_its_place() {
        for (text, at) in [
            ("Zg=", 3),
            ("Zm9v*AAA", 4),
            ("Zm\n9\n*A==", 5),
            ("Z", 1),
            ("Z===", 1),
        ] {
            assert_eq!(decode_base64(text), Err(at), "{text}");
        }
        assert_eq!(decode_base64(" Z m\r\n8 =\t"), Ok(b"fo".to_vec()));
    }
}
