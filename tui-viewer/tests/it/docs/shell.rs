//! Command lines as they appear on pages: words, pipelines, and the notation of usage lines.

/// Returns the commands in a line, split into words. Comments and output redirections are left out.
pub(crate) fn commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut goes_to_file = false;
    for word in words(line) {
        match word {
            Word::Operator(operator) => {
                goes_to_file = operator.starts_with('>');
                if !goes_to_file {
                    commands.push(Vec::new());
                }
            }
            Word::Plain(_) if goes_to_file => goes_to_file = false,
            Word::Plain(word) => commands.last_mut().unwrap().push(word),
        }
    }
    commands.retain(|command| !command.is_empty());
    commands
}

#[derive(Debug, PartialEq)]
enum Word {
    Plain(String),
    Operator(String),
}

fn words(line: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with('#') {
        let operators = ["&&", "||", ">>", "2>", ">", "<(", "|", ";", "(", ")"];
        if let Some(operator) = operators.iter().find(|operator| rest.starts_with(**operator)) {
            words.push(Word::Operator((*operator).into()));
            rest = rest[operator.len()..].trim_start();
            continue;
        }
        let (word, behind) = word(rest);
        words.push(Word::Plain(word));
        rest = behind.trim_start();
    }
    words
}

/// Splits off the first word of a text, and removes quotes from the word. Also returns the rest of the text.
fn word(text: &str) -> (String, &str) {
    let mut word = String::new();
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.push(c),
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None if c.is_whitespace() || matches!(c, ')' | ';') => return (word, &text[at..]),
            None => word.push(c),
        }
    }
    assert!(quote.is_none(), "a quote is not closed: {text}");
    (word, "")
}

/// Returns the lines that a usage line stands for. For example, `a [b | c] d|e` gives `a b d`, `a b e`, `a c d`,
/// `a c e`, `a d` and `a e`.
pub(crate) fn usages(line: &str) -> Vec<String> {
    if let Some(open) = line.find('[') {
        let inside = &line[open + 1..];
        let close = inside.find(']').unwrap_or_else(|| panic!("no ] in {line}"));
        let mut choices: Vec<&str> = inside[..close].split(" | ").collect();
        choices.push("");
        let lines = choices
            .iter()
            .map(|choice| format!("{}{choice}{}", &line[..open], &inside[close + 1..]));
        return lines.flat_map(|line| usages(&line)).collect();
    }
    let has_choice = |word: &&str| word.len() > 1 && word.contains('|');
    match line.split_whitespace().find(has_choice) {
        Some(word) => word
            .split('|')
            .flat_map(|choice| usages(&line.replacen(word, choice, 1)))
            .collect(),
        None => vec![line.split_whitespace().collect::<Vec<_>>().join(" ")],
    }
}

fn lines_are_cut_into_commands_and_words() {
    let line = "a 'b c' > d | e \"f\" && (g; h <(i j)) # k";
    let expected: [&[&str]; 5] = [&["a", "b c"], &["e", "f"], &["g"], &["h"], &["i", "j"]];
    assert_eq!(commands(line), expected);
    assert_eq!(
        usages("a [b | c] d|e"),
        ["a b d", "a b e", "a c d", "a c e", "a d", "a e"]
    );
}

tickscope_testkit::tests![lines_are_cut_into_commands_and_words];
