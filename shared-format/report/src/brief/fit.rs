//! Keeps short answers within a maximum length: long names are shortened, and rows are left out.

/// Maximum number of bytes of an answer, unless the user requests more rows.
pub const BYTES_MAX: usize = 2_000;

/// Maximum length of a name in a short answer, in bytes.
pub(super) const NAME_BYTES: usize = 96;

/// Replaces the part of a name that is cut.
const CUT: &str = "…";

/// Shortens a name so that it fits. A long name loses its middle, because its end is more informative.
pub(crate) fn cut(name: &str) -> String {
    if name.len() <= NAME_BYTES {
        return name.to_owned();
    }
    let is_boundary = |at: &usize| name.is_char_boundary(*at);
    let head = (0..=NAME_BYTES / 3).rev().find(is_boundary).unwrap_or(0);
    let behind = name.len() - (NAME_BYTES - NAME_BYTES / 3 - CUT.len());
    let tail = (behind..=name.len()).find(is_boundary).unwrap_or(name.len());
    format!("{}{CUT}{}", &name[..head], &name[tail..])
}

/// Returns the document with as many rows as fit into [`BYTES_MAX`] bytes, but at most `most`. If not even one row fits, the
/// document has no rows.
pub(crate) fn fitted(most: usize, document: impl Fn(usize) -> String) -> String {
    (1..=most)
        .rev()
        .map(&document)
        .find(|text| text.len() <= BYTES_MAX)
        .unwrap_or_else(|| document(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_ends() {
        assert_eq!(cut("book::insert"), "book::insert");
        for name in ["x".repeat(97), "ä".repeat(60), "🦀".repeat(500)] {
            let short = cut(&name);
            assert!(short.len() <= NAME_BYTES && short.contains(CUT), "{short}");
        }
        assert!(cut(&format!("{}::the_end", "m::".repeat(99))).ends_with("::the_end"));
    }

    #[test]
    fn rows_are_left_out_until_the_rest_fits() {
        let document = |rows: usize| "r".repeat(rows * 900);
        assert_eq!(fitted(10, document).len(), 1_800);
        assert_eq!(fitted(1, document).len(), 900);
        assert_eq!(fitted(3, |rows| "r".repeat(5_000 + rows)).len(), 5_000);
    }
}
