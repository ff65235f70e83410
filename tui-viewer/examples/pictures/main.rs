//! Pictures of the viewer for documents: each view at three sizes, of the demo, as a terminal shows it.
//!
//! ```text
//! cargo run --release -p tickscope-cli --example pictures -- docs/pictures
//! ```
//!
//! It takes a minute: the demo runs for half of it, so that views of the last 30 s are full.

#![allow(clippy::print_stdout, reason = "it says what it wrote")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::terminal::Terminal;

mod paint;
mod svg;
mod terminal;

/// Columns and rows.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// How long the demo is watched before the pictures.
const WATCHED: Duration = Duration::from_secs(40);

/// The views: what each file is called, what is typed, and how its tab begins then.
const VIEWS: [(&str, &str, &str); 9] = [
    ("tree", "1", "[1 "),
    ("hot", "2", "[2 "),
    // Of a function that calls others.
    ("function", "1gjj\r", "[3 "),
    ("threads", "4", "[4 "),
    ("flame", "5", "[5 "),
    ("sites", "6", "[6 "),
    ("tasks", "7", "[7 "),
    ("slow", "8", "[8 "),
    ("timeline", "9", "[9 "),
];

fn main() -> anyhow::Result<()> {
    let dir = std::env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .context("wanted: a directory")?;
    std::fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
    let viewer = build_viewer()?;
    let rings = tempfile::tempdir()?;
    let mut demo = Command::new(&viewer)
        .arg("demo-program")
        .env("TICKSCOPE_DIR", rings.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let drawn = ring_in(rings.path()).and_then(|ring| draw_all(&viewer, &ring, &dir));
    // The demo ends when its standard input is closed.
    drop(demo.stdin.take());
    demo.wait()?;
    drawn
}

/// Waits for the ring of the demo.
fn ring_in(dir: &Path) -> anyhow::Result<PathBuf> {
    loop {
        for entry in std::fs::read_dir(dir)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "ring") {
                return Ok(path);
            }
        }
        thread::sleep(Duration::from_millis(50));
    }
}

fn draw_all(viewer: &Path, ring: &Path, dir: &Path) -> anyhow::Result<()> {
    let start = |size| Ok((size, Terminal::start(viewer, ring, size)?));
    let terminals: anyhow::Result<Vec<_>> = SIZES.into_iter().map(start).collect();
    let mut terminals = terminals?;
    thread::sleep(WATCHED);
    for (name, keys, shown) in VIEWS {
        for ((columns, rows), terminal) in &mut terminals {
            terminal.type_until(keys, shown)?;
            let path = dir.join(format!("{name}-{columns}x{rows}.svg"));
            let picture = terminal.look(|screen| svg::write(screen, &format!("tickscope: {name}")));
            std::fs::write(&path, picture).with_context(|| path.display().to_string())?;
            println!("{}", path.display());
        }
    }
    Ok(())
}

/// Builds the viewer as this program was built, and returns where it is.
fn build_viewer() -> anyhow::Result<PathBuf> {
    let this = std::env::current_exe()?;
    let profile = this
        .ancestors()
        .nth(2)
        .context("this program is in PROFILE/examples")?;
    let mut build = Command::new("cargo");
    build.args(["build", "-p", "tickscope-cli", "--bin", "tickscope"]);
    if profile.ends_with("release") {
        build.arg("--release");
    }
    if !build.status().context("cargo")?.success() {
        bail!("the viewer could not be built");
    }
    Ok(profile.join("tickscope"))
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use unicode_width::UnicodeWidthStr;
    use vt100::Parser;

    use super::*;

    const SIZE: (u16, u16) = (40, 5);

    /// Letters of all kinds, colours of all kinds, and bars.
    const SCREEN: &str = "\x1b[1mbold\x1b[m and \x1b[4munderlined\x1b[m  far\r\n\
                          \x1b[38;2;1;2;3mtrue \x1b[38;5;208m256 \x1b[31m16\x1b[m \x1b[7mreversed\x1b[m\r\n\
                          漢字<&\">  \x1b[48;5;24mground\x1b[m\r\n\
                          ▁▄█ 40% ▌\x1b[2mfaint\x1b[m\r\n";

    fn screen() -> Parser {
        let cells = |count| NonZero::new(count).unwrap();
        let mut parser = Parser::new(cells(SIZE.1), cells(SIZE.0), 0);
        parser.process(SCREEN.as_bytes());
        parser
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
        let parser = screen();
        let svg = svg::write(parser.screen(), "a <title>");
        let seen = text(&svg, SIZE);
        for y in 0..SIZE.1 {
            let wanted: String = (0..SIZE.0)
                .map(|x| parser.screen().cell(y, x).unwrap().contents())
                // Bars are drawn, not written.
                .map(|text| {
                    text.chars()
                        .next()
                        .filter(|c| !('\u{2581}'..='\u{258f}').contains(c))
                })
                .map(|c| c.unwrap_or(' '))
                .collect();
            assert_eq!(seen[usize::from(y)], wanted, "line {y}");
        }
        for colour in ["#010203", "#ff8700", "#ff6b68", "#005f87"] {
            assert!(svg.contains(colour), "{colour}");
        }
    }
}
