//! Maps each row of a derived tree to the rows of the original tree from which it was made, and merges their histograms. A
//! histogram is merged when it is first used, because only a few rows of a large tree are ever shown.

use std::sync::{Arc, OnceLock};

use tickscope_format::latency::Histogram;

/// The original rows behind each row, with their latencies.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// Histogram of each original row. The list is empty if no row has a histogram.
    built: Arc<Vec<Histogram>>,
    /// The original rows behind each row, or `None` if this tree is the original.
    merged: Option<Merged>,
}

#[derive(Clone, Debug)]
struct Merged {
    /// Original rows. Those that belong to the same derived row are adjacent.
    parts: Vec<u32>,
    /// For each row, the end of its range in `parts`. The range starts where the previous row's range ends.
    ends: Vec<u32>,
    sums: Vec<OnceLock<Box<Histogram>>>,
}

static EMPTY: Histogram = Histogram {
    buckets: Vec::new(),
    max_ticks: 0,
};

impl Parts {
    /// Returns the parts of an original tree. `histograms` has one histogram per row, or is empty if no row has one.
    pub(super) fn built(histograms: Vec<Histogram>) -> Self {
        Self {
            built: Arc::new(histograms),
            merged: None,
        }
    }

    /// Returns the parts of a derived tree with `rows` rows. Each pair consists of a new row, and a row of this tree that is
    /// merged into it.
    pub(super) fn merge(&self, rows: usize, pairs: &[(u32, u32)]) -> Self {
        let mut ends = vec![0u32; rows];
        for (row, part) in pairs {
            ends[*row as usize] += self.rows(part).len() as u32;
        }
        let mut next = 0;
        for end in &mut ends {
            // For now, the entry is the start of the row's range. It moves to the end of the range as the parts are filled in
            // below.
            next += std::mem::replace(end, next);
        }
        let mut parts = vec![0; next as usize];
        for (row, part) in pairs {
            let end = &mut ends[*row as usize];
            for &built in self.rows(part) {
                parts[*end as usize] = built;
                *end += 1;
            }
        }
        Self {
            built: Arc::clone(&self.built),
            merged: Some(Merged {
                parts,
                ends,
                sums: vec![OnceLock::new(); rows],
            }),
        }
    }

    /// Returns the original rows behind a row.
    pub(super) fn rows<'a>(&'a self, row: &'a u32) -> &'a [u32] {
        match &self.merged {
            Some(merged) => merged.parts(*row),
            None => std::slice::from_ref(row),
        }
    }

    /// Returns the latencies of a row, merged from its original rows.
    pub(super) fn latency(&self, row: u32) -> &Histogram {
        let Some(merged) = &self.merged else {
            return self.built.get(row as usize).unwrap_or(&EMPTY);
        };
        let parts = merged.parts(row).iter();
        let mut parts = parts.map(|&part| self.built.get(part as usize).unwrap_or(&EMPTY));
        match (parts.next(), parts.len()) {
            (None, _) => &EMPTY,
            (Some(only), 0) => only,
            (Some(first), _) => merged.sums[row as usize].get_or_init(|| {
                let mut sum = first.clone();
                let some = parts.filter(|part| !part.is_empty());
                some.for_each(|part| sum.add(part));
                Box::new(sum)
            }),
        }
    }
}

impl Merged {
    fn parts(&self, row: u32) -> &[u32] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.parts[start as usize..self.ends[row as usize] as usize]
    }
}
