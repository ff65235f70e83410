//! Pictures of the viewer for documents, one of each view on a dark and on a light page, of a program that does not
//! exist.
//!
//! ```text
//! cargo run --release -p tickscope-cli --example pictures -- DIR
//! ```

#![allow(clippy::print_stdout, reason = "it says what it wrote")]

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context;
use tickscope_cli::picture::{Ground, Shot, svg, views};
use tickscope_cli::source::events::{News, Target};
use tickscope_cli::source::status::Status;

#[path = "../tests/support/orderbook.rs"]
mod orderbook;

/// Columns and rows.
const SIZE: (u16, u16) = (120, 30);

/// How old the program is in the picture, in tenths of a second.
const AGE: u64 = 1_340;

/// Tenths of a second for which it has been watched.
const WATCHED: u64 = 300;

fn main() -> anyhow::Result<()> {
    let dir = std::env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .context("wanted: a directory")?;
    std::fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
    for (index, view) in views().enumerate() {
        // A row that has something to tell, then the view.
        let keys = format!("jjjj{}", index + 1);
        for (ground, ending) in [(Ground::Dark, ""), (Ground::Light, "-light")] {
            let shot = Shot {
                news: news(),
                keys: &keys,
                size: SIZE,
                ground,
            };
            let path = dir.join(format!("{}{ending}.svg", view.to_lowercase()));
            let picture = svg(&shot, &format!("tickscope: {view}"));
            std::fs::write(&path, picture).with_context(|| path.display().to_string())?;
            println!("{}", path.display());
        }
    }
    Ok(())
}

fn news() -> Vec<(Duration, News)> {
    let target = Target {
        name: "orderbook-sim".into(),
        pid: 41_873,
        path: "orderbook.ring".into(),
    };
    let tell = |n: u64| {
        let news = News {
            target: Some(target.clone()),
            snapshot: Some(Rc::new(orderbook::snapshot(AGE - WATCHED + n))),
            ..News::quiet(Status::Live)
        };
        (Duration::from_millis(100 * n), news)
    };
    (0..=WATCHED).map(tell).collect()
}
