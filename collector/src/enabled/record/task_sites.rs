//! The sites of tasks that are named in a call and not by a macro: one for each name and place of the source, kept for good.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use crate::enabled::record::current_thread;
use crate::enabled::record::site::Site;

/// The largest number of sites; tasks of further names share one.
const SITES_MAX: usize = 4096;

/// A name and a place, by their addresses: a place of the source has few of them.
type Key = (usize, usize, usize);

static SITES: Mutex<Option<HashMap<Key, &'static Site>>> = Mutex::new(None);

static OTHERS: Site = Site::named("(other tasks)", "", "", 0);

/// Returns the site of a task.
pub(crate) fn of(name: &'static str, place: &'static Location<'static>) -> &'static Site {
    let key = (name.as_ptr().addr(), name.len(), std::ptr::from_ref(place).addr());
    let _own = current_thread::own_work();
    let mut sites = SITES.lock().unwrap_or_else(PoisonError::into_inner);
    let sites = sites.get_or_insert_default();
    if let Some(site) = sites.get(&key) {
        return site;
    }
    if sites.len() >= SITES_MAX {
        return &OTHERS;
    }
    let site = Box::leak(Box::new(Site::named(name, "", place.file(), place.line())));
    sites.insert(key, site);
    site
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_at_one_place_is_one_site_and_too_many_share_one() {
        let here = Location::caller();
        let one = of("one", here);
        assert!(std::ptr::eq(one, of("one", here)));
        assert!(!std::ptr::eq(one, of("other", here)));
        assert!(!std::ptr::eq(one, of("one", Location::caller())));
        assert_eq!(
            (one.describe().name, one.describe().line),
            ("one".into(), here.line())
        );
        let many = (0..SITES_MAX).map(|number| of(format!("task {number}").leak(), here));
        assert_eq!(many.last().unwrap().describe().name, "(other tasks)");
        assert!(std::ptr::eq(one, of("one", here)));
    }
}
