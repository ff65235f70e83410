//! The six tools. They only read, except `why`: with `--allow-control` it may make a program watch a function.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tickscope_analysis::compare::diff::{Diff, DiffError};
use tickscope_analysis::measure::Measure;
use tickscope_analysis::window;
use tickscope_command::console;
use tickscope_format::Snapshot;
use tickscope_format::addresses::Addresses;
use tickscope_format::file::{list, places};
use tickscope_format::pattern::Pattern;
use tickscope_programs::sampled_code;
use tickscope_programs::status::state_of;
use tickscope_programs::target::wanted::is_live;
use tickscope_report::brief::programs::Listed;
use tickscope_report::brief::{self, Length};
use tickscope_report::diff::{Comparison, Run, Tables, brief as diff_brief, doubts};
use tickscope_report::slow;
use tickscope_report::slow::Answer;

use super::marks::Marks;
use super::message::Refusal;
use crate::cli::args::{McpArgs, MomentArgs, TargetArgs, WhyArgs, WhyFormat, values};
use crate::cli::commands::brief::{Answered, Named, read_counted};
use crate::cli::commands::live_snapshot::Reader;
use crate::cli::commands::why;

/// Maximum number of rows in an answer.
pub(super) const ROWS_MAX: usize = 100;

/// Longest time to watch a function, in seconds.
pub(super) const SECONDS_MAX: u64 = 60;

/// Maximum length of the argument `target`, in bytes.
const TEXT_MAX: usize = 4_096;

/// A function whose calls have not changed is shown only if its time has changed by at least this share of the whole
/// program's time.
const MIN_SHARE: f64 = 0.01;

/// The tools' settings, and the snapshots taken with `mark`.
#[derive(Debug)]
pub(super) struct Tools {
    args: McpArgs,
    marks: Marks,
    /// Set when the tool `why` must stop watching a function.
    stop: Arc<AtomicBool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Top {
    target: Option<String>,
    rows: Option<usize>,
    by: Option<String>,
    since: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Why {
    function: String,
    target: Option<String>,
    seconds: Option<u64>,
    over: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Compare {
    before: String,
    after: Option<String>,
    per: Option<String>,
    by: Option<String>,
    rows: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mark {
    target: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sites {
    target: Option<String>,
    matching: Option<String>,
    rows: Option<usize>,
}

impl Tools {
    pub(super) fn new(args: &McpArgs, stop: Arc<AtomicBool>) -> Self {
        Self {
            args: args.clone(),
            marks: Marks::default(),
            stop,
        }
    }

    pub(super) fn may_control(&self) -> bool {
        self.args.allow_control
    }

    /// Calls a tool. An error that a model can correct (arguments, target) is returned as a result that is marked as an
    /// error.
    pub(super) fn call(&mut self, params: &Map<String, Value>) -> Result<Value, Refusal> {
        let Some(Value::String(name)) = params.get("name") else {
            return Err(Refusal::params("no name of a tool, or it is not a string"));
        };
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return Err(Refusal::params("arguments are not an object")),
        };
        let answer = match name.as_str() {
            "programs" => parsed::<Nothing>(arguments).map(|Nothing {}| self.programs()),
            "top" => parsed(arguments).and_then(|top| self.top(&top)),
            "why" => parsed(arguments).and_then(|why| self.why(why)),
            "compare" => parsed(arguments).and_then(|compare| self.compare(&compare)),
            "mark" => parsed(arguments).and_then(|mark| self.mark(&mark)),
            "sites" => parsed(arguments).and_then(|sites| self.sites(&sites)),
            other => {
                let other: String = other.chars().take(64).collect();
                let there = "programs, top, why, compare, mark, sites";
                return Err(Refusal::params(format!("no tool {other}; there are {there}")));
            }
        };
        Ok(match answer {
            Ok(text) => {
                let value: Value = serde_json::from_str(&text).unwrap_or_default();
                json!({ "content": [{ "type": "text", "text": text }], "structuredContent": value, "isError": false })
            }
            Err(error) => {
                let text = console::printable(&console::in_one_line(&error));
                json!({ "content": [{ "type": "text", "text": text }], "isError": true })
            }
        })
    }

    fn programs(&self) -> String {
        let listed = list::list(&places::chosen(self.args.dir.as_deref()));
        let programs = listed.into_iter().filter_map(|listed| {
            let (ring, liveness) = listed.ring.ok()?;
            let header = ring.header();
            Some(Listed {
                name: header.name.clone(),
                pid: header.pid,
                state: state_of(&liveness),
                is_live: is_live(&liveness),
                started_unix_ns: header.started_unix_ns,
            })
        });
        brief::programs::json(&programs.collect::<Vec<_>>())
    }

    fn top(&self, top: &Top) -> anyhow::Result<String> {
        let length = length(top.rows)?;
        let mut answered = self.read(top.target.as_deref())?;
        if let Some(handle) = &top.since {
            let Some(earlier) = self.marks.get(handle).map_err(anyhow::Error::msg)? else {
                bail!("since: {handle} is not a handle from mark, such as mark-1");
            };
            let now = &answered.live.snapshot;
            if !window::same_epoch(now, &earlier) {
                bail!(
                    "since: {handle} is of another run, or from before a reset; use compare for different runs"
                );
            }
            answered.live.snapshot = window::between(now, &earlier);
            answered.extent.when = Some(format!("since {handle}"));
        }
        answered.add_sampled_rows();
        let snapshot = &answered.live.snapshot;
        let by = match &top.by {
            Some(name) => measure(name, snapshot)?,
            None => Measure::of_lists(&[snapshot]),
        };
        let next = answered.named.in_tools(self.may_control());
        Ok(brief::top::json(&answered.subject(&next), by, length))
    }

    fn sites(&self, sites: &Sites) -> anyhow::Result<String> {
        let length = length(sites.rows)?;
        let matching = sites.matching.as_deref().map(values::pattern).transpose();
        let matching = matching.map_err(|why| anyhow!("matching: {why}"))?;
        let answered = self.read(sites.target.as_deref())?;
        let next = answered.named.in_tools(self.may_control());
        Ok(brief::sites::json(
            &answered.subject(&next),
            matching.as_ref(),
            length,
        ))
    }

    fn mark(&mut self, mark: &Mark) -> anyhow::Result<String> {
        let answered = self.read(mark.target.as_deref())?;
        let snapshot = &answered.live.snapshot;
        let (handle, dropped) = self.marks.keep(snapshot).map_err(anyhow::Error::msg)?;
        let mut notes = answered.notes.clone();
        if dropped > 0 {
            notes.push(format!("{dropped} older marks were dropped"));
        }
        let of = json!({ "name": snapshot.process.name, "pid": snapshot.process.pid });
        let target = &answered.named.word;
        let next = [
            format!("top {}", json!({ "target": target, "since": handle })),
            format!("compare {}", json!({ "before": handle, "after": target })),
        ];
        let unix_ns = snapshot.capture.unix_ns;
        Ok(json!({ "tickscope": 1, "mark": handle, "program": of, "unix_ns": unix_ns, "notes": notes, "next": next }).to_string())
    }

    fn why(&self, why: Why) -> anyhow::Result<String> {
        let function: Pattern = values::pattern(&why.function).map_err(|why| anyhow!("function: {why}"))?;
        let over = why.over.as_deref().map(values::over).transpose();
        let over = over.map_err(|why| anyhow!("over: {why}"))?;
        if over.is_some() && why.seconds.is_none() {
            bail!("over needs seconds: it is the threshold of slow calls while the function is watched");
        }
        let during = match why.seconds {
            None => None,
            Some(_) if !self.may_control() => bail!(
                "seconds: watching a function changes what the program measures, and this server may only read; start it as \
                 tickscope mcp --allow-control, or have the user run: tickscope watch {}",
                brief::shell_word(&why.function)
            ),
            Some(seconds @ 1..=SECONDS_MAX) => Some(Duration::from_secs(seconds)),
            Some(other) => bail!("seconds: {other}; wanted 1 to {SECONDS_MAX}"),
        };
        let args = WhyArgs {
            function,
            target: self.target(why.target.as_deref())?,
            during,
            over,
            format: WhyFormat::Json,
            call: None,
            json: true,
        };
        let (live, named) = why::answered(&args, &self.stop)?;
        let watch = why::watched(&live.snapshot, &args)?;
        let answer = Answer::of(&live.snapshot, watch, why::options());
        Ok(slow::brief(&answer, &named.in_tools(self.may_control())))
    }

    fn compare(&self, compare: &Compare) -> anyhow::Result<String> {
        let length = length(compare.rows)?;
        let (before, _) = self.side(&compare.before).context("before")?;
        let after_name = compare.after.as_deref().unwrap_or(&before.process.name);
        let (after, named) = self.side(after_name).context("after")?;
        let usual = Measure::of_lists(&[&before, &after]);
        let name = compare.by.as_deref().unwrap_or(usual.name());
        let by = measure(name, &before)?;
        measure(name, &after)?;
        let per = compare.per.as_deref();
        let runs = ([Run::of(&compare.before, &before)], [Run::of(after_name, &after)]);
        let process = |of: &Snapshot| (of.process.pid, of.process.started_unix_ns);
        let is_one_run = process(&before) == process(&after);
        let (before_snapshots, after_snapshots) = ([before], [after]);
        let diff = Diff::by(by, &before_snapshots, &after_snapshots, per);
        let diff = diff.map_err(|DiffError { is_after, why, .. }| {
            anyhow!("{}: {why}", if is_after { "after" } else { "before" })
        })?;
        let mut doubts = doubts(&before_snapshots, &after_snapshots);
        if is_one_run {
            doubts.push(
                "before and after are of one run, so after includes before; top with since has the numbers after it"
                    .into(),
            );
        }
        doubts.push("one run a side: compare calls, and times only if they differ by much".into());
        let comparison = Comparison {
            diff: &diff,
            measures: &[],
            runs: (&runs.0, &runs.1),
            per,
            verdicts: &[],
            doubts: &doubts,
            tables: Tables::Functions,
            min_share: MIN_SHARE,
            ascii: false,
            width: 0,
        };
        Ok(diff_brief::json(
            &comparison,
            &named.in_tools(self.may_control()),
            length,
        ))
    }

    /// Reads one side of a comparison: a mark, a file or a program.
    fn side(&self, text: &str) -> anyhow::Result<(Snapshot, Named)> {
        if let Some(mut snapshot) = self.marks.get(text).map_err(anyhow::Error::msg)? {
            sampled_code::read_code(&mut snapshot, Addresses::default());
            let named = Named {
                word: snapshot.process.pid.to_string(),
                is_live: true,
            };
            return Ok((snapshot, named));
        }
        let mut answered = self.read(Some(text))?;
        answered.add_sampled_rows();
        let Answered { live, named, .. } = answered;
        Ok((live.snapshot, named))
    }

    fn read(&self, target: Option<&str>) -> anyhow::Result<Answered> {
        read_counted(&self.target(target)?, &MomentArgs::default(), Reader::Script)
    }

    fn target(&self, target: Option<&str>) -> anyhow::Result<TargetArgs> {
        match target {
            Some("-") => {
                bail!("target: standard input belongs to the client; give a name, a process id or a file")
            }
            Some(text) if text.is_empty() || text.len() > TEXT_MAX || text.contains('\0') => {
                bail!("target: wanted 1 to {TEXT_MAX} bytes, a name, a process id or a file")
            }
            _ => Ok(TargetArgs {
                target: target.map(ToOwned::to_owned),
                ended: self.args.ended,
                dir: self.args.dir.clone(),
                ..TargetArgs::default()
            }),
        }
    }
}

fn parsed<T: DeserializeOwned>(arguments: Map<String, Value>) -> anyhow::Result<T> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| anyhow!("arguments: {error}"))
}

fn length(rows: Option<usize>) -> anyhow::Result<Length> {
    match rows {
        None => Ok(Length::Brief),
        Some(rows @ 1..=ROWS_MAX) => Ok(Length::Rows(rows)),
        Some(rows) => bail!("rows: {rows}; wanted 1 to {ROWS_MAX}"),
    }
}

/// Returns the measure with this name, if the snapshot contains it.
fn measure(name: &str, snapshot: &Snapshot) -> anyhow::Result<Measure> {
    let Some(measure) = Measure::named(name) else {
        let all = Measure::ALL.map(Measure::name).join(", ");
        bail!("by: {name}; wanted one of {all}");
    };
    measure
        .check(snapshot)
        .map_err(|why| anyhow!("by {name}: {why}"))?;
    Ok(measure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::commands::mcp::schema;

    /// Returns a valid argument for a property of a schema.
    fn example(property: &Value) -> Value {
        match (property["type"].as_str(), property["enum"].get(0)) {
            (_, Some(first)) => first.clone(),
            (Some("integer"), _) => json!(1),
            _ => json!("x"),
        }
    }

    #[test]
    fn each_schema_has_just_the_arguments_that_are_read() {
        let takes = |name: &str, arguments: &Map<String, Value>| {
            let arguments = arguments.clone();
            match name {
                "programs" => parsed::<Nothing>(arguments).map(|_| ()),
                "top" => parsed::<Top>(arguments).map(|_| ()),
                "why" => parsed::<Why>(arguments).map(|_| ()),
                "compare" => parsed::<Compare>(arguments).map(|_| ()),
                "mark" => parsed::<Mark>(arguments).map(|_| ()),
                "sites" => parsed::<Sites>(arguments).map(|_| ()),
                other => panic!("{other}"),
            }
        };
        let tools = schema::list(true);
        for tool in tools.as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let properties = tool["inputSchema"]["properties"].as_object().unwrap();
            let mut arguments: Map<String, Value> = properties
                .iter()
                .map(|(name, property)| (name.clone(), example(property)))
                .collect();
            takes(name, &arguments).unwrap();
            arguments.insert("surplus".into(), json!(1));
            let error = takes(name, &arguments).unwrap_err().to_string();
            assert!(error.contains("surplus"), "{error}");
            for required in tool["inputSchema"]["required"].as_array().unwrap() {
                let mut without = arguments.clone();
                without.remove("surplus");
                without.remove(required.as_str().unwrap());
                assert!(takes(name, &without).is_err(), "{name} without {required}");
            }
        }
    }

    #[test]
    fn only_a_server_that_may_control_says_that_why_changes_something() {
        let of = |may: bool| schema::list(may)[2].clone();
        assert_eq!(of(false)["annotations"]["readOnlyHint"], true);
        assert_eq!(of(true)["annotations"]["readOnlyHint"], false);
    }
}
