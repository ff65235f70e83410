use proptest::prelude::*;
use tickscope_format::ids::NodeId;
use tickscope_testkit::fixture;
use tickscope_testkit::fixture::programs as fixtures;

use super::*;

fn written(snapshot: &Snapshot, unit: Unit) -> String {
    let mut out = Vec::new();
    write(snapshot, unit, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn golden() {
    let text = written(&fixtures::order_sim_adaptive(), Unit::Both);
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    insta::assert_snapshot!(text.replace("\r\n", "\n"));
}

#[test]
fn hostile() {
    insta::assert_snapshot!(written(&fixtures::hostile(), Unit::Ns).replace("\r\n", "\n"));
}

#[test]
fn units_choose_columns() {
    let header = |unit| {
        let text = written(&fixtures::empty(), unit);
        assert_eq!(text.lines().count(), 1, "a header alone");
        text.trim_end().to_string()
    };
    let (ns, ticks, both) = (header(Unit::Ns), header(Unit::Ticks), header(Unit::Both));
    assert!(ns.contains(",total_ns,self_ns,open,") && !ns.contains("ticks"));
    assert!(ticks.contains(",total_ticks,self_ticks,open,") && !ticks.contains("total_ns,"));
    assert!(both.contains(",total_ns,self_ns,total_ticks,self_ticks,open,"));
}

#[test]
fn values_and_gauges_have_columns_behind_the_others() {
    let text = written(&fixtures::queries(), Unit::Ns);
    let all = rows(&text);
    let of = |name: &str| all.iter().find(|row| row("name") == name).unwrap();
    let columns = |name: &str| TALLIES.map(|column| of(name)(column)).join(",");
    assert_eq!(columns("rows"), "1,12,86015,86015,1805.06,,0,true,90000,true");
    assert_eq!(columns("balance"), ",,,,,-5,-7401,true,12,true");
    assert_eq!(columns("cache hit"), ",,,,,,,,,");
    assert_eq!(
        (of("rows")("sum"), of("queue")("sum")),
        ("1805060".into(), String::new())
    );
    assert_eq!(
        (of("rows")("p50_ns"), of("rows")("max_ns")),
        (String::new(), String::new())
    );
    let header = |snapshot: &Snapshot| written(snapshot, Unit::Ns).lines().next().unwrap().to_string();
    assert!(header(&fixtures::queries()).ends_with(&TALLIES.join(",")));
    assert!(!header(&fixtures::order_sim_counting()).contains("lowest"));
}

#[test]
fn numbers_per_call() {
    let snapshot = fixture::two_threads();
    let per = PerCall {
        name: "a, \"frame\"\n".into(),
        calls: 1_600,
    };
    let mut out = Vec::new();
    write_per(&snapshot, Unit::Both, Some(&per), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let divided = rows(&text);
    let number = |text: String| text.parse::<f64>().unwrap();
    for (whole, part) in rows(&written(&snapshot, Unit::Both)).iter().zip(&divided) {
        for column in [
            "calls",
            "total_ns",
            "self_ns",
            "total_ticks",
            "self_ticks",
            "timed_calls",
        ] {
            assert_eq!(number(part(column)), number(whole(column)) / 1_600.0, "{column}");
        }
        for column in ["id", "errors", "p50_ns", "name"] {
            assert_eq!(part(column), whole(column), "{column}");
        }
        assert_eq!(
            (part("per"), part("per_calls")),
            (r#"a, "frame"\n"#.into(), "1600".into())
        );
    }
    assert_eq!(divided[1]("calls"), "0.25");
}

/// The rows of a text, each as its fields by the names of their columns.
fn rows(text: &str) -> Vec<impl Fn(&str) -> String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let rows = reader.into_records().map(|row| {
        let (row, header) = (row.unwrap(), header.clone());
        move |name: &str| {
            let at = header.iter().position(|column| column == name).unwrap();
            row[at].to_string()
        }
    });
    rows.collect()
}

fn check(snapshot: &Snapshot) {
    let text = written(snapshot, Unit::Both);
    let rows = rows(&text);
    assert_eq!(rows.len(), snapshot.nodes.len());
    assert_eq!(text.lines().count(), rows.len() + 1, "a row is a line");
    let number = |text: String| text.parse::<u64>().unwrap();
    let mut self_ns = 0;
    let mut total_ns = 0;
    for row in &rows {
        let id = NodeId(number(row("id")) as u32);
        let site = snapshot.site_of(id);
        assert_eq!(row("name"), visible(&site.name, false));
        assert_eq!(row("module"), visible(&site.module, false));
        assert_eq!(row("file"), visible(&site.file, false));
        assert_eq!(number(row("calls")), snapshot.nodes.calls[id.index()]);
        assert_eq!(number(row("self_ticks")), snapshot.nodes.self_ticks[id.index()]);
        assert_eq!(row("depth") == "0", row("parent").is_empty());
        self_ns += number(row("self_ns"));
        if row("parent").is_empty() {
            total_ns += number(row("total_ns"));
        }
    }
    assert_eq!(self_ns, snapshot.self_nanos().iter().sum::<u64>());
    assert_eq!(total_ns, self_ns);
}

#[test]
fn any_name_comes_back() {
    check(&fixture::two_threads());
    check(&fixtures::stumbling());
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(snapshot in fixtures::any_snapshot()) {
        check(&snapshot);
    }
}

#[test]
fn groups_are_a_column() {
    let text = written(&fixtures::order_sim_in_groups(), Unit::Ns);
    for row in rows(&text) {
        let group = match row("name").as_str() {
            "insert" | "rebalance" | "cancel" | "apply" => "book",
            "encode" | "decode" => "wire",
            "publish" => "<b>,\"\\u{202e}\\n",
            _ => "",
        };
        assert_eq!(row("group"), group, "{}", row("name"));
    }
}
