//! Turns the trace of a slow call into a timeline: the slow call and each call inside it, with start, end and depth.

use std::ops::Range;

use tickscope_format::snapshot::{Then, Trace, Watch};

use crate::slow::lineage;

/// Timeline of a slow call and the calls inside it. All times are in ticks since the slow call began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waterfall {
    /// Duration of the call.
    pub ticks: u64,
    /// All calls, ordered by their start. A caller comes before its callees.
    pub spans: Vec<Span>,
    /// Periods in which the thread was off its CPU, in order.
    pub off_cpu: Vec<OffCpu>,
    /// Period that is missing from the trace, and the number of steps that were left out in it.
    pub gap: Option<(Range<u64>, u64)>,
    /// Number of levels of nested calls, including the slow call itself.
    pub depth: u32,
}

/// The slow call itself, or a call inside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Index of the path in [`Watch::paths`].
    pub path: u32,
    /// Number of calls that enclose this one.
    pub depth: u32,
    /// Tick at which the call began.
    pub begin: u64,
    /// Tick at which the call, or the recorded part of it, ended.
    pub end: u64,
}

/// Time off the CPU during one step of the trace. It lies somewhere between the step's `begin` and `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OffCpu {
    /// Number of calls that enclose the call in which the thread was off the CPU.
    pub depth: u32,
    /// Tick at which the step began.
    pub begin: u64,
    /// Tick at which the step ended.
    pub end: u64,
    /// Ticks in which the thread waited.
    pub waiting: u64,
    /// Ticks in which the thread was ready to run but had no CPU.
    pub ready: u64,
}

/// One block in a line of cells. It is a single call, or several calls on the same path that are too short to have a cell each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Index of the path in [`Watch::paths`].
    pub path: u32,
    /// Number of calls that enclose the calls in the block.
    pub depth: u32,
    /// Index of the first cell.
    pub x: u16,
    /// Number of cells; at least 1.
    pub width: u16,
    /// Number of calls in the block.
    pub calls: u64,
    /// Total duration of the calls in the block, in ticks.
    pub ticks: u64,
}

/// Returns the tick at which each step of a trace begins, followed by the tick at which the trace ends.
pub fn begins(trace: &Trace) -> Vec<u64> {
    let mut now = 0u64;
    let mut begins = Vec::with_capacity(trace.len() + 1);
    let gap = |step: usize| {
        let gap = trace.gap.filter(|gap| gap.step as usize == step);
        gap.map_or(0, |gap| gap.ticks)
    };
    for (step, ticks) in trace.ticks.iter().enumerate() {
        now = now.saturating_add(gap(step));
        begins.push(now);
        now = now.saturating_add(*ticks);
    }
    begins.push(now.saturating_add(gap(trace.len())));
    begins
}

impl Waterfall {
    /// Returns the calls in a trace. `watch` must be the watch that recorded the trace.
    pub fn of(trace: &Trace, watch: &Watch) -> Self {
        let mut waterfall = Self::default();
        // Open calls, outermost first, as pairs of a path and an index into `spans`.
        let mut open: Vec<(u32, usize)> = Vec::new();
        let mut now = 0u64;
        let mut enters = true;
        let mut off_cpu = trace.off_cpu.iter().peekable();
        for (step, (path, ticks, then)) in (0u32..).zip(trace.steps()) {
            waterfall.skip(trace, step, &mut now);
            let lineage = lineage(watch, path);
            let both = open.iter().zip(&lineage);
            let mut shared = both.take_while(|((open, _), path)| open == *path).count();
            // This step entered a new call, so the call that is open on the same path ends here.
            if enters && shared == lineage.len() {
                shared -= 1;
            }
            for (_, span) in open.drain(shared..) {
                waterfall.spans[span].end = now;
            }
            for (&path, depth) in lineage[shared..].iter().zip(shared as u32..) {
                open.push((path, waterfall.spans.len()));
                waterfall.spans.push(Span {
                    path,
                    depth,
                    begin: now,
                    end: now,
                });
            }
            waterfall.depth = waterfall.depth.max(open.len() as u32);
            let begin = now;
            now = now.saturating_add(ticks);
            if let Some(&(_, waiting, ready)) = off_cpu.next_if(|off| off.0 == step) {
                waterfall.off_cpu.push(OffCpu {
                    depth: lineage.len() as u32 - 1,
                    begin,
                    end: now,
                    waiting,
                    ready,
                });
            }
            if then == Then::Exit
                && let Some((_, span)) = open.pop()
            {
                waterfall.spans[span].end = now;
            }
            enters = then == Then::Enter;
        }
        waterfall.skip(trace, trace.len() as u32, &mut now);
        for (_, span) in open {
            waterfall.spans[span].end = now;
        }
        waterfall.ticks = now;
        waterfall
    }

    /// If steps were left out just before `step`, advances `now` past them.
    fn skip(&mut self, trace: &Trace, step: u32, now: &mut u64) {
        if let Some(gap) = trace.gap.filter(|gap| gap.step == step) {
            let end = now.saturating_add(gap.ticks);
            self.gap = Some((*now..end, gap.steps));
            *now = end;
        }
    }

    /// Draws the period `shown` as blocks in lines of `cells` cells, one line for each depth. The blocks are ordered by line, and
    /// from left to right within a line. Adjacent calls on the same path share a block if each of them covers at most `few`
    /// cells.
    pub fn blocks(&self, shown: &Range<u64>, cells: u16, few: u16) -> Vec<Block> {
        let length = shown.end.saturating_sub(shown.start);
        if length == 0 || cells == 0 {
            return Vec::new();
        }
        let cell = |at: u64| {
            let at = at.clamp(shown.start, shown.end) - shown.start;
            (u128::from(at) * u128::from(cells) / u128::from(length)) as u16
        };
        // The last block of each line, and whether all its calls are short.
        let mut lines: Vec<Vec<(Block, bool)>> = vec![Vec::new(); self.depth as usize];
        let in_sight =
            |span: &&Span| span.begin < shown.end && (span.end > shown.start || span.begin >= shown.start);
        for span in self.spans.iter().filter(in_sight) {
            let Some(line) = lines.get_mut(span.depth as usize) else {
                continue;
            };
            let x = cell(span.begin).min(cells - 1);
            let end = cell(span.end).max(x + 1);
            let is_short = end - x <= few;
            let ticks = span.end - span.begin;
            match line.last_mut() {
                Some((last, was_short))
                    if last.path == span.path && is_short && *was_short && x <= last.x + last.width =>
                {
                    last.width = last.width.max(end - last.x);
                    last.calls += 1;
                    last.ticks = last.ticks.saturating_add(ticks);
                }
                // The last block already covers these cells. If it covers a single cell, that cell shows the longer of the two
                // calls.
                Some((last, _)) if x < last.x + last.width && end <= last.x + last.width => {
                    if last.width == 1 && ticks > last.ticks {
                        *last = Block {
                            path: span.path,
                            calls: 1,
                            ticks,
                            ..*last
                        };
                    }
                }
                last => {
                    let x = last.map_or(x, |(last, _)| x.max(last.x + last.width));
                    line.push((
                        Block {
                            path: span.path,
                            depth: span.depth,
                            x,
                            width: end - x,
                            calls: 1,
                            ticks,
                        },
                        is_short,
                    ));
                }
            }
        }
        lines.into_iter().flatten().map(|(block, _)| block).collect()
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::{Snapshot, TraceGap};
    use tickscope_testkit::fixture;

    use super::*;

    fn waterfall(snapshot: &Snapshot, exemplar: usize) -> Waterfall {
        let watch = &snapshot.watches[0];
        Waterfall::of(watch.exemplars[exemplar].trace.as_ref().unwrap(), watch)
    }

    #[test]
    fn each_call_has_its_place_in_time_and_depth() {
        let snapshot = fixture::slow_frames();
        let us = |us: u64| us * 2_500;
        let waiting = waterfall(&snapshot, 0);
        assert_eq!(waiting.ticks, snapshot.watches[0].exemplars[0].ticks);
        let span = |path, depth, begin, end| Span {
            path,
            depth,
            begin: us(begin),
            end: us(end),
        };
        let due = [span(0, 0, 0, 8_476), span(1, 1, 7, 410), span(3, 1, 414, 8_474)];
        assert_eq!(waiting.spans, due);
        let [off] = waiting.off_cpu[..] else {
            panic!("one wait")
        };
        assert_eq!((off.depth, off.begin, off.waiting), (1, us(414), us(8_001)));

        let lookups = waterfall(&snapshot, 1);
        let of_path = |path| lookups.spans.iter().filter(move |span| span.path == path);
        assert_eq!([0, 1, 2, 3].map(|path| of_path(path).count()), [1, 1, 600, 1]);
        assert!(of_path(2).all(|span| span.end - span.begin == us(5)));
    }

    #[test]
    fn many_short_calls_of_a_path_are_one_block() {
        let snapshot = fixture::slow_frames();
        let lookups = waterfall(&snapshot, 1);
        let whole = 0..lookups.ticks;
        let blocks = lookups.blocks(&whole, 100, 2);
        let of_path = |path| blocks.iter().filter(move |block| block.path == path);
        let [all] = of_path(2).collect::<Vec<_>>()[..] else {
            panic!("{blocks:?}")
        };
        assert_eq!(all.calls, 600);
        assert!(all.width > 80 && all.width < 90, "{all:?}");

        // Zoomed in on this part, each call has its own block.
        let first = lookups.spans.iter().find(|span| span.path == 2).unwrap();
        let near = first.begin..first.begin + 10 * (first.end - first.begin);
        let blocks = lookups.blocks(&near, 100, 2);
        assert_eq!(blocks.iter().filter(|block| block.path == 2).count(), 10);
    }

    #[test]
    fn blocks_of_a_line_never_overlap_and_stay_on_their_cells() {
        let snapshot = fixture::slow_frames();
        for exemplar in 0..2 {
            let waterfall = waterfall(&snapshot, exemplar);
            for cells in 1..60 {
                for part in 1..20u64 {
                    let shown = waterfall.ticks / 40 * part..waterfall.ticks / 20 * part + 1;
                    let blocks = waterfall.blocks(&shown, cells, 2);
                    for pair in blocks.windows(2).filter(|pair| pair[0].depth == pair[1].depth) {
                        assert!(pair[0].x + pair[0].width <= pair[1].x, "{pair:?}");
                    }
                    assert!(
                        blocks
                            .iter()
                            .all(|block| block.width > 0 && block.x + block.width <= cells)
                    );
                }
            }
        }
    }

    #[test]
    fn a_gap_takes_its_time_and_calls_may_go_on_without_beginning() {
        let snapshot = fixture::slow_frames();
        let watch = &snapshot.watches[0];
        let mut trace = Trace::default();
        trace.push(0, 10, Then::Enter);
        trace.push(2, 5, Then::Exit);
        trace.push(0, 1, Then::Enter);
        trace.push(2, 5, Then::Stay);
        trace.push(3, 7, Then::GoOn);
        trace.push(2, 4, Then::Exit);
        trace.gap = Some(TraceGap {
            step: 2,
            steps: 9,
            ticks: 100,
        });
        let waterfall = Waterfall::of(&trace, watch);
        assert_eq!(waterfall.gap, Some((15..115, 9)));
        assert_eq!(waterfall.ticks, 132);
        let spans = waterfall.spans.iter();
        let places: Vec<_> = spans.map(|span| (span.path, span.begin, span.end)).collect();
        assert_eq!(
            places,
            [
                (0, 0, 132),
                (2, 10, 15),
                (2, 116, 121),
                (3, 121, 128),
                (2, 128, 132)
            ]
        );
    }
}
