//! Areas of all the parts of a screen of a given size, used for drawing, paging and clicks.

use ratatui::layout::{Rect, Size};

/// Size below which no useful content fits.
pub(crate) const SMALLEST: Size = Size { width: 20, height: 5 };

/// Lines of the detail pane, including the rule above it. On low terminals the pane is a line shorter, and the list
/// gets that line.
const DETAIL_LINES: u16 = 7;
const SHORT_DETAIL_LINES: u16 = 6;

/// Minimum screen height at which the detail pane has all its lines.
const ROOM_FOR_DETAIL: u16 = 26;

/// Minimum screen height at which the title of a list has two lines.
const ROOM_FOR_TITLE: u16 = 12;

/// Minimum screen height for showing a second view below the list.
pub(crate) const ROOM_FOR_SECOND: u16 = 30;

/// Minimum screen width at which the pane is beside the list.
const PANE_BESIDE: u16 = 160;

/// Maximum width of a pane beside the list.
const PANE_CELLS: u16 = 72;

/// Minimum width for callers and callees side by side, and for charts side by side.
const SIDE_BY_SIDE: u16 = 100;

/// Lines of the latency chart, including the rule above it. If there are no latencies, the rule and a note that says
/// why take `NO_LATENCY_LINES`.
const LATENCY_LINES: u16 = 9;
const NO_LATENCY_LINES: u16 = 3;

/// Lines of the chart of the last few seconds, which is below the latency chart or, on wide screens, beside it.
const SECONDS_LINES: u16 = 5;

/// Minimum and maximum number of lines for lists with charts below them. Within these limits, lists get as many lines
/// as they need.
const LISTS_KEEP: std::ops::RangeInclusive<u16> = 7..=12;

/// Minimum number of lines for the source if charts are above it.
const SOURCE_KEEPS: u16 = 14;

/// Minimum screen size at which the source is shown even if the user has not asked for it, provided that its file exists.
pub(crate) const SOURCE_COMES: Size = Size {
    width: SIDE_BY_SIDE,
    height: 44,
};

/// Minimum width at which charts are beside the source, and the width of these charts.
const CHARTS_BESIDE: u16 = 180;
const CHARTS_CELLS: u16 = 64;

/// Number of lines of a large pane below the list, and the minimum screen height for such a pane.
const LARGE_PANE: u16 = 17;
const ROOM_FOR_LARGE_PANE: u16 = 48;

/// Minimum screen size at which a second view is shown even if the user has not asked for it.
pub(crate) const SECOND_COMES: Size = Size {
    width: 200,
    height: 50,
};

/// The areas of one screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The whole screen.
    pub(crate) area: Rect,
    /// Program, state, rate, and cost.
    pub(crate) header: Rect,
    /// Views and settings, on tall screens.
    pub(crate) tabs: Option<Rect>,
    /// Title or sentences above the list, in views that have them.
    pub(crate) title: Option<Rect>,
    /// Titles of the columns.
    pub(crate) columns: Rect,
    /// The list.
    pub(crate) rows: Rect,
    /// A second view below the list, including the rule above it.
    pub(crate) second: Option<Rect>,
    /// The source of the function whose callers and callees are listed.
    pub(crate) source: Option<Rect>,
    /// Charts for the function whose callers and callees are listed.
    pub(crate) charts: Option<Rect>,
    /// One line with the cause of a state other than LIVE, and the next step for the user.
    pub(crate) banner: Option<Rect>,
    /// Details of the selected row, on tall screens.
    pub(crate) detail: Option<Rect>,
    /// Whether the detail pane has room for charts and lists.
    pub(crate) has_large_pane: bool,
    /// Keys, or the search line, or a notice.
    pub(crate) footer: Option<Rect>,
    /// Whether the screen is too small for these parts. It then shows only how large it needs to be.
    pub(crate) too_small: bool,
}

impl Layout {
    /// Returns the parts of a screen. If `banner`, there is a banner above the footer, unless the screen is too low.
    pub(crate) fn compute(size: Size, banner: bool) -> Self {
        let area = Rect::new(0, 0, size.width, size.height);
        let too_small = size.width < SMALLEST.width || size.height < SMALLEST.height;
        let tall = size.height >= 20;
        let mut top = 0;
        let mut bottom = size.height;
        let mut from_top = |lines: u16, bottom: u16| {
            let lines = lines.min(bottom - top.min(bottom));
            let rect = Rect::new(0, top, size.width, lines);
            top += lines;
            rect
        };
        let header = from_top(1, bottom);
        let tabs = tall.then(|| from_top(1, bottom));
        let columns = from_top(1, bottom);
        let mut from_bottom = |lines: u16| {
            bottom = bottom.saturating_sub(lines);
            Rect::new(0, bottom, size.width, lines.min(size.height))
        };
        let roomy = size.height >= 10;
        let footer = roomy.then(|| from_bottom(1));
        let banner = (banner && roomy).then(|| from_bottom(1));
        let detail_lines = match size.height {
            ROOM_FOR_DETAIL.. => DETAIL_LINES,
            _ => SHORT_DETAIL_LINES,
        };
        let detail = tall.then(|| from_bottom(detail_lines));
        let rows = from_top(bottom.saturating_sub(columns.bottom()), bottom);
        Self {
            area,
            header,
            tabs,
            columns,
            rows,
            banner,
            detail,
            footer,
            too_small,
            ..Self::default()
        }
    }

    /// Returns the layout with up to two lines for the title of the list, depending on the height of the screen.
    pub(crate) fn with_title(self) -> Self {
        let lines = match self.area.height {
            ROOM_FOR_TITLE.. => 2,
            10.. => 1,
            _ => 0,
        };
        self.with_lines(lines)
    }

    /// Returns the layout with a large pane, if there is room: beside the list on wide screens, else below it.
    pub(crate) fn with_large_pane(mut self) -> Self {
        let Some(below) = self.detail else { return self };
        if self.area.width < PANE_BESIDE {
            let has_room = self.area.width >= SIDE_BY_SIDE && self.area.height >= ROOM_FOR_LARGE_PANE;
            return if has_room {
                self.with_pane_of(LARGE_PANE)
            } else {
                self
            };
        }
        let width = (self.area.width * 3 / 10).min(PANE_CELLS);
        let list = self.area.width - width;
        self.columns.width = list;
        self.rows.width = list;
        self.rows.height += below.height;
        self.detail = Some(Rect {
            x: list,
            y: self.columns.y,
            width,
            height: self.rows.bottom() - self.columns.y,
        });
        self.has_large_pane = true;
        self
    }

    /// Returns the layout with the pane below the list enlarged to `lines` lines.
    fn with_pane_of(mut self, lines: u16) -> Self {
        if let Some(pane) = &mut self.detail {
            let more = lines - pane.height;
            self.rows.height -= more;
            (pane.y, pane.height) = (pane.y - more, lines);
            self.has_large_pane = true;
        }
        self
    }

    /// Returns the layout with a second view, which takes two fifths of the list's lines.
    pub(crate) fn with_second(mut self) -> Self {
        let lines = self.rows.height * 2 / 5;
        self.rows.height -= lines;
        self.second = Some(Rect {
            y: self.rows.bottom(),
            height: lines,
            ..self.rows
        });
        self
    }

    /// Returns the layout with sentences above the list and a pane below it. The sentences get up to `lines` lines,
    /// depending on the height of the screen. The pane gets `pane` lines, but at most three fifths of the lines that it
    /// shares with the list. If the `rows` rows of the list do not need all the remaining lines, the pane gets the
    /// spare ones too. With a `pane` of 0, there is no pane.
    pub(crate) fn with_answer(self, lines: u16, rows: u16, pane: u16) -> Self {
        let most = match self.area.height {
            30.. => 7,
            20.. => 5,
            ROOM_FOR_TITLE.. => 3,
            10.. => 1,
            _ => 0,
        };
        let mut layout = self.with_lines(lines.min(most));
        if let Some(detail) = layout.detail.take() {
            let both = layout.rows.height + detail.height;
            let least = pane.min(both * 3 / 5);
            // An empty line follows the list.
            let rest = both.saturating_sub(rows.max(3).saturating_add(1));
            let pane = if pane == 0 { 0 } else { least.max(rest) };
            layout.rows.height = both - pane;
            layout.detail = (pane > 0).then_some(Rect {
                y: layout.rows.bottom(),
                height: pane,
                ..detail
            });
        }
        layout
    }

    /// Returns the layout with charts below lists that have `rows` rows, provided that enough lines are left for the
    /// lists. `latencies` tells whether there are latencies to chart.
    pub(crate) fn with_charts(mut self, rows: u16, latencies: bool) -> Self {
        let keep = rows
            .saturating_add(1)
            .clamp(*LISTS_KEEP.start(), *LISTS_KEEP.end());
        let lines = chart_lines(self.rows.width, self.rows.height.saturating_sub(keep), latencies);
        self.rows.height -= lines;
        self.charts = (lines > 0).then_some(Rect {
            y: self.rows.bottom(),
            height: lines,
            ..self.rows
        });
        self
    }

    /// Returns the layout with the source below lists that have `rows` rows, and with charts above or beside the
    /// source. The detail pane stays below the source if there is room for it.
    pub(crate) fn with_source(self, rows: u16, latencies: bool) -> Self {
        let mut layout = self.with_answer(2, rows, u16::MAX);
        let Some(mut source) = layout.detail.take() else {
            return layout;
        };
        if source.height >= LATENCY_LINES + SOURCE_KEEPS + DETAIL_LINES {
            source.height -= DETAIL_LINES;
            layout.detail = Some(Rect {
                y: source.bottom(),
                height: DETAIL_LINES,
                ..source
            });
        }
        let mut charts = source;
        if source.width >= CHARTS_BESIDE {
            source.width -= CHARTS_CELLS;
            (charts.x, charts.width) = (source.right(), CHARTS_CELLS);
        } else {
            charts.height = chart_lines(
                source.width,
                source.height.saturating_sub(SOURCE_KEEPS),
                latencies,
            );
            source.y += charts.height;
            source.height -= charts.height;
        }
        layout.charts = (charts.height > 0).then_some(charts);
        layout.source = Some(source);
        layout
    }

    fn with_lines(mut self, lines: u16) -> Self {
        self.title = (lines > 0).then_some(Rect {
            height: lines,
            ..self.columns
        });
        self.columns.y += lines;
        self.rows.y += lines;
        self.rows.height = self.rows.height.saturating_sub(lines);
        self
    }

    /// Returns the line for typed text and notices: the footer, or the last row if there is no footer.
    pub(crate) fn bottom_line(&self) -> Rect {
        self.footer.unwrap_or(Rect {
            y: self.area.bottom().saturating_sub(1),
            height: self.area.height.min(1),
            ..self.area
        })
    }
}

/// Returns the two halves of an area, with one cell between them; `None` if the area is too narrow.
pub(crate) fn halves(area: Rect) -> Option<[Rect; 2]> {
    if area.width < SIDE_BY_SIDE {
        return None;
    }
    let width = (area.width - 1) / 2;
    let first = Rect { width, ..area };
    let second = Rect {
        x: first.right() + 1,
        width: area.right() - first.right() - 1,
        ..area
    };
    Some([first, second])
}

/// Returns how many of the `lines` available lines the charts take. If not all charts fit, the chart of the last few
/// seconds is the first to be left out.
fn chart_lines(width: u16, lines: u16, latencies: bool) -> u16 {
    let first = if latencies {
        LATENCY_LINES
    } else {
        NO_LATENCY_LINES
    };
    let both = match width {
        SIDE_BY_SIDE.. => first.max(SECONDS_LINES),
        _ => first + SECONDS_LINES,
    };
    let fits = |wanted: &u16| *wanted <= lines;
    [both, first].into_iter().find(fits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pane_grows_with_the_screen() {
        let pane = |width, height| {
            let layout = Layout::compute(Size::new(width, height), false).with_large_pane();
            let pane = layout.detail.unwrap();
            assert_eq!(pane.bottom(), layout.footer.unwrap().y);
            (pane.x, pane.height, layout.has_large_pane)
        };
        assert_eq!(pane(120, 47), (0, DETAIL_LINES, false));
        assert_eq!(pane(99, 60), (0, DETAIL_LINES, false));
        assert_eq!(pane(120, 48), (0, LARGE_PANE, true));
        assert_eq!(pane(160, 24), (112, 21, true));
    }

    #[test]
    fn lists_come_before_charts_and_the_last_seconds_leave_first() {
        let charts = |width, height, rows| {
            let layout = Layout::compute(Size::new(width, height), false).with_title();
            let layout = layout.with_charts(rows, true);
            (
                layout.rows.height,
                layout.charts.map_or(0, |charts| charts.height),
            )
        };
        assert_eq!(charts(120, 30, 5), (8, 9));
        assert_eq!(charts(120, 30, 40), (17, 0), "many rows");
        assert_eq!(charts(120, 40, 40), (18, 9));
        assert_eq!(charts(80, 24, 5), (12, 0), "too short");
        assert_eq!(charts(80, 30, 5), (8, 9), "latencies alone");
        assert_eq!(charts(80, 40, 5), (13, 14));
        for width in [20, 99, 100, 179, 180, 300] {
            for height in 5..100 {
                for rows in [0, 3, 9, 200] {
                    let (lists, charts) = charts(width, height, rows);
                    assert!(charts == 0 || lists >= 7, "{width}x{height} {rows}");
                }
            }
        }
    }

    #[test]
    fn charts_stand_above_source_or_beside_it() {
        let layout = |width, height| {
            let layout = Layout::compute(Size::new(width, height), false).with_source(5, true);
            assert_eq!(layout.detail.is_some(), height >= 50);
            layout
        };
        assert_eq!(layout(120, 30).charts, None, "source comes first");
        let above = layout(120, 50);
        let (pane, charts) = (above.source.unwrap(), above.charts.unwrap());
        assert_eq!((charts.y, charts.bottom()), (above.rows.bottom(), pane.y));
        let beside = layout(200, 50);
        let (pane, charts) = (beside.source.unwrap(), beside.charts.unwrap());
        assert_eq!((charts.x, charts.right()), (pane.right(), 200));
        assert_eq!((charts.y, charts.height), (pane.y, pane.height));
    }

    #[test]
    fn lines_never_overlap_and_fill_the_screen() {
        for width in [20, 60, 120] {
            for height in 5..60 {
                for (banner, title) in [(false, false), (true, false), (false, true), (true, true)] {
                    let l = Layout::compute(Size::new(width, height), banner);
                    let layouts = match title {
                        true => vec![
                            l.with_title(),
                            l.with_title().with_charts(3, true),
                            l.with_title().with_charts(99, false),
                            l.with_source(3, true),
                            l.with_source(99, false),
                            l.with_answer(0, 0, 0),
                            l.with_answer(2, 3, 9),
                            l.with_answer(9, 99, 99),
                        ],
                        false if height >= ROOM_FOR_SECOND => vec![l, l.with_second()],
                        false => vec![l],
                    };
                    let beside = Layout::compute(Size::new(200, height), banner).with_large_pane();
                    if let Some(pane) = beside.detail {
                        assert!(beside.has_large_pane && pane.right() == 200, "{height}");
                        assert_eq!((pane.x, pane.y), (beside.rows.right(), beside.columns.y));
                        assert_eq!(pane.bottom(), beside.rows.bottom());
                        assert_eq!(beside.rows.width, beside.columns.width);
                    }
                    for l in layouts {
                        let parts = [
                            Some(l.header),
                            l.tabs,
                            l.title,
                            Some(l.columns),
                            Some(l.rows),
                            l.second,
                            l.charts,
                            l.source,
                            l.detail,
                            l.banner,
                            l.footer,
                        ];
                        let mut y = 0;
                        for part in parts.into_iter().flatten() {
                            assert_eq!(part.y, y, "{height}");
                            assert_eq!(part.width, width);
                            y += part.height;
                        }
                        assert_eq!(y, height);
                        assert!(l.rows.height >= 3, "{height}");
                    }
                }
            }
        }
    }
}
