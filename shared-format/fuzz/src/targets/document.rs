//! The target `document`: HTML pages that contain a snapshot.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tickscope_format::codec;
use tickscope_report::archive;
use tickscope_report::form::FormOptions;
use tickscope_report::html;

use super::derive::snapshot;
use super::follow::follow;
use super::input::Input;
use super::open::checksum;
use super::scratch;

/// A valid page without its snapshot: the text before the snapshot and the text after it.
static PAGE: LazyLock<(String, String)> = LazyLock::new(|| {
    let page = html::page(&Default::default(), &FormOptions::default()).unwrap();
    let (before, rest) = page.split_once("data-crc32=\"").unwrap();
    let (_, behind) = rest.split_once("</script>").unwrap();
    // Drops the scripts, because the reader of a snapshot skips them.
    let before = &before[before.rfind("<script").unwrap()..];
    (
        format!("<!doctype html>{before}data-crc32=\""),
        format!("</script>{}", &behind[..behind.len().min(40)]),
    )
});

/// Reads a page. The input is either the page itself, a part of it, or a list of changes to it.
pub(crate) fn run(input: &[u8]) {
    let mut input = Input(input);
    match input.byte() % 6 {
        0 => read(&String::from_utf8_lossy(input.0)),
        1 => {
            let (before, behind) = &*PAGE;
            read(&format!("{before}{}{behind}", String::from_utf8_lossy(input.0)));
        }
        // The input is the payload of a page with a correct checksum.
        2 => {
            let (before, behind) = &*PAGE;
            let (sum, text) = (checksum(&[], input.0), STANDARD.encode(input.0));
            let page = format!("{before}{sum:08x}\">\n{text}{behind}");
            let read = html::snapshot_of(&page);
            assert_eq!(read.is_ok(), codec::decode(input.0).is_ok());
        }
        // The input becomes the payload of a page with a correct checksum.
        3 | 4 => {
            let edits: Vec<(usize, u8)> = (0..input.below(6))
                .map(|_| (input.below(65_536), input.byte()))
                .collect();
            let snapshot = snapshot(&mut input);
            if !codec_takes(&snapshot) {
                return;
            }
            let mut text = html::page(&snapshot, &FormOptions::default())
                .unwrap()
                .into_bytes();
            if edits.is_empty() {
                let text = std::str::from_utf8(&text).unwrap();
                assert_eq!(html::snapshot_of(text).unwrap().nodes, snapshot.nodes);
            }
            for (at, byte) in edits {
                let at = at % text.len();
                match byte {
                    0..=31 => text.truncate(at.max(1)),
                    32..=63 => drop(text.remove(at)),
                    _ => text[at] = byte,
                }
                if text.is_empty() {
                    return;
                }
            }
            read(&String::from_utf8_lossy(&text));
        }
        // The input is a file, whose kind the reader must detect first.
        _ => scratch::with(|scratch| {
            scratch.hold(input.0);
            let _ = archive::is_archive(scratch.path());
            let _ = archive::read(scratch.path());
        }),
    }
}

fn codec_takes(snapshot: &tickscope_format::Snapshot) -> bool {
    let mut payload = Vec::new();
    codec::encode(snapshot, &mut payload).is_ok() && codec::decode(&payload).is_ok()
}

fn read(text: &str) {
    if let Ok(snapshot) = html::snapshot_of(text) {
        // Every snapshot that a page yields must be valid.
        assert!(codec_takes(&snapshot));
        follow(&snapshot, &snapshot, text.len());
    }
}
