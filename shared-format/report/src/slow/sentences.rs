//! The answer in sentences.

use tickscope_analysis::slow::{self, Cause, Doubt};
use tickscope_format::snapshot::{CauseKind, Exemplar, Over, Trace, saturating_sum};

use super::answer::{Answer, Typed, calls as per_call};
use crate::number;

/// Maximum number of causes in a sentence.
const NAMED: usize = 3;

impl Answer<'_> {
    /// Returns how many calls were slow and how much longer they took; `None` if no call was slow. For example:
    ///
    /// `draw_frame: 30 slow of 6 000 calls (>= 1.90ms, where the tail begins); a slow call takes 4.45ms more: 4.96ms instead of
    /// 510µs`
    pub fn facts(&self) -> Option<String> {
        let slow = &self.slow;
        let (calls, threshold) = (slow.calls(), slow.threshold_ns?);
        // If no call was slow, `doubt` says so.
        if slow.slow_calls == 0 {
            return None;
        }
        let mut facts = format!(
            "{}: {} slow of {} {} (>= {}, {})",
            self.function(),
            grouped(slow.slow_calls),
            grouped(calls),
            plural(calls, "call"),
            self.duration(threshold as f64),
            self.over(),
        );
        if let (Some(typical), Some(of_slow), Some(more)) =
            (slow.typical_ns, slow.slow_ns, slow.difference_ns())
        {
            facts.push_str(&format!(
                "; a slow call takes {} {}: {} instead of {}",
                self.duration(more.abs()),
                if more < 0.0 { "less" } else { "more" },
                self.duration(of_slow),
                self.duration(typical),
            ));
        }
        Some(facts)
    }

    /// Returns the causes of slow calls; `None` if no cause is known. For example:
    ///
    /// `scene::lookup: most of it in 20 calls, +2.97ms each, 600 calls instead of 6; disk::flush: in 8, +8.00ms each, waiting`
    pub fn why(&self) -> Option<String> {
        let causes = &self.slow.causes;
        let named = causes.iter().take(NAMED).enumerate();
        let mut parts: Vec<String> = named
            .map(|(index, cause)| self.cause(cause, index == 0))
            .collect();
        let rest = causes.get(NAMED..).unwrap_or_default();
        if !rest.is_empty() {
            let calls = saturating_sum(rest.iter().map(|cause| cause.slow_calls));
            parts.push(format!(
                "{} other {} in {}",
                rest.len(),
                plural(rest.len() as u64, "cause"),
                grouped(calls)
            ));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn cause(&self, cause: &Cause, is_first: bool) -> String {
        let name = match cause.kind {
            CauseKind::Ready => "no CPU (preempted)".to_owned(),
            CauseKind::SelfTime | CauseKind::Calls | CauseKind::Waiting | _ => self.cause_name(cause.path),
        };
        let calls = grouped(cause.slow_calls);
        let calls = match is_first {
            true => format!("most of it in {calls} {}", plural(cause.slow_calls, "call")),
            false => format!("in {calls}"),
        };
        let each = if cause.slow_calls == 1 { "" } else { " each" };
        let how = match cause.kind {
            CauseKind::Calls => {
                let times = per_call(cause.slow_path_calls);
                let noun = if times == "1" { "call" } else { "calls" };
                let instead = cause.typical_path_calls.map(per_call);
                let instead = instead.map_or_else(String::new, |typical| format!(" instead of {typical}"));
                let waiting = if self.mostly_waits(cause.path) {
                    ", waiting"
                } else {
                    ""
                };
                format!(", {times} {noun}{instead}{waiting}")
            }
            CauseKind::Waiting => match self.waits_in(cause.path) {
                Some(call) => format!(", waiting in {}", self.visible(&call)),
                None => ", waiting".into(),
            },
            CauseKind::Ready => String::new(),
            CauseKind::SelfTime | _ => ", working longer".into(),
        };
        format!(
            "{name}: {calls}, {}{each}{how}",
            self.difference(cause.difference_ns)
        )
    }

    /// Returns whether waiting accounts for at least half of the extra time that a slow call spends in a path.
    fn mostly_waits(&self, path: u32) -> bool {
        let row = self.slow.rows.iter().find(|row| row.path == path);
        let waiting = row.and_then(|row| row.difference(|means| means.waiting_ns));
        let all = row.and_then(|row| row.difference_ns());
        waiting
            .zip(all)
            .is_some_and(|(waiting, all)| all > 0.0 && waiting >= all / 2.0)
    }

    /// Returns why there is no answer or what the answer lacks, and what the user can do about it; `None` if nothing is in doubt.
    pub fn doubt(&self) -> Option<String> {
        let function = self.function();
        let slow = &self.slow;
        let watch = |over: &str| self.command(&format!("watch {function} --over {over}"));
        Some(match slow.doubt? {
            Doubt::NoFunction => format!(
                "no called function matches {function}; {} lists the called functions",
                self.command("sites")
            ),
            Doubt::Learning(calls) => format!(
                "{function}: {} {} {} ended, too few to tell slow calls; wait, or give a threshold: {}",
                grouped(calls),
                plural(calls, "call"),
                if calls == 1 { "has" } else { "have" },
                watch("5ms")
            ),
            Doubt::NoTail => format!(
                "{function} has no tail: its slowest calls take hardly longer than the others; {} shows the slowest 1 % \
                 anyway",
                watch("p99")
            ),
            Doubt::Raised => format!(
                "too many calls were slow by {}, so the threshold is {} now; to choose another: {}",
                match self.watch.over {
                    Over::Tail => "the tail".to_owned(),
                    over @ (Over::P99 | Over::P999 | Over::Ns(_)) => over.to_string(),
                },
                self.threshold(),
                watch("DURATION")
            ),
            Doubt::NoHistograms => format!(
                "{function}: histograms are off, so the threshold must be a duration: {}",
                watch("5ms")
            ),
            Doubt::NoTime => format!(
                "{function}: mode {} measures no time of single calls; {} does",
                self.snapshot.capture.mode.as_str(),
                self.command("mode exact")
            ),
            Doubt::NoCalls => format!(
                "{function}: no call has both begun and ended since the watch began, and only ended calls are judged; if calls \
                 take long, watch a function that they call"
            ),
            // The viewer keeps on watching, so its user only has to wait.
            Doubt::NothingSlow if self.options.typed == Typed::Viewer => format!(
                "{function}: no call was slow yet (>= {}), of {}; waiting for the first; lower threshold: {}",
                self.threshold(),
                grouped(slow.calls()),
                watch("p99")
            ),
            Doubt::NothingSlow => format!(
                "{function}: of {} {}, no call was slow (>= {}); wait, or lower the threshold, as with {}",
                grouped(slow.calls()),
                plural(slow.calls(), "call"),
                self.threshold(),
                watch("p99")
            ),
            Doubt::NothingTypical => format!(
                "{function}: every call was slow (>= {}), so there is no typical call to compare with; raise the threshold: {}",
                self.threshold(),
                watch("DURATION")
            ),
            Doubt::Unknown => format!(
                "{function}: the program reports a state of the watch that this tickscope does not know; use the tickscope of its version"
            ),
        })
    }

    /// Returns how many calls were not counted or not kept, and why; `None` if there are none.
    pub fn lost(&self) -> Option<String> {
        let lost = &self.watch.lost;
        let mut parts = Vec::new();
        let mut add = |count: u64, why: &str| {
            if count > 0 {
                parts.push(format!("{} {} {why}", grouped(count), plural(count, "call")));
            }
        };
        add(
            lost.discarded,
            "not counted: the end was not seen, or a reset or another mode came before it",
        );
        add(
            lost.missed,
            "not counted: begun while the thread was still recording another",
        );
        add(lost.not_kept, "counted and not kept whole");
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Returns what made a kept call slow, such as `scene::lookup × 600, 3.00ms`. `trace` is the call's trace, if it has one.
    pub fn exemplar_cause(&self, exemplar: &Exemplar, trace: Option<&Trace>) -> String {
        let Some((path, kind)) = exemplar.cause else {
            return "no typical call was known yet".into();
        };
        let name = self.cause_name(path);
        let sum = trace.map(|trace| slow::sums_in(trace, Some(path)));
        let all = trace.map(|trace| slow::sums_in(trace, None));
        let time = |ticks: u64| self.duration(self.snapshot.nanos(ticks) as f64);
        let times = if self.options.ascii { 'x' } else { '×' };
        let without_cpu = |ready: u64| format!("no CPU for {}", time(ready));
        let cause = match (kind, sum) {
            (CauseKind::Ready, _) => {
                return all.map_or_else(|| "no CPU".to_owned(), |all| without_cpu(all.ready));
            }
            (CauseKind::Waiting, None) => format!("{name} waiting"),
            (CauseKind::Waiting, Some(sum)) => format!("{name} waiting {}", time(sum.waiting)),
            (CauseKind::Calls, None) => format!("{name}, more calls"),
            (CauseKind::Calls, Some(sum)) => {
                format!("{name} {times} {}, {}", number::count(sum.calls), time(sum.ticks))
            }
            (_, None) => name,
            (_, Some(sum)) => {
                let off = sum.waiting.saturating_add(sum.ready);
                format!("{name} {}", time(sum.ticks.saturating_sub(off)))
            }
        };
        // Whatever the cause, the call may also have been without a CPU for a considerable time.
        match all.filter(|all| all.ready > exemplar.ticks / 8) {
            Some(all) => format!("{cause}, {}", without_cpu(all.ready)),
            None => cause,
        }
    }

    /// Returns the notes that the program made in a call, such as `frame=4711`.
    pub fn notes(&self, trace: &Trace) -> String {
        let key = |key: u32| trace.keys.get(key as usize).map_or("", String::as_str);
        let notes = trace.notes.iter().map(|note| {
            let (key, value) = (self.visible(key(note.key)), self.visible(&note.value));
            format!("{key}={value}")
        });
        notes.collect::<Vec<_>>().join(" ")
    }

    /// Returns the requested threshold in words.
    fn over(&self) -> String {
        match self.watch.over {
            Over::Tail => "where the tail begins".into(),
            over @ (Over::P99 | Over::P999) => over.to_string(),
            Over::Ns(ns) => format!("{} asked for", self.duration(ns as f64)),
        }
    }

    fn threshold(&self) -> String {
        let threshold = self.slow.threshold_ns;
        threshold.map_or_else(|| "not known yet".to_owned(), |ns| self.duration(ns as f64))
    }

    fn command(&self, words: &str) -> String {
        match self.options.typed {
            Typed::Shell => format!("tickscope {words}"),
            Typed::Viewer => format!(":{words}"),
        }
    }
}

fn plural(count: u64, noun: &str) -> String {
    format!("{noun}{}", if count == 1 { "" } else { "s" })
}

/// Formats a number. Digits are grouped if there are five or more: 21 400.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let parts = digits.as_bytes().rchunks(3).rev();
    let parts: Vec<_> = parts.map(String::from_utf8_lossy).collect();
    parts.join(" ")
}
