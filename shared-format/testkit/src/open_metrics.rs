//! Parses metrics in the text format of OpenMetrics 1.0. If the text breaks a rule, the error names that rule.

use std::collections::{BTreeMap, BTreeSet};

/// Labels of a sample.
pub type Labels = BTreeMap<String, String>;

/// All samples, by name and labels.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// The type of each metric family, by the family's name.
    pub types: BTreeMap<String, String>,
    /// Samples of all families.
    pub samples: BTreeMap<(String, Labels), f64>,
}

#[derive(Debug, Default)]
struct Family {
    name: String,
    kind: Option<String>,
    unit: Option<String>,
    help: bool,
    samples: Vec<(String, Labels, f64)>,
}

impl Metrics {
    /// Parses the text.
    ///
    /// # Errors
    /// The first rule that is broken, and the line or metric family that breaks it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let body = text
            .strip_suffix("# EOF\n")
            .ok_or("does not end with `# EOF` and a line feed")?;
        let mut all = Self::default();
        let mut family = Family::default();
        for line in body.split_terminator('\n') {
            let wrong = |what: &str| format!("{what}: {line}");
            if line.starts_with('#') {
                let mut words = line.splitn(4, ' ');
                let (Some("#"), Some(word), Some(name)) = (words.next(), words.next(), words.next()) else {
                    return Err(wrong("no comment is allowed but HELP, TYPE, UNIT and EOF"));
                };
                let text = words.next().unwrap_or_default().to_owned();
                if family.name != name {
                    all.end(std::mem::take(&mut family))?;
                    family.name = name.to_owned();
                }
                if !family.samples.is_empty() {
                    return Err(wrong("metadata behind samples"));
                }
                let is_second = match word {
                    "HELP" => std::mem::replace(&mut family.help, true),
                    "TYPE" => family.kind.replace(text).is_some(),
                    "UNIT" => family.unit.replace(text).is_some(),
                    _ => return Err(wrong("unknown metadata")),
                };
                if is_second {
                    return Err(wrong("metadata twice"));
                }
                continue;
            }
            let sample = sample(line).ok_or_else(|| wrong("no sample"))?;
            family.samples.push(sample);
        }
        all.end(family)?;
        Ok(all)
    }

    fn end(&mut self, family: Family) -> Result<(), String> {
        let Family {
            name,
            kind,
            unit,
            help,
            samples,
        } = family;
        if name.is_empty() && samples.is_empty() {
            return Ok(());
        }
        let kind = kind
            .filter(|_| help)
            .ok_or_else(|| format!("{name}: without type or help"))?;
        if unit.is_some_and(|unit| !name.ends_with(&format!("_{unit}"))) {
            return Err(format!("{name}: does not end with its unit"));
        }
        let suffixes: &[&str] = match kind.as_str() {
            "counter" => &["_total"],
            "gauge" => &[""],
            "histogram" => &["_bucket", "_count", "_sum"],
            _ => return Err(format!("{name}: unknown type {kind}")),
        };
        if self.types.insert(name.clone(), kind.clone()).is_some() {
            return Err(format!("{name}: a family twice"));
        }
        if kind == "histogram" {
            check_buckets(&name, &samples)?;
        }
        for (sample, labels, value) in samples {
            let suffix = sample.strip_prefix(&name);
            if !suffix.is_some_and(|suffix| suffixes.contains(&suffix)) {
                return Err(format!("{sample}: not of the family {name}, a {kind}"));
            }
            if kind != "gauge" && !(value.is_finite() && value >= 0.0) {
                return Err(format!("{sample}: a {kind} of {value}"));
            }
            let series = (sample, labels);
            if self.samples.contains_key(&series) {
                return Err(format!("{series:?}: twice"));
            }
            self.samples.insert(series, value);
        }
        Ok(())
    }

    /// Returns the value of a series, or `None` if there is no such series.
    pub fn get(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels = labels
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()));
        self.samples.get(&(name.to_owned(), labels.collect())).copied()
    }

    /// Returns the sum over all series that have this name and this label.
    pub fn sum(&self, name: &str, label: (&str, &str)) -> f64 {
        let has = |labels: &Labels| labels.get(label.0).is_some_and(|value| value == label.1);
        let samples = self.samples.iter();
        let own = samples.filter(|((sample, labels), _)| sample == name && has(labels));
        own.map(|(_, value)| value).sum()
    }

    /// Checks that, compared with `earlier`, no series has decreased or disappeared. Gauges are exempt.
    ///
    /// # Errors
    /// The first series that has decreased or disappeared.
    pub fn check_not_below(&self, earlier: &Self) -> Result<(), String> {
        for (series, &was) in &earlier.samples {
            let is_gauge = earlier.types.get(&series.0).is_some_and(|kind| kind == "gauge");
            let now = self.samples.get(series).copied();
            if !is_gauge && now.is_none_or(|now| now < was) {
                return Err(format!("{series:?}: {was}, and then {now:?}"));
            }
        }
        Ok(())
    }
}

fn check_buckets(family: &str, samples: &[(String, Labels, f64)]) -> Result<(), String> {
    let mut ended: BTreeSet<&Labels> = BTreeSet::new();
    let mut rest = samples;
    let plain = |labels: &Labels| {
        let mut plain = labels.clone();
        plain.remove("le");
        plain
    };
    while let Some((_, labels, _)) = rest.first() {
        let of = plain(labels);
        let count = rest
            .iter()
            .take_while(|(_, labels, _)| plain(labels) == of)
            .count();
        let (own, others) = rest.split_at(count);
        rest = others;
        let wrong = |what: &str| format!("{family} {of:?}: {what}");
        let (mut edge, mut below) = (f64::NEG_INFINITY, 0.0);
        let mut all = None;
        for (name, labels, value) in own {
            if name.ends_with("_count") {
                all = Some(*value);
            } else if name.ends_with("_bucket") {
                let le = labels.get("le").ok_or_else(|| wrong("a bucket without le"))?;
                let le: f64 = le.parse().map_err(|_| wrong("le is no number"))?;
                if le <= edge || *value < below {
                    return Err(wrong("edges and counts of buckets must rise"));
                }
                (edge, below) = (le, *value);
            }
        }
        if edge != f64::INFINITY || all != Some(below) {
            return Err(wrong("the bucket +Inf must be there, and be the count"));
        }
        let last = own.last().map(|(_, labels, _)| labels);
        if last.is_some_and(|last| !ended.insert(last)) {
            return Err(wrong("in two places"));
        }
    }
    Ok(())
}

fn sample(line: &str) -> Option<(String, Labels, f64)> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let end = line.find(['{', ' '])?;
    let (name, mut rest) = line.split_at(end);
    let mut labels = Labels::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        while !rest.starts_with('}') {
            let (label, value) = rest.split_once("=\"")?;
            let mut text = String::new();
            let mut chars = value.char_indices();
            let end = loop {
                match chars.next()? {
                    (at, '"') => break at,
                    (_, '\\') => text.push(match chars.next()?.1 {
                        'n' => '\n',
                        c @ ('\\' | '"') => c,
                        _ => return None,
                    }),
                    (_, c) => text.push(c),
                }
            };
            if !is_name(label) || labels.insert(label.to_owned(), text).is_some() {
                return None;
            }
            rest = &value[end + 1..];
            rest = match rest.strip_prefix(',') {
                Some(more) if !more.starts_with('}') => more,
                _ => rest,
            };
        }
        rest = &rest[1..];
    }
    let value = rest.strip_prefix(' ')?;
    let is_value = is_name(name) && !value.contains(' ');
    Some((name.to_owned(), labels, value.parse().ok()?)).filter(|_| is_value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# HELP a A.\n# TYPE a counter\na_total{x=\"\\\"\\\\\"} 1.5\na_total 2\n# EOF\n";

    #[test]
    fn what_is_right_is_read() {
        let metrics = Metrics::parse(GOOD).unwrap();
        assert_eq!(metrics.get("a_total", &[("x", "\"\\")]), Some(1.5));
        assert_eq!(metrics.get("a_total", &[]), Some(2.0));
        metrics.check_not_below(&metrics).unwrap();
        let later = Metrics::parse(&GOOD.replace(" 2\n", " 1\n")).unwrap();
        later.check_not_below(&metrics).unwrap_err();
    }

    #[test]
    fn each_rule_is_held() {
        for (from, to) in [
            ("# EOF\n", ""),
            ("# EOF\n", "# EOF\n\n"),
            ("# HELP a A.\n", ""),
            ("# TYPE a counter\n", "# TYPE a gauge\n"),
            ("# TYPE a counter\n", "# TYPE a counter\n# UNIT a seconds\n"),
            ("# TYPE a counter\n", "# TYPE a counter\n# TYPE a counter\n"),
            ("a_total 2\n", "a_total 2\na_total 2\n"),
            ("a_total 2\n", "a_total 2\n# TYPE a counter\n"),
            ("a_total 2\n", "a_total 2\n\n"),
            ("a_total 2\n", "a_total NaN\n"),
            ("a_total 2\n", "a_total{x=\"1\",x=\"2\"} 2\n"),
            ("a_total 2\n", "b_total 2\n"),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert!(Metrics::parse(&text).is_err(), "{text}");
        }
    }
}
