//! The editor that `o` opens.

use std::process::Command;

use crate::pty::session::{Session, example, source};

fn o_lends_the_terminal_to_the_editor_and_takes_it_back() {
    let (dir, source) = source();
    std::fs::create_dir(dir.path().join("below")).unwrap();
    let editor = dir.path().join("editor");
    // The editor writes its arguments and the terminal's mode to a file, then waits for a line.
    let script = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$0.told\"\nstty -a | grep -o -w -- -*icanon >> \"$0.told\"\n\
                  echo EDITING\nread line\n";
    let written = dir.path().join("written");
    std::fs::write(&written, script).unwrap();
    tickscope_testkit::command::install(&written, &editor);
    let mut command = Command::new(example());
    command.arg("still");
    command.env("VISUAL", format!("{} --wait", editor.display()));
    let mut session = Session::spawn_in(command, (120, 30), &dir.path().join("below"));
    session.wait_for_text("match::run");
    session.send("o");
    session.wait_for("the editor", |screen| {
        !screen.alternate_screen() && screen.contents().contains("EDITING")
    });
    session.send("done\n");
    session.wait_for("the screen again", |screen| {
        screen.alternate_screen() && screen.hide_cursor() && screen.contents().contains("match::run")
    });
    let told = std::fs::read_to_string(dir.path().join("editor.told")).unwrap();
    let file = source.canonicalize().unwrap().join("run.rs");
    assert_eq!(told, format!("--wait\n+8\n{}\nicanon\n", file.display()));
    // The file of this row is missing, so no editor is started, and the screen names the directories that were
    // searched.
    session.send_for("jo", "! no crates/engine/src/step.rs in ");
    session.quit();
}

fn where_there_is_no_editor_the_screen_says_so() {
    let (dir, _) = source();
    let not_started = "! no-such-editor cannot be started: No such file";
    for (editor, says) in [
        (None, "! no editor: set $VISUAL or $EDITOR"),
        (Some("no-such-editor"), not_started),
    ] {
        let mut command = Command::new(example());
        command.arg("still");
        command.env_remove("EDITOR");
        match editor {
            Some(editor) => command.env("VISUAL", editor),
            None => command.env_remove("VISUAL"),
        };
        let mut session = Session::spawn_in(command, (120, 30), dir.path());
        session.wait_for_text("match::run");
        session.send_for("o", says);
        session.quit();
    }
}

tickscope_testkit::tests![
    o_lends_the_terminal_to_the_editor_and_takes_it_back,
    where_there_is_no_editor_the_screen_says_so,
];
