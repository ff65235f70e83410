//! What a program did over time for the Firefox Profiler: counters, and for each function a thread that is as busy in an
//! interval as the function was, because the profiler has no tracks of shares.

use std::io::{self, Write};
use std::time::Duration;

use fxprof_processed_profile::{
    CategoryColor, CpuDelta, Frame, FrameFlags, FrameInfo, Profile, ReferenceTimestamp, SamplingInterval,
    Timestamp,
};

use super::intervals::{OverTime, Part, part_in};

pub(super) fn write(over_time: &OverTime, top: &[(&str, &[Part])], out: &mut impl Write) -> io::Result<()> {
    let began = Duration::from_nanos(over_time.began_unix_ns);
    let mut profile = Profile::new(
        &over_time.process,
        ReferenceTimestamp::from_duration_since_unix_epoch(began),
        // Samples have the weight of their time: microseconds.
        SamplingInterval::from_nanos(1_000),
    );
    profile.set_product(&format!("{} (over time)", over_time.process));
    let at = Timestamp::from_nanos_since_reference;
    let end = over_time.intervals.last().map_or(0, |last| last.end_ns);
    let process = profile.add_process(&over_time.process, over_time.pid, at(0));
    profile.set_process_end_time(process, at(end));
    let working = profile.add_category("self time", CategoryColor::Yellow);
    // Counters belong to a process by its main thread, and the main thread has the name of the process.
    let main = profile.add_thread(process, over_time.pid, at(0), true);
    profile.set_thread_end_time(main, at(end));
    for (&(name, parts), number) in top.iter().zip(1..) {
        let thread = profile.add_thread(process, number, at(0), false);
        profile.set_thread_name(thread, name);
        profile.set_thread_end_time(thread, at(end));
        profile.add_initial_visible_thread(thread);
        if number == 1 {
            profile.add_initial_selected_thread(thread);
        }
        let name = profile.intern_string(name);
        let frame = profile.intern_frame(
            thread,
            FrameInfo {
                frame: Frame::Label(name),
                category_pair: working.into(),
                flags: FrameFlags::empty(),
            },
        );
        let stack = profile.intern_stack(thread, None, frame);
        // A sample tells what was since the sample before.
        profile.add_sample(thread, at(0), None, CpuDelta::ZERO, 0);
        for (index, interval) in over_time.intervals.iter().enumerate() {
            let self_ns = part_in(parts, index).self_ns;
            let weight = i32::try_from(self_ns / 1_000).unwrap_or(i32::MAX);
            let stack = (self_ns > 0).then_some(stack);
            profile.add_sample(
                thread,
                at(interval.end_ns),
                stack,
                CpuDelta::from_nanos(self_ns),
                weight,
            );
        }
    }
    let mut counter = |name: &str, category: &str, about: &str, values: &[f64]| {
        let counter = profile.add_counter(process, name, category, about);
        // Counters add up differences.
        let mut before = 0.0;
        for (interval, value) in over_time.intervals.iter().zip(values) {
            profile.add_counter_sample(counter, at(interval.begin_ns), value - before, 0);
            before = *value;
        }
        profile.add_counter_sample(counter, at(end), 0.0, 0);
    };
    let intervals = || over_time.intervals.iter().enumerate();
    if over_time
        .intervals
        .iter()
        .any(|interval| interval.cpu_ns.is_some())
    {
        let values =
            intervals().map(|(_, interval)| interval.cpu_ns.unwrap_or(0) as f64 / 1e9 / interval.seconds());
        counter(
            "CPUs in use",
            "CPU",
            "CPU time of all threads per time",
            &values.collect::<Vec<_>>(),
        );
    }
    for (which, name) in ["threads waiting", "threads without a CPU"]
        .into_iter()
        .enumerate()
    {
        if over_time
            .intervals
            .iter()
            .any(|interval| interval.off_cpu_ns.is_some())
        {
            let values = intervals().map(|(_, interval)| {
                interval.off_cpu_ns.map_or(0, |off| off[which]) as f64 / 1e9 / interval.seconds()
            });
            counter(
                name,
                "off the CPU",
                "threads in scopes, on average",
                &values.collect::<Vec<_>>(),
            );
        }
    }
    for &(name, parts) in top {
        let values = intervals().map(|(at, interval)| part_in(parts, at).calls as f64 / interval.seconds());
        let title = format!("{name}: calls per second");
        counter(&title, "calls", "calls begun", &values.collect::<Vec<_>>());
    }
    for (name, of_program) in &over_time.counters {
        let mut last = 0.0;
        let values = intervals().map(|(at, _)| {
            let found = of_program.values.binary_search_by_key(&at, |value| value.0);
            last = match (found, of_program.is_level) {
                (Ok(found), _) => of_program.values[found].1,
                (Err(_), true) => last,
                (Err(_), false) => 0.0,
            };
            last
        });
        let values: Vec<f64> = values.collect();
        let about = if of_program.is_level {
            "level"
        } else {
            "per second"
        };
        counter(name, "the program's counters", about, &values);
    }
    Ok(serde_json::to_writer(out, &profile)?)
}
