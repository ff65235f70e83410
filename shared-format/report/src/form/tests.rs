#[cfg(feature = "export")]
mod numbers;

use tickscope_testkit::fixture;

use super::*;
use crate::archive;

#[test]
fn a_files_name_says_the_form() {
    let form = |file: &str| Form::of_file(Path::new(file));
    for wanted in Form::ALL {
        assert_eq!(form(&format!("a.b/now.{}", wanted.ending())), Some(wanted));
    }
    assert_eq!(
        Form::endings(),
        ".txt .html .json .folded .speedscope.json .pb.gz .callgrind .tks"
    );
    assert_eq!(form("now.JSON"), Some(Form::Json));
    assert_eq!(form("callgrind.out.1"), Some(Form::Callgrind));
    for none in ["json", "a.json/now", "", "/", "now.gz"] {
        assert_eq!(form(none), None, "{none}");
    }
}

#[test]
fn the_table_says_what_the_command_needs() {
    for form in Form::ALL {
        assert_eq!(Form::named(form.name()), Some(form));
        assert!(!form.description().ends_with('.') && !form.description().is_empty());
        let help: Vec<&str> = form.help().lines().collect();
        assert!(!help.is_empty(), "{form:?}");
        assert!(help.iter().all(|line| line.chars().count() <= 87), "{form:?}");
        let refused = [form.check_per(), form.check_unit()];
        for why in refused.into_iter().filter_map(Result::err) {
            assert!(why.contains("--"), "{form:?}: {why} names no option");
        }
    }
    assert_eq!(Form::named("kept"), None);
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
        let mut options = FormOptions::default();
        options.text.state = ProcessState::FromFile;
        form.write(snapshot, &options, &mut out).unwrap();
        out
    }

    fn text(form: Form, snapshot: &Snapshot) -> String {
        String::from_utf8(bytes(form, snapshot)).unwrap()
    }

    fn number(value: &Value) -> u128 {
        value.as_u64().unwrap().into()
    }

    /// The sum of self as a reader of this form finds it; none where a test beside the form looks.
    fn sum_in(form: Form, bytes: &[u8]) -> Option<u128> {
        let text = || std::str::from_utf8(bytes).unwrap();
        let json = || serde_json::from_slice::<Value>(bytes).unwrap();
        match form {
            Form::Json => {
                let document = json();
                let nodes = document["nodes"].as_array().unwrap();
                Some(nodes.iter().map(|node| number(&node["self_ns"])).sum())
            }
            Form::Folded => {
                let cells = text()
                    .lines()
                    .map(|line| line.rsplit_once(' ').unwrap().1.parse::<u128>().unwrap());
                Some(cells.sum())
            }
            Form::Callgrind => {
                let summary = text().lines().find_map(|line| line.strip_prefix("summary: "));
                summary.unwrap().split(' ').next().unwrap().parse().ok()
            }
            Form::Speedscope => {
                let document = json();
                let profiles = document["profiles"].as_array().unwrap();
                Some(profiles.iter().map(|profile| number(&profile["endValue"])).sum())
            }
            Form::Html => {
                let (_, data) = text().split_once("id=\"data\">").unwrap();
                let (data, _) = data.split_once("</script>").unwrap();
                let data: Value = serde_json::from_str(data).unwrap();
                Some(data["self_ns"].as_array().unwrap().iter().map(number).sum())
            }
            Form::Text | Form::Pprof | Form::Tks => None,
        }
    }

    #[test]
    fn all_show_the_same_part_of_a_snapshot() {
        let snapshot = fixture::two_threads();
        let of_thread = CallTree::build(&snapshot, |thread| thread.0 == 1).measured_ns();
        assert!(0 < of_thread && of_thread < CallTree::build(&snapshot, |_| true).measured_ns());
        let mut options = FormOptions::default();
        options.text.thread = Some(tickscope_format::ids::ThreadId(1));
        options.text.min_share = 0.5;
        for form in Form::ALL {
            let mut out = Vec::new();
            form.write(&snapshot, &options, &mut out).unwrap();
            // A page shows the thread and carries all of them; the text has no column of all self times.
            if !matches!(form, Form::Text | Form::Html | Form::Pprof | Form::Tks) {
                assert_eq!(sum_in(form, &out), Some(u128::from(of_thread)), "{form:?}");
            }
        }
    }

    fn assert_alike(snapshot: &Snapshot) {
        let measured = CallTree::build(snapshot, |_| true).measured_ns();
        for form in Form::ALL.into_iter().filter(|form| *form != Form::Tks) {
            let written = bytes(form, snapshot);
            assert_eq!(written, bytes(form, snapshot), "{form:?}");
            if form == Form::Html {
                let page = std::str::from_utf8(&written).unwrap();
                assert_eq!(&html::snapshot_of(page).unwrap(), snapshot);
            }
            if let Some(sum) = sum_in(form, &written) {
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
