//! Readable, shortened paths and types. Each path inside a name keeps only its last part.

use tickscope_format::path::{step, subject_and_trait};

/// A function that takes the path of a closure. It returns the name of the closure if that is an async body, and
/// otherwise `None`.
pub(crate) type AsyncBody<'a> = &'a dyn Fn(&str) -> Option<&'a str>;

/// Writer of short names.
pub(crate) struct Shortener<'a> {
    /// Depth down to which nested generic arguments are written. Deeper arguments become `…`.
    pub(crate) depth: usize,
    /// Looks up the names of async bodies.
    pub(crate) async_body: AsyncBody<'a>,
}

/// Part of a path.
struct Part {
    text: String,
    arguments: String,
    is_type: bool,
}

/// Text that is still to be read.
struct Reader<'a>(&'a str);

impl Shortener<'_> {
    /// Shortens a type: `&mut alloc::vec::Vec<app::Entry>` becomes `&mut Vec<Entry>`.
    pub(crate) fn of_type(&self, text: &str) -> String {
        self.list(&mut Reader(text), 0)
    }

    /// Writes all parts of a path, with shortened generic arguments. `parent` is the path that precedes it, which is
    /// needed to look up async bodies.
    pub(crate) fn of_path(&self, path: &str, parent: &str) -> String {
        let parts = self.path(&mut Reader(path), 0, parent);
        let texts = parts
            .iter()
            .map(|part| format!("{}{}", part.text, part.arguments));
        texts.collect::<Vec<_>>().join("::")
    }

    /// Shortens all types up to the end of the text or up to a closing bracket.
    fn list(&self, from: &mut Reader<'_>, depth: usize) -> String {
        let mut short = String::new();
        while let Some(c) = from.0.chars().next() {
            match c {
                '>' | ')' | ']' | '}' => break,
                '-' if from.0.starts_with("->") => short.push_str(from.take(2)),
                '(' | '[' => {
                    short.push_str(from.take(1));
                    short.push_str(&self.list(from, depth));
                    short.push_str(from.take(1));
                }
                // Lifetimes are left out, because they are of no use in a profile.
                '&' if from.0.starts_with("&'") => {
                    short.push_str(from.take(1));
                    from.take(1);
                    from.take_while(|c| c.is_alphanumeric() || c == '_');
                    from.take_while(|c| c == ' ');
                }
                '\'' | '"' => short.push_str(from.quoted(c)),
                '<' | '{' | '_' => short.push_str(&self.last_of_path(from, depth)),
                c if c.is_alphabetic() => {
                    let word = self.last_of_path(from, depth);
                    if word == "for" {
                        from.take_while(|c| c == ' ');
                    } else {
                        short.push_str(&word);
                    }
                }
                c if c.is_ascii_digit() => short.push_str(from.take_while(char::is_alphanumeric)),
                c => short.push_str(from.take(c.len_utf8())),
            }
        }
        short
    }

    /// Writes the last part of a path. If that is a closure, which has no name, the last named part before it is kept
    /// as well.
    fn last_of_path(&self, from: &mut Reader<'_>, depth: usize) -> String {
        let is_for = from.0.starts_with("for<");
        let parts = self.path(from, depth, "");
        if is_for {
            return "for".into();
        }
        let named = parts
            .iter()
            .rposition(|part| !part.text.starts_with('{'))
            .unwrap_or(0);
        let first = match named.checked_sub(1) {
            Some(before) if parts[before].is_type => before,
            Some(_) | None => named,
        };
        let mut short = String::new();
        for (at, part) in parts.iter().enumerate().skip(first) {
            if at > first {
                short.push_str("::");
            }
            short.push_str(&part.text);
            if at + 1 == parts.len() {
                short.push_str(&part.arguments);
            }
        }
        short
    }

    fn path(&self, from: &mut Reader<'_>, depth: usize, parent: &str) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let mut plain = parent.to_string();
        loop {
            let mut is_type = false;
            let text = if from.0.starts_with('<') {
                is_type = true;
                let bracket = from.take(step(from.0));
                let subject = subject_and_trait(bracket).map_or(&bracket[1..], |(subject, _)| subject);
                self.list(&mut Reader(subject), depth)
            } else if from.0.starts_with('{') {
                let group = from.take(step(from.0));
                plain.push_str("::");
                plain.push_str(group);
                brace((self.async_body)(&plain).unwrap_or(group))
            } else {
                let word = from.take_while(|c| c.is_alphanumeric() || c == '_');
                if !plain.is_empty() {
                    plain.push_str("::");
                }
                plain.push_str(word);
                word.to_string()
            };
            let is_empty = text.is_empty();
            let mut arguments = String::new();
            let turbofish = from.0.starts_with("::<") && !from.0.starts_with("::<impl ");
            if turbofish || from.0.starts_with('<') {
                arguments.push_str(from.take(if turbofish { 3 } else { 1 }));
                if depth < self.depth {
                    arguments.push_str(&self.list(from, depth + 1));
                } else {
                    let mut bracket = 0;
                    while !from.0[bracket..].is_empty() && !from.0[bracket..].starts_with('>') {
                        bracket += step(&from.0[bracket..]);
                    }
                    from.take(bracket);
                    arguments.push('…');
                }
                arguments.push_str(from.take(1));
            }
            if matches!(text.as_str(), "Fn" | "FnMut" | "FnOnce") {
                arguments = as_call(&arguments).unwrap_or(arguments);
            }
            parts.push(Part {
                text,
                arguments,
                is_type,
            });
            if !from.0.starts_with("::") {
                // Skips a character that belongs to no path, so that the reader always advances.
                if is_empty && parts.len() == 1 {
                    let c = from.0.chars().next();
                    from.take(c.map_or(0, char::len_utf8));
                }
                return parts;
            }
            from.take(2);
        }
    }
}

impl<'a> Reader<'a> {
    /// Takes this many bytes, or all that are left.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.0.split_at_checked(bytes).unwrap_or((self.0, ""));
        self.0 = rest;
        taken
    }

    fn take_while(&mut self, holds: impl Fn(char) -> bool) -> &'a str {
        let end = self.0.find(|c| !holds(c)).unwrap_or(self.0.len());
        self.take(end)
    }

    /// Takes a quoted literal, or just the quote if it begins a lifetime.
    fn quoted(&mut self, quote: char) -> &'a str {
        let mut escaped = false;
        for (at, c) in self.0.char_indices().skip(1) {
            if c == quote && !escaped && at > 1 {
                return self.take(at + 1);
            }
            if quote == '\'' && !escaped && at > 1 {
                break;
            }
            escaped = c == '\\' && !escaped;
        }
        self.take(1)
    }
}

/// Writes the generic arguments of `Fn`, `FnMut` or `FnOnce` the way the source code does: `<(u8,), Output = u16>`
/// becomes `(u8) -> u16`.
fn as_call(arguments: &str) -> Option<String> {
    let inner = arguments
        .trim_start_matches("::")
        .strip_prefix('<')?
        .strip_suffix('>')?;
    let (taken, rest) = inner.split_at(if inner.starts_with('(') { step(inner) } else { 0 });
    let taken = taken.strip_prefix('(')?.strip_suffix(')')?;
    let taken = taken.strip_suffix(',').unwrap_or(taken);
    let output = if rest.is_empty() {
        "()"
    } else {
        rest.strip_prefix(", Output = ")?
    };
    Some(match output {
        "()" => format!("({taken})"),
        output => format!("({taken}) -> {output}"),
    })
}

/// Writes a part in braces. The number of a function's first closure is left out, because most functions have only one.
fn brace(group: &str) -> String {
    let inner = group.trim_start_matches('{').trim_end_matches('}');
    format!("{{{}}}", inner.strip_suffix("#0").unwrap_or(inner))
}
