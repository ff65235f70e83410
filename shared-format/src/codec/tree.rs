//! The sections of the tree: threads, sites and rows. Records of the coarse ring have compact sections for sites and
//! rows, which store each text only once and small numbers in one byte.

use std::collections::HashMap;

use bincode::{Decode, Encode};

use super::section::{DECODE_LIMIT, Section, anything, check_sum, refuse};
use crate::error::{FormatError, damaged};
use crate::ids::NO_PARENT;
use crate::snapshot::{Nodes, Site, Snapshot};

pub(super) const THREADS: Section = Section {
    id: 2,
    write: |s, out| out.put(&s.threads),
    read: |to, body| body.read().map(|threads| to.snapshot.threads = threads),
    // Checks the whole tree, not only its threads.
    check,
};

pub(super) const SITES: Section = Section {
    id: 3,
    write: |s, out| match out.is_fine {
        true => out.put(&*s.sites),
        false => Ok(()),
    },
    read: |to, body| {
        let known = to.known_sites.take();
        let known = known.filter(|(known, _)| known[..] == *body.bytes);
        let (bytes, sites) = match known {
            Some(known) => known,
            None => (body.bytes.into(), body.read::<Vec<Site>>()?.into()),
        };
        to.snapshot.sites = sites.clone();
        *to.known_sites = Some((bytes, sites));
        Ok(())
    },
    check: anything,
};

pub(super) const NODES: Section = Section {
    id: 4,
    write: |s, out| match out.is_fine {
        true => out.put(&s.nodes),
        false => Ok(()),
    },
    read: |to, body| body.read().map(|nodes| to.snapshot.nodes = nodes),
    check: anything,
};

pub(super) const SMALL_SITES: Section = Section {
    id: 10,
    write: |s, out| match out.is_fine {
        true => Ok(()),
        false => out.put_small(TextsOut::new(&s.sites)),
    },
    read: |to, body| {
        let texts: TextsIn = body.read_small()?;
        to.snapshot.sites = texts.sites(body.at)?.into();
        Ok(())
    },
    check: anything,
};

/// Columns: distance to the row of the parent (0 if there is no parent), site, calls, self ticks.
pub(super) const SMALL_NODES: Section = Section {
    id: 11,
    write: |s, out| {
        if out.is_fine {
            return Ok(());
        }
        let Nodes {
            parent,
            site,
            calls,
            self_ticks,
        } = &s.nodes;
        let up = parent.iter().zip(0u32..).map(|(&parent, row)| match parent {
            NO_PARENT => 0,
            parent => row.wrapping_sub(parent),
        });
        let up: Vec<u32> = up.collect();
        out.put_small((up, site, calls, self_ticks))
    },
    read: |to, body| {
        let mut nodes: Nodes = body.read_small()?;
        for (row, parent) in (0u32..).zip(&mut nodes.parent) {
            *parent = match *parent {
                0 => NO_PARENT,
                up => row.wrapping_sub(up),
            };
        }
        to.snapshot.nodes = nodes;
        Ok(())
    },
    check: anything,
};

/// All distinct texts. Then, for each site, the indices into these texts for its name, module, file and group, and its
/// line.
#[derive(Encode)]
struct TextsOut<'a>(Vec<&'a str>, Vec<[u32; 5]>);

#[derive(Decode)]
struct TextsIn(Vec<String>, Vec<[u32; 5]>);

impl<'a> TextsOut<'a> {
    fn new(sites: &'a [Site]) -> Self {
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

impl TextsIn {
    /// Builds the sites from the texts.
    ///
    /// # Errors
    /// A site refers to a text that does not exist, or the sites would have more bytes of text than a reader accepts.
    fn sites(self, at: usize) -> Result<Vec<Site>, FormatError> {
        let Self(texts, rows) = self;
        let text = |number: u32| {
            let found = texts.get(number as usize);
            let wanted = || format!("below {}", texts.len());
            found.ok_or_else(|| damaged("text of a site", at as u64, number, wanted()))
        };
        // A malicious file could use the same long text for a large number of sites.
        let mut bytes = 0usize;
        for &number in rows.iter().flat_map(|row| &row[..4]) {
            bytes = bytes.saturating_add(text(number)?.len());
        }
        if bytes > DECODE_LIMIT {
            let wanted = format!("at most {DECODE_LIMIT}");
            return Err(damaged("texts of sites", at as u64, bytes, wanted));
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

/// Checks the properties of the tree that later code relies on: columns of equal length, parents before their children
/// and in the same thread, adjacent thread ranges, sites and open frames that exist, and sums that do not overflow.
fn check(s: &Snapshot) -> Result<(), FormatError> {
    let rows = s.nodes.len();
    for (what, length) in [
        ("site column", s.nodes.site.len()),
        ("calls column", s.nodes.calls.len()),
        ("ticks column", s.nodes.self_ticks.len()),
    ] {
        let other = (length != rows).then(|| format!("{length} rows"));
        refuse(what, other, format_args!("{rows} rows"))?;
    }
    let mut next = 0usize;
    for (index, thread) in s.threads.iter().enumerate() {
        let first = thread.first_row as usize;
        let end = first.saturating_add(thread.rows as usize);
        if first != next || end > rows {
            let (found, wanted) = (format!("{first}..{end}"), format!("{next}..={rows}"));
            return Err(damaged(
                "thread rows",
                None,
                format!("{found} of thread {index}"),
                wanted,
            ));
        }
        for row in first..end {
            let parent = s.nodes.parent[row];
            if parent != NO_PARENT && !(first..row).contains(&(parent as usize)) {
                let wanted = format!("{first}..{row} or no parent");
                return Err(damaged("parent", None, format!("{parent} in row {row}"), wanted));
            }
        }
        for frame in &thread.open {
            if !(first..end).contains(&frame.node.index()) {
                let wanted = format!("{first}..{end}");
                return Err(damaged(
                    "open frame",
                    None,
                    format!("{} of thread {index}", frame.node.0),
                    wanted,
                ));
            }
        }
        next = end;
    }
    let few = (next != rows).then(|| format!("{next} rows"));
    refuse("thread rows", few, format_args!("{rows} rows"))?;
    let is_unknown = |&site: &u32| site as usize >= s.sites.len();
    if let Some(row) = s.nodes.site.iter().position(is_unknown) {
        let wanted = format!("below {}", s.sites.len());
        return Err(damaged(
            "site",
            None,
            format!("{} in row {row}", s.nodes.site[row]),
            wanted,
        ));
    }
    check_sum("calls", s.nodes.calls.iter().copied())?;
    check_sum("threads", s.threads.iter().map(|thread| thread.count))?;
    let outside = s.threads.iter().map(|thread| thread.outside_ticks);
    let outside = check_sum("ticks outside", outside)?;
    let inside = check_sum("ticks", s.nodes.self_ticks.iter().copied())?;
    let long = s.nanos(outside.max(inside)) >= u64::MAX / 4;
    refuse("ticks", long.then_some("over 146 years"), "at most 146 years")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::decode;
    use crate::codec::section::{SMALL, append};
    use crate::codec::tests::refuses;
    use crate::fixture;

    #[test]
    fn a_text_that_is_not_there_or_too_often_is_refused() {
        let texts = |texts: &[&str], rows: Vec<[u32; 5]>| {
            let mut bytes = Vec::new();
            append(&mut bytes, SMALL_SITES.id, (texts, rows), SMALL).unwrap();
            decode(&bytes).map(|snapshot| snapshot.sites.len())
        };
        assert_eq!(texts(&["", "a"], vec![[1, 0, 0, 0, 7]]).unwrap(), 1);
        let error = texts(&["", "a"], vec![[2, 0, 0, 0, 7]]).unwrap_err().to_string();
        assert!(error.contains("text of a site"), "{error}");
        let long = "x".repeat(1 << 20);
        let error = texts(&["", &long], vec![[1, 0, 0, 0, 7]; 257])
            .unwrap_err()
            .to_string();
        assert!(error.contains("texts of sites"), "{error}");
    }

    #[test]
    fn a_parent_behind_its_child_and_sums_beyond_what_readers_add_up_are_refused() {
        let sound = fixture::two_threads();
        refuses("parent", &sound, &[|s| s.nodes.parent[1] = 2]);
        refuses("calls", &sound, &[|s| s.nodes.calls.fill(u64::MAX / 2 + 1)]);
        refuses(
            "threads",
            &sound,
            &[|s| s.threads.iter_mut().for_each(|thread| thread.count = u64::MAX)],
        );
        refuses("ticks", &sound, &[|s| s.threads[0].outside_ticks = u64::MAX]);
    }
}
