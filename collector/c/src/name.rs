//! Extracts the names of functions and modules from strings that the compiler generates, such as `__PRETTY_FUNCTION__`.

/// Extracts the name of a function from `__func__` or `__PRETTY_FUNCTION__`: for example, `shapes::Square<T>::area`
/// from `double shapes::Square<T>::area(int) const [with T = int]`.
pub(crate) fn of_function(printed: &str) -> &str {
    let printed = printed.split(" [").next().unwrap_or(printed);
    let end = parameters(printed).unwrap_or(printed.len());
    let name = &printed[..end];
    // The return type ends at the last space that is not inside brackets. The name of an operator may itself contain a
    // space, so only the part before `operator` is searched.
    let start = match name.find("operator") {
        Some(at) => blank_before(&name[..at]),
        None => blank_before(name),
    };
    let name = name[start..].trim_start_matches(['*', '&']);
    if name.is_empty() { printed } else { name }
}

/// Returns the index of the parenthesis that opens the parameter list: the last one that is not inside other brackets.
/// Parentheses followed by `::` are skipped, because they belong to an enclosing function, as in
/// `main()::<lambda(int)>`.
fn parameters(printed: &str) -> Option<usize> {
    let mut depth = 0_u32;
    let mut last = None;
    for (at, c) in printed.char_indices() {
        match c {
            '(' | '<' | '{' => {
                let is_name = printed[..at].ends_with("operator") || printed[at..].starts_with("(anonymous");
                if depth == 0 && c == '(' && !is_name {
                    last = Some(at);
                }
                depth += 1;
            }
            ')' | '>' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && printed[at + 1..].starts_with("::") {
                    last = None;
                }
            }
            _ => {}
        }
    }
    last
}

fn blank_before(name: &str) -> usize {
    let mut depth = 0_u32;
    let mut after = 0;
    for (at, c) in name.char_indices() {
        match c {
            '(' | '<' | '{' => depth += 1,
            ')' | '>' | '}' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => after = at + 1,
            _ => {}
        }
    }
    after
}

/// Returns the module of a source file: `parser` for `src/parser.c`.
pub(crate) fn of_file(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for (printed, name) in [
            ("parse", "parse"),
            ("int main(int, char**)", "main"),
            ("double shapes::Square::area(int) const", "shapes::Square::area"),
            (
                "T shapes::Square<T>::area(int) const [with T = double]",
                "shapes::Square<T>::area",
            ),
            ("std::map<int, char> *pick(std::vector<int>) [T = int]", "pick"),
            ("bool Less::operator()(int, int) const", "Less::operator()"),
            ("Less::operator bool() const", "Less::operator bool"),
            ("Square::~Square()", "Square::~Square"),
            (
                "void (anonymous namespace)::hidden()",
                "(anonymous namespace)::hidden",
            ),
            ("void {anonymous}::hidden(int)", "{anonymous}::hidden"),
            ("main()::<lambda(int)>", "main()::<lambda(int)>"),
            ("", ""),
        ] {
            assert_eq!(of_function(printed), name, "{printed}");
        }
    }

    #[test]
    fn a_file_is_a_module() {
        for (file, module) in [
            ("parser.c", "parser"),
            ("/home/me/app/src/net.io.cpp", "net.io"),
            ("main", "main"),
            (".c", ".c"),
            ("", ""),
        ] {
            assert_eq!(of_file(file), module, "{file}");
        }
    }
}
