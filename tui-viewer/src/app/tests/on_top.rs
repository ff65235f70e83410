//! Lists and texts over a view: threads to choose from, notices, the help, programs to choose from.

use super::*;

#[test]
fn one_thread_or_all() {
    let mut app = live(120, 30).after("ajj\n");
    assert!(text(&app).contains("only match-1 (a: all)"));
    has(&header(&app), " 1 of 4 threads");
    assert_eq!(names(&app)[0], "match::run");
    assert_eq!(app.list().rows.len(), 9);
    assert!(text(&app).contains("100.0%"));
    keys(&mut app, "a");
    assert_eq!(names(&app).last(), Some(&"orderbook_sim::main"));
    assert!(!text(&app).contains("only match-1"));
}

#[test]
fn the_choice_of_a_thread_stays_on_its_thread() {
    let mut app = live(120, 30).after("ajj");
    let mut grown = snapshot(1_341);
    let newcomer = Thread {
        name: "new".into(),
        ..Default::default()
    };
    grown.threads.insert(0, newcomer);
    gets(&mut app, grown);
    key(&mut app, Code::Enter);
    shows(&app, "only match-1 (a: all)");
}

#[test]
fn the_busiest_thread_is_listed_first_and_its_share_is_never_cut() {
    let mut pool = snapshot(1_340);
    pool.threads[0].name = "a-thread-pool-worker-with-a-long-name".into();
    pool.threads[0].tid = 0;
    pool.threads[0].count = 111;
    pool.threads[0].state = ThreadState::Finished;
    for (width, height) in [(20, 8), (32, 9), (44, 12), (60, 15), (120, 30)] {
        let mut turned = pool.clone();
        turned.threads.reverse();
        let app = showing(width, height, turned).after("a");
        let screen = text(&app);
        let at = |share: &str| {
            screen
                .lines()
                .position(|line| line.contains(&format!("{share} │")))
        };
        assert!(at("46.9%").is_some() && at("46.9%") < at("28.2%"), "{screen}");
        assert!(
            width < 60 || screen.contains("finished     ×111  46.9% │"),
            "{screen}"
        );
    }
}

#[test]
fn an_empty_list_says_why() {
    let mut idle = snapshot(1_340);
    idle.nodes = tickscope_format::snapshot::Nodes::default();
    idle.latencies = Default::default();
    for thread in &mut idle.threads {
        (thread.first_row, thread.rows) = (0, 0);
        thread.open.clear();
    }
    for status in [Status::Live, Status::Exited { unix_ns: 0 }, Status::Kept] {
        let mut app = live(60, 15);
        events(&mut app, status, Some(idle.clone()));
        for view in ["1", "2"] {
            keys(&mut app, view);
            shows(&app, "No scope has been entered since the reset.");
        }
        keys(&mut app, "aj\n");
        shows(&app, "This thread has entered no scope");
    }
}

#[test]
fn warnings_stand_until_they_are_read() {
    let mut warned = snapshot(1_340);
    warned.process.warnings = vec![
        "TICKSCOPE_MODE=fast: not a mode; exact is used.".into(),
        "b".into(),
    ];
    let mut app = showing(60, 15, warned);
    shows(&app, "! TICKSCOPE_MODE=fast: not a mode");
    key(&mut app, Code::Esc);
    assert!(!text(&app).contains("TICKSCOPE_MODE"));
}

#[test]
fn a_notice_goes_with_the_next_key_and_does_not_come_back() {
    let wrote = |app: &mut App| {
        app.update(Message::Wrote("report", Ok(vec!["./a.txt".into()])));
    };
    let told = |app: &App| text(app).contains("report written to ./a.txt");
    let mut app = live(120, 30);
    wrote(&mut app);
    keys(&mut app, "Q");
    assert!(told(&app), "a key that does nothing");
    keys(&mut app, "/");
    assert!(!told(&app));
    keys(&mut app, "boo");
    wrote(&mut app);
    assert!(told(&app) && last_line(&app).contains("/boo"), "{}", text(&app));
    keys(&mut app, "k\n");
    assert!(!told(&app), "read while the search was typed");
    for (width, height) in [(120, 30), (66, 15)] {
        let mut app = live(width, height).after("/book\n");
        wrote(&mut app);
        assert!(told(&app), "{}", text(&app));
        assert!(last_line(&app).contains("nN match"), "{}", text(&app));
        keys(&mut app, "n");
        assert!(!told(&app));
    }
    app.update(Message::Wrote("report", Err("no room".into())));
    keys(&mut app, "j");
    // An error stays until its time is over, even if keys are pressed.
    shows(&app, "! report not written: no room");
    let mut warned = snapshot(1_340);
    warned.process.warnings = vec!["the clock is odd".into()];
    let mut app = showing(60, 15, warned);
    wrote(&mut app);
    key(&mut app, Code::Esc);
    // Escape drops only the notice, not the warning.
    assert!(!told(&app) && text(&app).contains("the clock is odd"));
}

#[test]
fn three_unknown_keys_call_for_help() {
    let mut app = live(120, 30).after("ZZ");
    assert!(!last_line(&app).contains("? shows the keys"));
    keys(&mut app, "Z");
    assert!(last_line(&app).contains("? shows the keys"));
    at(&mut app, 3_000);
    assert!(!last_line(&app).contains("? shows the keys"));
    keys(&mut app, "ZZjZ");
    assert!(!last_line(&app).contains("? shows the keys"), "in a row");
}

#[test]
fn a_key_of_other_views_says_where_it_works() {
    let mut app = live(120, 30).after("4i");
    assert_eq!(last_line(&app).trim(), "i works in Tree");
    keys(&mut app, "f");
    assert_eq!(last_line(&app).trim(), "f works in Tree, Hot, Flame, Timeline");
    // While a list is on top, it would not help to say in which views the key works.
    keys(&mut app, "ai");
    assert!(!last_line(&app).contains("works in"));
}

#[test]
fn the_help_scrolls_to_its_end_and_no_further() {
    let mut app = live(60, 15).after("?");
    key(&mut app, Code::End);
    let end = text(&app);
    assert!(end.contains("AVG change"), "{end}");
    keys(&mut app, "jjjk");
    assert_ne!(text(&app), end, "one line up at once");
    key(&mut app, Code::F1);
    assert!(app.overlay.is_none());
}

#[test]
fn the_picker_opens_what_is_selected() {
    let mut app = empty(60, 15);
    let ring = |name: &str| RingLine {
        path: name.into(),
        name: name.into(),
        pid: 1,
        state: "running".into(),
        since: String::new(),
        live: true,
        library: String::new(),
    };
    let status = Status::Waiting { why: "which?".into() };
    for names in [&["a", "b", "c"][..], &["new", "a", "b", "c"]] {
        app.update(Message::Events(Box::new(Events {
            rings: Some(names.iter().copied().map(ring).collect()),
            ..Events::quiet(status.clone())
        })));
        if names.len() == 3 {
            keys(&mut app, "j");
        }
    }
    let effects = key(&mut app, Code::Enter);
    assert!(
        matches!(&effects[..], [Effect::Open(path)] if path.as_os_str() == "b"),
        "{effects:?}"
    );
    app.update(Message::NotOpened("b: damaged".into()));
    assert!(last_line(&app).contains("! b: damaged"));
}
