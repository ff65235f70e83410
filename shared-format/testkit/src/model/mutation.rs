//! Seeded mutations: deliberate mistakes in the order of operations on shared words, which a test must detect.
//!
//! `.ci/mutations` selects a mutation with the environment variable `MUTATION`, and expects a test to fail. Operations
//! are identified by their source text, so that the mutation changes the real code and not a copy of it:
//!
//! - `weak|FILE|A`: A loses its ordering. An access becomes relaxed, and a fence is left out.
//! - `after|FILE|A|B`: A is postponed until right after B.
//! - `before|FILE|A|B`: A is postponed until right before B.
//! - `early|FILE|A|B`: B, which must be a load, is done early, right before the load A.
//!
//! A and B are pieces of source text that occur exactly once in the file. Each stands for the first function call in
//! it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{LazyLock, Once};

/// Line and column of a function call, both counted from 1, as the compiler reports them.
type Place = (u32, u32);

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Weak,
    After(Place),
    Before(Place),
    Early(Place),
}

struct Mutation {
    kind: Kind,
    file: String,
    place: Place,
}

static MUTATION: LazyLock<Option<Mutation>> = LazyLock::new(|| {
    let text = std::env::var("MUTATION").ok()?;
    let parts: Vec<&str> = text.split('|').collect();
    let (name, file, a) = (parts[0], parts[1], parts[2]);
    let second = || place_of(file, parts[3]);
    let kind = match name {
        "weak" => Kind::Weak,
        "after" => Kind::After(second()),
        "before" => Kind::Before(second()),
        "early" => Kind::Early(second()),
        _ => panic!("no such kind of mutation: {name}"),
    };
    Some(Mutation {
        kind,
        file: file.into(),
        place: place_of(file, a),
    })
});

/// Word that load B of an `early` mutation reads (its address or index), or `usize::MAX` as long as it is not known.
static TARGET: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Whether the first executions are still searching for the target word.
static LEARNS: AtomicBool = AtomicBool::new(true);

/// A postponed operation.
type Late = Box<dyn FnOnce()>;

thread_local! {
    /// Postponed operations, by the id of the model's thread.
    static LATE: RefCell<HashMap<String, Vec<Late>>> = RefCell::default();
    /// Values that were loaded early, by the id of the model's thread.
    static EARLY: RefCell<HashMap<String, u64>> = RefCell::default();
}

/// Returns the position of the first function call in `text`, which must occur exactly once in this file of the
/// workspace.
fn place_of(file: &str, text: &str) -> Place {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let source = std::fs::read_to_string(format!("{root}/{file}")).unwrap();
    let mut found = source.match_indices(text);
    let (Some((at, _)), None) = (found.next(), found.next()) else {
        panic!("`{text}` does not stand once in {file}");
    };
    let call = text.find('(').unwrap();
    let name = text[..call].rfind(|c: char| !(c.is_alphanumeric() || c == '_'));
    let at = at + name.map_or(0, |before| before + 1);
    let line_begin = source[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = source[..at].matches('\n').count();
    let column = source[line_begin..at].chars().count();
    (line as u32 + 1, column as u32 + 1)
}

fn is(place: Place, file: &str, at: &Location<'_>) -> bool {
    (at.line(), at.column()) == place && at.file().ends_with(file)
}

/// Returns the id of the model's current thread as text, or an empty string outside a model.
fn thread() -> String {
    match super::runs() {
        true => format!("{:?}", loom::thread::current().id()),
        false => String::new(),
    }
}

/// Prints once that the mutation took effect, which `.ci/mutations` checks.
fn applied() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| println!("mutation applied"));
}

/// Returns whether the word of an early load must be found before the mutation can be applied.
pub fn learns() -> bool {
    matches!(
        &*MUTATION,
        Some(Mutation {
            kind: Kind::Early(_),
            ..
        })
    ) && LEARNS.load(Ordering::Relaxed)
}

/// Ends the search for the target word. Later executions apply the mutation.
pub fn has_learned() {
    LEARNS.store(false, Ordering::Relaxed);
}

/// Discards what the previous execution left behind.
pub fn begin() {
    LATE.take();
    EARLY.take();
}

/// Returns whether the operation at this source location must be done without its ordering.
pub fn is_weak(at: &Location<'_>) -> bool {
    let Some(mutation) = &*MUTATION else { return false };
    let weak = mutation.kind == Kind::Weak && is(mutation.place, &mutation.file, at);
    if weak {
        applied();
    }
    weak
}

fn late_ones() -> Vec<Late> {
    let late = LATE.with_borrow_mut(|late| late.remove(&thread()).unwrap_or_default());
    if !late.is_empty() {
        applied();
    }
    late
}

/// Runs an operation that returns nothing (a store or a fence), either now or later. The argument of `action` says
/// whether to leave out the ordering.
pub fn act(at: &Location<'_>, action: impl FnOnce(bool) + 'static) {
    let Some(mutation) = &*MUTATION else {
        return action(false);
    };
    if let Kind::After(_) | Kind::Before(_) = mutation.kind
        && is(mutation.place, &mutation.file, at)
    {
        let late: Late = Box::new(|| action(false));
        return LATE.with_borrow_mut(|all| all.entry(thread()).or_default().push(late));
    }
    around(at, || action(is_weak(at)));
}

/// Runs an operation that returns a value. For the load of a single word, use [`load`] instead. The operation is never
/// postponed, and a mutation can only weaken it, which `action` must do itself (see [`is_weak`]). Postponed operations
/// may run right before or after it.
pub fn around<T>(at: &Location<'_>, action: impl FnOnce() -> T) -> T {
    let Some(mutation) = &*MUTATION else {
        return action();
    };
    if let Kind::Before(place) = mutation.kind
        && is(place, &mutation.file, at)
    {
        late_ones().into_iter().for_each(|late| late());
    }
    let given = action();
    if let Kind::After(place) = mutation.kind
        && is(place, &mutation.file, at)
    {
        late_ones().into_iter().for_each(|late| late());
    }
    given
}

/// Loads a word. If this thread has already loaded the word early, returns that value instead. `word` is the word's
/// address or index. The arguments of `load` are the word, and whether to leave out the ordering.
pub fn load(at: &Location<'_>, word: usize, load: impl Fn(usize, bool) -> u64) -> u64 {
    let Some(mutation) = &*MUTATION else {
        return load(word, false);
    };
    if let Kind::Early(place) = mutation.kind {
        let target = TARGET.load(Ordering::Relaxed);
        if is(place, &mutation.file, at) {
            if LEARNS.load(Ordering::Relaxed) {
                TARGET.store(word, Ordering::Relaxed);
            } else if let Some(early) = EARLY.with_borrow_mut(|all| all.remove(&thread())) {
                applied();
                return early;
            }
        } else if is(mutation.place, &mutation.file, at)
            && target != usize::MAX
            && !LEARNS.load(Ordering::Relaxed)
        {
            let early = load(target, false);
            EARLY.with_borrow_mut(|all| all.insert(thread(), early));
        }
    }
    around(at, || load(word, is_weak(at)))
}
