//! Screens as pictures, for documents: the real app and the real drawing, with a page in place of a terminal.

mod paint;
mod svg;

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};

use crate::app::message::Message;
use crate::app::state::App;
use crate::app::view::View;
use crate::cli::args::look::ThemeKind;
use crate::event_loop::meaning;
use crate::keys::decoder::Keyboard;
pub use crate::picture::paint::Ground;
use crate::picture::paint::Paint;
use crate::source::events::News;
use crate::ui::view;

/// What is on the screen when the picture is taken.
#[derive(Debug)]
pub struct Shot<'a> {
    /// What is heard of the program, one after the other, each so long after the screen began.
    pub news: Vec<(Duration, News)>,
    /// What is typed then.
    pub keys: &'a str,
    /// Columns and rows.
    pub size: (u16, u16),
    /// The page.
    pub ground: Ground,
}

/// The names of the views; each has the key of its place, counted from 1.
pub fn views() -> impl Iterator<Item = &'static str> {
    View::ALL.into_iter().map(View::title)
}

/// The picture, as text of an SVG file; the same for the same shot.
pub fn svg(shot: &Shot<'_>, title: &str) -> String {
    svg::write(&take(shot), Paint::on(shot.ground), title)
}

fn take(shot: &Shot<'_>) -> Buffer {
    let (width, height) = shot.size;
    let theme = match shot.ground {
        Ground::Dark => ThemeKind::Sixteen,
        Ground::Light => ThemeKind::Light,
    };
    let mut app = App::new(Size::new(width, height), theme, false, Some(0));
    for (at, news) in &shot.news {
        app.update(Message::Time(*at));
        app.update(Message::News(Box::new(news.clone())));
    }
    for code in Keyboard::default().take(shot.keys.as_bytes()) {
        if let Some(message) = meaning(app.context(), code) {
            // What is to be done outside has no place in a picture.
            app.update(message);
        }
    }
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    view::draw(&app, &mut buffer);
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orderbook;
    use crate::source::events::Target;
    use crate::source::status::Status;
    use std::rc::Rc;

    fn shot(keys: &str, ground: Ground) -> Shot<'_> {
        let mut odd = orderbook::snapshot(1_340);
        odd.sites[4].name = "漢字<&\">".into();
        let news = News {
            target: Some(Target {
                name: "orderbook-sim".into(),
                pid: 41_873,
                path: "a.ring".into(),
            }),
            snapshot: Some(Rc::new(odd)),
            ..News::quiet(Status::Live)
        };
        Shot {
            news: vec![(Duration::ZERO, news)],
            keys,
            size: (100, 30),
            ground,
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
            let wide = crate::text::cells::width(text);
            assert_eq!(cells, wide, "{text:?}");
            let mut x = x;
            for c in text.chars() {
                lines[y][x] = c;
                x += crate::text::cells::width(c.encode_utf8(&mut [0; 4]));
            }
        }
        lines.iter().map(|line| line.iter().collect()).collect()
    }

    #[test]
    fn a_picture_is_xml_and_holds_the_text_of_the_screen() {
        for keys in ["", "2", "3", "4", "5", "6", "?", "/book"] {
            for ground in [Ground::Dark, Ground::Light] {
                let shot = shot(keys, ground);
                let buffer = take(&shot);
                let seen = text(&svg(&shot, "a <title>"), shot.size);
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
            assert_eq!(svg(&one, view), svg(&other, view));
        }
    }
}
