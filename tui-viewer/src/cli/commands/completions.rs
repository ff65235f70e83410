//! `tickscope completions`: prints a shell completion script.

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};
use tickscope_command::console;

use crate::cli::args::{CargoCli, Cli};

/// Prints the completion script for a shell. It covers both commands of this package.
///
/// # Errors
/// Standard output cannot be written.
pub fn run(shell: Shell) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    generate(shell, &mut visible(&Cli::command()), "tickscope", &mut script);
    generate(
        shell,
        &mut visible(&CargoCli::command()),
        "cargo-tickscope",
        &mut script,
    );
    console::write(&with_programs(shell, &String::from_utf8_lossy(&script)))?;
    Ok(console::DONE)
}

/// Shell command that prints the names of running programs, one per line; the completion scripts run it.
const PROGRAMS: &str =
    r#"tickscope list --json 2>/dev/null | sed -n '/"live": true/{n;s/^ *"name": "\([^"\\]*\)",*$/\1/p;}'"#;

/// Extends the script so that it also completes the names of running programs.
fn with_programs(shell: Shell, script: &str) -> String {
    if shell == Shell::Bash {
        return format!(
            "{script}
_tickscope_with_programs() {{
    _tickscope \"$@\"
    local word=\"${{COMP_WORDS[COMP_CWORD]}}\" name
    case \"$word\" in -*) return 0 ;; esac
    while IFS= read -r name; do
        case \"$name\" in \"$word\"*) COMPREPLY+=(\"$name\") ;; esac
    done < <({PROGRAMS} | sort -u)
}}
complete -F _tickscope_with_programs -o bashdefault -o default tickscope
"
        );
    }
    if shell == Shell::Fish {
        return format!(
            "{script}
function __tickscope_programs
    {PROGRAMS}
end
complete -c tickscope -n 'not string match -q -- \"-*\" (commandline -ct)' -a '(__tickscope_programs)' -d 'a program that runs'
"
        );
    }
    if shell != Shell::Zsh {
        return script.to_string();
    }
    let mut named = String::new();
    for line in script.lines() {
        // The argument is a program or a file, so program names are offered together with files.
        let target = line.strip_prefix("'::target ");
        match target.and_then(|rest| rest.strip_suffix(":_default' \\")) {
            Some(words) => named.push_str(&format!("'::target {words}:_tickscope_target' \\\n")),
            None => named.push_str(&format!("{line}\n")),
        }
    }
    let function = format!(
        "_tickscope_target() {{
    local -a names
    names=(${{(fu)\"$({PROGRAMS})\"}})
    compadd -a names
    _files
}}

_tickscope() {{"
    );
    named.replacen("_tickscope() {", &function, 1)
}

/// Returns the command without its hidden parts, because the scripts would offer them too.
fn visible(command: &Command) -> Command {
    let arguments = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let subcommands = command.get_subcommands().filter(|command| !command.is_hide_set());
    let shown = Command::new(command.get_name().to_string())
        .args(arguments.cloned())
        .subcommands(subcommands.map(visible))
        .visible_aliases(
            command
                .get_visible_aliases()
                .map(String::from)
                .collect::<Vec<_>>(),
        );
    match (command.get_about(), command.get_version()) {
        (Some(about), Some(version)) => shown.about(about.clone()).version(version.to_string()),
        (Some(about), None) => shown.about(about.clone()),
        (None, _) => shown,
    }
}
