//! The event loop: sleeps, reads all pending keys, polls the feed once, and redraws if the screen has changed.

pub(crate) mod editor;
pub mod saved_files;

use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use signal_hook::consts::SIGQUIT;
use signal_hook::low_level::emulate_default_handler;
use tickscope_command::console;
use tickscope_format::Snapshot;
use tickscope_programs::clock_time::UtcOffset;
use tickscope_programs::events::Feed;
use tui_input::InputRequest;

use crate::app::message::{Effect, Message, SourcePlace};
use crate::app::state::App;
use crate::cli::args::look::{ColorChoice, ThemeKind};
use crate::event_loop::editor::Editor;
use crate::keys::action::Context;
use crate::keys::decoder::{Code, Keyboard, Mouse};
use crate::keys::keymap::lookup;
use crate::source::code_reader::CodeReader;
use crate::source::source_files;
use crate::terminal::painter::Painter;
use crate::terminal::{Terminal, copy_sequence};
use crate::ui::{theme, view};

/// Maximum wait for the remaining bytes of a key, long enough for a slow serial line.
const REST_OF_A_KEY: Duration = Duration::from_millis(30);

/// Interval between checks for the functions and lines that the code reader was asked to find.
const UNTIL_CODE_IS_FOUND: Duration = Duration::from_millis(20);

/// Options of the screen.
#[derive(Clone, Debug)]
pub struct ScreenOptions {
    /// Value of `--color`.
    pub color: ColorChoice,
    /// Theme, unless colours are disabled.
    pub theme: Option<ThemeKind>,
    /// Whether to write only ASCII (`--ascii`). If false, the locale decides.
    pub ascii: bool,
    /// Offset of local time from UTC, in seconds. If `None`, clock times are shown in UTC and labelled as such.
    pub utc_offset_s: Option<i32>,
    /// Whether the viewer captures the mouse at startup. The key `M` toggles this later.
    pub mouse: bool,
    /// Snapshot to compare with, right from the start.
    pub compare: Option<Compared>,
    /// Whether the viewer, on exit, prints which of its requests remain in effect in the program. Set if the program
    /// was already running when the viewer started.
    pub says_what_goes_on: bool,
    /// Number of frames to draw before panicking on purpose, for the test that checks how a panic leaves the terminal.
    pub panic_after: Option<u64>,
}

/// A snapshot read from a file, to compare with.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Newest snapshot in the file, including its sampled code.
    pub snapshot: Rc<Snapshot>,
    /// Name of the file as shown on the screen.
    pub label: String,
}

/// Why the screen closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// The user quit.
    Quit,
    /// The viewer received SIGTERM.
    Terminated,
    /// The terminal was closed.
    TerminalLost,
    /// The viewer received SIGQUIT, which terminates the process.
    QuitBySignal,
}

impl ExitReason {
    /// Returns the exit code for the process.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Quit => 0,
            Self::Terminated => 143,
            Self::TerminalLost => 129,
            Self::QuitBySignal => 131,
        }
    }
}

/// Shows the feed's data until the user quits or a signal arrives.
///
/// # Errors
/// Fails if there is no terminal to take over, or if the terminal reports an error.
pub fn run(feed: &mut dyn Feed, options: ScreenOptions) -> anyhow::Result<ExitReason> {
    let terminal = Terminal::enter().context("cannot take over the terminal (is there a terminal?)")?;
    let mut screen = Screen::new(terminal, options);
    if screen.options.mouse {
        screen.app.screen.mouse = true;
        screen.terminal.mouse(true).context("the terminal")?;
    }
    let followed = screen.follow(feed);
    let left = match screen.options.says_what_goes_on {
        true => screen.app.left_on(),
        false => Vec::new(),
    };
    // The screen must be closed first. Otherwise, the printed lines would vanish with it.
    drop(screen);
    if matches!(followed, Ok(ExitReason::Quit)) {
        left.iter().for_each(|line| console::say(line));
    }
    if matches!(followed, Ok(ExitReason::QuitBySignal)) {
        // Whoever sent SIGQUIT expects it to kill the process, and to write a core dump if core dumps are enabled.
        emulate_default_handler(SIGQUIT).context("SIGQUIT")?;
    }
    match followed {
        Ok(reason) => Ok(reason),
        // Writing to a terminal that was closed returns an error.
        Err(error) if is_gone(&error) => Ok(ExitReason::TerminalLost),
        Err(error) => Err(error).context("the terminal"),
    }
}

fn is_gone(error: &io::Error) -> bool {
    let gone = [io::ErrorKind::UnexpectedEof, io::ErrorKind::BrokenPipe];
    gone.contains(&error.kind()) || error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
}

struct Screen {
    terminal: Terminal,
    painter: Painter,
    keyboard: Keyboard,
    /// When the first bytes of an incomplete key arrived, as time since `began`.
    held: Option<Duration>,
    app: App,
    options: ScreenOptions,
    code: CodeReader,
    began: Instant,
    frames: u64,
    title: String,
    ended: Option<ExitReason>,
}

impl Screen {
    fn new(terminal: Terminal, options: ScreenOptions) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let ascii = options.ascii || console::is_ascii();
        let theme = theme::decide(options.color, options.theme, variable);
        let mut app = App::new(terminal.size(), theme, ascii, options.utc_offset_s as UtcOffset);
        if let Some(Compared { snapshot, label }) = options.compare.clone() {
            app.compare_with(snapshot, label);
        }
        Self {
            terminal,
            painter: Painter::new(theme::colours(variable)),
            keyboard: Keyboard::default(),
            held: None,
            app,
            options,
            code: CodeReader::default(),
            began: Instant::now(),
            frames: 0,
            title: String::new(),
            ended: None,
        }
    }

    fn follow(&mut self, feed: &mut dyn Feed) -> io::Result<ExitReason> {
        loop {
            self.take(Message::Time(self.began.elapsed()), feed)?;
            let events = feed.poll();
            self.take(Message::Events(Box::new(events)), feed)?;
            while let Some(found) = self.code.take() {
                self.take(Message::FoundCode(found), feed)?;
            }
            if let Some(reason) = self.ended {
                return Ok(reason);
            }
            self.draw()?;
            let woken = self.terminal.wait(self.longest_sleep(feed))?;
            // Update the app's clock first, so that it handles the keys with the time at which they arrived.
            self.take(Message::Time(self.began.elapsed()), feed)?;
            let ends = [
                (woken.lost, ExitReason::TerminalLost),
                (woken.terminated, ExitReason::Terminated),
                (woken.quit, ExitReason::QuitBySignal),
                (woken.interrupted, ExitReason::Quit),
            ];
            if let Some((_, reason)) = ends.into_iter().find(|(has_come, _)| *has_come) {
                return Ok(reason);
            }
            if woken.stopped {
                self.terminal.stop()?;
            } else if woken.resumed {
                self.terminal.resume()?;
            }
            let is_back = woken.stopped || woken.resumed;
            if is_back {
                self.repaint();
            }
            if woken.resized || is_back {
                let size = self.terminal.size();
                self.take(Message::Resize(size), feed)?;
            }
            self.keys(woken.input, feed)?;
        }
    }

    fn longest_sleep(&self, feed: &dyn Feed) -> Duration {
        let now = self.began.elapsed();
        let deadline = self.app.deadline().map(|deadline| deadline.saturating_sub(now));
        let key = self.held.map(|since| (since + REST_OF_A_KEY).saturating_sub(now));
        let code = self.code.is_busy().then_some(UNTIL_CODE_IS_FOUND);
        [deadline, key, code]
            .into_iter()
            .flatten()
            .fold(feed.next_look(), Duration::min)
    }

    /// Reads and handles all keys that have arrived.
    fn keys(&mut self, input: bool, feed: &mut dyn Feed) -> io::Result<()> {
        let mut buffer = [0; 1024];
        let mut more = input;
        while more {
            let read = self.terminal.read(&mut buffer)?;
            for key in self.keyboard.take(&buffer[..read]) {
                self.key(key, feed)?;
            }
            more = read > 0 && self.terminal.has_more();
        }
        let now = self.began.elapsed();
        if input {
            self.held = self.keyboard.holds().then_some(now);
        } else if self.held.is_some_and(|since| since + REST_OF_A_KEY <= now) {
            // An early wake-up does not mean that the rest of the key is missing, because other events wake the loop
            // too. Only the elapsed time counts.
            self.held = None;
            for key in self.keyboard.give_up() {
                self.key(key, feed)?;
            }
        }
        Ok(())
    }

    fn key(&mut self, key: Code, feed: &mut dyn Feed) -> io::Result<()> {
        match meaning(self.app.context(), key) {
            Some(message) => self.take(message, feed),
            None => Ok(()),
        }
    }

    /// Passes a message to the app and carries out the resulting effects.
    fn take(&mut self, message: Message, feed: &mut dyn Feed) -> io::Result<()> {
        for effect in self.app.update(message) {
            if let Some(answer) = self.carry_out(effect, feed)? {
                self.app.update(answer);
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, effect: Effect, feed: &mut dyn Feed) -> io::Result<Option<Message>> {
        let offset = self.app.screen.utc_offset;
        Ok(match effect {
            Effect::Quit => {
                self.ended = Some(ExitReason::Quit);
                None
            }
            Effect::Suspend => {
                self.terminal.suspend()?;
                self.repaint();
                Some(Message::Resize(self.terminal.size()))
            }
            Effect::Repaint => {
                self.repaint();
                None
            }
            Effect::Send(request) => feed.send(request).err().map(|why| Message::NotSent(request, why)),
            Effect::Open(path) => feed.open(&path).err().map(Message::NotOpened),
            Effect::FindCode(unknown) => {
                let asked = self.code.ask(unknown);
                asked
                    .err()
                    .map(|error| Message::NotOpened(format!("no thread to read code: {error}")))
            }
            Effect::WriteReport(snapshot, options) => {
                let written = saved_files::write_reports(&snapshot, &options, offset);
                Some(wrote("report", written))
            }
            Effect::WriteCall {
                snapshot,
                traces,
                function,
                number,
            } => {
                let written = saved_files::write_call(&snapshot, &traces, &function, number, offset);
                Some(wrote("call", written))
            }
            Effect::KeepSnapshot(snapshot) => {
                let kept = saved_files::keep_snapshot(&snapshot, offset);
                Some(wrote("snapshot", kept.map(|path| vec![path])))
            }
            Effect::Edit(place) => {
                let edited = self.edit(&place)?;
                self.repaint();
                self.app.update(Message::Resize(self.terminal.size()));
                edited.err().map(Message::NotOpened)
            }
            Effect::Mouse(on) => {
                self.terminal.mouse(on)?;
                None
            }
            Effect::Copy(text) => {
                self.terminal.write(copy_sequence(&text).as_bytes())?;
                None
            }
        })
    }

    /// Hands the terminal over to the user's editor until it exits. The inner error says why no editor could be
    /// started, or that the editor failed.
    fn edit(&mut self, place: &SourcePlace) -> io::Result<Result<(), String>> {
        let variable = |name: &str| std::env::var(name).ok();
        let found = source_files::find(&place.file, &source_files::places(place.pid))
            .and_then(|file| editor::editor(variable, &file, place.line));
        let Editor { program, arguments } = match found {
            Ok(editor) => editor,
            Err(why) => return Ok(Err(why)),
        };
        let mut command = Command::new(&program);
        command.args(arguments);
        let ended = self.terminal.lend(&mut command)?;
        Ok(match ended {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{program}: {status}")),
            Err(error) => Err(format!("{program} cannot be started: {error}")),
        })
    }

    fn repaint(&mut self) {
        self.painter.spoil();
        self.title.clear();
        self.app.screen.dirty = true;
    }

    fn draw(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.app.screen.dirty) {
            return Ok(());
        }
        let app = &self.app;
        let mut bytes = self
            .painter
            .frame(app.screen.size, |buffer| view::draw(app, buffer))?;
        let title = match &app.program.target {
            Some(target) => format!("tickscope {}", target.name),
            None => "tickscope".to_string(),
        };
        if title != self.title {
            let safe: String = title.chars().filter(|c| !c.is_control()).collect();
            bytes.extend_from_slice(format!("\x1b]2;{safe}\x07").as_bytes());
            self.title = title;
        }
        if !bytes.is_empty() {
            self.terminal.write(&bytes)?;
        }
        self.app.notices.drawn(self.began.elapsed());
        self.frames += 1;
        if self
            .options
            .panic_after
            .is_some_and(|frames| self.frames >= frames)
        {
            #[expect(
                clippy::panic,
                reason = "requested by the test of the terminal's state after a panic"
            )]
            {
                panic!("asked to panic after {} frames", self.frames);
            }
        }
        Ok(())
    }
}

/// Returns the message that reports written files, with absolute paths. `what` says what the files contain, such as
/// `report`.
fn wrote(what: &'static str, written: Result<Vec<PathBuf>, String>) -> Message {
    let whole = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    let whole = |paths: Vec<PathBuf>| paths.into_iter().map(whole).collect();
    Message::Wrote(what, written.map(whole))
}

/// Translates a key into a message, given the context that has the keyboard focus.
pub(crate) fn meaning(context: Context, key: Code) -> Option<Message> {
    /// Number of rows to scroll per step of the mouse wheel.
    const WHEEL: isize = 3;
    if let Code::Mouse(event, x, y) = key {
        return match event {
            Mouse::Press => Some(Message::Click(x, y)),
            Mouse::Drag => Some(Message::Drag(x, y)),
            Mouse::WheelUp => Some(Message::Wheel(-WHEEL, x, y)),
            Mouse::WheelDown => Some(Message::Wheel(WHEEL, x, y)),
            Mouse::WheelLeft => Some(Message::WheelAside(false, x, y)),
            Mouse::WheelRight => Some(Message::WheelAside(true, x, y)),
            Mouse::Nothing => None,
        };
    }
    match lookup(context, key) {
        Some(action) => Some(Message::Do(action)),
        None if context == Context::Typing => edit(key).map(Message::Edit),
        None => Some(Message::Unknown(key)),
    }
}

/// Maps a key to an edit of the input line. The key bindings are the same as in a shell.
fn edit(key: Code) -> Option<InputRequest> {
    if let Code::Char(c) = key {
        return Some(InputRequest::InsertChar(c));
    }
    let table = [
        (Code::Backspace, InputRequest::DeletePrevChar),
        (Code::Delete, InputRequest::DeleteNextChar),
        (Code::Left, InputRequest::GoToPrevChar),
        (Code::Right, InputRequest::GoToNextChar),
        (Code::Home, InputRequest::GoToStart),
        (Code::End, InputRequest::GoToEnd),
        (Code::Ctrl('a'), InputRequest::GoToStart),
        (Code::Ctrl('e'), InputRequest::GoToEnd),
        (Code::Ctrl('w'), InputRequest::DeletePrevWord),
        (Code::Ctrl('u'), InputRequest::DeleteFromStart),
        (Code::Ctrl('k'), InputRequest::DeleteTillEnd),
    ];
    table
        .into_iter()
        .find(|(code, _)| *code == key)
        .map(|(_, request)| request)
}
