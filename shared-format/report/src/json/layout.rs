//! The version of all JSON documents, and their layout.
//!
//! Each member of the document is on its own line, and so is each element of a list in it, with everything nested inside it. This
//! makes the document readable, and `grep` finds whole nodes.

use std::io::{self, Write};

use serde_json::ser::Formatter;

use crate::escape::shapeless;

/// Version of the documents.
pub(crate) const VERSION: u32 = 1;

/// Nesting depth at the current position, and whether the bracket at depth 2 opened a list.
#[derive(Debug, Default)]
pub(super) struct Lines {
    depth: usize,
    in_list: bool,
    /// Whether the innermost open bracket has any contents so far.
    filled: bool,
}

impl Lines {
    fn broken(&self) -> bool {
        self.depth == 1 || (self.depth == 2 && self.in_list)
    }

    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.filled = false;
        if self.depth == 2 {
            self.in_list = bracket == b"[";
        }
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        if self.broken() && self.filled {
            writer.write_all(b"\n")?;
            indent(writer, self.depth - 1)?;
        }
        self.depth -= 1;
        self.filled = true;
        writer.write_all(bracket)
    }

    fn next<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.filled = true;
        if self.broken() {
            writer.write_all(if first { b"\n" } else { b",\n" })?;
            return indent(writer, self.depth);
        }
        if first { Ok(()) } else { writer.write_all(b", ") }
    }
}

fn indent<W: ?Sized + Write>(writer: &mut W, depth: usize) -> io::Result<()> {
    (0..depth).try_for_each(|_| writer.write_all(b"  "))
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.next(writer, first)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.next(writer, first)
    }

    /// Writes a string with escapes for characters that could move a terminal's cursor or reorder a line. Parsing the result
    /// gives the same string.
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|&(_, c)| shapeless(c)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + c.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
