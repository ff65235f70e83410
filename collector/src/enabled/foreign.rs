//! Scopes and counters of other languages. Their sites are made at run time, at the first call. The caller keeps an
//! open scope as a value. No function here takes a lock or uses the allocator, so such a scope may be used wherever a
//! Rust scope may.

use crate::enabled::record::arena::{Made, Texts};
use crate::enabled::record::current_thread;
use crate::enabled::record::node::Node;
use crate::enabled::record::site::Site;
use crate::enabled::scope;

/// Maximum number of sites. Calls at further sites are dropped, and the drop is counted.
const SITES_MAX: usize = 16_384;

/// Maximum number of bytes of all names and paths.
const TEXT_BYTES: usize = 2 << 20;

static SITES: Made<Site, SITES_MAX> = Made::none();
static TEXTS: Texts<TEXT_BYTES> = Texts::none();

/// Name and source position of a site.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Name of the site.
    pub name: &'a str,
    /// Module of the site.
    pub module: &'a str,
    /// Source file of the site.
    pub file: &'a str,
    /// Line in the source file.
    pub line: u32,
    /// Group of the site; empty without a group.
    pub group: &'a str,
}

/// An open scope.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Open(&'static Node);

/// Makes a site that is never freed, with copies of the texts. `kind` turns the site of a scope into a site of another
/// kind. Returns `None` if there is no space for the site.
#[cold]
pub fn site(kind: fn(Site) -> Site, place: &Place<'_>) -> Option<&'static Site> {
    let kept = || {
        let (name, module) = (TEXTS.keep(place.name)?, TEXTS.keep(place.module)?);
        let (file, group) = (TEXTS.keep(place.file)?, TEXTS.keep(place.group)?);
        SITES.keep(kind(Site::named(name, module, file, place.line).in_group(group)))
    };
    let site = kept();
    if site.is_none() {
        current_thread::drop_call();
    }
    site
}

/// Joins the parts of a text and keeps it for ever. If there is no space for it, counts a dropped call and returns
/// `None`.
#[cold]
pub fn keep_text(parts: impl Iterator<Item: AsRef<str>> + Clone) -> Option<&'static str> {
    let kept = TEXTS.keep_parts(parts);
    if kept.is_none() {
        current_thread::drop_call();
    }
    kept
}

/// Opens a scope. Returns `None` if the scope is not measured.
#[inline(always)]
pub fn enter(site: &'static Site) -> Option<Open> {
    scope::enter(site).keep_open().map(Open)
}

/// Ends an open scope.
#[inline(always)]
pub fn leave(open: Open) {
    scope::end(open.0);
}
