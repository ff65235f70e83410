//! Scopes and counters for code in other languages. Their sites are created at run time, when they are first reached.
//! The caller holds an open scope as a value. No function here takes a lock or uses the allocator, so these scopes may
//! be used wherever a Rust scope may.

use crate::enabled::record::arena::{Made, Texts};
use crate::enabled::record::current_thread;
use crate::enabled::record::node::Node;
use crate::enabled::record::site::Site;
use crate::enabled::scope;

/// Maximum number of sites. Calls at any further site are dropped and counted as dropped.
const SITES_MAX: usize = 16_384;

/// Maximum total length of all names and paths, in bytes.
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
    /// Group of the site; empty if the site has no group.
    pub group: &'a str,
}

/// An open scope.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Open(&'static Node);

/// Creates a site that is never freed, with copies of the texts. `kind` receives the site of a scope, and may turn it
/// into another kind of site, such as a counter. Returns `None` if there is no space left.
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

/// Joins the parts of a text and keeps the result until the program ends. If there is no space left, counts a dropped
/// call and returns `None`.
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
