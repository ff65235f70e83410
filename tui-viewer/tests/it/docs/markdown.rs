//! The part of Markdown that the pages use.

/// A fenced block of code.
#[derive(Debug, PartialEq)]
pub(crate) struct Fence {
    /// Text after the opening fence.
    pub(crate) language: String,
    pub(crate) lines: Vec<String>,
}

/// Splits a page into its code blocks and the remaining text, in which each line of a block is replaced by an empty
/// line.
pub(crate) fn cut(page: &str) -> (Vec<Fence>, String) {
    let mut fences: Vec<Fence> = Vec::new();
    let mut is_open = false;
    let mut text = String::new();
    for line in page.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            if !is_open {
                fences.push(Fence {
                    language: language.into(),
                    lines: Vec::new(),
                });
            }
            is_open = !is_open;
            text.push('\n');
        } else if let Some(fence) = fences.last_mut().filter(|_| is_open) {
            fence.lines.push(line.into());
            text.push('\n');
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    assert!(!is_open, "a block of code is not closed");
    (fences, text)
}

/// Returns the contents of code spans in single backticks, with line breaks replaced by spaces. A span does not extend
/// past its paragraph, table row or list item.
pub(crate) fn spans(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in parts(text) {
        for (marks, span) in marked(&part) {
            if marks == 1 {
                // In tables, a `|` inside code is escaped.
                found.push(span.replace("\\|", "|"));
            }
        }
    }
    found
}

/// Returns the targets of the links and images on a page.
pub(crate) fn links(page: &str) -> Vec<String> {
    let (_, text) = cut(page);
    let mut found = Vec::new();
    for part in parts(&text) {
        let mut plain = part.clone();
        for (marks, span) in marked(&part) {
            let fence = "`".repeat(marks);
            plain = plain.replacen(&format!("{fence}{span}{fence}"), "", 1);
        }
        let targets = plain.split("](").skip(1);
        found.extend(targets.map(|rest| rest.split(')').next().unwrap_or_default().to_string()));
    }
    found
}

/// Returns the anchors of the headings of a page.
pub(crate) fn anchors(page: &str) -> Vec<String> {
    let (_, text) = cut(page);
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    headings
        .map(|heading| {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter_map(|c| match c {
                ' ' => Some('-'),
                c if c.is_alphanumeric() || matches!(c, '-' | '_') => Some(c),
                _ => None,
            });
            kept.collect()
        })
        .collect()
}

/// Returns the cells of each table row in a text.
pub(crate) fn rows(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    rows.map(|row| {
        let row = row.trim_matches('|').replace("\\|", "\u{0}");
        row.split('|')
            .map(|cell| cell.trim().replace('\u{0}', "|"))
            .collect()
    })
    .collect()
}

/// Returns the paragraphs, table rows and list items of a text, each joined into one line.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in text.lines() {
        let line = line.strip_prefix('>').unwrap_or(line).trim();
        let begins = line.is_empty() || line.starts_with(['|', '#']) || line.starts_with("- ");
        match parts.last_mut() {
            Some(part) if !begins => {
                part.push(' ');
                part.push_str(line);
            }
            _ => parts.push(line.into()),
        }
    }
    parts
}

/// Returns the contents of all code spans, each with the number of backticks on either side of it.
fn marked(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        let marks = run(&rest[at..]);
        let inside = &rest[at + marks..];
        let Some(end) = closing(inside, marks) else {
            rest = inside;
            continue;
        };
        found.push((marks, inside[..end].to_string()));
        rest = &inside[end + marks..];
    }
    found
}

fn run(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// Returns the position of the first run of exactly `marks` backticks.
fn closing(text: &str, marks: usize) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find('`') {
        let at = from + at;
        let length = run(&text[at..]);
        if length == marks {
            return Some(at);
        }
        from = at + length;
    }
    None
}

fn pages_are_cut_into_code_and_text() {
    let page = "# A `b` c\n\nsee [d](e.md#f), `[g](h)` and ``one ` two``\n- `i\n  j`\n```sh\nk `l`\n```\n| `m\\|n` | o |\n";
    let (fences, text) = cut(page);
    let fence = Fence {
        language: "sh".into(),
        lines: vec!["k `l`".into()],
    };
    assert_eq!(fences, [fence]);
    assert_eq!(spans(&text), ["b", "[g](h)", "i j", "m|n"]);
    assert_eq!(links(page), ["e.md#f"]);
    assert_eq!(anchors(page), ["a-b-c"]);
    assert_eq!(rows(&text), [["`m|n`", "o"]]);
}

tickscope_testkit::tests![pages_are_cut_into_code_and_text];
