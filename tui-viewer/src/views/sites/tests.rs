//! Golden screens of the Sites view.

use insta::assert_snapshot;
use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::Rule;

use crate::app::row::RowId;
use crate::app::state::App;
use crate::cli::args::look::ThemeKind;
use crate::keys::view::View;
use crate::orderbook;
use crate::test_driver::{empty, keys, looks, showing, tell_functions, text, with_functions};

/// A large screen, a small one, and one on which only the list fits. Other tests check invariants at every size.
const SIZES: [(u16, u16); 3] = [(120, 30), (60, 15), (20, 5)];

#[test]
fn the_sites() {
    for (width, height) in SIZES {
        let mut s = orderbook::snapshot(1_340);
        s.measuring.rules = [("orderbook_sim::book", true), ("book::apply", false)]
            .map(|(pattern, off)| Rule {
                pattern: pattern.into(),
                off,
            })
            .to_vec();
        s.measuring.off_sites = [3, 4, 6].map(SiteId).to_vec();
        let published = (0..s.nodes.len()).filter(|&row| s.nodes.site[row] == 14);
        for row in published.collect::<Vec<_>>() {
            s.nodes.calls[row] = 0;
        }
        let app = showing(width, height, s).after("6jjjj");
        assert_snapshot!(format!("sites_{width}x{height}"), looks(&app));
    }
}

#[test]
fn functions_by_module() {
    for (width, height) in SIZES {
        let mut app = empty(width, height);
        let (mut s, known) = with_functions(1_340);
        s.measuring.rules = vec![Rule {
            pattern: "orderbook_sim::risk::*".into(),
            off: true,
        }];
        let risk = s
            .sites
            .iter()
            .zip(0..)
            .filter(|(site, _)| site.module.ends_with("risk"));
        let risk: Vec<SiteId> = risk.map(|(_, site)| SiteId(site)).collect();
        s.measuring.off_sites.extend(risk);
        tell_functions(&mut app, s, &known);
        keys(&mut app, "6E");
        // Moves the cursor to a site that is over the budget.
        while app
            .list()
            .selected()
            .is_some_and(|row| row.id != over_budget(&app))
        {
            keys(&mut app, "j");
        }
        assert_snapshot!(format!("functions_{width}x{height}"), looks(&app));
    }
    let mut app = empty(80, 24);
    let (s, known) = with_functions(1_340);
    tell_functions(&mut app, s, &known);
    keys(&mut app, "6/pad\n");
    keys(&mut app, "\\");
    app.screen.ascii = true;
    app.screen.theme = ThemeKind::Mono;
    assert!(text(&app).is_ascii(), "{}", text(&app));
    assert_snapshot!("functions_search_80x24", looks(&app));
}

fn over_budget(app: &App) -> RowId {
    let data = app.data().expect("there is data");
    let row = data.sites().iter().position(|row| row.over_budget.is_some());
    data.id(View::Sites.row(row.expect("one is over the budget") as u32))
}
