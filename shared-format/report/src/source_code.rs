//! What is known about the source code of a program.

use std::collections::BTreeMap;

use tickscope_format::addresses::Addresses;

/// The functions and source lines in which samples were taken, and the text of these lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceCode {
    /// Functions and lines by code address; see [`code`](tickscope_analysis::code::code).
    pub addresses: Addresses,
    /// Text of source lines, by file and line number.
    pub texts: BTreeMap<(String, u32), String>,
    /// Why the code of some files could not be looked up, one sentence each.
    pub problems: Vec<String>,
}

#[cfg(test)]
pub(crate) mod tests {
    use tickscope_format::addresses::Frame;
    use tickscope_testkit::fixture;

    use super::*;

    /// Returns source code for the samples in [`fixture::sampled`].
    pub(crate) fn source_code() -> SourceCode {
        let frame = |function: &str, file: &str, line| Frame {
            function: function.into(),
            module: String::new(),
            file: file.into(),
            line,
        };
        let own = |line| frame("game::draw_frame", "/home/x/src/main.rs", line);
        let mut addresses = Addresses::default();
        let modules = fixture::sampled().lines.modules;
        let mut has = |module: usize, address, frames| addresses.insert(&modules[module], address, frames);
        for line in 1..=14 {
            has(0, u64::from(line), vec![own(line)]);
        }
        has(
            0,
            20,
            vec![
                frame("write", "/rust/ptr.rs", 3),
                frame("insert\u{1b}", "/rust/map.rs", 7),
                own(15),
            ],
        );
        has(0, 30, vec![frame("memchr", "/crates/memchr/src/lib.rs", 80)]);
        has(
            0,
            40,
            vec![frame("game::scene::parse", "/home/x/src/main.rs", 21)],
        );
        has(0, 50, vec![frame("enter", "/crates/tickscope/src/scope.rs", 5)]);
        has(1, 60, Vec::new());
        SourceCode {
            addresses,
            texts: [(
                ("/home/x/src/main.rs".into(), 14),
                "let hits = scene.hits(ray);".into(),
            )]
            .into(),
            problems: vec!["/usr/lib/libc.so.6: no debug information".into()],
        }
    }
}
