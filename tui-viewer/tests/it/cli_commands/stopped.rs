//! A program that SIGSTOP has stopped: commands report that, do not hang, and leave no request behind.

use crate::support::Place;

fn a_stopped_program_shows_its_newest_record_and_refuses_to_reset() {
    let place = Place::new();
    let program = place.start("busy");
    let before = place.json(&program.name);
    program.stop();

    let report = place
        .tickscope(&["report", "-f", "json", &program.name])
        .ok()
        .says(&[
            "the program does not answer (is it stopped?); showing the newest record, ",
            " s old",
        ]);
    let seen = report.json();
    assert!(seen["seq"].as_u64() >= before["seq"].as_u64());
    let stacks = place.tickscope(&["stacks", &program.name]).ok().says(&["s old"]);
    assert!(stacks.out.contains(&program.name));

    let begin = std::time::Instant::now();
    place
        .tickscope(&["reset", &program.name])
        .failed(1, &[&program.name, "did not answer within 2 s", "stopped"]);
    assert!(
        begin.elapsed() >= std::time::Duration::from_secs(2),
        "it is given its time"
    );
    // The program's heartbeat is old by now.
    let stale = place
        .tickscope(&["report", "-f", "json", &program.name])
        .ok()
        .json();
    assert_eq!(stale["process"]["state"], "stale");
    assert_eq!(stale["reset_epoch"], 0);

    program.go_on();
    let after = place.document(&["report", "-f", "json", &program.name]);
    assert_eq!(after["process"]["state"], "running");
    assert!(after["seq"].as_u64() > stale["seq"].as_u64());
    place.told(&["reset", &program.name]);
    assert_eq!(
        place.json(&program.name)["reset_epoch"],
        1,
        "the one that was asked for now"
    );
}

tickscope_testkit::tests![a_stopped_program_shows_its_newest_record_and_refuses_to_reset];
