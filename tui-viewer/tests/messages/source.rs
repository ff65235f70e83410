//! Texts of Rust sources, and where they stand: no parser, only strings, comments and brackets.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A string of a source file.
pub(crate) struct Text {
    /// The file, from the root of the tree.
    pub(crate) file: String,
    pub(crate) line: usize,
    /// Blanks in a row are one, and what is filled in is `{}`.
    pub(crate) text: String,
    /// What the string stands in, outermost first: `warnings.push`, `format!`, `#error`, `Error.Unsuitable {`; without a
    /// name what stands before the bracket.
    pub(crate) within: Vec<String>,
    /// In code that only tests have.
    pub(crate) is_test: bool,
}

/// All texts of the files below these folders.
pub(crate) fn texts(root: &Path, folders: &[&str]) -> Vec<Text> {
    let mut files = Vec::new();
    for folder in folders {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    let sources: Vec<(PathBuf, String)> = files
        .into_iter()
        .map(|file| (file.clone(), std::fs::read_to_string(file).unwrap()))
        .collect();
    type Read<'a> = (&'a Path, &'a str, Vec<(usize, Token<'a>)>);
    let read: Vec<Read<'_>> = sources
        .iter()
        .map(|(file, source)| (file.as_path(), source.as_str(), tokens(source)))
        .collect();
    let mut test_modules = BTreeSet::new();
    for (file, _, tokens) in &read {
        for at in 0..tokens.len() {
            if let Some(name) = test_module(&tokens[at..]) {
                test_modules.insert(folder_of(file).join(name));
            }
        }
    }
    let is_test = |file: &Path| {
        file.components().any(|part| part.as_os_str() == "tests")
            || file
                .ancestors()
                .any(|path| test_modules.contains(&path.with_extension("")))
    };
    read.iter()
        .flat_map(|(file, source, tokens)| {
            let name = file.strip_prefix(root).unwrap().display().to_string();
            in_file(&name, source, tokens, is_test(file))
        })
        .collect()
}

/// One blank for many, and `{}` for what is filled in.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        match behind.split_once('}') {
            // A placeholder in words: `{}`, `{name:?}`, `{the file}`.
            Some((inside, behind)) if !inside.contains('{') => {
                out.push_str("{}");
                rest = behind;
            }
            _ => rest = behind,
        }
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// Where the modules of a file are.
fn folder_of(file: &Path) -> PathBuf {
    match file.file_stem().unwrap().to_str().unwrap() {
        "lib" | "main" | "mod" => file.parent().unwrap().to_path_buf(),
        _ => file.with_extension(""),
    }
}

enum Token<'a> {
    Word(&'a str),
    Sign(char),
    Text(String),
}

/// The tokens of a source and the bytes they begin at; comments, numbers' signs and characters are no matter.
fn tokens(source: &str) -> Vec<(usize, Token<'_>)> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some((text, length)) = text(c, rest) {
            tokens.push((at, Token::Text(text)));
            length
        } else if c == '\'' {
            character(rest)
        } else if c.is_alphanumeric() || c == '_' {
            let end = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            tokens.push((at, Token::Word(&rest[..end])));
            end
        } else {
            if !c.is_whitespace() {
                tokens.push((at, Token::Sign(c)));
            }
            c.len_utf8()
        };
        at += length;
    }
    tokens
}

fn text(first: char, rest: &str) -> Option<(String, usize)> {
    matches!(first, '"' | 'b' | 'c' | 'r')
        .then(|| raw_text(rest).or_else(|| quoted_text(rest)))
        .flatten()
}

fn raw_text(rest: &str) -> Option<(String, usize)> {
    let behind = rest
        .strip_prefix("br")
        .or_else(|| rest.strip_prefix("cr"))
        .or_else(|| rest.strip_prefix('r'))?;
    let inner = behind.trim_start_matches('#');
    let end = format!("\"{}", "#".repeat(behind.len() - inner.len()));
    let inner = inner.strip_prefix('"')?;
    let length = inner.find(&end)?;
    let start = rest.len() - inner.len();
    Some((inner[..length].to_string(), start + length + end.len()))
}

fn quoted_text(rest: &str) -> Option<(String, usize)> {
    let inner = rest
        .strip_prefix('"')
        .or_else(|| rest.strip_prefix("b\""))
        .or_else(|| rest.strip_prefix("c\""))?;
    let mut text = String::new();
    let mut is_continued = false;
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((text, rest.len() - inner.len() + at + 1)),
            '\\' => match chars.next()?.1 {
                '\n' => is_continued = true,
                'n' | 't' => text.push(' '),
                other => text.push(other),
            },
            // The blanks of a line that goes on are no part of the text.
            _ if is_continued && c.is_whitespace() => {}
            _ => {
                is_continued = false;
                text.push(c);
            }
        }
    }
    None
}

/// The length of a character, or of the mark of a lifetime.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((escaped, _))) => {
            let behind = escaped + 1;
            rest[behind..].find('\'').map_or(1, |end| behind + end + 1)
        }
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 1,
    }
}

/// The name of the module of tests that begins here, where it has a file of its own.
fn test_module<'a>(tokens: &[(usize, Token<'a>)]) -> Option<&'a str> {
    let behind = behind_test_attributes(tokens)?;
    match &tokens[behind..] {
        [
            (_, Token::Word("mod")),
            (_, Token::Word(name)),
            (_, Token::Sign(';')),
            ..,
        ] => Some(name),
        _ => None,
    }
}

/// Behind `#[cfg(test)]` and its like, other attributes, and who may see the item.
fn behind_test_attributes(tokens: &[(usize, Token<'_>)]) -> Option<usize> {
    let mut at = 0;
    let mut is_test = false;
    while let (Some((_, Token::Sign('#'))), Some((_, Token::Sign('[')))) =
        (tokens.get(at), tokens.get(at + 1))
    {
        let end = at
            + tokens[at..]
                .iter()
                .position(|(_, token)| matches!(token, Token::Sign(']')))?;
        let has = |wanted: &str| {
            tokens[at..end]
                .iter()
                .any(|(_, token)| matches!(token, Token::Word(word) if *word == wanted))
        };
        is_test |= has("cfg") && has("test") && !has("not");
        at = end + 1;
    }
    while let Some((_, Token::Word("pub" | "crate") | Token::Sign('(' | ')'))) = tokens.get(at) {
        at += 1;
    }
    is_test.then_some(at)
}

fn in_file(file: &str, source: &str, tokens: &[(usize, Token<'_>)], is_test_file: bool) -> Vec<Text> {
    let mut texts = Vec::new();
    let mut within: Vec<String> = Vec::new();
    // How deep the item is that only tests have.
    let mut tests: Option<usize> = None;
    // An item begins that only tests have; it goes to a bracket or a semicolon.
    let mut announced = None;
    let (mut line, mut counted) = (1, 0);
    for (index, (at, token)) in tokens.iter().enumerate() {
        if tests.is_none() && announced.is_none() {
            announced = behind_test_attributes(&tokens[index..]).map(|behind| index + behind);
        }
        let begins = announced.is_some_and(|from| index >= from) && tests.is_none();
        match token {
            Token::Word(_) => {}
            Token::Sign('(' | '[' | '{') => {
                if begins && matches!(token, Token::Sign('{')) {
                    tests = Some(within.len());
                    announced = None;
                }
                let brace = if matches!(token, Token::Sign('{')) {
                    " {"
                } else {
                    ""
                };
                within.push(name_before(&tokens[..index]) + brace);
            }
            Token::Sign(')' | ']' | '}') => {
                within.pop();
                if tests == Some(within.len()) {
                    tests = None;
                }
            }
            Token::Sign(sign) => {
                if begins && *sign == ';' {
                    announced = None;
                }
            }
            Token::Text(text) => {
                line += source[counted..*at].matches('\n').count();
                counted = *at;
                texts.push(Text {
                    file: file.to_string(),
                    line,
                    text: plain(text),
                    within: within.clone(),
                    is_test: is_test_file || tests.is_some(),
                });
            }
        }
    }
    texts
}

/// What stands before a bracket: `a.b`, `a::b` as `a.b`, `a!`, `#` of attributes, else the sign.
fn name_before(before: &[(usize, Token<'_>)]) -> String {
    let token = |back: usize| before.len().checked_sub(back).map(|at| &before[at].1);
    match (token(1), token(2), token(3), token(4)) {
        (Some(Token::Sign('!')), Some(Token::Word(name)), ..) => format!("{name}!"),
        (Some(Token::Word(name)), Some(Token::Sign('.')), Some(Token::Word(of)), _)
        | (Some(Token::Word(name)), Some(Token::Sign(':')), Some(Token::Sign(':')), Some(Token::Word(of))) => {
            format!("{of}.{name}")
        }
        (Some(Token::Word(name)), Some(Token::Sign('[')), Some(Token::Sign('#')), _) => format!("#{name}"),
        (Some(Token::Word(name)), ..) => (*name).to_string(),
        (Some(Token::Sign(sign)), ..) => sign.to_string(),
        _ => String::new(),
    }
}
