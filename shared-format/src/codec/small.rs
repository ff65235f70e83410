//! Compact sections of sites and nodes, for the records of the coarse ring: each text is stored once, and small numbers
//! take one byte.

use std::collections::HashMap;

use bincode::config::Varint;
use bincode::{Decode, Encode};

use super::section::{Coded, DECODE_LIMIT, damaged};
use crate::error::FormatError;
use crate::ids::NO_PARENT;
use crate::snapshot::{Nodes, Site};

/// Little-endian, and integers in as few bytes as they need.
pub(super) const CONFIG: Coded<Varint> = bincode::config::standard().with_limit::<DECODE_LIMIT>();

/// All texts; then of each site the indices of name, module, file and group among them, and the line.
#[derive(Encode)]
pub(super) struct SitesOut<'a>(Vec<&'a str>, Vec<[u32; 5]>);

#[derive(Decode)]
pub(super) struct SitesIn(Vec<String>, Vec<[u32; 5]>);

/// Distance of each row to its parent in rows, 0 for none; sites, calls, self ticks.
#[derive(Encode)]
pub(super) struct NodesOut<'a>(Vec<u32>, &'a [u32], &'a [u64], &'a [u64]);

#[derive(Decode)]
pub(super) struct NodesIn(Vec<u32>, Vec<u32>, Vec<u64>, Vec<u64>);

impl<'a> SitesOut<'a> {
    pub(super) fn new(sites: &'a [Site]) -> Self {
        let mut texts = Vec::new();
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut number = |text: &'a str| {
            *numbers.entry(text).or_insert_with(|| {
                texts.push(text);
                texts.len() as u32 - 1
            })
        };
        let rows = sites.iter().map(|site| {
            let [name, module, file, group] =
                [&site.name, &site.module, &site.file, &site.group].map(|text| number(text));
            [name, module, file, group, site.line]
        });
        let rows = rows.collect();
        Self(texts, rows)
    }
}

impl SitesIn {
    /// # Errors
    /// A text index that does not exist, or more text than a reader accepts.
    pub(super) fn sites(self, at: usize) -> Result<Vec<Site>, FormatError> {
        let Self(texts, rows) = self;
        let text = |number: u32| {
            let found = texts.get(number as usize);
            found.ok_or_else(|| damaged("text of a site", at, number, format!("below {}", texts.len())))
        };
        // Many sites could refer to one long text.
        let mut bytes = 0;
        for &number in rows.iter().flat_map(|row| &row[..4]) {
            bytes += text(number)?.len();
        }
        if bytes > DECODE_LIMIT {
            return Err(damaged(
                "texts of sites",
                at,
                bytes,
                format!("at most {DECODE_LIMIT}"),
            ));
        }
        let text = |number: u32| text(number).cloned();
        let sites = rows.into_iter().map(|[name, module, file, group, line]| {
            Ok(Site {
                name: text(name)?,
                module: text(module)?,
                file: text(file)?,
                line,
                group: text(group)?,
            })
        });
        sites.collect()
    }
}

impl<'a> NodesOut<'a> {
    pub(super) fn new(nodes: &'a Nodes) -> Self {
        let up = nodes
            .parent
            .iter()
            .zip(0u32..)
            .map(|(&parent, row)| match parent {
                NO_PARENT => 0,
                parent => row.wrapping_sub(parent),
            });
        Self(up.collect(), &nodes.site, &nodes.calls, &nodes.self_ticks)
    }
}

impl NodesIn {
    pub(super) fn nodes(self) -> Nodes {
        let Self(up, site, calls, self_ticks) = self;
        let parent = up.into_iter().zip(0u32..).map(|(up, row)| match up {
            0 => NO_PARENT,
            up => row.wrapping_sub(up),
        });
        Nodes {
            parent: parent.collect(),
            site,
            calls,
            self_ticks,
        }
    }
}
