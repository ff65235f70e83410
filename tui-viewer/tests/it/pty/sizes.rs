//! Other sizes while it runs: what is on the screen then is what a fresh start shows.

use std::time::Duration;

use crate::pty::session::{Session, resize};

fn a_resize_repaints_cleanly() {
    let mut session = Session::start(&["still"], (120, 30));
    session.wait_for_text("match::run");
    for (cols, rows) in [(60, 15), (33, 7), (10, 3), (100, 40), (61, 20), (80, 24)] {
        resize(&session, cols, rows);
    }
    let mut fresh = Session::start(&["still"], (80, 24));
    fresh.wait_for_text("q quit");
    let wanted = fresh.contents();
    session.wait_for("the screen of a fresh start", |screen| {
        screen.contents() == wanted
    });
    for session in [&mut session, &mut fresh] {
        session.send("q");
        session.end();
    }
}

fn fifty_sizes_in_a_second_leave_nothing_behind() {
    let mut session = Session::start(&["still"], (120, 30));
    session.wait_for_text("match::run");
    // The tree opens what has room at the start; the hotspots are the same whatever the size was.
    session.send("2");
    let mut random = 5u64;
    for last in [(80, 24), (60, 15), (120, 30)] {
        for n in 0..50 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let (cols, rows) = (1 + (random >> 33) % 200, 1 + (random >> 45) % 60);
            let size = if n == 49 { last } else { (cols as u16, rows as u16) };
            resize(&session, size.0, size.1);
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut fresh = Session::start(&["still"], last);
        fresh.wait_for_text("match::run");
        fresh.send("2");
        fresh.wait_for_text("[2 Hot]");
        session.wait_for("the screen of a fresh start", |screen| {
            let fresh = fresh.terminal.lock().unwrap();
            looks(screen, last) == looks(fresh.screen(), last)
        });
        fresh.send("q");
        fresh.end();
    }
    session.send("q");
    session.end();
}

/// Every cell: what stands in it and how it looks.
fn looks(screen: &vt100::Screen, (cols, rows): (u16, u16)) -> Vec<(String, String)> {
    let cells = (0..rows).flat_map(|y| (0..cols).map(move |x| (y, x)));
    cells
        .filter_map(|(y, x)| screen.cell(y, x))
        .map(|cell| {
            let text = if cell.has_contents() { cell.contents() } else { " " };
            let colours = (cell.fgcolor(), cell.bgcolor());
            let style = (cell.bold(), cell.dim(), cell.underline(), cell.inverse());
            (text.to_string(), format!("{colours:?} {style:?}"))
        })
        .collect()
}

tickscope_testkit::tests![
    a_resize_repaints_cleanly,
    fifty_sizes_in_a_second_leave_nothing_behind,
];
