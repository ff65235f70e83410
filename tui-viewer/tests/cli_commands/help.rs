//! What `--help` says.

use crate::support::Place;

#[test]
fn help_shows_examples_and_every_command() {
    let place = Place::new();
    let help = place.tickscope(&["--help"]).ok().quiet().out;
    assert!(help.contains("Examples:\n  tickscope "), "{help}");
    for command in [
        "attach", "list", "report", "stacks", "snapshot", "reset", "mode", "off", "on", "sites", "run",
        "demo",
    ] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}: {help}");
        let own = place.tickscope(&[command, "--help"]).ok().quiet().out;
        assert!(own.contains(&format!("Usage: tickscope {command}")), "{own}");
    }
    assert!(
        help.contains("aliases: ls") || help.contains("alias: ls"),
        "{help}"
    );
    assert!(help.contains("alias: dump"), "{help}");
    assert!(
        !help.contains("demo-program") && !help.contains("panic-after"),
        "hidden: {help}"
    );
    assert!(place.tickscope(&["report", "--help"]).ok().out.contains("500ms"));
    assert!(place.tickscope(&["--version"]).ok().out.starts_with("tickscope "));
}

#[test]
fn help_fits_a_narrow_terminal() {
    let place = Place::new();
    let help = place.tickscope(&["--help"]).ok().out;
    for line in help.lines() {
        assert!(line.chars().count() <= 120, "{line}");
    }
}
