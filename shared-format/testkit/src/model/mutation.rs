//! Seeded mutations: mistakes in the order of operations on shared words, which a test must find.
//!
//! `.ci/mutations` selects one with the variable `MUTATION` and expects a test to fail. An operation is identified by
//! its source text, so that the mutation changes the real code and not a copy of it:
//!
//! - `weak|FILE|A`: the operation at A orders nothing: a relaxed access, or a fence left out.
//! - `after|FILE|A|B`: the operation at A is done right after the operation at B.
//! - `before|FILE|A|B`: the operation at A is done right before the operation at B.
//! - `early|FILE|A|B`: the load at B is done right before the load at A.
//!
//! A and B are texts that occur once in the file. Each text means the first function that it calls.

use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{LazyLock, Once};

/// A line and a column, from 1, as the compiler counts them.
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

/// Word that the load at B of an `early` mutation reads; all ones before it is known.
static TARGET: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Whether the target word still has to be found.
static LEARNS: AtomicBool = AtomicBool::new(true);

/// A postponed operation.
type Late = Box<dyn FnOnce()>;

thread_local! {
    /// Postponed operations, by thread of the model.
    static LATE: RefCell<HashMap<String, Vec<Late>>> = RefCell::default();
    /// Words that were loaded early, by thread of the model.
    static EARLY: RefCell<HashMap<String, u64>> = RefCell::default();
}

/// Returns the place of the first function that a text calls, in a file of the workspace.
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

/// Returns the id of the model's current thread as text, which is empty outside a model.
fn thread() -> String {
    match super::runs() {
        true => format!("{:?}", loom::thread::current().id()),
        false => String::new(),
    }
}

/// Prints the line that `.ci/mutations` looks for.
fn applied() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| println!("mutation applied"));
}

/// Returns whether the target of an early load has to be found first.
pub fn learns() -> bool {
    matches!(
        &*MUTATION,
        Some(Mutation {
            kind: Kind::Early(_),
            ..
        })
    ) && LEARNS.load(Ordering::Relaxed)
}

/// Ends the search, so that later executions are mutated.
pub fn has_learned() {
    LEARNS.store(false, Ordering::Relaxed);
}

/// Removes the state of the last execution.
pub fn begin() {
    LATE.take();
    EARLY.take();
}

/// Returns whether the operation at a place must lose its ordering.
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

/// Runs an operation without a result (a store or a fence) now or later. The argument of `action` says whether it must
/// be weak.
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

/// Runs an operation that has a result and is not a load of one word. A mutation can only make the operation weak, which `action`
/// does itself. Postponed operations may run right before or after it.
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

/// Loads a word, given by its address or index, or returns the value that was loaded early. `load` gets the word, and
/// whether the load must be weak.
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
