//! Short names for functions, and the lookup of functions by a name that a user typed.
//!
//! Screens and reports show [`labels`]. [`named`] finds the functions with a given label, or with a path that ends with a given
//! name, so a user can type any name that is shown.

use std::borrow::Cow;
use std::collections::HashMap;

use tickscope_format::path::{has_noise, plain_parts, split_at, step, tail};
use tickscope_format::pattern::{Pattern, unescaped};

use crate::functions::{Function, FunctionId, Functions};

/// Maximum number of characters in a label. A scope can have any text as its name, so a limit is needed.
const LONGEST: usize = 72;

/// Replaces the part of a name that was cut.
pub const CUT: &str = "…";

/// Maximum number of function names in a message about an ambiguous name.
pub(crate) const TOLD: usize = 4;

/// Ways to shorten generic arguments, starting with those that keep the most.
const CUTS: [Cut; 11] = [
    Cut::to(4, false, false),
    Cut::to(3, false, false),
    Cut::to(2, false, false),
    Cut::to(1, false, false),
    Cut::to(2, true, false),
    Cut::to(1, true, false),
    Cut::to(2, false, true),
    Cut::to(1, false, true),
    Cut::to(2, true, true),
    Cut::to(1, true, true),
    Cut::to(0, false, false),
];

/// Which generic arguments of a name are kept. The others are replaced with `…`.
#[derive(Clone, Copy)]
struct Cut {
    /// Maximum nesting depth at which generic arguments are kept.
    depth: usize,
    /// Whether each outermost pair of brackets keeps only its last argument, which is where closures usually are.
    last_arguments: bool,
    /// Whether only the last pair of brackets keeps its arguments, which belong to the function itself.
    last_bracket: bool,
}

impl Cut {
    const fn to(depth: usize, last_arguments: bool, last_bracket: bool) -> Self {
        Self {
            depth,
            last_arguments,
            last_bracket,
        }
    }
}

/// Returns the label of each function, by id. A label consists of the last two parts of the function's plain path. If that is
/// ambiguous, it has three parts or the whole plain path. If even the whole plain path is ambiguous, the label also includes
/// generic arguments and the numbers of closures. Labels that are too long are shortened.
pub fn labels(functions: &Functions) -> Vec<String> {
    let names: Vec<String> = functions.list.iter().map(Function::full_name).collect();
    // A group's name is no path.
    let is_path = |index: usize| !functions.list[index].is_group;
    let forms = [false, true].map(|is_whole| [2, 3, usize::MAX].map(|parts| (parts, is_whole)));
    let forms = forms.into_iter().flatten().map(|(parts, is_whole)| {
        let names = &names;
        move |index: usize| match (is_path(index), is_whole) {
            (false, _) => names[index].clone(),
            (true, false) => plain(&names[index], parts),
            (true, true) => tail(&names[index], parts).to_owned(),
        }
    });
    let labels = first_unlike(names.len(), usize::MAX, forms, |index| names[index].clone());
    let is_long = |index: usize| is_path(index) && labels[index].chars().count() > LONGEST;
    if !(0..names.len()).any(is_long) {
        return labels;
    }
    // A label that is too long first loses generic arguments, then also the module or type.
    let cuts = [usize::MAX, 1].map(|parts| CUTS.map(|cut| (parts, cut)));
    let cuts = cuts.into_iter().flatten().map(|(parts, cut)| {
        let (labels, is_long) = (&labels, &is_long);
        move |index: usize| match is_long(index) {
            true => with_cut(tail(&labels[index], parts), cut),
            false => labels[index].clone(),
        }
    });
    first_unlike(names.len(), LONGEST, cuts, |index| cut_middle(&labels[index]))
}

/// Shortens function names: removes generic arguments, the trait of an `impl` and the numbers of closures. If a name contains any
/// of these, only its last two parts are kept. A name that would become equal to another one stays unchanged. `names` must not
/// contain names of scopes.
pub fn without_arguments_of(names: &[&str]) -> Vec<String> {
    let short = |index: usize| match has_noise(names[index]) {
        true => plain(names[index], 2),
        false => names[index].to_owned(),
    };
    first_unlike(names.len(), usize::MAX, [short], |index| names[index].to_owned())
}

/// Returns the functions whose whole path or label is `name`. If there are none, returns the functions whose path or plain path
/// ends with `name`. A `*` in `name` matches any text.
pub fn named(functions: &Functions, name: &str) -> Vec<FunctionId> {
    let ids = || (0..functions.list.len() as u32).map(FunctionId);
    let full = |id: &FunctionId| functions.get(*id).full_name();
    let whole: Vec<FunctionId> = ids().filter(|id| full(id) == name).collect();
    if !whole.is_empty() {
        return whole;
    }
    let Ok(pattern) = Pattern::typed(name) else {
        return Vec::new();
    };
    let ends: Vec<FunctionId> = ids().filter(|id| pattern.names(&full(id))).collect();
    if ends.len() < 2 {
        return ends;
    }
    let labels = labels(functions);
    let label = name.replace("...", CUT);
    let written = [&label, &unescaped(&label)];
    let shown = ids().filter(|id| written.contains(&&labels[id.index()]));
    let shown: Vec<FunctionId> = shown.collect();
    if shown.is_empty() { ends } else { shown }
}

/// Returns the full names of the first few functions, and how many more there are, for a message about an ambiguous name.
pub fn told(functions: &Functions, ids: &[FunctionId]) -> String {
    let shown = ids.iter().take(TOLD).map(|&id| functions.get(id).full_name());
    let shown = shown.collect::<Vec<_>>().join(", ");
    match ids.len() {
        0 => "nothing".into(),
        all if all > TOLD => format!("{shown} and {} more", all - TOLD),
        _ => shown,
    }
}

/// For each name, returns the first of its `forms` that no other name shares and that has at most `longest` characters. If there
/// is none, returns its `last` form.
fn first_unlike<F: Fn(usize) -> String>(
    count: usize,
    longest: usize,
    forms: impl IntoIterator<Item = F>,
    last: impl Fn(usize) -> String,
) -> Vec<String> {
    let mut chosen: Vec<Option<String>> = vec![None; count];
    for form in forms {
        if chosen.iter().all(Option::is_some) {
            break;
        }
        let names: Vec<String> = (0..count).map(form).collect();
        let mut seen: HashMap<&str, u32> = HashMap::with_capacity(count);
        for name in &names {
            *seen.entry(name).or_default() += 1;
        }
        for (chosen, name) in chosen.iter_mut().zip(&names) {
            if chosen.is_none() && seen[name.as_str()] == 1 && name.chars().count() <= longest {
                *chosen = Some(name.clone());
            }
        }
    }
    let chosen = chosen.into_iter().zip(0..);
    let chosen = chosen.map(|(chosen, index)| chosen.unwrap_or_else(|| last(index)));
    chosen.collect()
}

/// Returns the last `parts` parts of a path in its plain form. If a path has no plain form, returns the whole path.
fn plain(path: &str, parts: usize) -> String {
    let whole = plain_parts(path).collect::<Vec<_>>().join("::");
    match whole.is_empty() {
        true => path.to_owned(),
        false => tail(&whole, parts).to_owned(),
    }
}

/// Returns a name without the generic arguments that `cut` removes.
fn with_cut(name: &str, cut: Cut) -> String {
    if !is_balanced(name) {
        return name.to_owned();
    }
    let brackets: Vec<&str> = pieces(name).filter(|piece| is_bracket(piece)).collect();
    let mut out = String::with_capacity(name.len());
    let mut number = 0;
    for piece in pieces(name) {
        if !is_bracket(piece) {
            out.push_str(piece);
            continue;
        }
        number += 1;
        let depth = match cut.last_bracket && number < brackets.len() {
            true => 0,
            false => cut.depth,
        };
        let last = match cut.last_arguments {
            true => last_argument(piece),
            false => None,
        };
        let piece = last.map_or(Cow::Borrowed(piece), |last| Cow::Owned(format!("<{CUT}, {last}")));
        push_to_depth(&mut out, &piece, depth);
    }
    out
}

/// Returns the pieces of a name: each bracket with its contents, and the text between brackets.
fn pieces(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let length = rest.chars().next().map(|_| step(rest))?;
        let (piece, behind) = rest.split_at(length);
        rest = behind;
        Some(piece)
    })
}

fn is_bracket(piece: &str) -> bool {
    piece.len() > 1 && piece.starts_with('<')
}

/// Returns the last generic argument, including the closing bracket. Returns `None` if there is only one argument.
fn last_argument(bracket: &str) -> Option<&str> {
    let mut last = None;
    let mut rest = &bracket[1..];
    while let Some((_, behind)) = split_at(rest, ", ") {
        last = Some(behind);
        rest = behind;
    }
    last
}

/// Appends a bracket to `out`, replacing text that is nested more than `depth` levels deep with `…`.
fn push_to_depth(out: &mut String, bracket: &str, depth: usize) {
    let (mut open, mut before) = (0_usize, ' ');
    for c in bracket.chars() {
        let closes = c == '>' && before != '-';
        open += usize::from(c == '<');
        // Keep the brackets around removed text.
        if open <= depth || open == depth + 1 && (c == '<' || closes) {
            out.push(c);
        }
        if open == depth + 1 && c == '<' {
            out.push_str(CUT);
        }
        open = open.saturating_sub(usize::from(closes));
        before = c;
    }
}

/// Returns whether the angle brackets in a name are balanced. In names of C++ operators, such as `operator<`, they are not.
fn is_balanced(name: &str) -> bool {
    let (mut open, mut before) = (0_usize, ' ');
    for c in name.chars() {
        match c {
            '<' => open += 1,
            '>' if before != '-' => match open.checked_sub(1) {
                Some(less) => open = less,
                None => return false,
            },
            _ => {}
        }
        before = c;
    }
    open == 0
}

/// Shortens a name that is too long for a label by cutting out its middle.
pub fn cut_middle(name: &str) -> String {
    let cells = name.chars().count();
    if cells <= LONGEST {
        return name.to_owned();
    }
    // The end of a name is usually the most telling part. But a generic function has its name in front of its arguments, so the
    // part that is kept at the start extends at least to the first `<`, unless that is too far along.
    let function = name.chars().take(2 * LONGEST / 3).position(|c| c == '<');
    let head = function.map_or(LONGEST / 3, |at| at + 1).max(LONGEST / 3);
    let tail = LONGEST - head - CUT.chars().count();
    let mut out: String = name.chars().take(head).collect();
    out.push_str(CUT);
    out.extend(name.chars().skip(cells - tail));
    out
}

#[cfg(test)]
mod tests;
