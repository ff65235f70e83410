//! A share as a bar of cells and parts of a cell.

use crate::text::glyphs::Glyphs;

/// A share of 0 to 1 of so many cells, to the nearest part of a cell.
pub(super) fn bar(share: f64, cells: u16, glyphs: &Glyphs) -> String {
    let parts = glyphs.eighths.len() - 1;
    let all = usize::from(cells) * parts;
    let filled = ((share.clamp(0.0, 1.0) * all as f64).round() as usize).min(all);
    let mut out = glyphs.eighths[parts].repeat(filled / parts);
    out.push_str(glyphs.eighths[filled % parts]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        let unicode = Glyphs::of(false);
        assert_eq!(bar(0.751, 10, unicode), "███████▌");
        assert_eq!(bar(0.0, 10, unicode), "");
        assert_eq!(bar(1.0, 5, unicode), "█████");
        assert_eq!(bar(f64::NAN, 5, unicode), "");
        assert_eq!(bar(0.5, 5, Glyphs::of(true)), "##=");
    }
}
