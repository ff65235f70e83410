//! Calls as a part of all calls, in the view of one function.

use crate::app::data::Data;
use crate::app::function::FunctionRow;
use crate::app::row::What;
use crate::ui::view::marks::ABOUT;
use crate::ui::view::unit::counted;

/// Cells of a count.
pub(crate) const COUNT: usize = 5;

/// Formats two numbers: the calls from caller to callee, and all calls of the callee. For the function itself, these
/// are the outermost and the recursive calls. The separator between the two numbers always has the same cell.
pub(crate) fn calls(data: &Data, what: What) -> Option<String> {
    let around = data.around.as_ref()?;
    let of = &around.neighbours;
    let (some, between, others) = match around.line(what.row) {
        FunctionRow::Heading(_) => return None,
        FunctionRow::Caller(link) | FunctionRow::Callee(link)
            if link.figures.sampled.is_all(link.all_calls) =>
        {
            return Some(format!("{ABOUT:>COUNT$}{:rest$}", "", rest = COUNT + 1));
        }
        FunctionRow::Caller(link) | FunctionRow::Callee(link) => (link.all_calls, "/", Some(link.of_calls)),
        FunctionRow::Own => {
            let recursive = Some(of.recursive_calls()).filter(|&calls| calls > 0);
            (of.outermost_calls, "+", recursive)
        }
    };
    let others = others.map_or(String::new(), |calls| {
        format!("{between}{}", counted(data, calls))
    });
    let some = counted(data, some);
    Some(format!("{some:>COUNT$}{others:<rest$}", rest = COUNT + 1))
}
