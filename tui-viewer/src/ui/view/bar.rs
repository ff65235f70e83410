//! Shares as bars of cells and parts of a cell.

use crate::text::glyphs::Glyphs;

/// Returns a bar for a share of 0 to 1 of these cells, to the nearest part of a cell.
pub(crate) fn bar(share: f64, cells: u16, glyphs: &Glyphs) -> String {
    let parts = glyphs.eighths.len() - 1;
    let all = usize::from(cells) * parts;
    let filled = ((share.clamp(0.0, 1.0) * all as f64).round() as usize).min(all);
    let mut out = glyphs.eighths[parts].repeat(filled / parts);
    out.push_str(glyphs.eighths[filled % parts]);
    out
}

/// Like [`bar`], in two tones. The second tone is for time off the CPU: the part `off` of the share, 0 to 1. A bar of
/// one tone has parts of a cell; each of two tones has whole cells.
pub(crate) fn in_two(share: f64, off: f64, cells: u16, glyphs: &Glyphs) -> [String; 2] {
    let whole = |share: f64| (share.clamp(0.0, 1.0) * f64::from(cells)).round() as usize;
    let (all, working) = (whole(share), whole(share * (1.0 - off.clamp(0.0, 1.0))));
    if all <= working {
        return [bar(share, cells, glyphs), String::new()];
    }
    let full = glyphs.eighths[glyphs.eighths.len() - 1];
    let [off_cpu, _] = glyphs.off_cpu;
    [full.repeat(working), off_cpu.repeat(all - working)]
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

    #[test]
    fn what_is_off_the_cpu_has_a_tone_of_its_own_behind_the_rest() {
        let (unicode, ascii) = (Glyphs::of(false), Glyphs::of(true));
        assert_eq!(in_two(0.751, 0.0, 10, unicode), ["███████▌", ""]);
        assert_eq!(in_two(0.8, 0.25, 10, unicode), ["██████", "▒▒"]);
        assert_eq!(in_two(0.8, 1.0, 10, unicode), ["", "▒▒▒▒▒▒▒▒"]);
        assert_eq!(in_two(1.0, 0.5, 4, ascii), ["##", ".."]);
        // The part off the CPU is too small for a cell.
        assert_eq!(in_two(0.8, 0.01, 10, unicode), ["████████", ""]);
        assert_eq!(in_two(0.0, 0.5, 10, unicode), ["", ""]);
        assert_eq!(in_two(f64::NAN, f64::NAN, 10, unicode), ["", ""]);
    }
}
