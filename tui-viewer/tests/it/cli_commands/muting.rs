//! Scopes that cost more than they tell, muted from the shell.

use crate::cli_commands::support::{Place, until};

fn what_costs_more_than_it_tells_is_listed_muted_and_opened_again() {
    let place = Place::new();
    let program = place.start("peeking");
    let name = &*program.name;
    let mute = |more: &[&str]| {
        let mut words = vec!["mute", name];
        words.extend(more);
        place.tickscope(&words).ok().quiet().out
    };
    let listed = until("it is worth muting", || {
        let listed = mute(&["--dry-run"]);
        listed.contains("would be muted").then_some(listed)
    });
    let path = listed.split(": ").next().unwrap().to_owned();
    assert!(path.ends_with("roles::peek"), "{listed}");
    assert!(
        listed.contains("of its ") && listed.contains(" a call is measuring, "),
        "{listed}"
    );
    assert!(listed.ends_with(" of all; would be muted\n"), "{listed}");
    let exclude = || {
        place
            .tickscope(&["sites", "-f", "exclude", name])
            .ok()
            .quiet()
            .out
    };
    assert_eq!(exclude(), format!("{path}\n"));
    let report = place.tickscope(&["report", name]).ok().quiet().out;
    assert!(report.contains("`tickscope mute` switches it off"), "{report}");
    let json = place.json(name);
    assert_eq!(json["mute"]["offered"][0]["name"], "peek");
    assert_eq!(json["mute"]["muted"].as_array().unwrap().len(), 0);

    let muted = mute(&[]);
    let ends = format!(" of all; muted. `tickscope on {path}` opens it\n");
    assert!(muted.starts_with(&path) && muted.ends_with(&ends), "{muted}");
    let again = mute(&[]);
    assert!(again.starts_with("nothing to mute: in "), "{again}");
    assert!(again.ends_with(" 1 scope is muted already.\n"), "{again}");
    assert_eq!(exclude(), format!("{path}\n"));
    let json: serde_json::Value = serde_json::from_str(&mute(&["--json"])).unwrap();
    assert_eq!(json["policy"], "offer");
    assert_eq!(json["muted"][0]["name"], "peek");
    assert_eq!(json["muted"][0]["reason"], "asked");
    let sites = place.tickscope(&["sites", name]).ok().quiet().out;
    assert!(sites.contains("1 switched off"), "{sites}");

    place.tickscope(&["on", "peek", name]).ok().quiet();
    let opened = mute(&["--dry-run"]);
    assert!(
        opened.starts_with("nothing to mute: in ") && !opened.contains("already"),
        "{opened}"
    );
    assert_eq!(exclude(), "\n");

    let kept = place.work().join("kept.tks");
    place
        .tickscope(&["snapshot", name, "-o", kept.to_str().unwrap()])
        .ok();
    let of_file = place.tickscope(&["mute", kept.to_str().unwrap()]);
    assert!(of_file.err.contains("no program is behind it"), "{}", of_file.err);
    place
        .tickscope(&["mute", "--dry-run", kept.to_str().unwrap()])
        .ok();
}

tickscope_testkit::tests![
    ;
    ignored:
    // Where other programs take the CPU, calls are so long that none is worth muting.
    what_costs_more_than_it_tells_is_listed_muted_and_opened_again,
];
