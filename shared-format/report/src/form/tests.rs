use tickscope_testkit::fixture;

use super::*;
use crate::archive;

#[test]
fn a_files_name_says_the_form() {
    let form = |file: &str| Form::of_file(Path::new(file));
    for wanted in Form::ALL {
        assert_eq!(form(&format!("a.b/now.{}", wanted.ending())), Some(wanted));
    }
    let endings: Vec<&str> = Form::ENDINGS.split(" .").collect();
    assert_eq!(endings.len(), Form::ALL.len());
    for ending in endings {
        let ending = ending.trim_start_matches('.');
        assert!(Form::ALL.iter().any(|form| form.ending() == ending), "{ending}");
    }
    assert_eq!(form("now.JSON"), Some(Form::Json));
    assert_eq!(form("callgrind.out.1"), Some(Form::Callgrind));
    for none in ["csv", "a.csv/now", "", "/", "now.gz"] {
        assert_eq!(form(none), None, "{none}");
    }
}

#[test]
fn each_is_written_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let snapshot = fixture::two_threads();
    for form in Form::ALL {
        let path = dir.path().join(format!("now.{}", form.ending()));
        let written = form.write_new(&path, &snapshot, ProcessState::Running);
        if !form.is_built_in() {
            let error = written.unwrap_err().to_string();
            assert!(error.contains("now.") && error.contains("`export`"), "{error}");
            assert!(!path.exists());
            continue;
        }
        written.unwrap();
        let there = std::fs::read(&path).unwrap();
        assert!(!there.is_empty(), "{form:?}");
        let error = form
            .write_new(&path, &fixture::two_threads(), ProcessState::Exited)
            .unwrap_err();
        assert!(error.to_string().contains("exists"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), there);
    }
    for carries in ["now.html", "now.tks"] {
        assert_eq!(archive::read(&dir.path().join(carries)).unwrap(), snapshot);
    }
    let parts = std::fs::read_dir(dir.path()).unwrap();
    assert!(parts.into_iter().all(|entry| {
        let name = entry.unwrap().file_name();
        !name.to_string_lossy().ends_with(".part")
    }));
}

/// What must be equal in all forms, of the same snapshot: the sum of self, and the bytes of another time.
#[cfg(feature = "export")]
mod across {
    use proptest::prelude::*;
    use serde_json::Value;
    use tickscope_analysis::call_tree::CallTree;
    use tickscope_testkit::fixture::programs as fixtures;

    use super::*;

    fn bytes(form: Form, snapshot: &Snapshot) -> Vec<u8> {
        let mut out = Vec::new();
        form.write(snapshot, ProcessState::Kept, &mut out).unwrap();
        out
    }

    fn text(form: Form, snapshot: &Snapshot) -> String {
        String::from_utf8(bytes(form, snapshot)).unwrap()
    }

    fn json(form: Form, snapshot: &Snapshot) -> Value {
        serde_json::from_slice(&bytes(form, snapshot)).unwrap()
    }

    fn number(value: &Value) -> u128 {
        value.as_u64().unwrap().into()
    }

    /// The sum of self as a reader of this form finds it; none where a test beside the form looks.
    fn sum_of_self(form: Form, snapshot: &Snapshot) -> Option<u128> {
        match form {
            Form::Json => {
                let document = json(form, snapshot);
                let nodes = document["nodes"].as_array().unwrap();
                Some(nodes.iter().map(|node| number(&node["self_ns"])).sum())
            }
            Form::Csv => {
                let table = bytes(form, snapshot);
                let mut reader = ::csv::Reader::from_reader(&*table);
                let at = reader
                    .headers()
                    .unwrap()
                    .iter()
                    .position(|name| name == "self_ns");
                let cells = reader
                    .records()
                    .map(|row| row.unwrap()[at.unwrap()].parse::<u128>().unwrap());
                Some(cells.sum())
            }
            Form::Folded => {
                let text = text(form, snapshot);
                let cells = text
                    .lines()
                    .map(|line| line.rsplit_once(' ').unwrap().1.parse::<u128>().unwrap());
                Some(cells.sum())
            }
            Form::Callgrind => {
                let text = text(form, snapshot);
                let summary = text.lines().find_map(|line| line.strip_prefix("summary: "));
                summary.unwrap().split(' ').next().unwrap().parse().ok()
            }
            Form::Speedscope => {
                let document = json(form, snapshot);
                let profiles = document["profiles"].as_array().unwrap();
                Some(profiles.iter().map(|profile| number(&profile["endValue"])).sum())
            }
            Form::Html => {
                let page = text(form, snapshot);
                assert_eq!(&html::snapshot_of(&page).unwrap(), snapshot);
                let (_, data) = page.split_once("id=\"data\">").unwrap();
                let (data, _) = data.split_once("</script>").unwrap();
                let data: Value = serde_json::from_str(data).unwrap();
                Some(data["self_ns"].as_array().unwrap().iter().map(number).sum())
            }
            Form::Text | Form::Pprof | Form::Kept => None,
        }
    }

    fn assert_alike(snapshot: &Snapshot) {
        let measured = CallTree::build(snapshot, |_| true).measured_ns();
        for form in Form::ALL.into_iter().filter(|form| *form != Form::Kept) {
            assert_eq!(bytes(form, snapshot), bytes(form, snapshot), "{form:?}");
            if let Some(sum) = sum_of_self(form, snapshot) {
                assert_eq!(sum, u128::from(measured), "{form:?}");
            }
        }
    }

    #[test]
    fn hostile_names_change_no_sum() {
        for snapshot in [
            fixtures::hostile(),
            fixtures::stumbling(),
            fixtures::empty(),
            fixtures::order_sim_adaptive(),
            fixtures::order_sim_sampled(),
            fixtures::deep(600),
        ] {
            assert_alike(&snapshot);
        }
    }

    #[test]
    fn lines_stay_lines_and_nothing_moves_the_cursor() {
        let snapshot = fixtures::stumbling();
        for form in [Form::Text, Form::Folded, Form::Callgrind] {
            let text = text(form, &snapshot);
            let is_tame = |c: char| c == '\n' || !c.is_control();
            assert!(text.chars().all(is_tame), "{form:?}");
        }
        let text = text(Form::Text, &snapshot);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest < 400, "a name of 10 kB is cut: {longest}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_snapshot_has_one_sum(snapshot in fixtures::any_snapshot()) {
            assert_alike(&snapshot);
        }
    }
}
