//! The terminal is resized while the viewer is running. The screen must then look as if the viewer had been started at
//! the new size.

use std::time::Duration;

use crate::pty::session::{Session, resize};
use crate::support::Chance;

fn fifty_sizes_a_second_leave_nothing_behind() {
    let mut session = Session::shown("still", (120, 30));
    // In the tree, the initial size determines which rows are open. The Hot view does not depend on it.
    session.send("2");
    let mut chance = Chance(5);
    for last in [(60, 15), (80, 24)] {
        for n in 0..25 {
            let (cols, rows) = match n {
                24 => last,
                _ => (1 + chance.below(200) as u16, 1 + chance.below(60) as u16),
            };
            resize(&session, cols, rows);
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut fresh = Session::shown("still", last);
        fresh.send_for("2", "[2 Hot]");
        session.wait_for("the screen of a fresh start", |screen| {
            let fresh = fresh.terminal.lock().unwrap();
            looks(screen, last) == looks(fresh.screen(), last)
        });
        fresh.quit();
    }
    // `Session::quit` would compare the terminal's size with that before the start.
    session.send("q");
    assert_eq!(session.end().code(), Some(0));
}

/// Returns the text and the style of each cell.
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

tickscope_testkit::tests![fifty_sizes_a_second_leave_nothing_behind,];
