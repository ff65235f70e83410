//! The items in the shop: their prices, their pictures, and the best offers in each section.

use std::hint::black_box;
use std::sync::Arc;

use crate::database::{Database, Query};
use crate::random::mixed;
use crate::shop::cache::{Cache, Entry, Key};

/// Number of sections, and number of items in each.
pub(crate) const SECTIONS: u32 = 16;
pub(crate) const SECTION_ITEMS: u32 = 600;
/// Number of offers in a section.
const OFFERS: usize = 6;
/// Size of a picture and of a row of the database, in bytes.
const PICTURE_BYTES: usize = 32 << 10;
const ROW_BYTES: usize = 8;
/// Number of hash rounds that stand in for the computation of a price. They take some 15 us.
const PRICE_ROUNDS: u64 = 5_000;

/// Returns the best offers of a section, which are usually in the cache. If the cache has dropped them, this request
/// has to compute the prices of all 600 items, whereas others compute only 6 prices.
#[tickscope::profile]
pub(crate) fn offers(cache: &Cache, section: u32) -> Arc<[u32]> {
    let key = Key::Offers(section);
    if let Some(Entry::Offers(offers)) = cache.get(key) {
        return offers;
    }
    let offers = best_of(section);
    cache.put(key, Entry::Offers(Arc::clone(&offers)));
    offers
}

/// Finds the items with the lowest prices.
#[tickscope::profile]
fn best_of(section: u32) -> Arc<[u32]> {
    let items = (0..SECTION_ITEMS).map(|item| section * SECTION_ITEMS + item);
    let mut items: Vec<(u64, u32)> = items.map(|item| (price(item), item)).collect();
    items.sort_unstable();
    items.iter().take(OFFERS).map(|&(_, item)| item).collect()
}

/// Computes the price of an item. The hash rounds stand in for the computation of discounts.
#[tickscope::profile]
pub(crate) fn price(item: u32) -> u64 {
    let price = (0..PRICE_ROUNDS).fold(u64::from(item), |price, round| mixed(price ^ round));
    black_box(price % 100_000)
}

/// Returns the picture of an item, from the cache or from the database.
#[tickscope::profile]
pub(crate) async fn picture(cache: &Cache, database: &Database, item: u32) -> Arc<[u8]> {
    let key = Key::Picture(item);
    if let Some(Entry::Picture(bytes)) = cache.get(key) {
        return bytes;
    }
    let rows = database
        .rows(Query {
            first: item,
            rows: (PICTURE_BYTES / ROW_BYTES / 64) as u32,
        })
        .await;
    let bytes = decode(&rows);
    cache.put(key, Entry::Picture(Arc::clone(&bytes)));
    bytes
}

/// Makes a picture from its rows. The cache keeps the picture, so its bytes outlive this call.
#[tickscope::profile]
fn decode(rows: &[u64]) -> Arc<[u8]> {
    let bytes = rows.iter().flat_map(|row| row.to_le_bytes());
    let bytes: Vec<u8> = bytes.cycle().take(PICTURE_BYTES).collect();
    bytes.into()
}
