//! The requests that clients make. Each kind of request is a function.

use std::fmt::Write as _;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::database::Query;
use crate::random::{Random, mixed};
use crate::shop::catalogue::{self, SECTION_ITEMS, SECTIONS};
use crate::shop::store::Store;

/// The number of items that most clients look at.
const POPULAR_ITEMS: u32 = 64;
/// How long the thread sleeps to simulate reading the paper for an invoice.
const READ_PAPER: Duration = Duration::from_millis(8);
/// Number of hash rounds that stand in for ranking a row. They take less than 1 us.
const RANK_ROUNDS: u64 = 250;
/// Lists with fewer rows than this are sorted without being split.
const FEW_ROWS: usize = 512;

/// A request with its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request {
    /// A page with the offers of a section and one item.
    Browse { section: u32, item: u32 },
    /// The items that match a word.
    Search { first: u32, matches: u32 },
    /// An order, with the time that the bank takes to accept it.
    Order { item: u32, bank: Duration },
    /// A printed invoice.
    Invoice { item: u32 },
}

/// The result of a request.
#[derive(Debug)]
pub(crate) struct Found {
    prices: Vec<(u32, u64)>,
    picture: Option<Arc<[u8]>>,
}

impl Request {
    /// Picks the next client's request at random.
    pub(crate) fn draw(random: &mut Random) -> Self {
        let items = if random.one_in(4) {
            SECTIONS * SECTION_ITEMS
        } else {
            POPULAR_ITEMS
        };
        let item = random.below(items);
        match random.below(100) {
            0..=58 => Self::Browse {
                section: random.below(SECTIONS),
                item,
            },
            59..=85 => Self::Search {
                first: item,
                matches: if random.one_in(30) {
                    2_000
                } else {
                    1 + random.below(400)
                },
            },
            86..=97 => Self::Order {
                item,
                bank: Duration::from_millis(u64::from(150 + random.below(700))),
            },
            _ => Self::Invoice { item },
        }
    }
}

/// Shows a page: the offers of a section, and the picture of an item.
#[tickscope::profile(watch)]
pub(crate) async fn browse(store: &Store, section: u32, item: u32) -> Found {
    let offers = catalogue::offers(&store.cache, section);
    let prices: Vec<(u32, u64)> = offers
        .iter()
        .map(|&item| (item, catalogue::price(item)))
        .collect();
    let picture = catalogue::picture(&store.cache, &store.database, item).await;
    Found {
        prices,
        picture: Some(picture),
    }
}

/// Finds the items that match a word, with the best match first.
#[tickscope::profile]
pub(crate) async fn search(store: &Store, first: u32, matches: u32) -> Found {
    let rows = store.database.rows(Query { first, rows: matches }).await;
    let sorted = sort(rank(rows, first));
    Found {
        prices: (first..).zip(sorted).take(20).collect(),
        picture: None,
    }
}

/// Takes an order: the bank accepts it, and the database stores it.
#[tickscope::profile]
pub(crate) async fn order(store: &Store, item: u32, bank: Duration) -> Found {
    let price = catalogue::price(item);
    tickscope::wait!("bank", store.timer.sleep(bank)).await;
    store.database.rows(Query { first: item, rows: 1 }).await;
    Found {
        prices: vec![(item, price)],
        picture: None,
    }
}

/// Prints an invoice.
#[tickscope::profile]
pub(crate) async fn invoice(item: u32) -> Found {
    read_paper();
    Found {
        prices: vec![(item, catalogue::price(item))],
        picture: None,
    }
}

/// Reads a file the wrong way: the thread sleeps inside a poll, which holds up all tasks that it could poll meanwhile.
#[tickscope::profile]
fn read_paper() {
    thread::sleep(READ_PAPER);
}

/// Computes how well each row matches the word.
#[tickscope::profile]
fn rank(rows: Vec<u64>, word: u32) -> Vec<u64> {
    let rank = |row| (0..RANK_ROUNDS).fold(row, |rank, round| mixed(rank ^ u64::from(word) ^ round));
    rows.into_iter().map(rank).collect()
}

/// Sorts each half in separate memory, and merges the halves.
#[tickscope::profile]
fn sort(rows: Vec<u64>) -> Vec<u64> {
    if rows.len() < FEW_ROWS {
        let mut rows = rows;
        rows.sort_unstable();
        return rows;
    }
    let (left, right) = rows.split_at(rows.len() / 2);
    let (left, right) = (sort(left.to_vec()), sort(right.to_vec()));
    merge(&left, &right)
}

/// Joins two sorted lists.
fn merge(mut left: &[u64], mut right: &[u64]) -> Vec<u64> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    while let (Some((first, left_rest)), Some((second, right_rest))) =
        (left.split_first(), right.split_first())
    {
        if first <= second {
            merged.push(*first);
            left = left_rest;
        } else {
            merged.push(*second);
            right = right_rest;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    merged
}

impl Found {
    /// Writes the page that the client gets.
    #[tickscope::profile(name = "page")]
    pub(crate) fn page(&self) -> String {
        let mut page = String::new();
        for (item, price) in &self.prices {
            // Writing into a string does not fail.
            _ = writeln!(page, "item {item}: {}.{:02}", price / 100, price % 100);
        }
        if let Some(picture) = &self.picture {
            _ = writeln!(page, "a picture of {} bytes", picture.len());
        }
        tickscope::value!("page bytes", page.len());
        page
    }
}
