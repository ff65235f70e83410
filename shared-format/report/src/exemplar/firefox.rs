//! A slow call for the Firefox Profiler. Each step is a sample weighted by the duration of the step, so that the stack chart
//! shows the call as a timeline. Notes and periods off the CPU are markers.

use std::io::{self, Write};
use std::time::Duration;

use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, MarkerFieldFlags,
    MarkerFieldFormat, MarkerTiming, Profile, ReferenceTimestamp, SamplingInterval, StackHandle,
    StaticSchemaMarker, StaticSchemaMarkerField, StringHandle, Timestamp,
};
use tickscope_analysis::waterfall::begins;
use tickscope_format::ids::NO_PARENT;

use super::call::Call;

/// A marker for a note, a period off the CPU, or a gap in the trace.
struct Remark {
    name: StringHandle,
    text: StringHandle,
    category: CategoryHandle,
}

impl StaticSchemaMarker for Remark {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "Remark";
    const CHART_LABEL: Option<&'static str> = Some("{marker.data.text}");
    const TABLE_LABEL: Option<&'static str> = Some("{marker.name}: {marker.data.text}");
    const FIELDS: &'static [StaticSchemaMarkerField] = &[StaticSchemaMarkerField {
        key: "text",
        label: "Text",
        format: MarkerFieldFormat::String,
        flags: MarkerFieldFlags::SEARCHABLE,
    }];

    fn name(&self, _profile: &mut Profile) -> StringHandle {
        self.name
    }

    fn category(&self, _profile: &mut Profile) -> CategoryHandle {
        self.category
    }

    fn string_field_value(&self, _field_index: u32) -> StringHandle {
        self.text
    }

    fn number_field_value(&self, _field_index: u32) -> f64 {
        0.0
    }
}

pub(super) fn write(call: &Call<'_>, out: &mut impl Write) -> io::Result<()> {
    let began = Duration::from_nanos(call.exemplar.began_unix_ns);
    let mut profile = Profile::new(
        &call.snapshot.process.name,
        ReferenceTimestamp::from_duration_since_unix_epoch(began),
        // The weight of a sample is its duration in nanoseconds.
        SamplingInterval::from_nanos(1),
    );
    profile.set_product(&format!("{} ({})", call.snapshot.process.name, call.title()));
    let at = |ticks: u64| Timestamp::from_nanos_since_reference(call.ns(ticks));
    let process = profile.add_process(&call.snapshot.process.name, call.snapshot.process.pid, at(0));
    let thread = profile.add_thread(process, call.exemplar.tid, at(0), true);
    profile.set_thread_name(thread, &call.exemplar.thread);
    profile.set_thread_end_time(thread, at(call.waterfall.ticks));
    profile.add_initial_visible_thread(thread);
    profile.add_initial_selected_thread(thread);
    let working = profile.add_category("working", CategoryColor::Yellow);
    let waiting = profile.add_category("off the CPU", CategoryColor::Gray);
    // Parents come before their children, so the stack of the parent already exists.
    let mut stacks: Vec<Option<StackHandle>> = Vec::with_capacity(call.watch.paths.len());
    for (path, &function) in call.watch.paths.iter().zip(&call.of_path) {
        let name = profile.intern_string(&call.functions.list[function].full_name());
        let frame = profile.intern_frame(
            thread,
            FrameInfo {
                frame: Frame::Label(name),
                category_pair: working.into(),
                flags: FrameFlags::empty(),
            },
        );
        let parent = match path.parent {
            NO_PARENT => None,
            parent => stacks.get(parent as usize).copied().flatten(),
        };
        stacks.push(Some(profile.intern_stack(thread, parent, frame)));
    }
    let begins = begins(call.trace);
    let mut off_cpu = call.trace.off_cpu.iter().peekable();
    for (step, (path, ticks, _)) in (0u32..).zip(call.trace.steps()) {
        let off = off_cpu.next_if(|off| off.0 == step);
        let off = off.map_or(0, |off| off.1.saturating_add(off.2));
        let cpu = CpuDelta::from_nanos(call.ns(ticks.saturating_sub(off)));
        let weight = i32::try_from(call.ns(ticks)).unwrap_or(i32::MAX);
        let stack = stacks.get(path as usize).copied().flatten();
        profile.add_sample(thread, at(begins[step as usize]), stack, cpu, weight);
    }
    // The chart draws each sample up to the next one, so the last step needs another sample after it.
    profile.add_sample(thread, at(call.waterfall.ticks), None, CpuDelta::ZERO, 0);
    let mut mark = |timing, name: &str, text: &str, category| {
        let remark = Remark {
            name: profile.intern_string(name),
            text: profile.intern_string(text),
            category,
        };
        let _ = profile.add_marker(thread, timing, remark);
    };
    for off in &call.waterfall.off_cpu {
        let text = format!(
            "{} waiting, {} without a CPU",
            crate::number::duration(call.ns(off.waiting)),
            crate::number::duration(call.ns(off.ready))
        );
        let begin = off.end.saturating_sub(off.waiting.saturating_add(off.ready));
        let timing = MarkerTiming::Interval(at(begin), at(off.end));
        mark(timing, "off the CPU", &text, waiting);
    }
    for (ticks, key, value) in call.notes() {
        mark(MarkerTiming::Instant(at(ticks)), key, value, working);
    }
    if let Some((gap, steps)) = &call.waterfall.gap {
        let timing = MarkerTiming::Interval(at(gap.start), at(gap.end));
        mark(timing, "left out", &format!("{steps} steps"), working);
    }
    Ok(serde_json::to_writer(out, &profile)?)
}
