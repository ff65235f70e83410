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
use tickscope_cli::headless::{self, Shot, views};
use tickscope_cli::source::events::{Events, Target};
use tickscope_cli::source::status::Status;
use tickscope_testkit::orderbook;

mod paint;
mod svg;

use crate::paint::{Ground, Paint};

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
                events: events(),
                keys: &keys,
                size: SIZE,
                theme: ground.theme(),
            };
            let path = dir.join(format!("{}{ending}.svg", view.to_lowercase()));
            let picture = picture(&shot, ground, &format!("tickscope: {view}"));
            std::fs::write(&path, picture).with_context(|| path.display().to_string())?;
            println!("{}", path.display());
        }
    }
    Ok(())
}

fn events() -> Vec<(Duration, Events)> {
    let target = Target {
        name: "orderbook-sim".into(),
        pid: 41_873,
        path: "orderbook.ring".into(),
    };
    let tell = |n: u64| {
        let events = Events {
            target: Some(target.clone()),
            snapshot: Some(Rc::new(orderbook::snapshot(AGE - WATCHED + n))),
            ..Events::quiet(Status::Live)
        };
        (Duration::from_millis(100 * n), events)
    };
    (0..=WATCHED).map(tell).collect()
}

/// The picture of a screen, as text of an SVG file.
fn picture(shot: &Shot<'_>, ground: Ground, title: &str) -> String {
    svg::write(&headless::draw(shot), Paint::on(ground), title)
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn shot(keys: &str, ground: Ground) -> Shot<'_> {
        let mut odd = orderbook::snapshot(1_340);
        odd.sites[4].name = "漢字<&\">".into();
        let events = Events {
            target: Some(Target {
                name: "orderbook-sim".into(),
                pid: 41_873,
                path: "a.ring".into(),
            }),
            snapshot: Some(Rc::new(odd)),
            ..Events::quiet(Status::Live)
        };
        Shot {
            events: vec![(Duration::ZERO, events)],
            keys,
            size: (100, 30),
            theme: ground.theme(),
        }
    }

    /// The value of an attribute of a tag.
    fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
        let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
        rest.split_once('"').map(|(value, _)| value)
    }

    /// Tags, each with the text behind it; all opened are closed, in their order.
    fn parsed(xml: &str) -> Vec<(&str, String)> {
        let mut open = Vec::new();
        let mut tags = Vec::new();
        for part in xml.split('<').skip(1) {
            let (tag, text) = part.split_once('>').expect("a tag ends");
            assert_eq!(tag.matches('"').count() % 2, 0, "quotes in pairs: {tag}");
            assert!(!text.contains('>'), "escaped: {text}");
            let name = tag.split([' ', '/']).next().expect("a name");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(name);
            }
            for (at, _) in text.match_indices('&') {
                let entities = ["&lt;", "&gt;", "&amp;", "&quot;"];
                assert!(
                    entities.iter().any(|e| text[at..].starts_with(e)),
                    "escaped: {text}"
                );
            }
            let text = text
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"");
            tags.push((tag, text.replace("&amp;", "&")));
        }
        assert!(open.is_empty(), "{open:?}");
        tags
    }

    /// The text of the picture, by where it stands.
    fn text(svg: &str, (width, height): (u16, u16)) -> Vec<String> {
        let mut lines = vec![vec![' '; width.into()]; height.into()];
        for (tag, text) in parsed(svg).iter().filter(|(tag, _)| tag.starts_with("text ")) {
            let number = |name| {
                attribute(tag, name)
                    .and_then(|n| n.parse::<f64>().ok())
                    .expect(name)
            };
            let (x, y) = svg::cell_at(number("x"), number("y"));
            let cells = (number("textLength") / svg::CELL_WIDTH).round() as usize;
            let wide = text.as_str().width();
            assert_eq!(cells, wide, "{text:?}");
            let mut x = x;
            for c in text.chars() {
                lines[y][x] = c;
                x += c.encode_utf8(&mut [0; 4]).width();
            }
        }
        lines.iter().map(|line| line.iter().collect()).collect()
    }

    #[test]
    fn a_picture_is_xml_and_holds_the_text_of_the_screen() {
        for keys in ["", "2", "3", "4", "5", "6", "?", "/book"] {
            for ground in [Ground::Dark, Ground::Light] {
                let shot = shot(keys, ground);
                let buffer = headless::draw(&shot);
                let seen = text(&picture(&shot, ground, "a <title>"), shot.size);
                for y in 0..shot.size.1 {
                    let wanted: String = (0..shot.size.0)
                        .map(|x| buffer[(x, y)].symbol().chars().next().unwrap_or(' '))
                        // Bars are drawn, not written.
                        .map(|c| {
                            if ('\u{2581}'..='\u{258f}').contains(&c) {
                                ' '
                            } else {
                                c
                            }
                        })
                        .collect();
                    assert_eq!(seen[usize::from(y)], wanted, "{keys} line {y}");
                }
            }
        }
    }

    #[test]
    fn the_same_shot_gives_the_same_picture() {
        for view in views() {
            let key = 1 + views()
                .position(|other| other == view)
                .expect("it is one of them");
            let key = key.to_string();
            let (one, other) = (shot(&key, Ground::Dark), shot(&key, Ground::Dark));
            assert_eq!(
                picture(&one, Ground::Dark, view),
                picture(&other, Ground::Dark, view)
            );
        }
    }
}
