//! The screen in a real terminal: how it is left, whatever ends it.
//!
//! Runs the example `synthetic`, so that no made-up data gets into the command itself.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by them")]

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, SlavePty, native_pty_system};

/// Far longer than anything here takes: only a hang gets there.
const DEADLINE: Duration = Duration::from_secs(30);

struct Session {
    child: Box<dyn Child + Send + Sync>,
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    terminal: Arc<Mutex<vt100::Parser>>,
    bytes: Arc<Mutex<Vec<u8>>>,
    tty: PathBuf,
    modes_before: String,
    /// Stays open: the modes are looked at after the program has gone.
    _slave: Box<dyn SlavePty + Send>,
    reader: Option<JoinHandle<()>>,
    deaf: Arc<AtomicBool>,
}

fn example() -> PathBuf {
    static BUILT: Once = Once::new();
    let this = std::env::current_exe().expect("this test is a file");
    let profile = this
        .parent()
        .and_then(|deps| deps.parent())
        .expect("it lies in PROFILE/deps")
        .to_path_buf();
    BUILT.call_once(|| {
        // `cargo test --test pty` alone does not build examples.
        let mut build = Command::new(env!("CARGO"));
        build.args([
            "build",
            "--quiet",
            "--package",
            "tickscope-cli",
            "--example",
            "synthetic",
        ]);
        if profile.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().expect("cargo runs").success());
    });
    profile.join("examples/synthetic")
}

fn nonzero(cells: u16) -> NonZero<u16> {
    NonZero::new(cells).expect("no terminal is that small")
}

fn modes(tty: &PathBuf) -> String {
    let out = Command::new("stty")
        .arg("-a")
        .arg("-F")
        .arg(tty)
        .output()
        .expect("stty runs");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

impl Session {
    fn start(arguments: &[&str], size: (u16, u16)) -> Self {
        let mut command = CommandBuilder::new(example());
        command.args(arguments);
        Self::spawn(command, size)
    }

    fn spawn(command: CommandBuilder, size: (u16, u16)) -> Self {
        Self::spawn_in(command, size, &std::env::temp_dir())
    }

    fn spawn_in(mut command: CommandBuilder, (cols, rows): (u16, u16), dir: &Path) -> Self {
        let size = PtySize {
            rows,
            cols,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).expect("a pseudo terminal");
        let tty = pair.master.tty_name().expect("it has a name");
        let modes_before = modes(&tty);
        command.env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8");
        command.cwd(dir);
        let child = pair.slave.spawn_command(command).expect("the example runs");
        let terminal = Arc::new(Mutex::new(vt100::Parser::new(nonzero(rows), nonzero(cols), 0)));
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let mut reader = pair.master.try_clone_reader().expect("readable");
        let (to_terminal, to_bytes) = (Arc::clone(&terminal), Arc::clone(&bytes));
        let deaf = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&deaf);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read) = reader.read(&mut buffer) {
                if read == 0 {
                    break;
                }
                to_terminal.lock().unwrap().process(&buffer[..read]);
                to_bytes.lock().unwrap().extend_from_slice(&buffer[..read]);
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let writer = pair.master.take_writer().expect("writable");
        Self {
            child,
            master: Some(pair.master),
            writer: Some(writer),
            terminal,
            bytes,
            tty,
            modes_before,
            _slave: pair.slave,
            reader: Some(reader),
            deaf,
        }
    }

    fn send(&mut self, keys: &str) {
        let writer = self.writer.as_mut().expect("open");
        writer.write_all(keys.as_bytes()).expect("writable");
        writer.flush().expect("writable");
    }

    fn wait_for(&self, what: &str, condition: impl Fn(&vt100::Screen) -> bool) {
        let end = Instant::now() + DEADLINE;
        while !condition(self.terminal.lock().unwrap().screen()) {
            let contents = self.terminal.lock().unwrap().screen().contents();
            assert!(Instant::now() < end, "never came: {what}\n{contents}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn wait_for_text(&self, text: &str) {
        self.wait_for(text, |screen| screen.contents().contains(text));
    }

    fn contents(&self) -> String {
        self.terminal.lock().unwrap().screen().contents()
    }

    fn end(&mut self) -> ExitStatus {
        let end = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            assert!(Instant::now() < end, "still runs\n{}", self.contents());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.process_id().expect("it runs").to_string();
        assert!(
            Command::new("kill")
                .args([name, &pid])
                .status()
                .expect("kill runs")
                .success()
        );
    }

    /// Closes the terminal: every copy of its master end, the reader's as well.
    fn hang_up(&mut self) {
        self.deaf.store(true, Ordering::Relaxed);
        // The reader sleeps until something is written.
        self.send("j");
        self.reader.take().expect("it reads").join().expect("no panic");
        drop(self.writer.take());
        drop(self.master.take());
    }

    fn assert_as_before(&self) {
        self.wait_for("the main screen with a cursor", |screen| {
            !screen.alternate_screen() && !screen.hide_cursor()
        });
        assert_eq!(modes(&self.tty), self.modes_before);
    }
}

fn resize(session: &Session, cols: u16, rows: u16) {
    session
        .terminal
        .lock()
        .unwrap()
        .screen_mut()
        .set_size(nonzero(rows), nonzero(cols));
    let size = PtySize {
        rows,
        cols,
        pixel_width: 0,
        pixel_height: 0,
    };
    session
        .master
        .as_ref()
        .expect("open")
        .resize(size)
        .expect("resizable");
}

#[test]
fn q_and_ctrl_c_leave_no_trace() {
    for keys in ["q", "\x03", "/book\x03"] {
        let mut session = Session::start(&["live"], (80, 24));
        session.wait_for_text("match::run");
        assert!(session.terminal.lock().unwrap().screen().alternate_screen());
        session.send(keys);
        assert_eq!(session.end().exit_code(), 0, "{keys:?}");
        session.assert_as_before();
    }
}

#[test]
fn sigterm_leaves_no_trace() {
    let mut session = Session::start(&["still"], (80, 24));
    session.wait_for_text("match::run");
    session.signal("-TERM");
    assert_eq!(session.end().exit_code(), 143);
    session.assert_as_before();
    let mut session = Session::start(&["waiting"], (80, 24));
    session.wait_for_text("WAITING");
    session.signal("-INT");
    assert_eq!(session.end().exit_code(), 0);
    session.assert_as_before();
}

#[test]
fn a_panic_is_told_on_the_main_screen() {
    let mut session = Session::start(&["live", "--panic-after", "3"], (80, 24));
    assert_eq!(session.end().exit_code(), 101);
    session.assert_as_before();
    session.wait_for_text("asked to panic");
}

#[test]
fn it_dies_with_its_terminal() {
    let plain = CommandBuilder::new(example());
    let mut deaf = CommandBuilder::new("sh");
    deaf.args(["-c", "trap '' HUP; exec \"$0\" still"]);
    deaf.arg(example());
    for command in [plain, deaf] {
        let mut session = Session::spawn(command, (80, 24));
        session.wait_for_text("match::run");
        session.hang_up();
        session.end();
    }
}

#[test]
fn a_resize_repaints_cleanly() {
    let mut session = Session::start(&["still"], (120, 30));
    session.wait_for_text("match::run");
    for (cols, rows) in [(60, 15), (33, 7), (10, 3), (100, 40), (61, 20), (80, 24)] {
        resize(&session, cols, rows);
    }
    let mut fresh = Session::start(&["still"], (80, 24));
    fresh.wait_for_text("q quit");
    let wanted = fresh.contents();
    session.wait_for("the screen of a fresh start", |screen| {
        screen.contents() == wanted
    });
    for session in [&mut session, &mut fresh] {
        session.send("q");
        session.end();
    }
}

#[test]
fn no_color_means_no_colour_and_still_a_selected_row() {
    let mut command = CommandBuilder::new(example());
    command.arg("still");
    command.env("NO_COLOR", "1");
    let mut session = Session::spawn(command, (80, 24));
    session.wait_for_text("match::run");
    session.send("j");
    session.wait_for("the second row reversed", |screen| {
        // All but the bar, which would vanish in it.
        let bar = 8..13;
        (0..80).all(|x| {
            screen
                .cell(4, x)
                .is_some_and(|cell| cell.inverse() != bar.contains(&x))
        })
    });
    session.send("q");
    session.end();
    let bytes = session.bytes.lock().unwrap().clone();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    for sequence in text.split("\x1b[").skip(1) {
        let Some((codes, _)) = sequence.split_once('m') else {
            continue;
        };
        if !codes.bytes().all(|b| b.is_ascii_digit() || b == b';') {
            continue;
        }
        for code in codes.split(';').filter_map(|code| code.parse::<u32>().ok()) {
            assert!(!matches!(code, 30..=38 | 40..=48 | 90..=107), "colour {code}");
        }
    }
}

#[test]
fn the_mouse_is_given_back_and_only_taken_when_asked() {
    let mut session = Session::start(&["still"], (80, 24));
    session.wait_for_text("match::run");
    assert!(!String::from_utf8_lossy(&session.bytes.lock().unwrap()).contains("\x1b[?1000"));
    session.send("M");
    session.wait_for_text("mouse on");
    // A click on the second tab.
    session.send("\x1b[<0;13;2M\x1b[<0;13;2m");
    session.wait_for_text("[2 Hot]");
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
    session.assert_as_before();
    session.wait_for("no mouse", |screen| {
        screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
    });
}

#[test]
fn escape_alone_and_arrows_are_told_apart() {
    let mut session = Session::start(&["live"], (80, 24));
    session.wait_for_text("match::run");
    session.send("/wire");
    session.wait_for_text("/wire");
    session.send("\x1b");
    session.wait_for("no search", |screen| !screen.contents().contains("/wire"));
    session.send("\x1b[B");
    session.wait_for_text("─ match::step ─");
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
}

#[test]
fn ascii_means_every_byte() {
    let mut session = Session::start(&["still", "--ascii"], (80, 24));
    session.wait_for_text("match::run");
    session.send("2?");
    session.wait_for_text("Keys");
    session.send("qq");
    session.end();
    assert!(session.bytes.lock().unwrap().iter().all(u8::is_ascii));
}

#[test]
fn an_idle_screen_writes_nothing() {
    let mut session = Session::start(&["still"], (80, 24));
    session.wait_for_text("q quit");
    let drawn = session.bytes.lock().unwrap().len();
    // Keys without a meaning wake the loop up like time does; what follows shows that they were read.
    session.send("XX");
    session.send("\x1b[99~");
    session.wait_for_text("? shows the keys");
    let hint = session.bytes.lock().unwrap().len() - drawn;
    assert!(hint < 400, "only the last line was written again: {hint} bytes");
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
}

#[test]
fn ctrl_z_stops_it_and_fg_repaints() {
    let mut shell = CommandBuilder::new("bash");
    shell.args(["--norc", "--noprofile", "-i"]);
    shell.env("PS1", "prompt> ");
    let mut session = Session::spawn(shell, (80, 24));
    session.wait_for_text("prompt>");
    let command = format!("{} still\n", example().display());
    session.send(&command);
    session.wait_for_text("match::run");
    session.send("j\x1a");
    session.wait_for("the shell", |screen| {
        !screen.alternate_screen() && !screen.hide_cursor() && screen.contents().contains("Stopped")
    });
    session.send("fg\n");
    session.wait_for("the screen again", |screen| {
        screen.alternate_screen() && screen.hide_cursor() && screen.contents().contains("match::run")
    });
    session.send("q");
    session.wait_for("the shell", |screen| !screen.alternate_screen());
    session.send("exit\n");
    session.end();
}

#[test]
fn o_lends_the_terminal_to_the_editor_and_takes_it_back() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("crates/engine/src");
    std::fs::create_dir_all(&source).unwrap();
    std::fs::create_dir(dir.path().join("below")).unwrap();
    std::fs::write(source.join("run.rs"), "fn run() {}\n").unwrap();
    let editor = dir.path().join("editor");
    // It has the terminal as a shell leaves it, reads a key from it, and says what it was given.
    let script = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$0.told\"\nstty -a | grep -o -w -- -*icanon >> \"$0.told\"\n\
                  echo EDITING\nread line\n";
    std::fs::write(&editor, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&editor, executable).unwrap();
    let mut command = CommandBuilder::new(example());
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
    // A row whose file is nowhere: nothing is run, and the screen says where it looked.
    session.send("jo");
    session.wait_for_text("! no crates/engine/src/step.rs in ");
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
    session.assert_as_before();
}

#[test]
fn without_an_editor_the_screen_says_so() {
    let mut command = CommandBuilder::new(example());
    command.arg("still");
    command.env_remove("VISUAL");
    command.env_remove("EDITOR");
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("crates/engine/src");
    std::fs::create_dir_all(&source).unwrap();
    std::fs::write(source.join("run.rs"), "").unwrap();
    let mut session = Session::spawn_in(command, (120, 30), dir.path());
    session.wait_for_text("match::run");
    session.send("o");
    session.wait_for_text("! no editor: set $VISUAL or $EDITOR");
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
    session.assert_as_before();
}

#[test]
fn e_switches_the_mode_and_an_older_program_says_why_not() {
    let mut session = Session::start(&["live"], (120, 30));
    session.wait_for_text("match::run");
    session.send("e");
    session.wait_for_text("adaptive from here on, counting from zero");
    session.wait_for_text("~16.7%");
    session.send("q");
    session.end();
    let mut old = Session::start(&["live", "--old"], (120, 30));
    old.wait_for_text("match::run");
    old.send("e");
    old.wait_for_text("! mode: the program's collector is older");
    old.send("q");
    old.end();
}

#[test]
fn a_command_is_typed_completed_and_carried_out() {
    let mut session = Session::start(&["live"], (120, 30));
    session.wait_for_text("match::run");
    session.send(":mo");
    session.wait_for_text(":mo");
    session.send("\tad\t\r");
    session.wait_for_text("adaptive from here on, counting from zero");
    // What was typed before comes back with the arrow.
    session.send(":\x1b[A");
    session.wait_for_text(":mode adaptive");
    session.send("\x15off match\r");
    session.wait_for_text("! off: a made-up program");
    session.send(":q\r");
    assert_eq!(session.end().exit_code(), 0);
    session.assert_as_before();
}
