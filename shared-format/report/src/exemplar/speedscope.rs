//! A slow call as an evented speedscope profile, in which each call opens a frame when it starts and closes it when it ends.

use std::io::{self, Write};

use super::call::Call;
use crate::speedscope_file::{self, Event, Profile};

pub(super) fn write(call: &Call<'_>, out: &mut impl Write) -> io::Result<()> {
    let spans = &call.waterfall.spans;
    let mut events = Vec::with_capacity(2 * spans.len());
    let mut open: Vec<usize> = Vec::new();
    let frame = |span: usize| call.of_path[spans[span].path as usize] as u32;
    let end = |span: usize| Event::new(true, frame(span), call.ns(spans[span].end));
    for (index, span) in spans.iter().enumerate() {
        // Calls are sorted by their start, so the open calls at this depth or deeper have ended.
        events.extend(open.drain(span.depth as usize..).rev().map(end));
        events.push(Event::new(false, frame(index), call.ns(span.begin)));
        open.push(index);
    }
    events.extend(open.into_iter().rev().map(end));
    let profile = Profile::new(call.title(), "nanoseconds", call.ns(call.waterfall.ticks), events);
    speedscope_file::write(&call.title(), &call.functions, &[profile], 0, out)
}
